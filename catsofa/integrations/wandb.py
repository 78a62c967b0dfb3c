"""Numbers of a report in Weights & Biases."""

__all__ = ["log"]

from typing import Any

import wandb

from catsofa.integrations import kind, numbers
from catsofa.scoring.results import Report

STEP = "catsofa/step"


def log(report: Report, *, step: int | None = None) -> None:
    """Log the numbers of a report to the current run, and its rows with the signature as a table.

    The step is a number of its own (`catsofa/step`), so that it never runs against the steps of other callers.
    """
    run = wandb.run
    if run is None:
        raise ValueError("found no run of Weights & Biases; call wandb.init() first")
    table = report.to_pandas().assign(signature=str(report.signature), warnings="; ".join(report.warnings))
    found: dict[str, Any] = {**numbers(report), f"catsofa/{kind(report)}/rows": wandb.Table(dataframe=table)}
    if step is not None:
        run.define_metric("catsofa/*", step_metric=STEP)
        found[STEP] = step
    run.log(found)
