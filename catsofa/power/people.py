"""The number of judgements that an item needs, and the resulting precision of agreement."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.records import Annotation
from catsofa.validation.agreement import agreement

RIGHT = 0.95
"""Required probability that the majority is right."""
MOST = 999
"""Largest number of judgements of an item that is tried."""
DRAWS = 10
"""Simulated sets of judgements for the half-width of an interval."""
RESAMPLES = 200
AGREEMENT = ("percent", "krippendorff_alpha")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """The judgements that people of one accuracy need to decide items with two answers."""

    accuracy: float
    judgements: int
    """Judgements of each item, so that the majority is right with a probability of `RIGHT` or more."""
    right: float
    """The probability that the majority is right."""
    items: int
    agreement: dict[str, float]
    """Statistic to its expected value with this number of judgements of each item."""
    half_width: dict[str, float]
    """Statistic to half of its 95 % interval over the items of the set."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers for JSON."""
        statistics = {name: {"value": self.agreement[name], "half_width": self.half_width[name]} for name in AGREEMENT}
        about = {"accuracy": self.accuracy, "judgements": self.judgements, "right": self.right, "items": self.items}
        return {**about, "agreement": statistics}


def majority(accuracy: float, judgements: int) -> float:
    """Returns the probability that more than half of an odd number of independent people are right."""
    return float(special.bdtrc(judgements // 2, judgements, accuracy))


def judgements(accuracy: float, items: int, *, seed: int = 0) -> Judgements:
    """Returns the least odd number of judgements whose majority is right with `RIGHT`, and the precision of agreement.

    People are independent, and each is right on every item with the probability `accuracy`. Both answers are equally
    often the truth.
    """
    if not 0.5 < accuracy <= 1:
        raise ValueError(f"found the accuracy {accuracy:g}; expected a share of right answers above 0.5 and at most 1")
    count = next((n for n in range(1, MOST + 1, 2) if majority(accuracy, n) >= RIGHT), None)
    if count is None:
        raise ValueError(
            f"with the accuracy {accuracy:g} a majority of {MOST} people is not right with a probability of {RIGHT}; "
            "expected a higher accuracy: train people, or make the question easier"
        )
    rng, people = np.random.default_rng(seed), max(2, count)
    values: dict[str, list[float]] = {name: [] for name in AGREEMENT}
    widths: dict[str, list[float]] = {name: [] for name in AGREEMENT}
    for _ in range(DRAWS):
        answers = (rng.random(items) < 0.5)[:, None] ^ (rng.random((items, people)) >= accuracy)
        votes = (
            Annotation(item=str(item), annotator=str(person), label="yes" if answers[item, person] else "no")
            for item in range(items)
            for person in range(people)
        )
        agreed = agreement(votes, resamples=RESAMPLES, seed=seed)
        for name in AGREEMENT:
            values[name].append(getattr(agreed, name))
            widths[name].append((agreed.high[name] - agreed.low[name]) / 2)
    return Judgements(
        accuracy=accuracy,
        judgements=count,
        right=majority(accuracy, count),
        items=items,
        agreement={name: float(np.mean(numbers)) for name, numbers in values.items()},
        half_width={name: float(np.mean(numbers)) for name, numbers in widths.items()},
    )
