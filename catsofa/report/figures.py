"""Figures of a report: matplotlib drawings that are readable without colour, on light paper and on dark screens."""

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
"""The placeholder of the text colour; the page replaces it."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito, distinguishable with colour blindness."""
MARKERS = "osD^vPXh<>p"
"""11 markers: with 6 colours, 66 models have distinct combinations, since 11 and 6 share no factor."""
WIDTH = 4.5
"""The width in inches: letters are 6 points or larger after scaling to a column of 3.3 inches."""
LONGEST = 26
"""The maximum characters of a name in a drawing; tables have the full name."""
ABOVE = 40
"""The maximum characters of a name above the bars."""
FEW = 20
"""The maximum number of sets in a drawing with one bar per set."""
STYLE = {
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "font.size": 10, "svg.fonttype": "none",
    "xtick.labelsize": 9, "ytick.labelsize": 9, "lines.markeredgewidth": 0.7, "errorbar.capsize": 2,
    "svg.hashsalt": "catsofa", "pdf.fonttype": 42, "text.parse_math": False,
}  # fmt: skip


def short(name: str, most: int = LONGEST) -> str:
    """Returns a name of at most `most` characters: its beginning, an ellipsis and its end."""
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most - 11]}…{name[-10:]}"


def told_apart(names: Iterable[str], most: int = LONGEST) -> dict[str, str]:
    """Maps each name to a distinct short label; if a name is too long, the prefix common to all is dropped."""
    whole = list(dict.fromkeys(names))
    same = 0
    if len(whole) > 1 and max(map(len, whole)) > most:
        same = max((match.end() for match in re.finditer(r"[_/ ]", whole[0][: _shared(whole)])), default=0)
    labels = {name: short("…" * bool(same) + name[same:], most) for name in whole}
    for twins in ([name for name in whole if labels[name] == label] for label in set(labels.values())):
        if len(twins) > 1:
            differ = max(0, _shared(twins) - 6)
            labels |= {name: visible(f"…{name[differ : differ + most - 1]}") for name in twins}
    return labels


def _shared(names: Sequence[str]) -> int:
    """Returns the length of the common prefix of all names."""
    differing = (place for place, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1)
    return next(differing, min(map(len, names)))


def empty_axes(height: float, width: float = WIDTH) -> tuple[Any, Any]:
    """Returns an empty figure with axes; it opens no window."""
    drawing = _paper(height, width)
    return drawing, drawing.subplots()


def _paper(height: float, width: float = WIDTH) -> Any:
    """Returns an empty figure without axes."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _columns(labels: Collection[str]) -> int:
    """Returns the number of columns of a readable legend: two if all names are short, else one."""
    return 2 if max(map(len, labels), default=0) <= 20 else 1


def legend_height(labels: Collection[str]) -> float:
    """Returns the height in inches of a legend of these names."""
    return 0.17 * ceil(len(labels) / _columns(labels))


def legend(drawing: Any, labels: Collection[str]) -> None:
    """Adds a legend below the axes, in columns of readable width."""
    if any(axes.get_legend_handles_labels()[1] for axes in drawing.axes):
        columns = min(len(labels), _columns(labels))
        drawing.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def errors(number: Number) -> list[list[float]]:
    """Returns the distances from the value to its lower and upper limit, for matplotlib's error bars."""
    value = number.value or 0.0
    low, high = (value if limit is None else limit for limit in (number.low, number.high))
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def cat_map(points: Sequence[tuple[str, Number, Number]]) -> Any:
    """Draws every model's lms (up) and ss (across) with intervals over contours of icat."""
    label = told_apart(model for model, _, _ in points)
    drawing, axes = empty_axes(3.5 + legend_height(label.values()))
    ss_seen, lms_seen = _window([across for _, _, across in points], 50), _window([up for _, up, _ in points])
    ss, lms = np.meshgrid(np.linspace(*ss_seen, 201), np.linspace(*lms_seen, 201))
    icat = lms * np.minimum(ss, 100 - ss) / 50
    lines = axes.contour(ss, lms, icat, levels=range(10, 100, 10), colors="#8a8a8a", linewidths=0.7)
    axes.clabel(lines, fmt="icat %d", fontsize=8)
    axes.axvline(50, color=INK, linestyle="--", linewidth=0.8)
    for i, (model, up, across) in enumerate(points):
        if up.value is not None and across.value is not None:
            point, colour = (across.value, up.value), COLOURS[i % len(COLOURS)]
            limits = {"xerr": errors(across), "yerr": errors(up)}
            axes.errorbar(*point, **limits, fmt="none", ecolor=colour, elinewidth=1, clip_on=False, zorder=3)
            axes.plot(
                *point, marker=MARKERS[i % len(MARKERS)], color=colour, linestyle="", label=label[model],
                markersize=7, mec="white", clip_on=False, zorder=4,
            )  # fmt: skip
    axes.set(xlabel="ss (stereotype preferred, %)", ylabel="lms (meaningful preferred, %)", xlim=ss_seen, ylim=lms_seen)
    legend(drawing, label.values())
    return drawing


