"""Finished runs item by item, as a data frame."""

__all__ = ["items"]

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from catsofa.data.files import listed
from catsofa.data.tables import frame
from catsofa.report import inputs
from catsofa.scoring.dataset import open_data

if TYPE_CHECKING:
    import pandas as pd


def items(runs: Path | str | Iterable[Path | str], *, on: Iterable[Path | str | Iterable[Any]] = ()) -> "pd.DataFrame":
    """Returns a row for each item of each finished run below these folders, with its model, data and measure.

    Items that several models scored have one id. Pass the data in `on` if a run does not record the path of its data.
    """
    content, sets = inputs.find(listed(runs)), [open_data(place) for place in on]
    for sentence in content.left_out:
        warn(sentence, stacklevel=2)
    return frame(
        {"model": run.model, "data": run.signature.data, "measure": run.kind, **row}
        for run in content.runs
        for row in inputs.items(run, sets)
    )
