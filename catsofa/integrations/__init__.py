"""Sends numbers of catsofa to training loops and experiment trackers; one module for each program, which imports it."""

import re
from pathlib import Path

from catsofa.report.inputs import finished
from catsofa.scoring.results import Report
from catsofa.share.results import OVERALL, measured

UNFIT = re.compile(r"[^\w\-. :/]")
"""Characters that trackers refuse in the name of a number."""
WHOLE = {OVERALL, "both", "all"}


def kind(report: Report) -> str:
    """Returns the measure of a report, as used in the names of numbers."""
    return finished(Path(), report.to_dict(), {}, "the report").kind


def numbers(report: Report) -> dict[str, float]:
    """Returns each number of a report as `catsofa/MEASURE/NAME`, or `catsofa/MEASURE/DOMAIN/NAME` for a domain.

    `NAME_low` and `NAME_high` are the limits of its interval. `coverage` is the share of items behind all numbers.
    """
    run = finished(Path(), report.to_dict(), {}, "the report")
    values = {}
    for one in measured(run):
        place = "" if one.set == OVERALL else f"{one.set}/"
        for end, value in (("", one.value), ("_low", one.low), ("_high", one.high)):
            if value is not None:
                values[f"{run.kind}/{place}{one.name}{end}"] = float(value)
    whole = [row for row in report.rows() if {part for part in row.values() if isinstance(part, str)} <= WHOLE]
    shares = {float(row["coverage"]) for row in whole if "coverage" in row}
    if len(shares) == 1:
        values[f"{run.kind}/coverage"] = shares.pop()
    return {f"catsofa/{UNFIT.sub('_', name)}": value for name, value in values.items()}
