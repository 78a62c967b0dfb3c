"""Exports the scores of a run to a file: StereoSet's prediction format, or one JSON record per line."""

from collections.abc import Iterator
from dataclasses import replace
from math import exp
from pathlib import Path

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats import predictions
from catsofa.data.records import KINDS, Score
from catsofa.scoring.run.reports import open_finished

FORMATS = {"stereoset": "predictions", "jsonl": "jsonl"}
"""Maps the format name that users give to the internal name."""


def export(run: Path | str, target: Path | str, *, as_format: str = "stereoset", logarithms: bool = False) -> int:
    """Write the scores of a run to `target` and return their number.

    Stored scores are logarithms; StereoSet's files hold probabilities (or ratios). So the `stereoset` format holds
    the exponential of each score with the logarithm beside it; with `logarithms`, only the score itself.
    """
    if as_format not in FORMATS:
        raise ValueError(f"no format {as_format!r} for scores; use {' or '.join(FORMATS)}")
    with open_finished(run) as held:
        scores = list(held.scores())
    if as_format == "stereoset":
        if strange := {score.task for score in scores} - set(KINDS):
            raise BadInput(run, f"scores of {' and '.join(sorted(strange))}", f"scores of {' and '.join(KINDS)}")
        scores = scores if logarithms else list(_probabilities(scores))
    return formats.named(FORMATS[as_format]).write(scores, Path(target))


def _probabilities(scores: list[Score]) -> Iterator[Score]:
    """The exponential of each score, with the score beside it; one that underflows to 0 would tie, so is refused."""
    for score in scores:
        value = None if score.score is None else exp(score.score)
        if value == 0:
            raise ValueError(f"e^{score.score:.0f} ({score.item}) cannot be distinguished from 0; use --log")
        beside = {} if value is None else {predictions.LOGARITHM: score.score}
        yield replace(score, score=value, extra={**score.extra, **beside})
