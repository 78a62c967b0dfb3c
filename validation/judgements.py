"""Selects the judgements that count: by default the first five valid, complete ones by distinct people who pass gold.

These keys of an annotation's `extra` are used: `gold` (the correct answer of an attention item), `skipped` (the
person skipped the item), `invalid` (what is wrong with the answer), `writer` (who wrote the item), `seconds`
(time spent on the item), `asked` (the number of people asked, if more than usual: for example, an item that
five people left undecided is decided by the first seven).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal, TypeVar

from catsofa.data.judging.dawid_skene import DawidSkene, dawid_skene
from catsofa.data.judging.estimate import Estimate
from catsofa.data.judging.glad import Glad, glad
from catsofa.data.percentages import quantity
from catsofa.data.records import Annotation

Grouping = Callable[[Annotation], str]
"""A function from an annotation to its group: the CAT of an association, or the item itself."""
EMPTY = {"nan", "none", "null", "n/a"}
"""Labels that some tables write for an empty cell."""
E = TypeVar("E", bound=Estimate)
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The rule for a decision: `need` votes among the first `of` judgements."""

    need: int = 3
    of: int = 5
    labels: tuple[str, ...] = ()
    """The valid answers; empty means that any answer is valid."""
    gold_pass: float = 0.75
    """The minimum share of attention items that a counted person must answer correctly."""
    writer_counts: bool = False
    """True if the writer's own label is one of the votes."""
    repeats: Literal["fill", "drop"] = "fill"
    """`fill`: one person's second judgement may take the last seat if no other person did; `drop`: it never counts."""

    def __post_init__(self) -> None:
        """Raise a ValueError for values out of range."""
        if not 1 <= self.need <= self.of:
            raise ValueError(f"need {self.need} of {self.of} judgements cannot be: need must be 1 to {self.of}")
        if not 0 <= self.gold_pass <= 1:
            raise ValueError(f"gold_pass is a share between 0 and 1, not {self.gold_pass}")


