"""Computes the status of a study: progress, people's work, pace and quality, the expected end and the cost."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import nan
from statistics import median

from catsofa.annotation.results.answers import Raw, by_the_writer, latest, of_row, reopened, retired
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import answers
from catsofa.data.records import Annotation

RECENT = 200
"""Number of latest answers whose pace predicts the end of the study."""
Agreement = Callable[[Sequence[Annotation]], float]
"""Function that returns how far annotations agree."""
Seats = Callable[[Sequence[Annotation], int], Mapping[str, int]]
"""Function that returns how many judgements of each task count by the vote rule, for a number of people asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The work of one annotator."""

    name: str
    answers: int
    skipped: int
    """Tasks that the person passed on; excludes tasks that are kept from them because they wrote them."""
    invalid: int
    """Answers that are incomplete, void, or no choice of the interface."""
    seconds: float
    """Median seconds for an item; NaN if no answer has a time."""
    gold_right: int
    gold_answers: int
    """Answers to questions about gold items; `gold_right` is the number of right ones."""
    standing: str = ""
    """The reason why none of the person's answers counts, if a server ended their work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The numbers of a study, without gold items."""

    title: str
    kind: str
    items: int
    done: int
    """Items with as many judgements that count as were asked for."""
    started: int
    judgements: int
    """Complete judgements that were given."""
    counted: int
    """Judgements that count: by different people who pass gold, no more than were asked for."""
    wanted: int
    missing: int
    """Number of further judgements that incomplete items need."""
    over: int
    """Items that more people judged than were asked for, because two people got the last seat at once."""
    repeats: int
    """Further judgements of an item by the same person."""
    people: tuple[Person, ...]
    agreement: float
    per_hour: float
    """Judgements per hour at the pace of the latest ones."""
    ends: str
    """Expected time of the last judgement at that pace; empty if it is unknown, or if nothing is left."""
    cost: float
    """Pay for the work done."""
    expected_cost: float
    """Pay for the work done and the work left."""
    currency: str
    closed: str


def status(study: Study, agreement: Agreement | None = None, seats: Seats | None = None) -> Status:
    """Returns the status of a study from the answers pulled so far.

    Without `seats`, each person's judgement of a task counts, up to the number asked for.
    """
    people_asked, gone = reopened(study), retired(study)
    judged: dict[str, Counter[str]] = defaultdict(Counter)
    people: dict[str, list[_Done]] = defaultdict(list)
    annotations: list[Annotation] = []
    for row in latest(study):
        done = _done(row, study, people_asked.get(row.token, 0), retired=row.token in gone)
        people[row.annotator].append(done)
        annotations += done.annotations
        if done.valid and not study.keys[row.token].gold:
            judged[row.token][row.annotator] += 1
    wanted = wanted_of(study)
    counted = {token: min(len(judged[token]), overlap) for token, overlap in wanted.items()}
    if seats and annotations:
        counted = {token: 0 if study.kind_of(token).asks else done for token, done in counted.items()}
        counted |= seats(annotations, study.settings.overlap)
    lacking = {token: max(0, overlap - counted[token]) for token, overlap in wanted.items()}
    unwritten = sum(n for token, n in lacking.items() if study.kind_of(token).judged_as)
    remaining = sum(lacking.values()) + unwritten * study.settings.overlap  # includes judgements of unwritten texts
    times = sorted(done.row.at for each in people.values() for done in each if done.valid and not done.gold)
    pace, timed = _per_hour(times[-RECENT:]), [d.seconds for each in people.values() for d in each if d.seconds]
    usual = median(timed) if timed else study.settings.seconds
    spent = sum(d.seconds or usual for each in people.values() for d in each if not d.row.skipped)
    hourly = study.settings.pay / 3600
    return Status(
        title=study.settings.title,
        kind=study.settings.kind,
        items=len(wanted),
        done=sum(counted[token] >= overlap for token, overlap in wanted.items()),
        started=sum(len(judged[token]) > 0 and counted[token] < overlap for token, overlap in wanted.items()),
        judgements=sum(map(len, judged.values())),
        counted=sum(counted.values()),
        wanted=sum(wanted.values()) + unwritten * study.settings.overlap,
        missing=remaining,
        over=sum(len(judged[token]) > overlap for token, overlap in wanted.items()),
        repeats=sum(n - 1 for counts in judged.values() for n in counts.values()),
        people=tuple(_person(name, each) for name, each in sorted(people.items())),
        agreement=agreement(annotations) if agreement and annotations else nan,
        per_hour=pace,
        ends=""
        if not remaining or not pace > 0
        else (datetime.fromisoformat(times[-1]) + timedelta(hours=remaining / pace)).isoformat(timespec="minutes"),
        cost=spent * hourly,
        expected_cost=(spent + remaining * usual) * hourly,
        currency=study.settings.currency,
        closed=study.settings.closed,
    )


def wanted_of(study: Study) -> dict[str, int]:
    """Returns how many people each task is shown to; excludes gold tasks, which everybody sees."""
    return {token: study.people_for(token) for token, key in study.keys.items() if not key.gold} | reopened(study)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """One answer, with its validity, its time and its annotations."""

    row: Raw
    valid: bool
    passed_on: bool
    gold: bool
    seconds: float
    annotations: Sequence[Annotation] = ()


def _done(row: Raw, study: Study, people: int, *, retired: bool) -> _Done:
    """Returns one answer with its validity, its time and its annotations."""
    kind = study.kind_of(row.token)
    answer = answers(kind.interface, row.result)
    annotated = list(of_row(row, study, answer, people)) if kind.asks and not retired else []
    gold = study.keys[row.token].gold
    seconds = row.seconds if row.seconds and row.seconds > 0 and not row.skipped else 0.0
    return _Done(
        row=row,
        valid=not (row.skipped or row.void or answer.wrong),
        passed_on=row.skipped and not by_the_writer(row, study),
        gold=gold,
        seconds=seconds,
        annotations=annotated,
    )


def _person(name: str, done: Iterable[_Done]) -> Person:
    """Returns the counts of one annotator's answers."""
    done = list(done)
    gold = [a for d in done if d.gold and not d.row.skipped for a in d.annotations]
    return Person(
        name=name,
        answers=sum(d.valid for d in done),
        skipped=sum(d.passed_on for d in done),
        invalid=sum(not d.valid and not d.row.skipped for d in done),
        seconds=median([d.seconds for d in done if d.seconds] or [nan]),
        gold_right=sum(a.label == a.extra["gold"] for a in gold),
        gold_answers=len(gold),
        standing=next((d.row.void for d in done if d.row.void), ""),
    )


def _per_hour(times: Sequence[str]) -> float:
    """Returns the answers per hour between the first and the last of these times; NaN if the times are too few."""
    if len(times) < 2:
        return nan
    hours = (datetime.fromisoformat(times[-1]) - datetime.fromisoformat(times[0])).total_seconds() / 3600
    return (len(times) - 1) / hours if hours > 0 else nan


def passed(people: Iterable[Person]) -> Mapping[str, float]:
    """Returns the share of gold questions that each person answered correctly, for people who were asked any."""
    return {p.name: p.gold_right / p.gold_answers for p in people if p.gold_answers}
