"""Prints the report of one model: tables, counts of the items used, warnings and the signature."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import floor, isnan, log10
from typing import TYPE_CHECKING, Any

from catsofa.cli.numbers import UNDEFINED, adjusted, chance
from catsofa.cli.terminal import doing, fits, note, say, table, warn
from catsofa.data.percentages import in_percent, quantity, written

if TYPE_CHECKING:
    from catsofa.report.elements import Table as Overview
    from catsofa.report.inputs import Finished
    from catsofa.scoring.measures.sofa import Results as Probes
    from catsofa.scoring.results import Report

BOTH = "both"
"""Task name of the rows for both tasks together."""
TEN = 10
"""Numbers from this size on have one decimal."""
COVERAGES = ("coverage", "lms_coverage", "ss_coverage")
TIES = ("ties", "ties_unrelated", "ties_all")
UNKNOWN = ("unknown", "unknown_identities")
RESTS = {"coverage": COVERAGES, "ties": TIES, "unknown tokens": UNKNOWN}
"""Parts of the second table and their columns, named as in JSON."""
UNSHOWN = ("scored", "lms_terms", "ss_items", "ss_terms")
HEADS = {"holm": "Holm's p"}
"""Headings of the columns whose heading differs from their name."""
SHOWN = 5
"""The largest number of reasons for missing scores that are shown."""
PARTLY = {"items": "scored", "terms": "terms", "pairs": "pairs that count", "texts": "texts that count"}
"""Headings of columns such as `2,089 of 2,090`, for counts of which only a part is used."""
WHOLE = {"coverage": "coverage 100 %", "ties": "no ties", "unknown": "no unknown tokens"}
"""Text for the title of a table, if it is true for every set."""


def show(report: "Report") -> None:
    """Prints a report: the sets, the terms, the unscored items, and the signature."""
    from catsofa.scoring.measures.registry import Rows

    title = report.results.measure if isinstance(report.results, Rows) else "pairs"
    every = report.rows()
    one_task = len({row.get("task") for row in every} - {BOTH}) == 1
    for task, rows in groupby(every, key=lambda row: str(row.get("task", title))):
        if task == BOTH and one_task:
            continue  # equal to the rows of the only task
        _rows(f"{task}, {report.protocol}: value, 95 % interval", list(rows))
    if report.terms:
        _rows("target terms, highest ss first: value, Wilson's interval (none for icat)", report.terms)
    show_beside(report)


def show_head(report: "Report") -> None:
    """Prints the model and the data that the remarks below are about."""
    from catsofa.scoring.signature import without_hashes

    say("")
    say(f"{report.signature.model.partition('@')[0]} on {without_hashes(report.signature.data)}")


def show_beside(report: "Report") -> None:
    """Prints the remarks on the numbers of a report: warnings, unscored items, and the signature."""
    from catsofa.scoring.likelihood import half_precision

    warn(report.warnings)
    reasons = sorted(report.unscored.items(), key=lambda one: -one[1])
    shown = reasons[:SHOWN] if len(reasons) > SHOWN + 1 else reasons
    for reason, count in shown:
        note(f"unscored: {quantity(count, report.unit)}: {reason}")
    if rest := [count for _, count in reasons[len(shown) :]]:
        note(f"unscored: {quantity(sum(rest), f'more {report.unit}')}: {len(rest):,} other reasons; --json lists all")
    if report.precision:
        note(half_precision.sentence(report.precision))
    say(str(report.signature))


def show_overview(runs: "Sequence[Finished]") -> None:
    """Prints one table of all models and measures of these runs."""
    from catsofa.report import overview

    doing("comparing the models, by resampling")
    if overview_table := overview(runs):
        show_table(overview_table)


def show_table(overview: "Overview") -> None:
    """Prints the table of all models and measures; if it is too wide for the terminal, one row for each number.

    If these rows are too wide as well, each measure has a table of its own.
    """
    from catsofa.report.elements import NOT_COVERED

    title, columns = "each model on each measure: value, 95 % interval", overview.columns
    covered = {
        name: [(row[0], row[place]) for row in overview.rows if row[place] != NOT_COVERED]
        for place, name in enumerate(columns[1:], 1)
    }
    long = [(name if not index else "", *row) for name, rows in covered.items() for index, row in enumerate(rows)]
    if fits(columns, overview.rows):
        table(title, columns, overview.rows)
    elif fits(("measure", columns[0], "value"), long):
        table(title, ("measure", columns[0], "value"), long)
    else:
        say(title)
        for name, rows in covered.items():
            table(name, (columns[0], "value"), rows)
    for sentence in overview.notes:
        say(sentence)


def show_ends(results: "Probes") -> None:
    """Prints the identities and stereotypes at both ends of each category's orders."""
    from catsofa.scoring.measures.sofa.rankings import ends

    for category in results.categories:
        for end, names in ends(results, category).items():
            say(f"{category}, {end}: {', '.join(names)}")


