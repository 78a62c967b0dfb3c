"""Figures of a report: matplotlib drawings that read in colour and without, on light paper and dark screens."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data import extras
from catsofa.data.visible import one_line, visible
from catsofa.report.elements import Number

INK = "#010203"
"""Stands for the colour of text, which a page decides."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, told apart by the colour-blind too."""
MARKERS = "osD^vPXh<>p"
"""As many as no multiple of the colours, so that 66 models are told apart."""
WIDTH = 4.5
"""Inches: letters are still of 6 points or more where a column of 3.3 inches holds it."""
LONGEST = 26
"""Letters of a name in a drawing; the tables have it whole."""
ABOVE = 40
"""Letters of a name above the bars."""
FEW = 20
"""As many sets as a drawing of one bar each can hold."""
STYLE = {
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "font.size": 10, "svg.fonttype": "none",
    "xtick.labelsize": 9, "ytick.labelsize": 9, "lines.markeredgewidth": 0.7, "errorbar.capsize": 2,
    "svg.hashsalt": "catsofa", "pdf.fonttype": 42, "text.parse_math": False,
}  # fmt: skip


def short(name: str, most: int = LONGEST) -> str:
    """A name that leaves room for the drawing: its beginning and its end."""
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most - 11]}…{name[-10:]}"


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """Each name, short; what all begin with is left out where one is too long, and no two become one."""
    whole = list(dict.fromkeys(names))
    same = 0
    if len(whole) > 1 and max(map(len, whole)) > LONGEST:
        same = max((at.end() for at in re.finditer(r"[_/ ]", whole[0][: _shared(whole)])), default=0)
    found = {name: short("…" * bool(same) + name[same:]) for name in whole}
    for twins in ([name for name in whole if found[name] == label] for label in set(found.values())):
        if len(twins) > 1:
            differ = max(0, _shared(twins) - 6)
            found |= {name: visible(f"…{name[differ : differ + LONGEST - 1]}") for name in twins}
    return found


def _shared(names: Sequence[str]) -> int:
    """With how many letters all names begin."""
    at = (at for at, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1)
    return next(at, min(map(len, names)))


def _axes(height: float, width: float = WIDTH) -> tuple[Any, Any]:
    """An empty drawing; no window is ever opened."""
    drawing = _paper(height, width)
    return drawing, drawing.subplots()


def _paper(height: float, width: float = WIDTH) -> Any:
    """A sheet, of our width if it is not told another."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _columns(labels: Collection[str]) -> int:
    """In how many columns a legend is readable: two, where no name is long."""
    return 2 if max(map(len, labels), default=0) <= 20 else 1


def legend_height(labels: Collection[str]) -> float:
    """How high a legend of these names is."""
    return 0.17 * ceil(len(labels) / _columns(labels))


def legend(drawing: Any, labels: Collection[str]) -> None:
    """Names below the axes, in columns of readable width."""
    if any(axes.get_legend_handles_labels()[1] for axes in drawing.axes):
        columns = min(len(labels), _columns(labels))
        drawing.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def errors(of: Number) -> list[list[float]]:
    """How far the limits lie below and above a value."""
    value = of.value or 0.0
    low, high = (value if limit is None else limit for limit in (of.low, of.high))
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def cat_map(points: Sequence[tuple[str, Number, Number]]) -> Any:
    """Every model's lms (up) and ss (across) with intervals, on the contours of icat."""
    label = told_apart(model for model, _, _ in points)
    drawing, axes = _axes(3.5 + legend_height(label.values()))
    ss_seen, lms_seen = _window([across for _, _, across in points], 50), _window([up for _, up, _ in points])
    ss, lms = np.meshgrid(np.linspace(*ss_seen, 201), np.linspace(*lms_seen, 201))
    icat = lms * np.minimum(ss, 100 - ss) / 50
    lines = axes.contour(ss, lms, icat, levels=range(10, 100, 10), colors="#8a8a8a", linewidths=0.7)
    axes.clabel(lines, fmt="icat %d", fontsize=8)
    axes.axvline(50, color=INK, linestyle="--", linewidth=0.8)
    for at, (model, up, across) in enumerate(points):
        if up.value is not None and across.value is not None:
            here, colour = (across.value, up.value), COLOURS[at % len(COLOURS)]
            limits = {"xerr": errors(across), "yerr": errors(up)}
            axes.errorbar(*here, **limits, fmt="none", ecolor=colour, elinewidth=1, clip_on=False, zorder=3)
            axes.plot(
                *here, marker=MARKERS[at % len(MARKERS)], color=colour, linestyle="", label=label[model],
                markersize=7, mec="white", clip_on=False, zorder=4,
            )  # fmt: skip
    axes.set(xlabel="ss (stereotype preferred, %)", ylabel="lms (meaningful preferred, %)", xlim=ss_seen, ylim=lms_seen)
    legend(drawing, label.values())
    return drawing


