"""Each annotator's accuracy, speed and habits; exclusions by stated limits, and their effect on decisions."""

__all__ = ["annotators"]

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import isnan, nan, prod
from statistics import median

import numpy as np

from catsofa.data.judging.dawid_skene import dawid_skene, spam_scores
from catsofa.data.judging.ratings import Floats, Indices, Ratings
from catsofa.data.percentages import in_percent
from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits
from catsofa.validation.annotation_files import Collected
from catsofa.validation.decide.votes import vote
from catsofa.validation.judgements import GoldResult, Rule, answers, gold_results, question_of, questions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits beyond which an annotator is to be excluded; each limit is one reason."""

    consensus: float | None = None
    """Minimum agreement with the others' majority; None means midway between chance and the crowd's median."""
    gold_pass: float = 0.75
    """Minimum share of attention items answered correctly."""
    speed: float = 1 / 3
    """Minimum median time per item, as a share of the crowd's median."""
    luck: float = 0.001
    """A run of equal answers less probable than this is not luck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """The results for one annotator; NaN if the data do not tell."""

    name: str
    answers: int
    consensus: float
    """The share of answers that equal the others' majority label (at least two others, and no tie)."""
    low: float
    high: float
    judged: int
    """The denominator of `consensus`."""
    expected_accuracy: float
    """The mean Dawid-Skene posterior of the answers given."""
    spam: float
    """0 if the answers do not depend on the true label (by the Dawid-Skene estimate), 1 if they always equal it."""
    gold: GoldResult | None
    seconds: float
    """Median time per item."""
    longest_run: int
    """Longest run of equal answers in order of time; 0 without times."""
    commonest: float
    """The share of the most frequent answer; with several questions, the most frequent answer to each."""
    exclude: tuple[str, ...] = ()
    """The reasons to exclude this annotator; empty if there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """The effect on the decisions of leaving people out."""

    excluded: Sequence[str]
    annotations: int
    lost: Sequence[str] = field(default_factory=list)
    """Items that would no longer be decided."""
    gained: Sequence[str] = field(default_factory=list)
    """Items that would be decided only without these people."""
    changed: Sequence[str] = field(default_factory=list)
    """Items that would get another label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crowd:
    """Statistics of all annotators, with which each person is compared."""

    shares: dict[tuple[str, str], float]
    """The share of each label among the answers to its question."""
    floor: float
    pace: float
    limits: Limits


def annotators(annotations: Iterable[Annotation], limits: Limits | None = None) -> list[Annotator]:
    """A report on each person, sorted: exclusions first, then by agreement with the others, lowest first."""
    limits, everything = limits or Limits(), list(annotations)
    judgements = answers(everything)
    if not judgements:
        raise ValueError("there is no answer: every annotation is empty, skipped or of an attention item")
    ratings = Ratings.of(judgements)
    agrees, (likely, spam) = agrees_with_others(ratings), _estimated(judgements, ratings)
    gold = gold_results(everything, limits.gold_pass)
    people = []
    for person, places in enumerate(_places(ratings)):
        own = [judgements[place] for place in places]
        judged = agrees[places][~np.isnan(agrees[places])]
        low, high = score_limits(float(judged.mean()), len(judged), WIDE) if len(judged) else (0.0, 1.0)
        timed_rows = [a for a in own if a.extra.get("seconds") not in (None, "")]
        people.append(
            Annotator(
                name=ratings.annotators[person],
                answers=len(own),
                consensus=float(judged.mean()) if len(judged) else nan,
                low=low,
                high=high,
                judged=len(judged),
                expected_accuracy=float(likely[places].mean()),
                spam=float(spam[person]),
                gold=gold.get(ratings.annotators[person]),
                seconds=median(map(_duration, timed_rows)) if timed_rows else nan,
                # the order of a file is not the order of work
                longest_run=_longest(own)[1] if all(a.at for a in own) else 0,
                commonest=_commonest(own),
            )
        )
    crowd = _crowd(judgements, people, limits)
    judged_people = [
        replace(a, exclude=tuple(_reasons(a, [judgements[p] for p in places], crowd)))
        for a, places in zip(people, _places(ratings), strict=True)
    ]
    return sorted(judged_people, key=lambda a: (not a.exclude, 2 if isnan(a.consensus) else a.consensus, a.name))


def without(collected: Collected, excluded: Iterable[str], rule: Rule | None = None) -> Exclusion:
    """The decisions that would be lost, gained or changed without the annotations of these people."""
    everything, out = collected.annotations, set(excluded)
    rest = [a for a in everything if a.annotator not in out]
    after = {item: decision.label for item, decision in vote(rest, rule, collected.grouping).decisions.items()}
    lost: list[str] = []
    gained: list[str] = []
    changed: list[str] = []
    for item, decision in vote(everything, rule, collected.grouping).decisions.items():
        label = after.get(item)
        if decision.label != label:
            (changed if label and decision.label else gained if label else lost).append(item)
    return Exclusion(
        excluded=sorted(out), annotations=len(everything) - len(rest), lost=lost, gained=gained, changed=changed
    )