def _rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints rows, each measure with its limits in one cell; then coverage, ties and unknown tokens, if incomplete."""
    from catsofa.report.cells import SS_BASIS, WITHOUT, ss_basis, ss_differs

    counts = [name for names in RESTS.values() for name in names if name in rows[0]]
    partial = [name for name in counts if not all(_is_whole(row, name) for row in rows)]
    remarks = [
        text if all(row[name] is not None for row in rows) else f"{part} not counted"
        for (name, text), (part, names) in zip(WHOLE.items(), RESTS.items(), strict=True)
        if name in rows[0] and not set(names) & set(partial)
    ]
    unshown = ("task", *UNSHOWN, *counts)
    columns = [name for name in rows[0] if name not in unshown and not name.endswith(("_low", "_high"))]
    apart = {n: head for n, head in PARTLY.items() if n in columns and any(_counted(row, n) < row[n] for row in rows)}
    heads = [apart.get(name, HEADS.get(name, name)) for name in columns]
    shown = [[f"{_counted(row, n):,} of {row[n]:,}" if n in apart else _cell(row, n) for n in columns] for row in rows]
    if any(map(ss_differs, rows)):
        heads.append(SS_BASIS)
        shown = [[*cells, ss_basis(row)] for cells, row in zip(shown, rows, strict=True)]
    table("; ".join([title, *([", ".join(remarks)] if remarks else [])]), heads, shown)
    if partial:
        parts = [part for part, names in RESTS.items() if set(names) & set(partial)]
        cells = [[row[columns[0]], *(_count(row, name) for name in partial)] for row in rows]
        table(" and ".join([", ".join(parts[:-1])] * bool(parts[1:]) + parts[-1:]), [columns[0], *partial], cells)
    clusters = next((name for name in WITHOUT if name in columns), "")
    if clusters and any(_lacks_limits(row) for row in rows):
        say(f"A value without an interval: {WITHOUT[clusters]}.")
    if "holm" in columns:
        say(adjusted(row["holm"] for row in rows))


def _lacks_limits(row: Mapping[str, Any]) -> bool:
    """Returns True if a value of the row has limits that are NaN."""
    values = {name.removesuffix("_low"): low for name, low in row.items() if name.endswith("_low")}
    return any(isnan(low) and not isnan(row[name]) for name, low in values.items() if row[name] is not None)


def _counted(row: Mapping[str, Any], name: str) -> int:
    """Returns how many items of a set the denominator counts."""
    whole: int = row[name]
    if name == "terms":
        return int(row.get("lms_terms", whole))
    scored: int = row.get("scored", round((row.get("coverage") or 0) * whole))
    return scored


def _is_whole(row: Mapping[str, Any], name: str) -> bool:
    """True if the column is missing, a coverage is 1, or a count of ties or unknown tokens is 0."""
    return row.get(name) in (None, 1 if name in COVERAGES else 0)


def _count(row: Mapping[str, Any], name: str) -> str:
    """Formats a coverage in percent, or a count; a dash if not counted."""
    value = row.get(name)
    if value is None or value != value:
        return "–"
    return in_percent(value) if name in COVERAGES else f"{value:,}"


def _cell(row: Mapping[str, Any], name: str) -> object:
    """Formats a value, with its limits if it has some."""
    value = row[name]
    if value is None or (isinstance(value, float) and isnan(value)):
        return UNDEFINED if row.get("ties") or row.get("scored") else "unscored"
    if name in ("p", "holm"):
        return chance(value)
    if f"{name}_low" not in row:
        return written(value, digits=_digits(abs(value)))[0] if isinstance(value, float) else value
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    first, *limits = written(value, low, high, digits=_digits(max(abs(value), 0 if isnan(high) else abs(high))))
    return f"{first} {'–'.join(limits)}" if limits else first


def _digits(size: float) -> int:
    """Returns the decimals for a number of this size: three digits below 1, since a SoFa score may be 0.0213."""
    if size >= TEN:
        return 1
    return 2 if size >= 1 or not size else min(6, 2 - floor(log10(size)))
