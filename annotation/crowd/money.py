"""Cost of a study before it starts, and pay of each person as lists for approvals, returns and bonuses."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catsofa.annotation.crowd import settings
from catsofa.annotation.crowd.people.arrivals import LOG, Arrival, has_identities
from catsofa.annotation.crowd.rules import Rules, planned
from catsofa.annotation.crowd.store import Row, identity, reading
from catsofa.annotation.study import Study, rows
from catsofa.data.files import atomic_write, csv_files

COLUMNS = ("person", "submission", "name", "outcome", "tasks", "due", "paid_by", "reason")
REVIEW = ("AssignmentId", "WorkerId", "Approve", "Reject")
"""Columns of the file by which Mechanical Turk approves (`x`) and rejects (a reason)."""
BONUS = ("WorkerId", "AssignmentId", "BonusAmount", "Reason")
"""Fields that Mechanical Turk's SendBonus takes."""
BONUS_FOR = "Pay for the tasks you did"
REASON = (
    "Some tasks said themselves which answer to choose. You chose other answers in {failed} of them. The study "
    "therefore ended for you, and your answers are not used."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Cost of the missing judgements, without the platform's fee."""

    judgements: int
    places: int
    """Number of submissions that are needed, if everybody does all tasks."""
    tasks: int
    """Number of tasks of one submission, including practice, checks and gold items."""
    reward: int
    """Reward for one submission, in cents."""

    @property
    def total(self) -> int:
        """Total cost in cents."""
        return self.places * self.reward


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Amount that one person is owed, and the list that pays it."""

    person: str
    submission: str
    name: str
    outcome: str
    tasks: int
    due: int
    """Amount in cents."""
    paid_by: str
    """`approval` of the submission, `bonus`, or empty."""
    reason: str = ""
    platform: str = ""
    failed_checks: int = 0


def budget(study: Study, rules: Rules, judgements: int, least: int | None = None) -> Budget:
    """Returns the cost of `judgements` judgements by at least `least` different people.

    Without `least`, or where people judge texts, an item needs as many people as its overlap, and a text also its
    writer.
    """
    if least is None or rules.judges:
        least = study.settings.overlap + (rules.judges > 0)
    kinds = {"check" if key.check else "gold" for key in study.keys.values() if key.gold}
    every = {"check": rules.check_every, "gold": rules.gold_every}
    own = rules.session - sum(planned(rules.session, rules.first, every[kind]) for kind in kinds)
    people = max(math.ceil(judgements / max(1, own)), least) if judgements else 0
    return Budget(judgements=judgements, places=people, tasks=rules.tasks, reward=study.settings.cents(rules.tasks))


def dues(study: Study) -> Iterator[Due]:
    """Yields the pay of each person who came: the full reward if they `completed`, else pay for what they did."""
    failed_practice = settings.read(study).practice.pay
    with reading(study.folder, identity(study.settings.secret)) as held:
        people = {row["name"]: row for row in held.all("SELECT * FROM person")}
    for arrival in rows.read(study.folder / LOG, Arrival):
        if (person := people.get(arrival.name)) is None:
            continue
        completed = person["outcome"] == "completed"
        due = owed(study, person, failed_practice)
        yield Due(
            person=arrival.person,
            submission=arrival.submission,
            name=arrival.name,
            outcome=person["outcome"] or "at work",
            tasks=person["done"],
            due=due,
            paid_by="approval" if completed else "bonus" if due and person["outcome"] else "",
            reason=told(person),
            platform=arrival.platform,
            failed_checks=person["checks_failed"],
        )


def told(person: Row) -> str:
    """Returns the message for a person who failed the checks; empty for all others."""
    return REASON.format(failed=person["checks_failed"]) if person["outcome"] == "failed_checks" else ""


def owed(study: Study, person: Row, failed_practice: float | None) -> int:
    """Returns the cents that a person is owed, by the outcome of their work.

    This is the reward, the amount that the settings name for failed practice, or pay for the tasks done.
    """
    if person["outcome"] == "failed_practice" and failed_practice is not None and person["done"]:
        return round(100 * failed_practice)
    return study.settings.cents(person["quota"] if person["outcome"] == "completed" else person["done"])


def payable(study: Study) -> list[Due]:
    """Returns what everybody is owed.

    Refuses a study whose identities were erased, because nobody can be paid, or whose rows of people were changed.
    """
    if not has_identities(study.folder):
        raise ValueError(
            f"who came to {study.folder} was erased by close --erase-identities: nobody can be paid any more"
        )
    with reading(study.folder, identity(study.settings.secret)) as held:
        held.refuse_changed(study.folder, "person")
    return [*dues(study)]


def write(all_dues: list[Due], out: Path) -> dict[str, int]:
    """Writes the files for each platform, and payments.csv last; returns the number of lines per file.

    approve.txt, bonuses.csv and return.csv are for Prolific and similar platforms. mturk_review.csv and
    mturk_bonuses.csv have Mechanical Turk's own columns. If people came by a platform, the lists leave out people
    who were invited by address.
    """
    out.mkdir(parents=True, exist_ok=True)
    elsewhere = {"mturk"} | ({"invitation"} if {due.platform for due in all_dues} - {"invitation"} else set())
    turk = [due for due in all_dues if due.platform == "mturk"]
    platform_dues = [due for due in all_dues if due.platform not in elsewhere]
    tables: dict[str, tuple[tuple[str, ...], list[dict[str, str]]]] = {
        "return.csv": (
            ("submission", "message"),
            [{"submission": due.submission, "message": due.reason} for due in platform_dues if due.reason],
        ),
    }
    if turk:
        judged = [due for due in turk if due.reason or due.paid_by == "approval"]
        tables["mturk_review.csv"] = (
            REVIEW,
            [
                dict(zip(REVIEW, (due.submission, due.person, "" if due.reason else "x", due.reason), strict=True))
                for due in judged
            ],
        )
        tables["mturk_bonuses.csv"] = (
            BONUS,
            [
                dict(zip(BONUS, (due.person, due.submission, decimal(due.due), BONUS_FOR), strict=True))
                for due in turk
                if due.paid_by == "bonus"
            ],
        )
    everybody = [{name: str(getattr(due, name)) for name in COLUMNS} | {"due": decimal(due.due)} for due in all_dues]
    tables["payments.csv"] = COLUMNS, everybody
    lists = {
        "approve.txt": [due.submission for due in platform_dues if due.paid_by == "approval"],
        "bonuses.csv": [f"{due.person},{decimal(due.due)}" for due in platform_dues if due.paid_by == "bonus"],
    }
    counts = {name: len(cells) for name, (_, cells) in tables.items()} | {
        name: len(entries) for name, entries in lists.items()
    }
    lists |= {name: [",".join(columns)] for name, (columns, cells) in tables.items() if not cells}
    for name in counts:  # a list of an earlier day must not pass for this one, even if this command is killed
        (out / name).unlink(missing_ok=True)
    for name, lines in lists.items():
        with atomic_write(out / name) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
    for name, (columns, cells) in tables.items():
        if cells:
            csv_files.write(cells, out / name, columns)
    return {"payments.csv": 0} | counts


def decimal(amount: int) -> str:
    """Formats cents as a decimal number."""
    return f"{amount // 100}.{amount % 100:02d}"
