"""Logs the numbers of a report to trackio."""

__all__ = ["log"]

import trackio

from catsofa.integrations import kind, numbers
from catsofa.scoring.results import Report


def log(report: Report, *, step: int | None = None) -> None:
    """Logs the numbers of a report to the current run, and its rows with the signature as a table."""
    table = report.to_pandas().assign(signature=str(report.signature), warnings="; ".join(report.warnings))
    rows = trackio.Table(dataframe=table)
    try:
        trackio.log({**numbers(report), f"catsofa/{kind(report)}/rows": rows}, step=step)
    except RuntimeError as error:
        raise ValueError(f"found no run of trackio ({error}); call trackio.init(project=…) first") from error
