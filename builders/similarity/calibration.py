"""Calibration of a similarity score: its rank correlation with people, and the threshold for a precision."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.files import BadInput, csv_files, lines
from catsofa.data.progress import SILENT, Progress
from catsofa.data.statistics import draws, spearman

Floats = NDArray[np.float64]

RESAMPLES = 1000
STRETCH = 256
"""Pairs compared between two updates of the progress display."""
BLOCK = 100
"""Resamples held in memory at once."""
COLUMNS = ("sentence1", "sentence2", "score")
EXPECTED = f"a table with the columns {', '.join(COLUMNS)}, as STS-B has them, separated by tabs or commas"


class Judged(NamedTuple):
    """Two sentences and the similarity that people assigned."""

    one: str
    other: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Agreement of a model's cosines with people, who call `same` of the `pairs` the same.

    `threshold` is the lowest cosine from which at least the share `precision` of the pairs are the same; None if no
    cosine reaches it. `recall` is the share of the same pairs that the threshold keeps.
    """

    pairs: int
    same: int
    spearman: float
    interval: tuple[float, float]
    precision: float
    threshold: float | None
    recall: float | None


def read_judged(path: Path | str) -> list[Judged]:
    """Reads the pairs of a table of human judgements."""
    with_tabs = "\t" in next(lines(path, EXPECTED))[1]
    rows = _tab_rows(path) if with_tabs else csv_files.rows(path, COLUMNS, EXPECTED)
    return [Judged(row["sentence1"], row["sentence2"], _number(row["score"], path, line)) for line, row in rows]


def _tab_rows(path: Path | str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the rows of a tab-separated table, where a quotation mark is an ordinary character."""
    table = lines(path, EXPECTED)
    names = next(table)[1].split("\t")
    if missing := [name for name in COLUMNS if name not in names]:
        raise BadInput(path, f"no column {missing[0]!r}", EXPECTED, 1)
    for number, line in table:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise BadInput(path, f"{len(cells)} cells", f"{len(names)}, one for each column of the header", number)
        yield number, dict(zip(names, cells, strict=True))


def _number(cell: str, path: Path | str, line: int) -> float:
    """Parses a finite number."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(path, f"the score {cell!r}", "a number", line)
    return value


def cosines(pairs: Sequence[Judged], encoder: Encoder, progress: Progress = SILENT) -> Floats:
    """Returns the cosine of each pair."""
    values = np.empty(len(pairs))
    for start in progress.each(range(0, len(pairs), STRETCH)):
        some = pairs[start : start + STRETCH]
        one, other = encoder.encode([p.one for p in some]), encoder.encode([p.other for p in some])
        values[start : start + STRETCH] = np.einsum("ij,ij->i", one, other)
    return values


def calibrate(
    cosine: Floats, scores: Sequence[float], *, same_from: float, precision: float, seed: int = 0
) -> Calibration:
    """Returns Spearman's ρ with its 95 % bootstrap interval, and the threshold for a precision.

    Pairs with a human score of at least `same_from` are the same.
    """
    judged = np.asarray(scores, dtype=np.float64)
    if len(cosine) < 3 or np.ptp(judged) == 0:
        raise ValueError("a correlation needs three pairs or more, and judgements that differ")
    same = judged >= same_from
    rng = np.random.default_rng(seed)
    blocks = (draws(len(cosine), BLOCK, rng) for _ in range(0, RESAMPLES, BLOCK))
    again = np.concatenate([spearman(cosine[drawn], judged[drawn]) for drawn in blocks])
    low, high = np.nanpercentile(again, [2.5, 97.5])
    threshold, recall = threshold_for(cosine, same, precision)
    return Calibration(
        pairs=len(cosine),
        same=int(same.sum()),
        spearman=float(spearman(cosine, judged)),
        interval=(float(low), float(high)),
        precision=precision,
        threshold=threshold,
        recall=recall,
    )


def threshold_for(cosine: Floats, same: NDArray[np.bool_], precision: float) -> tuple[float | None, float | None]:
    """Returns the lowest cosine from which `precision` of the pairs are the same, and its recall."""
    order = np.argsort(-cosine, kind="stable")
    right = np.cumsum(same[order])
    share = right / np.arange(1, len(order) + 1)
    # a threshold cannot cut between equal cosines
    cuts = np.flatnonzero((share >= precision) & np.append(np.diff(cosine[order]) != 0, True))
    if not len(cuts) or not same.any():
        return None, None
    return float(cosine[order][cuts[-1]]), float(right[cuts[-1]] / same.sum())
