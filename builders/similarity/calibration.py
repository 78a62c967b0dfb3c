"""What a similarity score is worth: its rank correlation with people, and the threshold that is right often enough."""

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
"""Pairs that are compared between two looks at how far it is."""
BLOCK = 100
"""Resamples held in memory at once."""
COLUMNS = ("sentence1", "sentence2", "score")
EXPECTED = f"a table with the columns {', '.join(COLUMNS)}, as STS-B has them, separated by tabs or commas"


class Judged(NamedTuple):
    """Two sentences and how alike people found them."""

    one: str
    other: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How a model's cosines agree with people, who call `same` of the `pairs` the same.

    `threshold` is the lowest cosine from which on at least the share `precision` of the pairs are among these; None
    where no cosine reaches it. `recall` is the share of them that it keeps.
    """

    pairs: int
    same: int
    spearman: float
    interval: tuple[float, float]
    precision: float
    threshold: float | None
    recall: float | None


def read_judged(path: Path | str) -> list[Judged]:
    """The pairs of a table of human judgements."""
    with_tabs = "\t" in next(lines(path, EXPECTED))[1]
    found = _tab_rows(path) if with_tabs else csv_files.rows(path, COLUMNS, EXPECTED)
    return [Judged(row["sentence1"], row["sentence2"], _number(row["score"], path, at)) for at, row in found]


def _tab_rows(path: Path | str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with tabs, in which a quotation mark is a character like any other."""
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
    """A finite number."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(path, f"the score {cell!r}", "a number", line)
    return value


def cosines(pairs: Sequence[Judged], encoder: Encoder, progress: Progress = SILENT) -> Floats:
    """The cosine of each pair."""
    found = np.empty(len(pairs))
    for at in progress.each(range(0, len(pairs), STRETCH)):
        some = pairs[at : at + STRETCH]
        one, other = encoder.encode([p.one for p in some]), encoder.encode([p.other for p in some])
        found[at : at + STRETCH] = np.einsum("ij,ij->i", one, other)
    return found


def calibrate(
    cosine: Floats, scores: Sequence[float], *, same_from: float, precision: float, seed: int = 0
) -> Calibration:
    """Spearman's ρ with its 95 % bootstrap interval, and the threshold for a precision; `same_from` is their line."""
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
    """The lowest cosine from which on `precision` of the pairs are the same, and the share of those that are kept."""
    order = np.argsort(-cosine, kind="stable")
    right = np.cumsum(same[order])
    share = right / np.arange(1, len(order) + 1)
    # a threshold cannot cut between equal cosines
    cuts = np.flatnonzero((share >= precision) & np.append(np.diff(cosine[order]) != 0, True))
    if not len(cuts) or not same.any():
        return None, None
    return float(cosine[order][cuts[-1]]), float(right[cuts[-1]] / same.sum())
