"""Finished runs against one another: models on the same data, and originals with their paraphrases."""

__all__ = ["compare", "robustness"]

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.progress import SILENT, Progress
from catsofa.report.inputs import data_of_choices, read
from catsofa.scoring.compare.choosing import compare_choices
from catsofa.scoring.run.manifest import CHOICES
from catsofa.scoring.run.score_files import compare_on, robustness_on

if TYPE_CHECKING:
    from catsofa.scoring.measures.robustness.report import RobustnessReport


def compare(
    runs: Sequence[Path | str], on: Path | str | None = None, *, protocol: str = "catsofa", seed: int | None = None
) -> Any:
    """Each run of `score` or `choose`, or file of scores, against the first: paired changes, and p adjusted by Holm.

    A run knows its data; files of scores need `on`. Runs over probes give the overlap of their ends.
    """
    if not all((Path(run) / CHOICES).is_file() for run in runs):
        return compare_on(runs, on, protocol=protocol, seed=seed)
    place = on if on is not None else data_of_choices(read(Path(runs[0]))).on
    assert place is not None
    return compare_choices(runs, place, seed=seed or 0)


def robustness(
    originals: Sequence[Path | str],
    paraphrases: Sequence[Path | str],
    on: Sequence[Path | str] = (),
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> "RobustnessReport":
    """What rephrasing CATs changes: runs, or files of scores, on the originals against those on each paraphrase.

    `on` names the data of files: the originals' CATs, then those of each set of paraphrases.
    """
    return robustness_on(originals, paraphrases, on, protocol=protocol, seed=seed, progress=progress)
