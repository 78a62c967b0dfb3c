"""Figures of a report: matplotlib drawings that read in colour and without, on light paper and dark screens."""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.report_document import Number

INK = "#010203"
"""Stands for the colour of text, which a page decides."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, told apart by the colour-blind too."""
MARKERS = "osD^vP*XhH<>"
WIDTH = 6.0
LONGEST = 32
"""Letters of a name in a drawing; the tables have it whole."""
STYLE = {
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "font.size": 10, "svg.fonttype": "none",
    "svg.hashsalt": "catsofa", "pdf.fonttype": 42, "text.parse_math": False,
}  # fmt: skip


def short(name: str) -> str:
    """A name that leaves room for the drawing: its end, which tells models of one folder apart."""
    name = " ".join(name.split())
    return name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"


def _axes(height: float) -> tuple[Any, Any]:
    """An empty drawing; no window is ever opened."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(WIDTH, height), layout="constrained")
    return drawing, drawing.subplots()


def _legend(drawing: Any, entries: int) -> None:
    """Names below the axes, in columns of readable width."""
    if entries:
        drawing.legend(loc="outside lower center", ncols=min(entries, 2), frameon=False, fontsize=9)


def _errors(of: Number) -> list[list[float]]:
    """How far the limits lie below and above a value."""
    value = of.value or 0.0
    low, high = (value if limit is None else limit for limit in (of.low, of.high))
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def cat_map(points: Sequence[tuple[str, Number, Number]]) -> Any:
    """Every model's lms (up) and ss (across) with intervals, on the contours of icat."""
    drawing, axes = _axes(4.6 + 0.12 * len(points))
    ss, lms = np.meshgrid(np.linspace(0, 100, 201), np.linspace(0, 100, 201))
    icat = lms * np.minimum(ss, 100 - ss) / 50
    lines = axes.contour(ss, lms, icat, levels=range(10, 100, 10), colors="#8a8a8a", linewidths=0.7)
    axes.clabel(lines, levels=range(20, 100, 20), fmt="icat %d", fontsize=7)
    axes.axvline(50, color=INK, linestyle="--", linewidth=0.8)
    for at, (model, up, across) in enumerate(points):
        if up.value is not None and across.value is not None:
            axes.errorbar(
                across.value, up.value, xerr=_errors(across), yerr=_errors(up), label=short(model), capsize=2,
                fmt=MARKERS[at % len(MARKERS)], color=COLOURS[at % len(COLOURS)], alpha=0.9, clip_on=False, zorder=3,
                markersize=8,
            )  # fmt: skip
    axes.set(
        xlabel="ss (stereotype preferred, %)", ylabel="lms (meaningful preferred, %)", xlim=(0, 100), ylim=(0, 100)
    )
    _legend(drawing, len(points))
    return drawing


def dots(rows: Sequence[tuple[str, Number]], measure: str, ideal: float, limits: tuple[float, float]) -> Any:
    """A dot with its interval for each name, the first on top, beside the ideal value."""
    drawing, axes = _axes(0.9 + 0.3 * len(rows))
    for at, (_, of) in enumerate(rows):
        axes.errorbar(of.value, at, xerr=_errors(of), fmt="o", color=COLOURS[0], capsize=2, clip_on=False)
    axes.axvline(ideal, color=INK, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [short(name) for name, _ in rows])
    axes.set(xlabel=measure, xlim=limits, ylim=(len(rows) - 0.5, -0.5))
    return drawing


def bars(values: Mapping[str, Mapping[str, Number]], measure: str) -> Any:
    """A bar with its interval for each category (rows) and model (colours and hatches)."""
    categories = list(dict.fromkeys(part for of in values.values() for part in of))
    drawing, axes = _axes(1.1 + len(categories) * (0.25 + 0.25 * len(values)) + 0.12 * len(values))
    height = 0.8 / len(values)
    hatches = ("", "//", "..", "xx", "\\\\", "++")
    for at, (model, of) in enumerate(values.items()):
        shown = [(row, of[part]) for row, part in enumerate(categories) if part in of and of[part].value is not None]
        places, lengths = [row + (at - (len(values) - 1) / 2) * height for row, _ in shown], [n.value for _, n in shown]
        colour, hatch = COLOURS[at % len(COLOURS)], hatches[(at + at // len(COLOURS)) % len(hatches)]
        axes.barh(places, lengths, height * 0.9, color=colour, hatch=hatch, label=short(model))
        if shown:
            axes.errorbar(
                lengths, places, xerr=np.hstack([_errors(n) for _, n in shown]), fmt="none", ecolor=INK, capsize=2
            )
    axes.set_yticks(range(len(categories)), [short(name) for name in categories])
    axes.set(xlabel=measure, ylim=(len(categories) - 0.5, -0.5))
    axes.set_xlim(left=0)
    _legend(drawing, len(values))
    return drawing


def matrix(values: Mapping[str, Mapping[str, Number]]) -> Any:
    """The effect size of each model (rows) and test (columns), on a scale that is even around 0."""
    tests = list(dict.fromkeys(test for of in values.values() for test in of))
    drawing, axes = _axes(1.3 + 0.4 * len(values) + 0.04 * min(LONGEST, max(map(len, tests))))
    cells = [[of[test].value if test in of else None for test in tests] for of in values.values()]
    # a mesh and no image, so that it stays sharp on paper
    axes.pcolormesh(np.array(cells, dtype=float), cmap="RdBu_r", vmin=-2, vmax=2, edgecolors="#ffffff", linewidth=2)
    for row, of in enumerate(values.values()):
        for column, test in enumerate(tests):
            if (found := of.get(test)) and found.value is not None:
                ink = "#ffffff" if abs(found.value) > 1.2 else "#111111"
                axes.text(
                    column + 0.5, row + 0.5, f"{found.value:.2f}{found.mark}", ha="center", va="center", color=ink
                )
    axes.set_xticks(np.arange(len(tests)) + 0.5, [short(test) for test in tests], rotation=0 if len(tests) < 4 else 90)
    axes.set_yticks(np.arange(len(values)) + 0.5, [short(model) for model in values])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing


def svg(drawing: Any, name: str) -> str:
    """A drawing to stand inside a page: its text is text and has the page's colour; its ids are its name's own."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    found = text.getvalue()
    found = re.sub(r"<metadata>.*?</metadata>", "", found[found.index("<svg") :], flags=re.S)
    # ids of groups are the same in every drawing, and nothing points to them
    found = re.sub(r'<g id="[^"]*"', "<g", found)
    found = re.sub(r'width="[^"]*pt" height="[^"]*pt"', "", found, count=1).replace("<svg ", '<svg class="plot" ', 1)
    return found.replace(INK, "currentColor")


def draw(make: Any) -> Any:
    """The drawing, in our style."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        return make()


def save(drawing: Any, folder: Path, name: str) -> list[Path]:
    """The drawing as PDF, PNG and SVG, for papers."""
    import matplotlib

    from catsofa.data.files import atomic_write

    paths = [folder / f"{name}.{ending}" for ending in ("pdf", "png", "svg")]
    with matplotlib.rc_context(STYLE):
        for path in paths:
            with atomic_write(path) as file:
                drawing.savefig(file, format=path.suffix[1:], dpi=200, facecolor="white")
    return paths
