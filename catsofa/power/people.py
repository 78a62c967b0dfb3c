"""How many judgements an item needs, and how precisely agreement is known then."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.records import Annotation
from catsofa.validation.agreement import agreement

RIGHT = 0.95
"""The probability with which the majority should be right."""
MOST = 999
"""Judgements of an item beyond which no number is given."""
DRAWS = 10
"""Simulated sets of judgements behind a half-width."""
RESAMPLES = 200
AGREEMENT = ("percent", "krippendorff_alpha")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """What people of one accuracy need to decide items with two answers."""

    accuracy: float
    judgements: int
    """Of each item, so that the majority is right with a probability of `RIGHT` or more."""
    right: float
    """That probability."""
    items: int
    agreement: dict[str, float]
    """Statistic to its expected value, with so many judgements of each item."""
    half_width: dict[str, float]
    """Statistic to half of its 95 % interval over the items of the set."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers as they stand in our JSON."""
        found = {name: {"value": self.agreement[name], "half_width": self.half_width[name]} for name in AGREEMENT}
        about = {"accuracy": self.accuracy, "judgements": self.judgements, "right": self.right, "items": self.items}
        return {**about, "agreement": found}


def majority(accuracy: float, judgements: int) -> float:
    """The probability that more than half of an odd number of independent people are right."""
    return float(special.bdtrc(judgements // 2, judgements, accuracy))


def judgements(accuracy: float, items: int, *, seed: int = 0) -> Judgements:
    """The least odd number of judgements whose majority is right with `RIGHT`, and the intervals of agreement.

    People are independent, each right with this probability on every item; both answers are the truth equally often.
    """
    if not 0.5 < accuracy <= 1:
        raise ValueError(f"found the accuracy {accuracy:g}; expected a share of right answers above 0.5 and at most 1")
    count = next((n for n in range(1, MOST + 1, 2) if majority(accuracy, n) >= RIGHT), None)
    if count is None:
        raise ValueError(
            f"with the accuracy {accuracy:g} a majority of {MOST} people is not right with a probability of {RIGHT}; "
            "expected a higher accuracy: train people, or make the question easier"
        )
    rng, asked = np.random.default_rng(seed), max(2, count)
    values: dict[str, list[float]] = {name: [] for name in AGREEMENT}
    widths: dict[str, list[float]] = {name: [] for name in AGREEMENT}
    for _ in range(DRAWS):
        answers = (rng.random(items) < 0.5)[:, None] ^ (rng.random((items, asked)) >= accuracy)
        said = (
            Annotation(item=str(item), annotator=str(person), label="yes" if answers[item, person] else "no")
            for item in range(items)
            for person in range(asked)
        )
        found = agreement(said, resamples=RESAMPLES, seed=seed)
        for name in AGREEMENT:
            values[name].append(getattr(found, name))
            widths[name].append((found.high[name] - found.low[name]) / 2)
    return Judgements(
        accuracy=accuracy,
        judgements=count,
        right=majority(accuracy, count),
        items=items,
        agreement={name: float(np.mean(of)) for name, of in values.items()},
        half_width={name: float(np.mean(of)) for name, of in widths.items()},
    )
