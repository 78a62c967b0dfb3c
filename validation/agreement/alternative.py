"""The alternative annotator test (Calderon, Reichart and Dror 2025): tests whether a judge may replace human raters.

Each rater is left out in turn. On every item that the rater and others rated, the judge wins if its label agrees with
the others at least as well as the rater's label. The judge passes if it is good enough against half of the raters.
"""

__all__ = ["AltTest", "alt_test"]

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite, nan, sqrt
from typing import Any

from scipy import special

from catsofa.data.judging.ratings import Ratings
from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits
from catsofa.data.tables import Tabular
from catsofa.validation.agreement import item_sums, statistics_of
from catsofa.validation.judgements import answers

LEAST_ITEMS = 30
"""A rater who shares fewer items with others is left out: the t test needs about this many items."""
LEAST_RATERS = 3
"""With fewer raters, the winning rate says little about other raters."""
LEAST_RATE = 0.5
"""The minimum winning rate of a judge that passes."""
LOW_KAPPA = 0.2
"""Below this kappa of the raters, a judge wins easily, so a pass says little."""
FDR = 0.05
"""The expected share of wrong rejections (Benjamini and Yekutieli 2001)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """The comparison of one rater with the judge."""

    rater: str
    items: int
    judge: float
    """The share of items on which the judge agrees with the others at least as well as the rater (rho f)."""
    human: float
    """The share of items on which the rater does so (rho h); ties count for both."""
    p: float
    """The p value of the hypothesis that the judge is worse by epsilon or more."""
    won: bool = False
    """True if the hypothesis is rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The judge's recall of one label: its share of hits among the items to which most raters gave this label."""

    items: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AltTest(Tabular):
    """The result of the test for one judge."""

    judge: str
    epsilon: float
    duels: Sequence[Duel]
    items: int
    """Items of the raters who were tested."""
    unjudged: int
    """Items rated by at least two people that have no label of the judge."""
    left_out: int
    """Raters who share fewer than 30 items of the judge with other raters."""
    kappa: float
    """Fleiss' kappa of the raters on the judged items."""
    recall: Mapping[str, Recall] = field(default_factory=dict)

    @property
    def winning_rate(self) -> float:
        """The share of raters against whom the judge is good enough (omega); NaN without raters."""
        return sum(duel.won for duel in self.duels) / len(self.duels) if self.duels else nan

    @property
    def advantage(self) -> float:
        """The mean over raters of the share of items on which the judge is at least as good (rho)."""
        return sum(duel.judge for duel in self.duels) / len(self.duels) if self.duels else nan

    @property
    def passed(self) -> bool:
        """True if the judge may replace raters of these items."""
        return self.winning_rate >= LEAST_RATE

    @property
    def warnings(self) -> list[str]:
        """The reasons why the result is weak."""
        notes = []
        if len(self.duels) < LEAST_RATERS:
            notes.append(f"{self.judge}: only {len(self.duels)} raters have {LEAST_ITEMS} items or more")
        if self.unjudged:
            notes.append(
                f"{self.judge}: {self.unjudged:,} items that people rated have no label of it; the result says nothing "
                f"about these, which may be the hard ones"
            )
        if self.kappa < LOW_KAPPA:
            notes.append(f"{self.judge}: the raters' kappa is {self.kappa:.2f}; where people disagree, a pass is easy")
        return notes

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per rater."""
        return [{"judge_name": self.judge, **asdict(duel)} for duel in self.duels]

    def values(self) -> dict[str, Any]:
        """The result as plain values."""
        names = ("epsilon", "winning_rate", "advantage", "passed", "kappa", "items", "unjudged", "left_out")
        recall = {label: asdict(result) for label, result in self.recall.items()}
        return {n: getattr(self, n) for n in names} | {"recall": recall, "raters": [asdict(d) for d in self.duels]}


def alt_test(
    people: Iterable[Annotation], judged: Mapping[str, str], *, judge: str, epsilon: float, ordinal: bool = False
) -> AltTest:
    """Test a judge's labels of items against those of people; `ordinal` labels are numbers."""
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is a share from 0 to 1, not {epsilon}; use .2 for experts, .1 for crowds")
    by_item: dict[str, dict[str, str]] = defaultdict(dict)
    counted = []
    for one in answers(people):
        if one.annotator not in by_item[one.item]:  # if one person judged twice, the first judgement counts
            by_item[one.item][one.annotator] = one.label
            counted.append(one)
    shared = {item: labels for item, labels in by_item.items() if len(labels) >= 2}
    align = _nearness if ordinal else _share_equal
    wins: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for item, labels in shared.items():
        if item not in judged:
            continue
        for rater, label in labels.items():
            other_labels = [other for person, other in labels.items() if person != rater]
            ours, theirs = align(judged[item], other_labels), align(label, other_labels)
            wins[rater].append((ours >= theirs, theirs >= ours))
    tested = {rater: pairs for rater, pairs in wins.items() if len(pairs) >= LEAST_ITEMS}
    duels = [
        Duel(
            rater=rater,
            items=len(pairs),
            judge=sum(judge_wins for judge_wins, _ in pairs) / len(pairs),
            human=sum(rater_wins for _, rater_wins in pairs) / len(pairs),
            p=p_value([rater_wins - judge_wins for judge_wins, rater_wins in pairs], epsilon),
        )
        for rater, pairs in sorted(tested.items())
    ]
    rejected = benjamini_yekutieli([duel.p for duel in duels], FDR)
    rows = [one for one in counted if one.item in shared and one.item in judged]
    kappa = float(statistics_of(item_sums(Ratings.of(rows)).sum(axis=0, keepdims=True))[0][0]) if rows else nan
    return AltTest(
        judge=judge,
        epsilon=epsilon,
        duels=[replace(duel, won=place in rejected) for place, duel in enumerate(duels)],
        items=sum(any(rater in tested for rater in shared[item]) for item in shared if item in judged),
        unjudged=sum(item not in judged for item in shared),
        left_out=len(wins) - len(tested),
        kappa=kappa,
        recall={} if ordinal else _recall(shared, judged),
    )


