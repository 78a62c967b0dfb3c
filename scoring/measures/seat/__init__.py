"""SEAT and WEAT: do targets X associate with attributes A, and targets Y with attributes B?

s(w, A, B) is the mean cosine of w with A less that with B (May et al. 2019, after Caliskan et al. 2017). A large
effect shows an association; a small one does not show that there is none.
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
"""Resamples worked on at once."""
SAME = 1e-10
"""What the cosine of two vectors of the same words may lack of 1."""
TAILS, MOST_EXCESS = 1.5, 0.75
"""How much the excess kurtosis of the targets widens an interval, and the most of it that counts."""


class Encoder(Protocol):
    """What a measure over vectors needs: vectors, and everything they depend on."""

    @property
    def key(self) -> Mapping[str, Any]:
        """The encoder's name and options: two numbers with different keys are not compared."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A row for each text; NaN for a text that has no vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """The outcome of one test; without vectors enough it is unscored, and `reason` says why."""

    test: str
    effect_size: float | None = None
    interval: Interval = UNDEFINED
    """The effect size with its limits over the targets, as in the test of p."""
    all_sets: Interval = UNDEFINED
    """The same with the attributes drawn again too: how far it depends on the words that were chosen for A and B."""
    p_value: float | None = None
    holm: float | None = None
    exact: bool = False
    how: How | None = None
    splits: int = 0
    statistic: float | None = None
    sizes: Mapping[str, int]
    coverage: float
    """Share of the texts that the numbers rest on; 0 of an unscored test."""
    unknown: int | None = None
    """Texts with a token that the tokenizer does not know; None where nobody counted."""
    reason: str = ""
    associations: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """s(w, A, B) of each target of X (`x`) and of Y (`y`) in order, NaN without a vector; none of an unscored test."""

    def to_dict(self) -> dict[str, Any]:
        """The row as it stands in our JSON."""
        row = {name: getattr(self, name) for name in self.__slots__ if name not in ("interval", "all_sets")}
        found = {"effect_size": self.interval, "effect_size_all_sets": self.all_sets}
        return row | {"intervals": {name: {"low": of.low, "high": of.high} for name, of in found.items()}}


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
    """The vectors without those of texts whose unknown words leave them the direction of another text."""
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
    found = []
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
        found.append(row)
        progress.update()
    if unknown is not None:
        found = [
            replace(row, unknown=sum(text in unknown for words in _sets(test) for text in words))
            for row, test in zip(found, tests, strict=True)
        ]
    return {"results": [row.to_dict() for row in with_holm(found)], "encoder": dict(encoder.key), "texts": len(vectors)}


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
        return unscored(row, "every target has the same association, so that there is no effect size")
    for name, rows in (("X", x), ("Y", y)):
        if len(rows) > 1 and not np.ptp(rows, axis=0).any():
            return unscored(row, f"every target of {name} has the same vector, so that there is no effect size")
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
            side: [next(known) if text in vectors else nan for text in words.items]
            for side, words, known in (("x", test.x, iter(s_x.tolist())), ("y", test.y, iter(s_y.tolist())))
        },
    )


def unscored(row: Association, reason: str) -> Association:
    """A row without numbers, which rests on no text."""
    return replace(row, coverage=0.0, reason=reason)


def with_holm(rows: Sequence[Association]) -> list[Association]:
    """The rows with Holm's adjusted p over all of them that were scored; a table of several models is one family."""
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
    """The kurtosis of targets within their sets, less that which as many normal numbers have on average; 0 of none."""
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
    """s(w, A, B) of each word: its mean cosine with A less that with B."""
    difference: Vector = with_a.mean(axis=1) - with_b.mean(axis=1)
    return difference


def effect_size(x: Vector, y: Vector) -> float:
    """d = (mean of s over X - mean of s over Y) / standard deviation of s over X and Y (ddof 1); NaN if that is 0."""
    together = np.concatenate([x, y])
    if np.ptp(together) <= 1e-12 * np.abs(together).max():
        return nan
    return float((x.mean() - y.mean()) / together.std(ddof=1))


def resampled_effect_sizes(x: Vector, y: Vector, split: int, resamples: int, rng: np.random.Generator) -> Vector:
    """Effect sizes with the targets of X and of Y and the attributes drawn again.

    Rows of the cosines are targets, columns attributes, the first `split` of them A's.
    """
    contrast = np.r_[np.full(split, 1 / split), np.full(x.shape[1] - split, -1 / (x.shape[1] - split))][None]
    found: list[Vector] = [np.empty(0)]
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        w_x, w_y = (draw_counts(len(words), rows, rng) for words in (x, y))
        w = contrast * np.c_[draw_counts(split, rows, rng), draw_counts(x.shape[1] - split, rows, rng)]
        found.append(_weighted_effect_size(w @ x.T, w @ y.T, w_x, w_y))
    return np.concatenate(found)


def _weighted_effect_size(x: Vector, y: Vector, w_x: Vector, w_y: Vector) -> Vector:
    """The effect size of each row of associations, its targets taken as often as their weights say.

    n targets drawn again from n vary by (n - 1) / n as much, which would make every effect look larger: the spread
    within a set is put back.
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
    """Why a test cannot be scored; empty if it can."""
    if len(test.x.items) != len(test.y.items):
        return f"X has {len(test.x.items)} targets and Y {len(test.y.items)}; the test needs as many of each"
    kept = [sum(text in vectors for text in words) for words in _sets(test)]
    if kept[0] != kept[1] or not all(kept):
        missing = list(dict.fromkeys(text for words in _sets(test) for text in words if text not in vectors))
        has, its = ("has", "its") if len(missing) == 1 else ("have", "their")
        return (
            f"{quantity(len(missing), 'text')} {has} no vector of {its} own ({', '.join(map(repr, missing[:5]))}), "
            f"which leaves X with {kept[0]}, Y with {kept[1]}, A with {kept[2]} and B with {kept[3]}"
        )
    return ""
