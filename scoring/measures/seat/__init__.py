"""SEAT and WEAT: do targets X associate with attributes A, and targets Y with attributes B?

s(w, A, B) is the mean cosine of w with A minus that with B (May et al. 2019, after Caliskan et al. 2017). A large
effect shows an association; a small effect does not show its absence.
"""

__all__ = ["associations", "cosines", "effect_size", "measure", "results", "with_holm"]

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from catsofa.data.percentages import quantity
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import AssociationTest
from catsofa.data.statistics import LEVEL, draw_counts, students
from catsofa.scoring.measures.seat.permutation_test import EXACT_LIMIT, SAMPLES, How, Method, p_value
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import ALIKE, RESAMPLES, UNDEFINED, Interval, limits

Vector = NDArray[np.float64]
Matrix = NDArray[np.floating[Any]]
BLOCK = 500
"""Number of resamples in one block."""
SAME = 1e-10
"""Tolerance below 1 for the cosine of two vectors of the same words."""
TAILS, MOST_EXCESS = 1.5, 0.75
"""The factor by which the targets' excess kurtosis widens an interval, and the maximum kurtosis that counts."""


class Encoder(Protocol):
    """The input of a measure over vectors: vectors, and everything they depend on."""

    @property
    def key(self) -> Mapping[str, Any]:
        """The encoder's name and options; numbers with different keys are not compared."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A row for each text; NaN for a text that has no vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """The outcome of one test; with too few vectors it is unscored, and `reason` says why."""

    test: str
    effect_size: float | None = None
    interval: Interval = UNDEFINED
    """The effect size with its limits over the targets, as in the test of p."""
    all_sets: Interval = UNDEFINED
    """The same with resampled attributes too, which shows how far the effect depends on the words of A and B."""
    p_value: float | None = None
    holm: float | None = None
    exact: bool = False
    how: How | None = None
    splits: int = 0
    statistic: float | None = None
    sizes: Mapping[str, int]
    coverage: float
    """Share of the texts with a vector; 0 for an unscored test."""
    unknown: int | None = None
    """The number of texts with an unknown token; None if these were not counted."""
    reason: str = ""
    associations: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """s(w, A, B) of each target of X (`x`) and Y (`y`) in order, NaN without a vector; empty for an unscored test."""

    def to_dict(self) -> dict[str, Any]:
        """The row as in catsofa's JSON."""
        row = {name: getattr(self, name) for name in self.__slots__ if name not in ("interval", "all_sets")}
        effects = {"effect_size": self.interval, "effect_size_all_sets": self.all_sets}
        return row | {"intervals": {name: {"low": effect.low, "high": effect.high} for name, effect in effects.items()}}