def p_value(differences: Sequence[float], epsilon: float) -> float:
    """The p value of a one-sided t test that the mean difference is below epsilon; 0 or 1 without variance."""
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((value - mean) ** 2 for value in differences) / (n - 1)
    if variance == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(special.stdtr(n - 1, (mean - epsilon) / sqrt(variance / n)))


def benjamini_yekutieli(p_values: Sequence[float], level: float) -> set[int]:
    """The positions of the rejected hypotheses at a false discovery rate, under any dependence."""
    tests = len(p_values)
    harmonic = sum(1 / rank for rank in range(1, tests + 1))
    order = sorted(range(tests), key=lambda place: p_values[place])
    last = max(
        (rank for rank, place in enumerate(order, 1) if p_values[place] <= rank * level / (tests * harmonic)), default=0
    )
    return set(order[:last])


def _share_equal(label: str, other_labels: Sequence[str]) -> float:
    """The share of the others who gave the same label."""
    return sum(label == other for other in other_labels) / len(other_labels)


def _nearness(label: str, other_labels: Sequence[str]) -> float:
    """The negative root mean squared distance to the others' numbers."""
    try:
        numbers = [float(one) for one in (label, *other_labels)]
        if not all(map(isfinite, numbers)):
            raise ValueError
        return -sqrt(sum((numbers[0] - other) ** 2 for other in numbers[1:]) / len(other_labels))
    except ValueError:
        raise ValueError(f"a label among {label!r}, {', '.join(map(repr, other_labels))} is no number") from None


def _recall(by_item: Mapping[str, Mapping[str, str]], judged: Mapping[str, str]) -> dict[str, Recall]:
    """For each label, the judge's recall on the items to which a strict majority gave this label."""
    majority: dict[str, list[bool]] = defaultdict(list)
    for item, labels in by_item.items():
        label, votes = Counter(labels.values()).most_common(1)[0]
        if item in judged and 2 * votes > len(labels):
            majority[label].append(judged[item] == label)
    recalls = {}
    for label, hits in sorted(majority.items()):
        share = sum(hits) / len(hits)
        low, high = score_limits(share, len(hits), WIDE)
        recalls[label] = Recall(items=len(hits), share=share, low=low, high=high)
    return recalls
