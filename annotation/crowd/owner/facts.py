"""State of an open study from its store: items, people, seats, money, and people whose work needs a look.

`annotate status` and the owner's page show the same facts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, nan
from statistics import median

from catsofa.annotation.crowd import acts as decided
from catsofa.annotation.crowd import adaptive, home, money, quality, settings
from catsofa.annotation.crowd.owner.cases import Point, Tallies, cases
from catsofa.annotation.crowd.owner.states import RESTING
from catsofa.annotation.crowd.owner.suspicion import reasons
from catsofa.annotation.crowd.people.arrivals import erase_by
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import JUDGEMENTS, Rows, identity, reading
from catsofa.annotation.prolific.journal import Journal
from catsofa.annotation.results.answers import retired
from catsofa.annotation.results.status import Status
from catsofa.annotation.study import Study, now, open_study


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Amounts in cents, without the platform's fee."""

    owed: int
    """Amount for all work done, paid or not: the sum of payments.csv."""
    approval: int
    """Part of it that is paid by the approval of submissions."""
    bonus: int
    """Part of it that is paid by bonuses."""
    at_work: int
    """Part of it for people who are still at work."""
    bonuses_paid: int
    """Bonuses that were paid through Prolific."""
    missing: int
    """Cost of the missing judgements, if everybody does all tasks."""
    expected: int
    """Cost of the work done and missing, with the judgements that the adaptive stop is expected to add."""
    worst: int
    """The same, if the adaptive stop asks for the maximum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Decision of the owner about a person."""

    at: str
    act: str
    """`pause`, `void` or `restore`."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Person who came, with facts about their work."""

    name: str
    state: str
    """State in the store, or `resting`: the person did the minutes of a day."""
    until: str
    """Time when a resting person may go on; empty for all others."""
    outcome: str
    """Outcome of their work; empty while they work."""
    done: int
    """Number of tasks they answered, including practice; a text counts as `WRITING` tasks."""
    practice: str
    """Practice items answered right, out of those answered; empty without practice."""
    reasons: tuple[str, ...]
    """Reasons why their work is suspicious."""
    acts: tuple[Act, ...]
    """Decisions of the owner, in order."""
    message: str
    """Message for a person who failed the checks, as in return.csv; empty for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Gold item that does not name its answer, and the results of people on it."""

    token: str
    item: str
    people: int
    """Number of people who answered it; 0 for a retired item."""
    right: int
    """Number of those who answered all its questions right."""
    retired: str
    """Reason why it was retired; empty as long as it counts."""

    @property
    def missed(self) -> bool:
        """True if more than half of five people or more answered otherwise: the item may be bad."""
        return self.people >= 5 and 2 * self.right < self.people


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Numbers of an open study."""

    items: tuple[int, ...]
    """Number of items that have 0, 1, 2 … judgements that count."""
    people: Mapping[str, int]
    """Number of people in each state."""
    seats: Mapping[str, int]
    """Number of seats of items in each state."""
    seconds: float
    """Median seconds for an item; NaN while nobody answered."""
    failed_practice: int
    """Number of people who met all practice items and did not pass."""
    money: Money
    erase_by: str
    """Day by which people are promised `close --erase-identities`; empty if no day applies, or it is done."""
    gold: tuple[Gold, ...]
    """Gold items that people answered: the most missed first, the retired ones last."""
    standings: tuple[Standing, ...]
    """Everybody who took part, by pseudonym."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Snapshot of an open study."""

    at: str
    status: Status
    facts: Facts
    cases: Mapping[str, Sequence[Point]]
    """Questions of each task that votes leave undecided."""


def overview(study: Study, status: Callable[[Study], Status], tallies: Tallies) -> Overview:
    """Returns the overview of a study, after a pull of all answers."""
    home.pull(study)
    study = open_study(study.folder)
    return Overview(at=now(), status=status(study), facts=facts(study), cases=cases(study, tallies))