def agrees_with_others(ratings: Ratings) -> Floats:
    """1 if an answer is the majority label of the item's other judges, 0 if not, NaN without a majority."""
    other_counts = ratings.counts()[ratings.item]
    rows = np.arange(len(ratings))
    other_counts[rows, ratings.label] -= 1
    most = other_counts.max(axis=1, initial=0)
    clear = (most >= 2) & ((other_counts == most[:, None]).sum(axis=1) == 1)
    return np.where(clear, other_counts[rows, ratings.label] == most, np.nan)


def _places(ratings: Ratings) -> list[Indices]:
    """The positions of each person's annotations."""
    order = np.argsort(ratings.annotator, kind="stable")
    return np.split(order, np.cumsum(np.bincount(ratings.annotator))[:-1])


def _estimated(judgements: Sequence[Annotation], ratings: Ratings) -> tuple[Floats, Floats]:
    """The Dawid-Skene posterior of each answer, and the spam score of each person.

    Each question has its own labels and is estimated separately; a score is the mean over a person's answers.
    """
    questions = np.array([question_of(annotation) for annotation in judgements], dtype=object)
    likely, spam = np.empty(len(judgements)), np.zeros(len(ratings.annotators))
    for question in questions_of(judgements):
        places = np.flatnonzero(questions == question)
        part_ratings = Ratings.of(judgements[place] for place in places)
        estimate = dawid_skene(part_ratings)
        likely[places] = estimate.posterior[part_ratings.item, part_ratings.label]
        scores = dict(zip(part_ratings.annotators, spam_scores(estimate.confusion), strict=True))
        for place in places:
            spam[ratings.annotator[place]] += scores[judgements[place].annotator]
    return likely, spam / np.bincount(ratings.annotator)


def _crowd(judgements: Sequence[Annotation], people: Sequence[Annotator], limits: Limits) -> _Crowd:
    """The crowd's label shares and pace, and the minimum agreement with others."""
    answers_to, counts = Counter(map(question_of, judgements)), Counter((question_of(a), a.label) for a in judgements)
    shares = {(question, label): n / answers_to[question] for (question, label), n in counts.items()}
    chance = sum(n * shares[each] for each, n in counts.items()) / len(judgements)
    usual = [a.consensus for a in people if a.judged]
    times = [a.seconds for a in people if not isnan(a.seconds)]
    midway = (chance + median(usual)) / 2 if usual else 0.0
    return _Crowd(
        shares=shares,
        floor=midway if limits.consensus is None else limits.consensus,
        pace=median(times) if times else nan,
        limits=limits,
    )


def _reasons(person: Annotator, own: Sequence[Annotation], crowd: _Crowd) -> Iterator[str]:
    """The reasons to exclude a person; low agreement counts only if the upper limit of its interval is too low."""
    limits = crowd.limits
    if person.gold and not person.gold.passed:
        yield f"{person.gold.right} of {person.gold.answered} attention items right"
    if person.high < crowd.floor:
        share, high = in_percent(person.consensus, 0), in_percent(person.high, 0)
        yield f"agrees with the others on {share} (95 % interval up to {high})"
    if person.seconds < limits.speed * crowd.pace:
        yield f"{person.seconds:.1f} s per item, where the crowd takes {crowd.pace:.1f} s"
    same, run = _longest(own) if person.longest_run else (("", ""), 0)
    if run and person.answers * crowd.shares[same] ** run < limits.luck:
        yield f"{run} times {same[1]} in a row"
    elif person.commonest == 1 and prod(crowd.shares[question_of(a), a.label] for a in own) < limits.luck:
        yield f"{', '.join(dict.fromkeys(a.label for a in own))} for all {len(own)} items"


def _duration(annotation: Annotation) -> float:
    """The seconds one annotation took."""
    try:
        return float(annotation.extra["seconds"])
    except (TypeError, ValueError):
        raise ValueError(
            f"item {annotation.item!r} took {annotation.extra['seconds']!r} seconds; give a number, or leave it empty"
        ) from None


def _longest(own: Sequence[Annotation]) -> tuple[tuple[str, str], int]:
    """The question and answer of the longest run of equal answers, and the length of the run."""
    in_time = sorted(own, key=lambda a: (question_of(a), a.at))
    runs = [(same, len(list(row))) for same, row in groupby(in_time, key=lambda a: (question_of(a), a.label))]
    return max(runs, key=lambda run: run[1])


def _commonest(own: Sequence[Annotation]) -> float:
    """The share of answers that are the most frequent answer to their question."""
    most = Counter[str]()
    for (question, _), n in Counter((question_of(a), a.label) for a in own).items():
        most[question] = max(n, most[question])
    return most.total() / len(own)
