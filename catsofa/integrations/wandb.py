"""Logs the numbers of a report to Weights & Biases."""

__all__ = ["log"]

from typing import Any

import wandb

from catsofa.integrations import kind, numbers
from catsofa.scoring.results import Report

STEP = "catsofa/step"


def log(report: Report, *, step: int | None = None) -> None:
    """Logs the numbers of a report to the current run, and its rows with the signature as a table.

    The step is logged as a separate number (`catsofa/step`), so that it never conflicts with the steps of other
    callers.
    """
    run = wandb.run
    if run is None:
        raise ValueError("found no run of Weights & Biases; call wandb.init() first")
    table = report.to_pandas().assign(signature=str(report.signature), warnings="; ".join(report.warnings))
    values: dict[str, Any] = {**numbers(report), f"catsofa/{kind(report)}/rows": wandb.Table(dataframe=table)}
    if step is not None:
        run.define_metric("catsofa/*", step_metric=STEP)
        values[STEP] = step
    run.log(values)
