"""What a study costs before it starts, and who is owed what: lists for a platform's approvals, returns and bonuses."""

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
"""What Mechanical Turk's SendBonus takes."""
BONUS_FOR = "Pay for the tasks you did"
REASON = (
    "Some tasks said themselves which answer to choose. You chose other answers in {failed} of them. The study "
    "therefore ended for you, and your answers are not used."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The cost of the judgements that are missing, without the platform's fee."""

    judgements: int
    places: int
    """Submissions that are needed, if everybody does all tasks."""
    tasks: int
    """Tasks of one submission, practice, checks and gold items among them."""
    reward: int
    """Cents for one submission."""

    @property
    def total(self) -> int:
        """Cents for all."""
        return self.places * self.reward


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What one person is owed, and by which list."""

    person: str
    submission: str
    name: str
    outcome: str
    tasks: int
    due: int
    """Cents."""
    paid_by: str
    """`approval` of the submission, `bonus`, or nothing."""
    reason: str = ""
    platform: str = ""
    failed_checks: int = 0


def budget(study: Study, rules: Rules, judgements: int, least: int | None = None) -> Budget:
    """The cost of so many judgements by `least` different people: an item needs as many as judge it, or still lacks."""
    if least is None or rules.judges:
        least = study.settings.overlap + (rules.judges > 0)
    kinds = {"check" if key.check else "gold" for key in study.keys.values() if key.gold}
    every = {"check": rules.check_every, "gold": rules.gold_every}
    own = rules.session - sum(planned(rules.session, rules.first, every[kind]) for kind in kinds)
    people = max(math.ceil(judgements / max(1, own)), least) if judgements else 0
    return Budget(judgements=judgements, places=people, tasks=rules.tasks, reward=study.settings.cents(rules.tasks))


def dues(study: Study) -> Iterator[Due]:
    """What everybody is owed who came: the whole reward if they ended with `completed`, else what they did."""
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
    """What a person who failed the checks is told; nothing for all others."""
    return REASON.format(failed=person["checks_failed"]) if person["outcome"] == "failed_checks" else ""


def owed(study: Study, person: Row, failed_practice: float | None) -> int:
    """Cents for a person by how their work ended: the reward, what the settings say of practice, or what they did."""
    if person["outcome"] == "failed_practice" and failed_practice is not None and person["done"]:
        return round(100 * failed_practice)
    return study.settings.cents(person["quota"] if person["outcome"] == "completed" else person["done"])


def payable(study: Study) -> list[Due]:
    """The same, where the platform's names are there by which people are paid."""
    if not has_identities(study.folder):
        raise ValueError(
            f"who came to {study.folder} was erased by close --erase-identities: nobody can be paid any more"
        )
    with reading(study.folder, identity(study.settings.secret)) as held:
        held.refuse_changed(study.folder, "person")
    return [*dues(study)]


def write(found: list[Due], out: Path) -> dict[str, int]:
    """Write what each platform takes, and payments.csv last; how many lines each file has.

    approve.txt, bonuses.csv and return.csv are for Prolific and the like; mturk_review.csv and mturk_bonuses.csv have
    Mechanical Turk's own columns. A platform's lists have no address of somebody who was invited beside it.
    """
    out.mkdir(parents=True, exist_ok=True)
    elsewhere = {"mturk"} | ({"invitation"} if {due.platform for due in found} - {"invitation"} else set())
    turk = [due for due in found if due.platform == "mturk"]
    others = [due for due in found if due.platform not in elsewhere]
    tables: dict[str, tuple[tuple[str, ...], list[dict[str, str]]]] = {
        "return.csv": (
            ("submission", "message"),
            [{"submission": due.submission, "message": due.reason} for due in others if due.reason],
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
    everybody = [{name: str(getattr(due, name)) for name in COLUMNS} | {"due": decimal(due.due)} for due in found]
    tables["payments.csv"] = COLUMNS, everybody
    lists = {
        "approve.txt": [due.submission for due in others if due.paid_by == "approval"],
        "bonuses.csv": [f"{due.person},{decimal(due.due)}" for due in others if due.paid_by == "bonus"],
    }
    counts = {name: len(cells) for name, (_, cells) in tables.items()} | {name: len(of) for name, of in lists.items()}
    lists |= {name: [",".join(columns)] for name, (columns, cells) in tables.items() if not cells}
    for name in counts:  # no list of an earlier day is taken for this one, also if this command is killed
        (out / name).unlink(missing_ok=True)
    for name, lines in lists.items():
        with atomic_write(out / name) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
    for name, (columns, cells) in tables.items():
        if cells:
            csv_files.write(cells, out / name, columns)
    return {"payments.csv": 0} | counts


def decimal(amount: int) -> str:
    """Cents as a decimal number."""
    return f"{amount // 100}.{amount % 100:02d}"