def facts(study: Study) -> Facts:
    """Returns the facts of a study that was opened with `annotate open`."""
    opening = settings.read(study)
    rules, time = settings.rules(study, opening), datetime.now(UTC)
    with reading(study.folder, identity(study.settings.secret)) as held:
        held.refuse_changed(study.folder, *JUDGEMENTS)
        tasks = held.all("SELECT need, valid FROM task WHERE kind = 'item'")
        counts = Counter(task["valid"] for task in tasks)
        suspicious, acts = reasons(held, study, rules), defaultdict[str, list[Act]](list)
        for act in decided.acts(held):
            acts[act["person"]].append(Act(at=act["at"], act=act["act"], reason=act["reason"]))
        standings = []
        for row in held.all("SELECT * FROM person WHERE state NOT IN ('declined', 'full') ORDER BY name"):
            done = quality.practice(held, row["name"])
            free = quality.free_again(held, rules, row["name"], time.timestamp()) if row["state"] == "working" else 0
            standings.append(
                Standing(
                    name=row["name"],
                    state=RESTING if free else row["state"],
                    until=datetime.fromtimestamp(free, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if free else "",
                    outcome=row["outcome"],
                    done=row["done"],
                    practice=f"{done.right}/{done.answered}" if done.planned else "",
                    reasons=tuple(suspicious.get(row["name"], ())),
                    acts=tuple(acts[row["name"]]),
                    message=money.told(row),
                )
            )
        people = _counts(held, "SELECT state, count(*) AS n FROM person GROUP BY state ORDER BY state")
        if resting := sum(each.state == RESTING for each in standings):
            people |= {"working": people["working"] - resting, RESTING: resting}
        took = held.all(
            "SELECT a.seconds FROM answer a JOIN seat s ON s.nonce = a.nonce JOIN task t ON t.token = s.task "
            "WHERE t.kind = 'item'"
        )
        return Facts(
            items=tuple(counts[n] for n in range(1 + max((task["need"] for task in tasks), default=0))),
            people=people,
            seats=_counts(
                held,
                "SELECT s.state, count(*) AS n FROM seat s JOIN task t ON t.token = s.task WHERE t.kind = 'item' "
                "GROUP BY s.state ORDER BY s.state",
            ),
            seconds=median([row["seconds"] for row in took] or [nan]),
            failed_practice=sum(each.outcome == "failed_practice" and each.state == "screened" for each in standings),
            money=_money(held, study, rules, opening.adaptive, home.missing(held, rules.judges)),
            erase_by=erase_by(study),
            gold=_gold(held, study),
            standings=tuple(standings),
        )


def _gold(held: Rows, study: Study) -> tuple[Gold, ...]:
    """Returns the results of people on each gold item; leaves out checks, which name their answer."""
    query = (
        "SELECT s.task, count(*) AS n, sum(CASE WHEN a.gold_right = a.gold_asked THEN 1 ELSE 0 END) AS alright "
        "FROM seat s JOIN answer a ON a.nonce = s.nonce JOIN task t ON t.token = s.task AND t.kind = 'gold' "
        "GROUP BY s.task"
    )
    gone, gold_items = retired(study), list[Gold]()
    for row in held.all(query):
        token, counts = row["task"], row["task"] not in gone
        gold_items.append(
            Gold(
                token=token,
                item=study.keys[token].item,
                people=row["n"] * counts,
                right=row["alright"] * counts,
                retired="" if counts else gone[token].reason,
            )
        )
    return tuple(sorted(gold_items, key=lambda each: (bool(each.retired), each.right / (each.people or 1), each.token)))


def _counts(held: Rows, query: str) -> dict[str, int]:
    """Returns the number of rows in each state."""
    return {row["state"]: row["n"] for row in held.all(query)}


def _money(held: Rows, study: Study, rules: Rules, wanted: settings.Adaptive, missing: int) -> Money:
    """Returns the amounts owed, and the cost still to come."""
    dues = [*money.dues(study)]
    more = adaptive.outlook(held, study, wanted) if wanted.most else adaptive.Outlook(expected=0, worst=0, by="")
    remaining, expected, worst = (
        money.budget(study, rules, missing + each, home.lacking(held, most)).total
        for each, most in ((0, 0), (ceil(more.expected), 0), (more.worst, wanted.most or 0))
    )
    owed = sum(due.due for due in dues)
    return Money(
        owed=owed,
        approval=sum(due.due for due in dues if due.paid_by == "approval"),
        bonus=sum(due.due for due in dues if due.paid_by == "bonus"),
        at_work=sum(due.due for due in dues if due.outcome == "at work"),
        bonuses_paid=Journal(study).paid().total(),
        missing=remaining,
        expected=owed + expected,
        worst=owed + worst,
    )
