"""The figure of a multiverse: numbers in their order with intervals, above the choices that made each of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from catsofa.report.elements import Number
from catsofa.report.figures import COLOURS, INK, WIDTH, short


def curve(points: Sequence[tuple[Number, Mapping[str, str]]], measure: str, ideal: float | None) -> Any:
    """Numbers from the lowest to the highest, each over dots for the choices that made it; its name is a choice too."""
    from matplotlib.figure import Figure

    found = sorted(points, key=lambda point: point[0].value or 0.0)
    lines = list(dict.fromkeys((option, choices[option]) for option in found[0][1] for _, choices in found))
    above, below = 1.8, 0.3 + 0.17 * len(lines)
    drawing = Figure(figsize=(WIDTH, above + below), layout="constrained")
    top, bottom = drawing.subplots(2, 1, sharex=True, height_ratios=(above, below))
    for at, (of, choices) in enumerate(found):
        value = of.value or 0.0
        low, high = (value if limit is None else limit for limit in (of.low, of.high))
        top.errorbar(at, value, yerr=[[max(0.0, value - low)], [max(0.0, high - value)]], fmt="o", color=COLOURS[0])
        places = [row for row, (option, choice) in enumerate(lines) if choices[option] == choice]
        bottom.plot([at] * len(places), places, "o", color=INK, markersize=4)
    if ideal is not None:
        top.axhline(ideal, color=INK, linestyle="--", linewidth=0.8)
    top.set(ylabel=measure)
    names = [choice if option == "protocol" else f"{option}: {choice}" for option, choice in lines]
    bottom.set_yticks(range(len(lines)), [short(name) for name in names], fontsize=8)
    bottom.set(xlim=(-0.5, len(found) - 0.5), ylim=(len(lines) - 0.5, -0.5), xticks=[])
    for row in range(1, len(lines)):
        bottom.axhline(row - 0.5, color="#8a8a8a", linewidth=0.3)
    return drawing