def alike_labels(annotations: Iterable[Annotation]) -> list[str]:
    """Warnings about labels that differ only in form but count as different, and labels that look like empty cells."""
    counts = Counter(annotation.label for annotation in annotations)
    forms: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for label in sorted(counts):
        parts = (" ".join(part.split()).casefold() for part in label.split("|"))
        forms[tuple(sorted(str(Fraction(part)) if NUMBER.fullmatch(part) else part for part in parts))].append(label)
    alike = [
        f"the labels {', '.join(map(repr, same))} differ by case, space, order or form of a number only, "
        f"and count as {len(same)} labels"
        for _, same in sorted(forms.items())
        if len(same) > 1
    ]
    empty = {label: count for label, count in counts.items() if label.strip().casefold() in EMPTY}
    if empty:
        named = ", ".join(map(repr, sorted(empty)))
        count = quantity(sum(empty.values()), "answer")
        alike.append(f"words for an empty cell count as labels in {count}: {named}")
    return alike


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldResult:
    """A person's result on the attention items."""

    right: int
    answered: int
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """The numbers of counted and of wanted judgements of one item or CAT."""

    taken: int
    wanted: int
    items: int
    """The number of items that one judgement covers: three for the associations of a CAT, otherwise 1."""

    @property
    def missing(self) -> int:
        """The number of further judgements needed."""
        return max(0, self.wanted - self.taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counted annotations of each item, those set aside with the reason, and the gold results."""

    votes: Mapping[str, Sequence[Annotation]]
    set_aside: Sequence[Annotation]
    """The annotations that do not count, each with the reason under `set_aside` in its `extra`."""
    gold: Mapping[str, GoldResult]
    repeats: Sequence[Annotation] = field(default_factory=list)
    """Counted second judgements of one person, which filled a seat that no other person took."""
    asked: Mapping[str, int] = field(default_factory=dict)
    """The number of judgements that count for items with more people asked than usual."""
    seats: Mapping[str, Seats] = field(default_factory=dict)
    """The counted and wanted judgements of each group (a CAT, or the item itself)."""
    _estimates: dict[tuple[str, str | None], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def estimate(self, question: str | None = None) -> DawidSkene:
        """The Dawid-Skene estimate from the counted judgements, or those of one question; cached."""
        return self._estimated(dawid_skene, question)

    def glad(self, question: str | None = None) -> Glad:
        """The GLAD estimate from the same judgements; cached."""
        return self._estimated(glad, question)

    def by_question(self, model: Callable[[Iterable[Annotation]], E]) -> list[E]:
        """The estimates of a model, one for each question, since each question has its own labels."""
        questions = questions_of(annotation for cast in self.votes.values() for annotation in cast)
        return [self._estimated(model, question) for question in questions]

    def _estimated(self, model: Callable[[Iterable[Annotation]], E], question: str | None) -> E:
        judged = [annotation for cast in self.votes.values() for annotation in cast]
        questions = {question_of(annotation) for annotation in judged}
        only = None if questions == {question} else question
        key = model.__name__, only
        if key not in self._estimates:
            self._estimates[key] = model(a for a in judged if only in (None, question_of(a)))
        estimate: E = self._estimates[key]
        return estimate


@dataclass(slots=True)
class _Judgement:
    """One person's answers, in one sitting, about the items of a group."""

    annotator: str
    answers: list[Annotation]
    repeat: bool


def count(annotations: Iterable[Annotation], rule: Rule | None = None, group: Grouping | None = None) -> Counted:
    """Select the counted judgements of each item, and set the others aside with a reason."""
    rule, group = rule or Rule(), group or (lambda annotation: annotation.item)
    everything = list(annotations)
    gold = gold_results(everything, rule.gold_pass)
    votes: dict[str, list[Annotation]] = {}
    groups: dict[str, dict[tuple[str, int], _Judgement]] = defaultdict(dict)
    members: dict[str, set[str]] = defaultdict(set)
    quotas: dict[str, int] = {}
    times: Counter[tuple[str, str]] = Counter()
    aside: list[Annotation] = []
    for annotation in everything:
        if annotation.extra.get("gold"):
            aside.append(set_aside(annotation, "gold item"))
            continue
        votes.setdefault(annotation.item, [])
        members[group(annotation)].add(annotation.item)
        number = str(annotation.extra.get("asked") or 0)
        if not number.isdecimal():
            raise ValueError(
                f"item {annotation.item!r} was asked {number!r} people about; give a number, or leave it empty"
            )
        if (people := int(number)) > rule.of:
            quotas[group(annotation)] = max(people, quotas.get(group(annotation), 0))
        if reason := _why_not(annotation, rule, gold):
            aside.append(set_aside(annotation, reason))
            continue
        nth = times[annotation.item, annotation.annotator]
        times[annotation.item, annotation.annotator] += 1
        sitting = groups[group(annotation)].setdefault(
            (annotation.annotator, nth), _Judgement(annotation.annotator, [], nth > 0)
        )
        sitting.answers.append(annotation)
    repeats: list[Annotation] = []
    seats: dict[str, Seats] = {}
    for name, items in members.items():
        wanted = quotas.get(name, rule.of)
        seated, refused = _seats(list(groups[name].values()), len(items), wanted, fill=rule.repeats == "fill")
        seats[name] = Seats(taken=len(seated), wanted=wanted, items=len(items))
        for judgement in seated:
            for annotation in judgement.answers:
                votes[annotation.item].append(annotation)
            repeats += judgement.answers if judgement.repeat else []
        aside += [set_aside(answer, reason) for judgement, reason in refused for answer in judgement.answers]
    more = {item: people for name, people in quotas.items() for item in members[name]}
    return Counted(votes=votes, set_aside=aside, gold=gold, repeats=repeats, asked=more, seats=seats)


def gold_results(annotations: Iterable[Annotation], needed: float) -> dict[str, GoldResult]:
    """Each person's result on attention items; people without attention items are not included."""
    right: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for annotation in annotations:
        if annotation.extra.get("gold") and not is_skipped(annotation):
            answered[annotation.annotator] += 1
            right[annotation.annotator] += annotation.label == annotation.extra["gold"]
    return {
        person: GoldResult(right=right[person], answered=n, passed=right[person] >= needed * n)
        for person, n in answered.items()
    }


def answers(annotations: Iterable[Annotation]) -> list[Annotation]:
    """The annotations with an answer: no attention items, and none skipped, invalid or empty."""
    return [a for a in annotations if a.label and not (a.extra.get("gold") or a.extra.get("invalid") or is_skipped(a))]


def questions_of(annotations: Iterable[Annotation]) -> list[str]:
    """The distinct questions of these annotations; annotations of items themselves count as one question."""
    return [*dict.fromkeys(map(question_of, annotations))]


def question_of(annotation: Annotation) -> str:
    """The question about a whole item that an annotation answers; empty if items are labelled directly."""
    return str(annotation.extra.get("question", ""))


def is_skipped(annotation: Annotation) -> bool:
    """Returns whether the person skipped the item; in a CSV the value is text."""
    value = annotation.extra.get("skipped", False)
    return value if isinstance(value, bool) else str(value).strip().casefold() in {"1", "true", "yes"}


def set_aside(annotation: Annotation, reason: str) -> Annotation:
    """An annotation that does not count, with the reason in `extra`."""
    return replace(annotation, extra={**annotation.extra, "set_aside": reason})


def _why_not(annotation: Annotation, rule: Rule, gold: Mapping[str, GoldResult]) -> str:
    """The reason why this annotation cannot count, regardless of others; empty if it can."""
    if not rule.writer_counts and annotation.annotator == annotation.extra.get("writer"):
        return "by the writer"
    if is_skipped(annotation):
        return "skipped"
    if annotation.extra.get("invalid"):
        return "invalid"
    if not annotation.label:
        return "no answer"
    if rule.labels and not set(annotation.label.split("|")) <= set(rule.labels):
        return "unknown label"
    if (result := gold.get(annotation.annotator)) and not result.passed:
        return "fails gold"
    return ""


def _seats(
    judgements: list[_Judgement], size: int, quota: int, *, fill: bool
) -> tuple[list[_Judgement], list[tuple[_Judgement, str]]]:
    """The first `quota` complete judgements by different people, and the other judgements with reasons.

    A platform may give one person two of the five seats. This happened in 72 CATs of StereoSet, whose authors
    counted both. So with `fill`, a repeat takes the last seat (at most one) if no other person did.
    """
    complete = [j for j in judgements if len(j.answers) == size]
    refused = [(j, "incomplete") for j in judgements if len(j.answers) < size]
    if len(complete) > quota and all(answer.at for judgement in complete for answer in judgement.answers):
        complete.sort(key=lambda judgement: max(map(_time, judgement.answers)))
    distinct: dict[str, _Judgement] = {}
    repeats = [j for j in complete if distinct.setdefault(j.annotator, j) is not j]
    people = list(distinct.values())
    seated, late = people[:quota], people[quota:]
    if fill and len(seated) == quota - 1 and repeats:
        seated.append(repeats.pop(0))
    refused += [(j, f"after the first {quota}") for j in late]
    return seated, refused + [(j, "repeat") for j in repeats]


def _time(annotation: Annotation) -> datetime:
    """The annotation's time; a time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(annotation.at)
    except ValueError:
        raise ValueError(
            f"item {annotation.item!r} has an annotation at {annotation.at!r}; give times as ISO 8601 "
            "(2024-05-01T12:00:00Z), or none at all to take them in the order of the file"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
