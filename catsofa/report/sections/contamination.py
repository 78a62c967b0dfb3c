"""The report section on contamination: whether four tests show that a model has seen the data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.statistics import ALPHA
from catsofa.data.visible import without_folders
from catsofa.report import figures
from catsofa.report.cells import Words, chance, valued
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.contamination.result import basis

WORDS = Words(
    "Has the model seen the data?",
    "Four tests of contamination. A small p says that the number would be rare for a model that has not seen the data. "
    "Holm's p is adjusted over the tests that could be made; contamination is shown where it is at most 0.05.",
    "A test that shows nothing does not show that the model has not seen the data: it may have read the items in "
    "another order or form, or without learning them by heart.",
)
VERDICTS = {None: "no verdict", True: "contamination is shown", False: "contamination is not shown"}

LEAST = 1e-6
"""The smallest p-value in the figure; smaller ones are drawn at it."""


def contamination(name: str, result: Mapping[str, Any], path: Path) -> Section:
    """Returns the section of the output of `catsofa contamination --json`; raises BadInput if a field is missing."""
    try:
        signed = {part: without_folders(str(result["signature"][part])) for part in ("model", "data", "line")}
        rows = tuple(_row(test, numbers) for test, numbers in result["tests"].items())
        chances = {test: (p, holm) for test, *_, p, holm, _, _ in rows if p.value is not None}
        table = Table(
            name=f"{name}-tests",
            caption=result["sentence"],
            columns=("test", "value", "above references", "p", "p (Holm)", "rests on", "verdict"),
            rows=rows,
            signatures=(signed["line"],),
            notes=tuple(_note(test, numbers) for test, numbers in result["tests"].items()),
            warnings=tuple(result["warnings"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"tests of contamination that lack a field ({type(error).__name__}: {error})"
        raise BadInput(path, problem, "what `catsofa contamination --json` prints") from None
    figure = Figure(
        name=f"{name}-chances",
        caption="p of each test, and Holm's p; left of the dashed line contamination is shown",
        alt="; ".join(f"{test}: p {p}, Holm's p {holm}" for test, (p, holm) in chances.items()),
        draw=partial(drawn, chances),
    )
    return WORDS.section(name, f"{signed['model']}, {signed['data']}", [table], [figure] if chances else [])


def _row(test: str, numbers: Mapping[str, Any]) -> tuple[str, Number, Cell, Number, Number, str, str]:
    """Returns the row of one test; its counts are the only integers in its JSON."""
    counts = ", ".join(basis({name: count for name, count in numbers.items() if type(count) is int}))
    above: Cell = "—" if numbers["change"] is None else valued(numbers["change"], 2)
    value, p, holm = (
        replace(one, missing="—") for one in (valued(numbers, 2), chance(numbers["p"]), chance(numbers["holm"]))
    )
    return test, value, above, p, holm, counts or "—", VERDICTS[numbers["shown"]]


def _note(test: str, numbers: Mapping[str, Any]) -> str:
    """Returns a note on the unit of a value, the permuted objects, and the reason for a missing verdict."""
    permuted = f"permuted: {numbers['permuted']}" if "permuted" in numbers else ""
    reason = f"no verdict: {numbers['reason']}" if numbers["reason"] else ""
    return f"{test}: {'; '.join(part for part in (numbers['unit'], permuted, reason) if part)}."


def drawn(chances: Mapping[str, Sequence[Number]]) -> Any:
    """Draws p and Holm's p of each test on a logarithmic scale, with a line at the significance level."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(figures.WIDTH, 1.0 + 0.3 * len(chances)), layout="constrained")
    axes = drawing.subplots()
    places = [[max(pair[i].value or 0.0, LEAST) for pair in chances.values()] for i in (0, 1)]
    for i, (title, across) in enumerate(zip(("p", "Holm's p"), places, strict=True)):
        axes.plot(
            across, range(len(chances)), figures.MARKERS[i], color=figures.COLOURS[i], label=title, clip_on=False,
            fillstyle=("full", "none")[i], markersize=(5, 8)[i],
        )  # fmt: skip
    axes.axvline(ALPHA, color=figures.INK, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(chances)), [figures.short(test) for test in chances])
    least = min(1e-3, *places[0])
    axes.set(xscale="log", xlabel="p", ylim=(len(chances) - 0.5, -0.5), xlim=(least / 1.5, 1))
    axes.minorticks_off()
    ticks = [10.0**-power for power in range(2, 7) if 10.0**-power >= least] + [ALPHA, 1]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    drawing.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return drawing
