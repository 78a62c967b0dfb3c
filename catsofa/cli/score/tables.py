"""Prints the report of one model: its tables, what the numbers rest on, warnings and the signature."""

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
"""The rows of both tasks together."""
TEN = 10
"""From here on one decimal is enough."""
COVERAGES = ("coverage", "lms_coverage", "ss_coverage")
TIES = ("ties", "ties_unrelated", "ties_all")
UNKNOWN = ("unknown", "unknown_identities")
RESTS = {"coverage": COVERAGES, "ties": TIES, "unknown tokens": UNKNOWN}
"""Parts of the second table to their columns, which are called as in JSON."""
UNSHOWN = ("scored", "lms_terms", "ss_items", "ss_terms")
HEADS = {"holm": "Holm's p"}
"""Columns whose heading is not their name."""
PARTLY = {"items": "scored", "terms": "terms", "pairs": "pairs that count", "texts": "texts that count"}
"""Counts of all items to the heading of `2,089 of 2,090`, where not all of them make the number."""
WHOLE = {"coverage": "coverage 100 %", "ties": "no ties", "unknown": "no unknown tokens"}
"""What is said once where it holds for every set."""


def show(found: "Report") -> None:
    """Print a report for people: the sets, the terms, what is unscored, and the signature."""
    from catsofa.scoring.measures.registry import Rows

    title = found.results.measure if isinstance(found.results, Rows) else "pairs"
    every = found.rows()
    one_task = len({row.get("task") for row in every} - {BOTH}) == 1
    for task, rows in groupby(every, key=lambda row: str(row.get("task", title))):
        if task == BOTH and one_task:
            continue  # its numbers are those of the task
        _rows(f"{task}, {found.protocol}: value, 95 % interval", list(rows))
    if found.terms:
        _rows("target terms by ss, equal ss by name: value, Wilson's interval (icat, no share, has none)", found.terms)
    show_beside(found)


def show_beside(found: "Report") -> None:
    """Print what belongs beside the numbers of a report: its warnings, what is unscored, and the signature."""
    from catsofa.scoring.likelihood import half_precision

    warn(found.warnings)
    for reason, count in found.unscored.items():
        note(f"unscored: {quantity(count, found.unit)}: {reason}")
    if found.precision:
        note(half_precision.sentence(found.precision))
    say(str(found.signature))


def show_overview(runs: "Sequence[Finished]") -> None:
    """Print one table of all models and measures of these runs."""
    from catsofa.report import overview

    doing("comparing the models, by resampling")
    if found := overview(runs):
        show_table(found)


def show_table(found: "Overview") -> None:
    """Print the table of all models and measures; where the terminal is too narrow, a row for each number."""
    columns, rows = found.columns, found.rows
    if not fits(columns, rows):
        columns = ("measure", *found.columns[:1], "value")
        rows = tuple(
            (name if at == 0 else "", row[0], row[place])
            for place, name in enumerate(found.columns[1:], 1)
            for at, row in enumerate(found.rows)
        )
    table("each model on each measure: value, 95 % interval", columns, rows)
    for sentence in found.notes:
        say(sentence)


def show_ends(found: "Probes") -> None:
    """Print the identities and stereotypes at either end of each category's orders."""
    from catsofa.scoring.measures.sofa.rankings import ends

    for category in found.categories:
        for end, names in ends(found, category).items():
            say(f"{category}, {end}: {', '.join(names)}")


def _rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print flat rows, each measure with its limits in one cell; what they rest on below, where they are not whole."""
    from catsofa.report.cells import SS_BASIS, ss_basis, ss_differs

    counts = [name for names in RESTS.values() for name in names if name in rows[0]]
    kept = [name for name in counts if not all(_is_whole(row, name) for row in rows)]
    said = [
        text if all(row[name] is not None for row in rows) else f"{part} not counted"
        for (name, text), (part, names) in zip(WHOLE.items(), RESTS.items(), strict=True)
        if name in rows[0] and not set(names) & set(kept)
    ]
    unshown = ("task", *UNSHOWN, *counts)
    columns = [name for name in rows[0] if name not in unshown and not name.endswith(("_low", "_high"))]
    apart = {n: head for n, head in PARTLY.items() if n in columns and any(_counted(row, n) < row[n] for row in rows)}
    heads = [apart.get(name, HEADS.get(name, name)) for name in columns]
    shown = [[f"{_counted(row, n):,} of {row[n]:,}" if n in apart else _cell(row, n) for n in columns] for row in rows]
    if any(map(ss_differs, rows)):
        heads.append(SS_BASIS)
        shown = [[*cells, ss_basis(row)] for cells, row in zip(shown, rows, strict=True)]
    table("; ".join([title, *([", ".join(said)] if said else [])]), heads, shown)
    if kept:
        parts = [part for part, names in RESTS.items() if set(names) & set(kept)]
        cells = [[row[columns[0]], *(_count(row, name) for name in kept)] for row in rows]
        table(" and ".join([", ".join(parts[:-1])] * bool(parts[1:]) + parts[-1:]), [columns[0], *kept], cells)
    if "holm" in columns:
        say(adjusted(row["holm"] for row in rows))


def _counted(row: Mapping[str, Any], name: str) -> int:
    """How many items of a set a denominator counts."""
    whole: int = row[name]
    if name == "terms":
        return int(row.get("lms_terms", whole))
    known: int = row.get("scored", round((row.get("coverage") or 0) * whole))
    return known


def _is_whole(row: Mapping[str, Any], name: str) -> bool:
    """Whether all of a set is covered, or none of it ties or is unknown."""
    return row.get(name) in (None, 1 if name in COVERAGES else 0)


def _count(row: Mapping[str, Any], name: str) -> str:
    """A coverage in percent, or a count; a dash where nobody counted."""
    value = row.get(name)
    if value is None or value != value:
        return "–"
    return in_percent(value) if name in COVERAGES else f"{value:,}"


def _cell(row: Mapping[str, Any], name: str) -> object:
    """A value, with its limits where it has some."""
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
    """Decimals for a number of this size: three digits of a small one, since a SoFa score may be 0.0213."""
    if size >= TEN:
        return 1
    return 2 if size >= 1 or not size else min(6, 2 - floor(log10(size)))