def _window(numbers: Sequence[Number], *also: float) -> tuple[float, float]:
    """The part of 0 to 100 that holds these numbers with their limits, 24 wide or more."""
    ends = [end for of in numbers for end in (of.value, of.low, of.high) if end is not None] + list(also)
    if not ends:
        return 0.0, 100.0
    low, high = min(ends) - 3, max(ends) + 3
    more = max(0.0, 24 - (high - low)) / 2
    low, high = low - more, high + more
    low, high = low - max(0.0, high - 100), high - min(0.0, low)
    return max(0.0, low), min(100.0, high)


def dots(rows: Sequence[tuple[str, Number]], measure: str, ideal: float, limits: tuple[float, float]) -> Any:
    """A dot with its interval for each name, the first on top, beside the ideal value."""
    drawing, axes = _axes(0.7 + 0.24 * len(rows))
    for at, (_, of) in enumerate(rows):
        axes.errorbar(of.value, at, xerr=errors(of), fmt="o", color=COLOURS[0], markersize=5, clip_on=False)
    axes.axvline(ideal, color=INK, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [short(name) for name, _ in rows])
    axes.set(xlabel=measure, xlim=limits, ylim=(len(rows) - 0.5, -0.5))
    return drawing


def bars(values: Mapping[str, Mapping[str, Number]], measure: str) -> Any:
    """A bar with its interval for each category (rows) and model (colours and hatches)."""
    categories = list(dict.fromkeys(part for of in values.values() for part in of))
    height, label = 0.8 / len(values), told_apart(values)
    drawing, axes = _axes(0.7 + len(categories) * (0.15 + 0.2 * len(values)) + legend_height(label.values()))
    hatches = ("", "//", "..", "xx", "\\\\", "++")
    for at, (model, of) in enumerate(values.items()):
        shown = [(row, of[part]) for row, part in enumerate(categories) if part in of and of[part].value is not None]
        places, lengths = [row + (at - (len(values) - 1) / 2) * height for row, _ in shown], [n.value for _, n in shown]
        colour, hatch = COLOURS[at % len(COLOURS)], hatches[(at + at // len(COLOURS)) % len(hatches)]
        axes.barh(places, lengths, height * 0.9, color=colour, hatch=hatch, label=label[model])
        if shown:
            axes.errorbar(lengths, places, xerr=np.hstack([errors(n) for _, n in shown]), fmt="none", ecolor=INK)
    axes.set_yticks(range(len(categories)), told_apart(categories).values())
    axes.set(xlabel=measure, ylim=(len(categories) - 0.5, -0.5))
    axes.set_xlim(left=0)
    legend(drawing, label.values())
    return drawing


def stacked(values: Mapping[str, Mapping[str, Mapping[str, float]]], measure: str) -> Any:
    """One bar for each set of each model, made of the shares of its parts (colours and hatches); no empty parts.

    Where there are several models, the name of each stands above its bars.
    """
    heading: dict[str, Mapping[str, float]] = {"": {}} if len(values) > 1 else {}
    lines = [line for sets in values.values() for line in {**heading, **sets}.items()]
    places, shares = [at for at, (_, of) in enumerate(lines) if of], [of for _, of in lines if of]
    parts = [part for part in dict.fromkeys(p for of in shares for p in of) if any(of[part] for of in shares)]
    names = told_apart(name for name, of in lines if of)
    drawing, axes = _axes(0.7 + 0.28 * len(lines) + legend_height(parts))
    hatches = ("", "//", "..", "xx", "\\\\", "++", "oo", "--", "**")
    left = np.zeros(len(shares))
    for at, part in enumerate(parts):
        widths = np.array([of[part] for of in shares])
        colour, hatch = COLOURS[at % len(COLOURS)], hatches[(at + at // len(COLOURS)) % len(hatches)]
        axes.barh(places, widths, 0.8, left=left, color=colour, hatch=hatch, label=part)
        left += widths
    for at, model in zip((at for at, (_, of) in enumerate(lines) if not of), values, strict=False):
        axes.text(1, at, short(model, ABOVE), va="center", fontsize=9, weight="bold")
    axes.set_yticks(places, [names[lines[at][0]] for at in places])
    axes.set(xlabel=measure, ylim=(len(lines) - 0.5, -0.5), xlim=(0, 100))
    legend(drawing, parts)
    return drawing


def ranges(values: Mapping[str, Mapping[str, Number]], measure: str, ideal: float, limits: tuple[float, float]) -> Any:
    """A point with its interval for each category (rows) and model (colours and marks), beside the ideal value."""
    categories = list(dict.fromkeys(part for of in values.values() for part in of))
    label = told_apart(values)
    drawing, axes = _axes(0.7 + len(categories) * (0.15 + 0.11 * len(values)) + legend_height(label.values()))
    for at, (model, of) in enumerate(values.items()):
        shown = [(row, of[part]) for row, part in enumerate(categories) if part in of and of[part].value is not None]
        if shown:
            places = [row + (at - (len(values) - 1) / 2) * 0.8 / len(values) for row, _ in shown]
            axes.errorbar(
                [n.value for _, n in shown], places, xerr=np.hstack([errors(n) for _, n in shown]),
                fmt=MARKERS[at % len(MARKERS)], color=COLOURS[at % len(COLOURS)], markersize=5, label=label[model],
            )  # fmt: skip
    for edge in range(1, len(categories)):
        axes.axhline(edge - 0.5, color="#8a8a8a", linewidth=0.4)
    axes.axvline(ideal, color=INK, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(categories)), told_apart(categories).values())
    axes.set(xlabel=measure, xlim=limits, ylim=(len(categories) - 0.5, -0.5))
    legend(drawing, label.values())
    return drawing


def violins(values: Mapping[str, Mapping[str, Sequence[float]]], measure: str) -> Any:
    """For each category (rows) and model (colours), how its numbers are spread, from their hundredths."""
    categories = list(dict.fromkeys(part for of in values.values() for part in of))
    height, label = 0.85 / len(values), told_apart(values)
    drawing, axes = _axes(0.7 + len(categories) * (0.15 + 0.24 * len(values)) + legend_height(label.values()))
    for at, (model, of) in enumerate(values.items()):
        colour = COLOURS[at % len(COLOURS)]
        for row, part in ((row, part) for row, part in enumerate(categories) if part in of):
            place = row + (at - (len(values) - 1) / 2) * height
            across, density = _density(np.array(of[part]))
            half = height / 2 * 0.95 * density / density.max()
            axes.fill_between(across, place - half, place + half, color=colour, alpha=0.55, linewidth=0)
            axes.plot([of[part][25], of[part][75]], [place, place], color=INK, linewidth=2, solid_capstyle="butt")
            axes.plot(of[part][50], place, marker=MARKERS[at % len(MARKERS)], color=colour, mec=INK, markersize=6)
        axes.plot([], [], marker=MARKERS[at % len(MARKERS)], color=colour, linestyle="", label=label[model])
    axes.set_yticks(range(len(categories)), told_apart(categories).values())
    axes.set(xlabel=measure, ylim=(len(categories) - 0.5, -0.5))
    legend(drawing, label.values())
    return drawing


def _density(quantiles: Any) -> tuple[Any, Any]:
    """Where numbers lie and how dense, from their hundredths, by Gaussian kernels of Scott's width."""
    width = max(float(quantiles.std()) * len(quantiles) ** -0.2, 1e-6)
    across = np.linspace(quantiles[0], quantiles[-1], 60) if np.ptp(quantiles) else quantiles[:1]
    return across, np.exp(-(((across[:, None] - quantiles) / width) ** 2) / 2).sum(axis=1)


def histograms(drawn: Sequence[Mapping[str, Any]]) -> Any:
    """A histogram for each category, one above the other on one scale; what is cut is hatched."""
    drawing = _paper(0.6 + 1.3 * len(drawn))
    places = drawing.subplots(len(drawn), squeeze=False, sharex=True)[:, 0]
    for axes, of in zip(places, drawn, strict=True):
        edges, counts, kept = np.array(of["edges"]), np.array(of["counts"]), of["kept_bins"]
        for part, colour, hatch in ((slice(None, kept), COLOURS[0], ""), (slice(kept, None), "#b9bec6", "////")):
            axes.bar(
                edges[:-1][part], counts[part], np.diff(edges)[part], align="edge", color=colour, hatch=hatch,
                edgecolor="white", linewidth=0.4,
            )  # fmt: skip
        axes.axvline(edges[kept], color=INK, linestyle="--", linewidth=0.8)
        axes.set_title(
            f"{short(of['category'] or 'all')}: {counts[:kept].sum():,} of {counts.sum():,} kept",
            loc="left",
            fontsize=10,
        )
    log = drawn[0]["scale"] == "log10"
    places[-1].set_xlabel("mean perplexity" + (", log10" if log else ""))
    drawing.supylabel("stereotypes", fontsize=10)
    return drawing


def matrix(values: Mapping[str, Mapping[str, Number]]) -> Any:
    """The effect size of each test and model, the fewer of the two across, on a scale that is even around 0."""
    tests = list(dict.fromkeys(test for of in values.values() for test in of))
    cells = {(model, test): found for model, of in values.items() for test, found in of.items()}
    down, across = (tests, list(values)) if len(tests) > len(values) else (list(values), tests)
    found = [[cells.get((b, a) if down is tests else (a, b)) for b in across] for a in down]
    beside, below = told_apart(down).values(), told_apart(across).values()
    flat = sum(map(len, below)) < 30
    # a column holds an effect with three stars
    drawing, axes = _axes(
        0.3 + 0.26 * len(down) + (0.1 if flat else 0.075 * max(map(len, below))), max(WIDTH, 1.8 + 0.5 * len(across))
    )
    numbers = [[np.nan if cell is None or cell.value is None else cell.value for cell in row] for row in found]
    # a mesh and no image, so that it stays sharp on paper
    axes.pcolormesh(np.array(numbers), cmap="RdBu_r", vmin=-2, vmax=2, edgecolors="#ffffff", linewidth=2)
    for row, line in enumerate(found):
        for column, cell in enumerate(line):
            if cell and cell.value is not None:
                ink, text = "#ffffff" if abs(cell.value) > 1.2 else "#111111", cell.point
                # out of the layout, which would measure each of them twice
                axes.text(
                    column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, in_layout=False,
                    fontsize=8,
                )  # fmt: skip
    axes.set_xticks(np.arange(len(across)) + 0.5, below, rotation=0 if flat else 90)
    axes.set_yticks(np.arange(len(down)) + 0.5, beside)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing


def svg(drawing: Any, name: str) -> str:
    """A drawing to stand inside a page, which gives it its colours; its text is text, its ids are its name's own."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        # laid out here and once: otherwise all is drawn twice, first without a pen
        drawing.get_layout_engine().execute(drawing)
        drawing.set_layout_engine(None)
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    found = text.getvalue()
    found = re.sub(r"<metadata>.*?</metadata>", "", found[found.index("<svg") :], flags=re.S)
    # ids of groups are the same in every drawing, and nothing points to them
    found = re.sub(r'<g id="[^"]*"', "<g", found)
    found = re.sub(r'width="[^"]*pt" height="[^"]*pt"', "", found, count=1)
    found = found.replace("<svg ", f'<svg class="plot" style="--inches: {drawing.get_figwidth()}" ', 1)
    for number, colour in enumerate(COLOURS, 1):
        found = found.replace(colour.lower(), f"var(--c{number})")
    return visible(found.replace(INK, "currentColor"))


def draw(make: Any) -> Any:
    """The drawing, in our style."""
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        without = "--format markdown, csv, json and latex need no figures"
        raise extras.MissingExtra(f"{extras.sentence('matplotlib')}; {without}", name=error.name) from None
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
                drawn = BytesIO()
                drawing.savefig(drawn, format=path.suffix[1:], dpi=200, facecolor="white")
                text = path.suffix == ".svg"
                file.write(visible(drawn.getvalue().decode()).encode() if text else drawn.getvalue())
    return paths