def _window(numbers: Sequence[Number], *also: float) -> tuple[float, float]:
    """Returns an axis range within 0 to 100 with all numbers and their limits, at least 24 wide."""
    ends = [end for n in numbers for end in (n.value, n.low, n.high) if end is not None] + list(also)
    if not ends:
        return 0.0, 100.0
    low, high = min(ends) - 3, max(ends) + 3
    more = max(0.0, 24 - (high - low)) / 2
    low, high = low - more, high + more
    low, high = low - max(0.0, high - 100), high - min(0.0, low)
    return max(0.0, low), min(100.0, high)


def dots(rows: Sequence[tuple[str, Number]], measure: str, ideal: float, limits: tuple[float, float]) -> Any:
    """Draws a dot with its interval for each name, the first on top, and a line at the ideal value."""
    drawing, axes = empty_axes(0.7 + 0.24 * len(rows))
    for row, (_, number) in enumerate(rows):
        axes.errorbar(number.value, row, xerr=errors(number), fmt="o", color=COLOURS[0], markersize=5, clip_on=False)
    axes.axvline(ideal, color=INK, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [short(name) for name, _ in rows])
    axes.set(xlabel=measure, xlim=limits, ylim=(len(rows) - 0.5, -0.5))
    return drawing


def bars(values: Mapping[str, Mapping[str, Number]], measure: str) -> Any:
    """Draws a bar with its interval for each category (rows) and model (colours and hatches)."""
    categories = list(dict.fromkeys(part for cells in values.values() for part in cells))
    height, label = 0.8 / len(values), told_apart(values)
    drawing, axes = empty_axes(0.7 + len(categories) * (0.15 + 0.2 * len(values)) + legend_height(label.values()))
    hatches = ("", "//", "..", "xx", "\\\\", "++")
    for i, (model, cells) in enumerate(values.items()):
        shown = [
            (row, cells[part]) for row, part in enumerate(categories) if part in cells and cells[part].value is not None
        ]
        places, lengths = [row + (i - (len(values) - 1) / 2) * height for row, _ in shown], [n.value for _, n in shown]
        colour, hatch = COLOURS[i % len(COLOURS)], hatches[(i + i // len(COLOURS)) % len(hatches)]
        axes.barh(places, lengths, height * 0.9, color=colour, hatch=hatch, label=label[model])
        if shown:
            axes.errorbar(lengths, places, xerr=np.hstack([errors(n) for _, n in shown]), fmt="none", ecolor=INK)
    axes.set_yticks(range(len(categories)), told_apart(categories).values())
    axes.set(xlabel=measure, ylim=(len(categories) - 0.5, -0.5))
    axes.set_xlim(left=0)
    legend(drawing, label.values())
    return drawing


def stacked(values: Mapping[str, Mapping[str, Mapping[str, float]]], measure: str) -> Any:
    """Draws one bar for each set of each model, stacked from shares (colours and hatches); drops parts that are empty.

    With several models, the name of each is above its bars.
    """
    heading: dict[str, Mapping[str, float]] = {"": {}} if len(values) > 1 else {}
    lines = [line for sets in values.values() for line in {**heading, **sets}.items()]
    places, shares = [i for i, (_, bar) in enumerate(lines) if bar], [bar for _, bar in lines if bar]
    parts = [part for part in dict.fromkeys(p for bar in shares for p in bar) if any(bar[part] for bar in shares)]
    names = told_apart(name for name, bar in lines if bar)
    drawing, axes = empty_axes(0.7 + 0.28 * len(lines) + legend_height(parts))
    hatches = ("", "//", "..", "xx", "\\\\", "++", "oo", "--", "**")
    # all bars of a part are one shape with gaps, which is drawn in a fraction of the time of single bars
    starts = np.zeros(len(shares))
    edges = np.ravel([(place - 0.4, place + 0.4, np.nan) for place in places])
    for i, part in enumerate(parts):
        widths = np.array([bar[part] for bar in shares])
        colour, hatch = COLOURS[i % len(COLOURS)], hatches[(i + i // len(COLOURS)) % len(hatches)]
        across = np.repeat(starts, 3), np.repeat(starts + widths, 3)
        axes.fill_betweenx(edges, *across, facecolor=colour, linewidth=0, hatch=hatch, label=part)
        starts += widths
    for i, model in zip((i for i, (_, bar) in enumerate(lines) if not bar), values, strict=False):
        axes.text(1, i, short(model, ABOVE), va="center", fontsize=9, weight="bold")
    axes.set_yticks(places, [names[lines[i][0]] for i in places])
    axes.set(xlabel=measure, ylim=(len(lines) - 0.5, -0.5), xlim=(0, 100))
    legend(drawing, parts)
    return drawing


def ranges(values: Mapping[str, Mapping[str, Number]], measure: str, ideal: float, limits: tuple[float, float]) -> Any:
    """Draws a point with its interval for each category (rows) and model (colours and marks), and the ideal value."""
    categories = list(dict.fromkeys(part for cells in values.values() for part in cells))
    label = told_apart(values)
    drawing, axes = empty_axes(0.7 + len(categories) * (0.15 + 0.11 * len(values)) + legend_height(label.values()))
    for i, (model, cells) in enumerate(values.items()):
        shown = [
            (row, cells[part]) for row, part in enumerate(categories) if part in cells and cells[part].value is not None
        ]
        if shown:
            places = [row + (i - (len(values) - 1) / 2) * 0.8 / len(values) for row, _ in shown]
            axes.errorbar(
                [n.value for _, n in shown], places, xerr=np.hstack([errors(n) for _, n in shown]),
                fmt=MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)], markersize=5, label=label[model],
            )  # fmt: skip
    for edge in range(1, len(categories)):
        axes.axhline(edge - 0.5, color="#8a8a8a", linewidth=0.4)
    axes.axvline(ideal, color=INK, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(categories)), told_apart(categories).values())
    axes.set(xlabel=measure, xlim=limits, ylim=(len(categories) - 0.5, -0.5))
    legend(drawing, label.values())
    return drawing


def violins(values: Mapping[str, Mapping[str, Sequence[float]]], measure: str) -> Any:
    """Draws the distribution of numbers for each category (rows) and model (colours), from 101 percentiles."""
    categories = list(dict.fromkeys(part for cells in values.values() for part in cells))
    height, label = 0.85 / len(values), told_apart(values)
    drawing, axes = empty_axes(0.7 + len(categories) * (0.15 + 0.24 * len(values)) + legend_height(label.values()))
    for i, (model, cells) in enumerate(values.items()):
        colour = COLOURS[i % len(COLOURS)]
        for row, part in ((row, part) for row, part in enumerate(categories) if part in cells):
            place = row + (i - (len(values) - 1) / 2) * height
            across, density = _density(np.array(cells[part]))
            half = height / 2 * 0.95 * density / density.max()
            axes.fill_between(across, place - half, place + half, color=colour, alpha=0.55, linewidth=0)
            axes.plot([cells[part][25], cells[part][75]], [place, place], color=INK, linewidth=2, solid_capstyle="butt")
            axes.plot(cells[part][50], place, marker=MARKERS[i % len(MARKERS)], color=colour, mec=INK, markersize=6)
        axes.plot([], [], marker=MARKERS[i % len(MARKERS)], color=colour, linestyle="", label=label[model])
    axes.set_yticks(range(len(categories)), told_apart(categories).values())
    axes.set(xlabel=measure, ylim=(len(categories) - 0.5, -0.5))
    legend(drawing, label.values())
    return drawing


def _density(quantiles: Any) -> tuple[Any, Any]:
    """Returns positions and densities of numbers from their percentiles, by Gaussian kernels of Scott's bandwidth."""
    width = max(float(quantiles.std()) * len(quantiles) ** -0.2, 1e-6)
    across = np.linspace(quantiles[0], quantiles[-1], 60) if np.ptp(quantiles) else quantiles[:1]
    return across, np.exp(-(((across[:, None] - quantiles) / width) ** 2) / 2).sum(axis=1)


def histograms(drawn: Sequence[Mapping[str, Any]]) -> Any:
    """Draws a histogram for each category, stacked vertically with one scale; hatched bins are cut."""
    drawing = _paper(0.6 + 1.3 * len(drawn))
    places = drawing.subplots(len(drawn), squeeze=False, sharex=True)[:, 0]
    for axes, data in zip(places, drawn, strict=True):
        edges, counts, cut = np.array(data["edges"]), np.array(data["counts"]), data["kept_bins"]
        for part, colour, hatch in ((slice(None, cut), COLOURS[0], ""), (slice(cut, None), "#b9bec6", "////")):
            axes.bar(
                edges[:-1][part], counts[part], np.diff(edges)[part], align="edge", color=colour, hatch=hatch,
                edgecolor="white", linewidth=0.4,
            )  # fmt: skip
        axes.axvline(edges[cut], color=INK, linestyle="--", linewidth=0.8)
        title = f"{short(data['category'] or 'all')}: {counts[:cut].sum():,} of {counts.sum():,} kept"
        axes.set_title(title, loc="left", fontsize=10)
    log = drawn[0]["scale"] == "log10"
    places[-1].set_xlabel("mean perplexity" + (", log10" if log else ""))
    drawing.supylabel("stereotypes", fontsize=10)
    return drawing


def svg(drawing: Any, name: str) -> str:
    """Returns a drawing as SVG for a page that sets its colours; text stays text, and `name` makes the ids unique."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        # compute the layout here; otherwise matplotlib renders everything twice to compute it
        drawing.get_layout_engine().execute(drawing)
        drawing.set_layout_engine(None)
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    markup = text.getvalue()
    markup = re.sub(r"<metadata>.*?</metadata>", "", markup[markup.index("<svg") :], flags=re.S)
    # group ids are equal in every drawing, and nothing refers to them
    markup = re.sub(r'<g id="[^"]*"', "<g", markup)
    markup = re.sub(r'width="[^"]*pt" height="[^"]*pt"', "", markup, count=1)
    markup = markup.replace("<svg ", f'<svg class="plot" style="--inches: {drawing.get_figwidth()}" ', 1)
    for number, colour in enumerate(COLOURS, 1):
        markup = markup.replace(colour.lower(), f"var(--c{number})")
    return visible(markup.replace(INK, "currentColor"))


def draw(make: Any) -> Any:
    """Returns the drawing in the style of reports; raises MissingExtra if matplotlib is missing."""
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        without = "--format markdown, csv, json and latex need no figures"
        raise extras.MissingExtra(f"{extras.sentence('matplotlib')}; {without}", name=error.name) from None
    with matplotlib.rc_context(STYLE):
        return make()


def save(drawing: Any, folder: Path, name: str) -> list[Path]:
    """Saves the drawing as PDF, PNG and SVG for papers; returns the paths."""
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
