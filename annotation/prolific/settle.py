"""Compares submissions on Prolific with the work here, and approves, asks for returns, rejects and pays bonuses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from catsofa.annotation.crowd import money, settings
from catsofa.annotation.crowd.money import Due
from catsofa.annotation.prolific.client import (
    CHANGED,
    MOST_APPROVED,
    MOST_PAID,
    Prolific,
    ProlificError,
    Submission,
    Unanswered,
)
from catsofa.annotation.prolific.journal import FILE, Entry, Journal
from catsofa.annotation.study import Study
from catsofa.data.percentages import quantity

OPEN = ("RESERVED", "ACTIVE")
"""Statuses in which a person may still hand in."""
WAITING = "AWAITING REVIEW"
PAID = ("APPROVED", "PARTIALLY APPROVED")
LONG, CHECKS = 300.0, 2
"""A study of LONG seconds or more needs CHECKS failed checks for a return or a rejection; a shorter one needs one."""
BY_BONUS = ("failed_practice", "paused_for_checks", "paused_for_pace", "paused_by_owner", "screened_out")
"""Outcomes paid by a bonus once the submission is returned; these people are neither asked for that nor rejected."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The actions to take on Prolific."""

    approve: list[Due] = field(default_factory=list)
    ask_return: list[Due] = field(default_factory=list)
    reject: list[Due] = field(default_factory=list)
    bonus: list[tuple[Due, int]] = field(default_factory=list)
    """The submissions to pay, each with the cents that are still owed."""
    left: list[tuple[str, str]] = field(default_factory=list)
    """Submissions that the owner must decide, each with the reason."""

    @property
    def calls(self) -> int:
        """Number of actions about submissions."""
        return len(self.approve) + len(self.ask_return) + len(self.reject) + len(self.bonus)


def plan(study: Study, submissions: Sequence[Submission], journal: Journal, *, reject: bool = False) -> Plan:
    """Returns the action for each submission; with `reject`, rejects those that were asked before to return.

    A bonus is paid only if Prolific can no longer approve the submission, so that nobody is paid twice.
    """
    by_id, paid, todo = {each.id: each for each in submissions}, journal.paid(), Plan()
    session = settings.rules(study, settings.read(study)).tasks
    needed = CHECKS if session * study.settings.seconds >= LONG else 1
    for due in money.payable(study):
        if due.platform != "prolific":
            continue
        submission = by_id.pop(due.submission, None)
        if submission is None or submission.person != due.person:
            todo.left.append(
                (due.submission, "worked here, and Prolific does not know this person with this submission")
            )
        elif submission.status in (*OPEN, *PAID) or (
            not due.tasks and (submission.status != WAITING or submission.return_requested)
        ):
            continue
        elif due.outcome == "completed":
            if submission.status == WAITING:
                todo.approve.append(due)
            else:
                todo.left.append((due.submission, f"completed here, and {submission.status} on Prolific"))
        elif due.outcome != "failed_checks" and (due.outcome not in BY_BONUS or submission.status == WAITING):
            outcome, did = due.outcome.replace("_", " "), quantity(due.tasks, "task")
            todo.left.append((due.submission, f"{outcome} here after {did}, and {submission.status} on Prolific"))
        elif submission.status != WAITING:
            if (owed := due.due - paid[due.name]) > 0:
                todo.bonus.append((due, owed))
        elif due.failed_checks < needed:
            todo.left.append(
                (due.submission, f"failed {due.failed_checks} check; Prolific asks for {needed} in so long a study")
            )
        elif not submission.return_requested:
            todo.ask_return.append(due)
        elif reject:
            todo.reject.append(due)
    strangers = [each.id for each in by_id.values() if each.status == WAITING and not each.return_requested]
    todo.left.extend((each, "handed in on Prolific, and did no task here") for each in strangers)
    return todo


def less_paid(todo: Plan, prolific: Prolific) -> Plan:
    """Returns the plan without the bonuses that Prolific has paid already.

    A copy of the study may have paid them.
    """
    bonus = [(due, min(owed, due.due - prolific.bonuses(due.submission))) for due, owed in todo.bonus]
    doubtful = [
        (due.submission, f"Prolific has paid bonuses for this submission that {FILE} here does not have")
        for (due, owed), (_, before) in zip(bonus, todo.bonus, strict=True)
        if owed < before
    ]
    return replace(todo, bonus=[(due, owed) for due, owed in bonus if owed > 0], left=[*todo.left, *doubtful])


def refuse_lost(study: Study, journal: Journal, answer: Literal["paid", "unpaid"] | None) -> None:
    """Raises ValueError about a payment whose reply was lost, or notes the owner's answer about it.

    Nothing is paid before the owner answers.
    """
    for entry in journal.lost():
        if answer:
            journal.note(Entry(step=answer, id=entry.id))
            continue
        amount = f"{study.settings.currency} {money.decimal(sum(entry.owed.values()))}"
        raise ValueError(
            f"the reply to a payment of bonuses was lost: {entry.id}, {amount} to {len(entry.owed)} people, sent at "
            f"{entry.at}. Look on Prolific whether they got it (it may take some minutes), then run the command with "
            "--lost-payment paid or --lost-payment unpaid; until then nothing is paid"
        )


def carry_out(study: Study, prolific: Prolific, journal: Journal, todo: Plan) -> list[tuple[str, str]]:
    """Carries out the plan, bonuses last; returns submissions that changed meanwhile, each with Prolific's message."""
    changed: list[tuple[str, str]] = []

    def one(due: Due, act: Callable[[str, str], None]) -> None:
        try:
            act(due.submission, due.reason)
        except ProlificError as error:
            if error.status not in CHANGED:
                raise
            changed.append((due.submission, str(error)))

    for part in _parts(todo.approve, MOST_APPROVED):
        prolific.approve([due.submission for due in part])
    for due in todo.ask_return:
        one(due, prolific.ask_return)
    for due in todo.reject:
        one(due, prolific.reject)
    for bonuses in _parts(todo.bonus, MOST_PAID):
        _pay(study, prolific, journal, bonuses)
    return changed


def _pay(study: Study, prolific: Prolific, journal: Journal, part: Sequence[tuple[Due, int]]) -> None:
    """Pays these bonuses once: notes the payment before the call, and its outcome after."""
    lines = [f"{due.submission},{money.decimal(owed)}" for due, owed in part]
    payment, amount = prolific.set_up_bonuses(journal.study(), lines)
    owed_in_all = sum(owed for _, owed in part)
    if amount != owed_in_all:
        raise ProlificError(
            f"Prolific set up bonuses of {money.decimal(amount)} where {study.settings.currency} "
            f"{money.decimal(owed_in_all)} are owed; none was paid"
        )
    journal.note(Entry(step="pay", id=payment, owed={due.name: owed for due, owed in part}))
    try:
        prolific.pay_bonuses(payment)
    except Unanswered:
        refuse_lost(study, journal, None)
    except ProlificError:
        journal.note(Entry(step="unpaid", id=payment))
        raise
    else:
        journal.note(Entry(step="paid", id=payment))


def _parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yields the items in parts of at most `most`."""
    for start in range(0, len(items), most):
        yield items[start : start + most]
