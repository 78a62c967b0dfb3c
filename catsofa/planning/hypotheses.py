"""Hypotheses as people write them: `ss > 50`, `ss/gender(gpt2) != 50`, `ss(gpt2) > ss(bert)`, `ss(a) = ss(b)`."""

import re
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Literal

import numpy as np

from catsofa.scoring.statistics.intervals import Interval

Sign = Literal[">", "<", "!=", "="]
OVERALL = "overall"
SHARE, BIAS = (0.0, 1.0), (-1.0, 1.0)
MEASURES = {
    "stereoset": dict.fromkeys(("lms", "ss", "icat"), (0.0, 100.0)),
    "crows_pairs": {"crows_pairs": (0.0, 100.0)},
    "sofa": {"sofa": (0.0, inf)},
    "seat": {"seat": (-inf, inf)},
    "bbq": {"acc_amb": SHARE, "acc_dis": SHARE, "s_amb": BIAS, "s_dis": BIAS},
}
"""Registered name of a measure to the names of its values, each with its least and greatest possible value."""
SETS = {"stereoset": "bias_type", "crows_pairs": "bias_type", "sofa": "category", "seat": "id", "bbq": "category"}
"""Registered name of a measure to the field of a record that names its set."""
EDGE = 1e-9
"""Smallest distance of an interval's end from the least or greatest value, because limits are computed on a log
scale."""
EXPECTED = "a hypothesis such as 'ss > 50', 'ss/gender(MODEL) != 50', 'ss(A) > ss(B)' or 'lms(A) = lms(B)'"
_VALUE = r"([a-z_]+)(?:/([^()<>=!]*[^()<>=!\s]))?\s*(?:\(\s*([^()]*[^()\s])\s*\))?"
_FORM = re.compile(rf"\s*{_VALUE}\s*(!=|[<>=])\s*(?:([-+]?\d+(?:\.\d+)?)|{_VALUE})\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """Compares one value of one model with a number, or with the same value of another model."""

    measure: str
    set: str
    sign: Sign
    number: float = 0.0
    models: tuple[str, ...] = ()
    """The model of the value, then the model to compare with; empty for a hypothesis about every model."""

    def __str__(self) -> str:
        """Returns the hypothesis as people write it."""
        value = self.measure if self.set == OVERALL else f"{self.measure}/{self.set}"
        first, *right = [f"{value}({model})" for model in self.models] or [value]
        return f"{first} {self.sign} {right[0] if right else np.format_float_positional(self.number, trim='-')}"

    @property
    def kind(self) -> str:
        """The registered name of the measure."""
        return next(kind for kind, names in MEASURES.items() if self.measure in names)

    @property
    def names(self) -> tuple[str, str]:
        """The names that a margin may use for the hypothesis: measure and set, which takes precedence, and measure."""
        return f"{self.measure}/{self.set}", self.measure


def parse(text: str) -> Hypothesis:
    """Parses a hypothesis."""
    if not (matched := _FORM.fullmatch(text)):
        raise ValueError(f"found the hypothesis {text!r}; expected {EXPECTED}")
    measure, part, model, sign, number, other, other_part, other_model = matched.groups()
    measures = [name for names in MEASURES.values() for name in names]
    if measure not in measures:
        expected = f"expected one of {', '.join(measures)}; runs of `choose` cannot be planned"
        raise ValueError(f"found the measure {measure!r} in {text!r}; {expected}")
    if measure == "seat" and not part:
        raise ValueError(f"found {text!r} without a test; expected the name of one, such as 'seat/TEST > 0'")
    if number is None and ((measure, part) != (other, other_part) or None in (model, other_model)):
        raise ValueError(f"found {text!r}; expected one measure of two models on both sides, such as 'ss(A) > ss(B)'")
    if number is None and model == other_model:
        raise ValueError(f"found {text!r}, the same model on both sides; expected two models")
    if measure == "icat" and number is None and sign == "=":
        raise ValueError(f"found {text!r}; expected ss(A) = ss(B) and lms(A) = lms(B), from which icat follows")
    models = tuple(name for name in (model, other_model) if name)
    return Hypothesis(
        measure=measure,
        set=part or OVERALL,
        sign=sign,  # type: ignore[arg-type]
        number=float(number or 0) + 0.0,
        models=models,
    )


def within(sign: str, number: float, margin: float, interval: Interval) -> bool:
    """Returns True if an interval supports a hypothesis: beyond the number plus the margin, or within the margin."""
    low, high = interval.low - number, interval.high - number
    beyond = {">": low > margin, "<": high < -margin, "=": low > -margin and high < margin}
    return beyond.get(sign, low > margin or high < -margin)


def refuse_certain(hypothesis: Hypothesis, margin: float) -> None:
    """Refuses a hypothesis that every possible value fits, or none, because no run is needed to decide it."""
    least, most = MEASURES[hypothesis.kind][hypothesis.measure]
    low, high = (least - most, most - least) if len(hypothesis.models) > 1 else (least, most)
    low, high = low + EDGE, high - EDGE
    nearest = min(max(hypothesis.number, low), high)
    fits = partial(within, hypothesis.sign, hypothesis.number, margin)
    every = fits(Interval(nearest, low, high))
    if every or not any(fits(Interval(value, value, value)) for value in (low, nearest, high)):
        about = f"{hypothesis.measure} is between {least:g} and {most:g}" + f", the margin is {margin:g}" * bool(margin)
        raise ValueError(f"found {str(hypothesis)!r}, which {'every' if every else 'no'} value fits; {about}")