def encode_once(texts: Iterable[str], encoder: Encoder) -> dict[str, Vector]:
    """The vector of each distinct text, encoded once; a text whose vector is zero or not finite has none."""
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return {}
    rows = np.asarray(encoder.encode(distinct), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(distinct):
        raise ValueError(f"the encoder gave {rows.shape} for {len(distinct)} texts; expected a row for each")
    usable = np.isfinite(rows).all(axis=1) & (np.abs(rows).max(axis=1) > 0)
    return {text: row for text, row, use in zip(distinct, rows, usable, strict=True) if use}


def _telling(vectors: Mapping[str, Vector], unknown: Collection[str]) -> dict[str, Vector]:
    """Returns the vectors, without texts whose vector has the direction of another text because of unknown words."""
    several = [text for text in vectors if text in unknown]
    if not several:
        return dict(vectors)
    close = cosines([vectors[text] for text in several], list(vectors.values())) > 1 - SAME
    alike = {text for text, count in zip(several, close.sum(axis=1), strict=True) if count > 1}
    return {text: vector for text, vector in vectors.items() if text not in alike}


def results(
    tests: Iterable[AssociationTest],
    encoder: Encoder,
    *,
    method: Method = "permutation",
    exact_limit: int = EXACT_LIMIT,
    samples: int = SAMPLES,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Every test with one encoder, each distinct text encoded once; Holm's correction is over all of them."""
    tests = list(tests)
    vectors = encode_once((text for test in tests for words in _sets(test) for text in words), encoder)
    unknown = getattr(encoder, "unknown", None)
    vectors = _telling(vectors, unknown or ())
    rows = []
    for test in tests:
        row = measure(
            test,
            vectors,
            method=method,
            exact_limit=exact_limit,
            samples=samples,
            resamples=resamples,
            level=level,
            seed=seed,
        )
        rows.append(row)
        progress.update()
    if unknown is not None:
        rows = [
            replace(row, unknown=sum(text in unknown for words in _sets(test) for text in words))
            for row, test in zip(rows, tests, strict=True)
        ]
    return {"results": [row.to_dict() for row in with_holm(rows)], "encoder": dict(encoder.key), "texts": len(vectors)}


def measure(
    test: AssociationTest,
    vectors: Mapping[str, Vector],
    *,
    method: Method = "permutation",
    exact_limit: int = EXACT_LIMIT,
    samples: int = SAMPLES,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Association:
    """One test from the vectors of its texts; a text without a vector is left out and lowers the coverage."""
    x, y, a, b = ([vectors[text] for text in words if text in vectors] for words in _sets(test))
    listed = sum(map(len, _sets(test)))
    row = Association(
        test=test.id,
        sizes={"x": len(test.x.items), "y": len(test.y.items), "a": len(test.a.items), "b": len(test.b.items)},
        coverage=(len(x) + len(y) + len(a) + len(b)) / listed,
    )
    if reason := _why_not(test, vectors):
        return unscored(row, reason)
    cosines_x, cosines_y = cosines(x, [*a, *b]), cosines(y, [*a, *b])
    s_x, s_y = (associations(c[:, : len(a)], c[:, len(a) :]) for c in (cosines_x, cosines_y))
    size = effect_size(s_x, s_y)
    if isnan(size):
        return unscored(row, "every target has the same association, so the effect size is undefined")
    for name, rows in (("X", x), ("Y", y)):
        if len(rows) > 1 and not np.ptp(rows, axis=0).any():
            return unscored(row, f"every target of {name} has the same vector, so the effect size is undefined")
    over_targets = interval_over_targets(s_x, s_y, level) if resamples else Interval(size, nan, nan)
    over_all = _over_all_sets(size, cosines_x, cosines_y, len(a), resamples, level, seed)
    tail = p_value(s_x, s_y, method=method, exact_limit=exact_limit, samples=samples, seed=seed)
    return replace(
        row,
        effect_size=size,
        interval=over_targets,
        all_sets=over_all,
        p_value=tail.p,
        exact=tail.how == "exact",
        how=tail.how,
        splits=tail.splits,
        statistic=float(s_x.sum() - s_y.sum()),
        associations={
            side: [next(numbers) if text in vectors else nan for text in words.items]
            for side, words, numbers in (("x", test.x, iter(s_x.tolist())), ("y", test.y, iter(s_y.tolist())))
        },
    )


def unscored(row: Association, reason: str) -> Association:
    """Returns a row without numbers, with a coverage of 0."""
    return replace(row, coverage=0.0, reason=reason)


def with_holm(rows: Sequence[Association]) -> list[Association]:
    """Returns the rows with Holm's adjusted p over all scored rows; a table of several models is one family."""
    adjusted = holm([nan if row.p_value is None else row.p_value for row in rows])
    return [replace(row, holm=None if isnan(p) else p) for row, p in zip(rows, adjusted, strict=True)]


def interval_over_targets(x: Vector, y: Vector, level: float = LEVEL) -> Interval:
    """The effect size of associations, with limits over the targets: Student's t on the scale of d / √(1 − d²/4).

    The error is that of d's influence function. Heavy tails hide from few targets and shrink the standard deviation;
    the error grows by the square root of 1 + TAILS times the excess kurtosis of the targets within their sets.
    """
    size, n = effect_size(x, y), len(x)
    if n < 2 or not 1 - size**2 / 4 > 0:
        return Interval(size, nan, nan)
    together, middle = np.concatenate([x, y]), (x.mean() + y.mean()) / 2
    shares = [(w - middle) ** 2 / (4 * together.var()) for w in (x, y)]
    deviation = together.std(ddof=1)
    influence = [side * w / deviation - size * share for side, w, share in zip((1, -1), (x, y), shares, strict=True)]
    error = sqrt(sum(float(each.var(ddof=1)) for each in influence) / n)
    if not error > ALIKE:
        return Interval(size, nan, nan)
    flat = 1 - size**2 / 4
    error *= sqrt(1 + TAILS * min(max(_excess(x, y), 0.0), MOST_EXCESS)) / flat**1.5
    reach = students(n, level) * error
    low, high = (moved / sqrt(1 + moved**2 / 4) for moved in (size / sqrt(flat) - reach, size / sqrt(flat) + reach))
    return Interval(size, low, high)


def _excess(x: Vector, y: Vector) -> float:
    """Returns the kurtosis of targets within their sets minus the mean for as many normal numbers; 0 without spread."""
    scaled = [(w - w.mean()) / w.std() for w in (x, y) if w.std() > ALIKE * np.abs(w).max()]
    if not scaled:
        return 0.0
    together = np.concatenate(scaled)
    return float((together**4).mean()) - 3 + 6 / (len(together) + 1)


def _over_all_sets(size: float, x: Vector, y: Vector, split: int, resamples: int, level: float, seed: int) -> Interval:
    """An effect size with its limits over targets and attributes."""
    drawn = resampled_effect_sizes(x, y, split, resamples, np.random.default_rng(seed))
    low, high = limits(np.array(size), drawn, len(x), level)
    return Interval(size, float(low), float(high))


def cosines(words: Sequence[ArrayLike], attributes: Sequence[ArrayLike]) -> Vector:
    """The cosine of each word (row) with each attribute (column)."""
    product: Vector = _unit(words) @ _unit(attributes).T
    return product


def associations(with_a: Vector, with_b: Vector) -> Vector:
    """s(w, A, B) of each word: its mean cosine with A minus that with B."""
    difference: Vector = with_a.mean(axis=1) - with_b.mean(axis=1)
    return difference


def effect_size(x: Vector, y: Vector) -> float:
    """d = (mean of s over X - mean of s over Y) / standard deviation of s over X and Y (ddof 1); NaN if that is 0."""
    together = np.concatenate([x, y])
    if np.ptp(together) <= 1e-12 * np.abs(together).max():
        return nan
    return float((x.mean() - y.mean()) / together.std(ddof=1))


def resampled_effect_sizes(x: Vector, y: Vector, split: int, resamples: int, rng: np.random.Generator) -> Vector:
    """Returns effect sizes with resampled targets of X and Y and resampled attributes.

    Rows of the cosines are targets, columns are attributes; the first `split` columns are those of A.
    """
    contrast = np.r_[np.full(split, 1 / split), np.full(x.shape[1] - split, -1 / (x.shape[1] - split))][None]
    blocks: list[Vector] = [np.empty(0)]
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        w_x, w_y = (draw_counts(len(words), rows, rng) for words in (x, y))
        w = contrast * np.c_[draw_counts(split, rows, rng), draw_counts(x.shape[1] - split, rows, rng)]
        blocks.append(_weighted_effect_size(w @ x.T, w @ y.T, w_x, w_y))
    return np.concatenate(blocks)


def _weighted_effect_size(x: Vector, y: Vector, w_x: Vector, w_y: Vector) -> Vector:
    """Returns the effect size of each row of associations, with the weights of the targets.

    The variance of n targets resampled from n is too small by a factor of (n - 1) / n, which would make every effect
    look larger. So the function corrects the spread within a set.
    """
    n = w_x.shape[1]
    mean_x, mean_y = (x * w_x).sum(axis=1) / n, (y * w_y).sum(axis=1) / n
    within = (w_x * (x - mean_x[:, None]) ** 2).sum(axis=1) + (w_y * (y - mean_y[:, None]) ** 2).sum(axis=1)
    squares = within * n / max(1, n - 1) + n * (mean_x - mean_y) ** 2 / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        sizes: Vector = (mean_x - mean_y) / np.sqrt(squares / (2 * n - 1))
    return sizes


def _unit(vectors: Sequence[ArrayLike]) -> Vector:
    """Vectors of length one."""
    matrix = np.asarray(vectors, dtype=np.float64)
    unit: Vector = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit


def _sets(test: AssociationTest) -> tuple[tuple[str, ...], ...]:
    """The texts of X, Y, A and B."""
    return test.x.items, test.y.items, test.a.items, test.b.items


def _why_not(test: AssociationTest, vectors: Mapping[str, Vector]) -> str:
    """Returns the reason why a test cannot be scored; empty if it can."""
    if len(test.x.items) != len(test.y.items):
        return f"X has {len(test.x.items)} targets and Y {len(test.y.items)}; the test needs as many of each"
    counts = [sum(text in vectors for text in words) for words in _sets(test)]
    if counts[0] != counts[1] or not all(counts):
        missing = list(dict.fromkeys(text for words in _sets(test) for text in words if text not in vectors))
        has, its = ("has", "its") if len(missing) == 1 else ("have", "their")
        return (
            f"{quantity(len(missing), 'text')} {has} no vector of {its} own ({', '.join(map(repr, missing[:5]))}), "
            f"which leaves X with {counts[0]}, Y with {counts[1]}, A with {counts[2]} and B with {counts[3]}"
        )
    return ""
