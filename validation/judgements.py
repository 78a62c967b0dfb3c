"""Which judgements count: the first five valid, distinct, complete ones by people who pass the gold items.

An annotation says the rest in `extra`, under these names: `gold` (the right answer of an attention item),
`skipped` (the person passed it on), `invalid` (what is wrong with the answer), `writer` (who wrote the item),
`seconds` (time spent on it), `asked` (how many people were asked about it, where more than usual were: an item
that five did not decide is decided by the first seven).
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
"""What an annotation was judged together with: the CAT of an association, or the item itself."""
EMPTY = {"nan", "none", "null", "n/a"}
"""Labels that tables write for an empty cell."""
E = TypeVar("E", bound=Estimate)
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How judgements become a decision: `need` votes among the first `of` judgements."""

    need: int = 3
    of: int = 5
    labels: tuple[str, ...] = ()
    """The answers that are valid; none means any answer is."""
    gold_pass: float = 0.75
    """The share of attention items a person must answer rightly to be counted."""
    writer_counts: bool = False
    """Whether the writer's own label is one of the votes."""
    repeats: Literal["fill", "drop"] = "fill"
    """Whether one person's second judgement may take the last seat that no fifth person took."""

    def __post_init__(self) -> None:
        """Refuse a rule that nothing can meet, or that everything meets."""
        if not 1 <= self.need <= self.of:
            raise ValueError(f"need {self.need} of {self.of} judgements cannot be: need must be 1 to {self.of}")
        if not 0 <= self.gold_pass <= 1:
            raise ValueError(f"gold_pass is a share between 0 and 1, not {self.gold_pass}")


