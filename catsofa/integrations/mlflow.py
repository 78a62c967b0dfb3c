"""Logs the numbers of a report to MLflow."""

__all__ = ["log"]

import mlflow

from catsofa.integrations import kind, numbers
from catsofa.scoring.results import Report


def log(report: Report, *, step: int | None = None) -> None:
    """Logs the numbers of a report to the active run, and the report with its signature as a JSON artifact."""
    mlflow.log_metrics(numbers(report), step=step)
    suffix = "" if step is None else f"-{step}"
    mlflow.log_dict(report.to_dict(), f"catsofa/{kind(report)}{suffix}.json")
