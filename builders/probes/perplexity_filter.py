"""SoFa's filter: keeps stereotypes with a mean perplexity in the lowest bins of their category's histogram.

The paper specifies neither the bins nor how many it keeps. Both are therefore arguments, and the histogram is part of
the result.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from catsofa.data import formats
from catsofa.data.files import atomic_write
from catsofa.data.records import Refused, Score, Stereotype

Scale = Literal["log10", "linear"]
"""Perplexities span orders of magnitude; on a linear scale nearly all share one bin."""

MOST_BINS = 1000
SHARE = 0.9
"""The default cut: the fewest lowest bins that hold 90 % of a category."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Perplexities of one category on a scale, and how many of its lowest bins are kept."""

    category: str
    scale: Scale
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    kept_bins: int

    @property
    def highest(self) -> float:
        """The upper edge of the last kept bin."""
        return self.edges[self.kept_bins]

    @property
    def kept(self) -> int:
        """The number of kept values."""
        return sum(self.counts[: self.kept_bins])


def read_scores(files: Iterable[Path]) -> dict[str, dict[str, float | None]]:
    """Reads the perplexities of each model from its score file, whose items are the ids of the stereotypes."""
    scores: dict[str, dict[str, float | None]] = {}
    for file in files:
        if str(file) in scores:
            raise ValueError(f"{file} is named twice; a model counts once")
        scores[str(file)] = {score.item: score.score for score in formats.read_as(file, Score)}
    return scores


def cut(text: str) -> int | float:
    """Parses what to keep: a number of bins (12), or a share (0.9)."""
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither a number of bins (12) nor a share (0.9)") from None


def mean_over_models(scores: Mapping[str, Mapping[str, float | None]]) -> dict[str, float]:
    """Returns the mean perplexity of each item over all models; an item that a model left unscored is omitted."""
    if not scores:
        raise ValueError("the filter needs the perplexities of at least one model")
    items = set().union(*(model.keys() for model in scores.values()))
    means: dict[str, float] = {}
    for item in items:
        values = [value for model in scores.values() if (value := model.get(item)) is not None and np.isfinite(value)]
        if len(values) == len(scores):
            means[item] = fmean(values)
    return means


def histogram(
    values: Sequence[float],
    category: str = "",
    *,
    bins: int | None = None,
    keep: int | float = SHARE,
    scale: Scale = "log10",
) -> Histogram:
    """Returns the histogram of perplexities, with Freedman-Diaconis bins unless `bins` is given.

    `keep` counts the lowest bins to keep, or is the share of the values that they must hold.
    """
    if not values:
        raise ValueError(f"no perplexities to bin for {category or 'the stereotypes'}")
    placed = _on_scale(values, scale)
    counts, edges = np.histogram(placed, bins=_freedman_diaconis(placed) if bins is None else bins)
    return Histogram(
        category=category,
        scale=scale,
        edges=tuple(map(float, edges)),
        counts=tuple(map(int, counts)),
        kept_bins=_lowest_bins(counts, keep),
    )


def _on_scale(values: Sequence[float], scale: Scale) -> NDArray[np.float64]:
    """Returns the values on the scale of the histogram."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all() or (array <= 0).any():
        raise ValueError("perplexities are finite and above 0; leave out what is not scored")
    return np.log10(array) if scale == "log10" else array


def _freedman_diaconis(values: NDArray[np.float64]) -> int:
    """Returns the number of bins of width 2 * IQR / n^(1/3), or Sturges' number if the IQR is 0."""
    low, high = np.percentile(values, [25, 75])
    width, span = 2 * (high - low) / len(values) ** (1 / 3), float(np.ptp(values))
    bins = span / width if width > 0 else np.log2(len(values)) + 1
    return int(min(max(np.ceil(bins), 1), MOST_BINS))


def _lowest_bins(counts: NDArray[Any], keep: int | float) -> int:
    """Returns the number of kept bins: the given number, or the fewest that hold a share of all values."""
    if isinstance(keep, int):
        if not 1 <= keep <= len(counts):
            raise ValueError(f"cannot keep {keep} of {len(counts)} bins")
        return keep
    if not 0 < keep <= 1:
        raise ValueError(f"the share to keep is above 0 and at most 1; found {keep}")
    enough = np.cumsum(counts) >= keep * counts.sum() - 1e-9
    return int(np.argmax(enough)) + 1


def build(
    stereotypes: Iterable[Stereotype],
    perplexity: Mapping[str, float],
    *,
    bins: int | None = None,
    keep: int | float = SHARE,
    scale: Scale = "log10",
) -> tuple[list[Histogram], Iterator[Stereotype | Refused]]:
    """Returns the histogram of each category, and each stereotype, kept or refused for high perplexity."""
    stereotypes = list(stereotypes)
    by_category: defaultdict[str, list[float]] = defaultdict(list)
    for stereotype in stereotypes:
        if stereotype.id in perplexity:
            by_category[stereotype.category].append(perplexity[stereotype.id])
    drawn = {
        category: histogram(values, category, bins=bins, keep=keep, scale=scale)
        for category, values in sorted(by_category.items())
    }
    return list(drawn.values()), (_judged(s, perplexity.get(s.id), drawn.get(s.category)) for s in stereotypes)


def _judged(stereotype: Stereotype, perplexity: float | None, drawn: Histogram | None) -> Stereotype | Refused:
    """Returns a stereotype, or its refusal."""
    if perplexity is None or drawn is None:
        return Refused(id=stereotype.id, reason="unscored", text=stereotype.text, source=stereotype.source)
    # a value on an edge belongs to the bin above it, except at the last edge
    if drawn.kept_bins < len(drawn.counts) and _on_scale([perplexity], drawn.scale)[0] >= drawn.highest:
        return Refused(
            id=stereotype.id, reason="high_perplexity", text=stereotype.text, score=perplexity, source=stereotype.source
        )
    return stereotype


def draw(histograms: Sequence[Histogram], path: Path | str) -> None:
    """Draws the histograms one above the other as SVG, the kept bins in the stronger colour."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    if not histograms:
        raise ValueError("no histogram to draw")
    figure = Figure(figsize=(7, 2.2 * len(histograms)), layout="tight")
    places = figure.subplots(len(histograms), squeeze=False)[:, 0]
    for place, drawn in zip(places, histograms, strict=True):
        colours = ["#2c6fbb" if i < drawn.kept_bins else "#c9ced6" for i in range(len(drawn.counts))]
        place.bar(drawn.edges[:-1], drawn.counts, np.diff(drawn.edges), align="edge", color=colours, edgecolor="white")
        place.axvline(drawn.highest, color="#222222", linewidth=1)
        place.set_title(
            f"{drawn.category or 'all'}: {drawn.kept:,} of {sum(drawn.counts):,} kept", loc="left", fontsize=10
        )
        place.set_ylabel("stereotypes")
        place.spines[["top", "right"]].set_visible(False)
    places[-1].set_xlabel("mean perplexity over the models" + (" (log10)" if histograms[0].scale == "log10" else ""))
    # with a fixed salt and no date, the same numbers give the same file
    with rc_context({"svg.hashsalt": "catsofa"}), atomic_write(path) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