def alike_labels(annotations: Iterable[Annotation]) -> list[str]:
    """Says which labels differ in form only and count as different ones, and which read like an empty cell."""
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
    """How a person did on the attention items."""

    right: int
    answered: int
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """How many judgements of one item, or one CAT, count, and how many are asked for."""

    taken: int
    wanted: int
    items: int
    """The items that one judgement is about: the three associations of a CAT, else 1."""

    @property
    def missing(self) -> int:
        """How many further judgements are needed."""
        return max(0, self.wanted - self.taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The annotations that count for each item, those set aside with the reason, and who passed gold."""

    votes: Mapping[str, Sequence[Annotation]]
    set_aside: Sequence[Annotation]
    """The annotations that do not count, each with the reason under `set_aside` in its `extra`."""
    gold: Mapping[str, GoldResult]
    repeats: Sequence[Annotation] = field(default_factory=list)
    """Second judgements of one person that were counted, since no fifth person had judged."""
    asked: Mapping[str, int] = field(default_factory=dict)
    """How many judgements count for the items about which more people than usual were asked."""
    seats: Mapping[str, Seats] = field(default_factory=dict)
    """The judgements of each group (a CAT, or the item itself) that count, and those asked for."""
    _estimates: dict[tuple[str, str | None], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def estimate(self, question: str | None = None) -> DawidSkene:
        """Dawid and Skene's estimate from the judgements that count, or those of one question; computed once."""
        return self._estimated(dawid_skene, question)

    def glad(self, question: str | None = None) -> Glad:
        """The estimate of GLAD from the same judgements; computed once."""
        return self._estimated(glad, question)

    def by_question(self, model: Callable[[Iterable[Annotation]], E]) -> list[E]:
        """The estimates of a model, one for each question: its labels are no answers to another one."""
        asked = questions_of(annotation for cast in self.votes.values() for annotation in cast)
        return [self._estimated(model, question) for question in asked]

    def _estimated(self, model: Callable[[Iterable[Annotation]], E], question: str | None) -> E:
        judged = [annotation for cast in self.votes.values() for annotation in cast]
        asked = {question_of(annotation) for annotation in judged}
        only = None if asked == {question} else question
        key = model.__name__, only
        if key not in self._estimates:
            self._estimates[key] = model(a for a in judged if only in (None, question_of(a)))
        found: E = self._estimates[key]
        return found


@dataclass(slots=True)
class _Judgement:
    """What one person answered, in one sitting, about all items of a group."""

    annotator: str
    answers: list[Annotation]
    repeat: bool


def count(annotations: Iterable[Annotation], rule: Rule | None = None, group: Grouping | None = None) -> Counted:
    """Choose the judgements that count for each item, and say why each of the others does not."""
    rule, group = rule or Rule(), group or (lambda annotation: annotation.item)
    everything = list(annotations)
    gold = gold_results(everything, rule.gold_pass)
    votes: dict[str, list[Annotation]] = {}
    groups: dict[str, dict[tuple[str, int], _Judgement]] = defaultdict(dict)
    members: dict[str, set[str]] = defaultdict(set)
    asked: dict[str, int] = {}
    times: Counter[tuple[str, str]] = Counter()
    aside: list[Annotation] = []
    for annotation in everything:
        if annotation.extra.get("gold"):
            aside.append(set_aside(annotation, "gold item"))
            continue
        votes.setdefault(annotation.item, [])
        members[group(annotation)].add(annotation.item)
        said = str(annotation.extra.get("asked") or 0)
        if not said.isdecimal():
            raise ValueError(
                f"item {annotation.item!r} was asked {said!r} people about; give a number, or leave it empty"
            )
        if (people := int(said)) > rule.of:
            asked[group(annotation)] = max(people, asked.get(group(annotation), 0))
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
        wanted = asked.get(name, rule.of)
        seated, refused = _seats(list(groups[name].values()), len(items), wanted, fill=rule.repeats == "fill")
        seats[name] = Seats(taken=len(seated), wanted=wanted, items=len(items))
        for judgement in seated:
            for annotation in judgement.answers:
                votes[annotation.item].append(annotation)
            repeats += judgement.answers if judgement.repeat else []
        aside += [set_aside(answer, reason) for judgement, reason in refused for answer in judgement.answers]
    more = {item: people for name, people in asked.items() for item in members[name]}
    return Counted(votes=votes, set_aside=aside, gold=gold, repeats=repeats, asked=more, seats=seats)


def gold_results(annotations: Iterable[Annotation], needed: float) -> dict[str, GoldResult]:
    """How many attention items each person answered rightly; a person who met none is not in it."""
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
    """The annotations that answer something: no attention items, nothing skipped, invalid or left empty."""
    return [a for a in annotations if a.label and not (a.extra.get("gold") or a.extra.get("invalid") or is_skipped(a))]


def questions_of(annotations: Iterable[Annotation]) -> list[str]:
    """The questions that these annotations answer, each once; those about no whole item are one question."""
    return [*dict.fromkeys(map(question_of, annotations))]


def question_of(annotation: Annotation) -> str:
    """The question about a whole item that an annotation answers; empty where items are labelled themselves."""
    return str(annotation.extra.get("question", ""))


def is_skipped(annotation: Annotation) -> bool:
    """Whether the person passed the item on; a CSV says it in words."""
    said = annotation.extra.get("skipped", False)
    return said if isinstance(said, bool) else str(said).strip().casefold() in {"1", "true", "yes"}


def set_aside(annotation: Annotation, reason: str) -> Annotation:
    """An annotation that does not count, with the reason."""
    return replace(annotation, extra={**annotation.extra, "set_aside": reason})


def _why_not(annotation: Annotation, rule: Rule, gold: Mapping[str, GoldResult]) -> str:
    """Why this annotation cannot count whatever the others are, or nothing."""
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
    judgements: list[_Judgement], size: int, of: int, *, fill: bool
) -> tuple[list[_Judgement], list[tuple[_Judgement, str]]]:
    """The first `of` complete judgements by different people, and the others with their reasons.

    A platform may give one person two of the five seats, as happened in 72 CATs of StereoSet, whose authors
    counted both; so with `fill` a repeat takes the last seat, never a second one, where no other person did.
    """
    complete = [j for j in judgements if len(j.answers) == size]
    refused = [(j, "incomplete") for j in judgements if len(j.answers) < size]
    if len(complete) > of and all(answer.at for judgement in complete for answer in judgement.answers):
        complete.sort(key=lambda judgement: max(map(_time, judgement.answers)))
    distinct: dict[str, _Judgement] = {}
    repeats = [j for j in complete if distinct.setdefault(j.annotator, j) is not j]
    people = list(distinct.values())
    seated, late = people[:of], people[of:]
    if fill and len(seated) == of - 1 and repeats:
        seated.append(repeats.pop(0))
    refused += [(j, f"after the first {of}") for j in late]
    return seated, refused + [(j, "repeat") for j in repeats]


def _time(annotation: Annotation) -> datetime:
    """The annotation's time; one without a zone is taken as UTC."""
    try:
        at = datetime.fromisoformat(annotation.at)
    except ValueError:
        raise ValueError(
            f"item {annotation.item!r} has an annotation at {annotation.at!r}; give times as ISO 8601 "
            "(2024-05-01T12:00:00Z), or none at all to take them in the order of the file"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
