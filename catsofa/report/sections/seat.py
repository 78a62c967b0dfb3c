"""The report section on SEAT: the effect size of each test and model, with stars after Holm's correction over all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from catsofa.report import figures
from catsofa.report.cells import (
    Row,
    Words,
    chance,
    counted,
    grouped,
    limited,
    scored,
    signatures,
    stars,
    unscored,
    warned,
)
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.measures.seat.coherence import NOT_SHOWN, SHOWN, coherence
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.holm import holm

WORDS = Words(
    "SEAT: associations of sentence vectors",
    "The effect size d of each association test. p is one-sided (d > 0): a negative d has no star. "
    "* p < .05, ** p < .01, *** p < .001 after Holm's correction over all tests of all models in the table.",
    "SEAT has only positive predictive ability: a significant association is evidence of one, and no association "
    "found is no evidence that there is none.",
)
WHOLE = 60
"""The maximum characters of a name in the matrix, which grows with them."""
Test = tuple[str, str, Mapping[str, Any]]
"""The name of a model, the name of a test, and its row."""


def seat(name: str, rows: Sequence[Row]) -> Section:
    """Returns the section with effect sizes of each test and model; Holm's correction is over the whole table."""
    tests = list(tests_of(rows))
    adjusted = holm([nan if row["p_value"] is None else row["p_value"] for _, _, row in tests])
    body: list[tuple[Cell, ...]] = []
    sizes: dict[str, dict[str, Number]] = {}
    for (model, test, row), p in zip(tests, adjusted, strict=True):
        size = limited(row, "effect_size", 2, stars(p))
        sizes.setdefault(model, {})[test] = size
        chances = [chance(row["p_value"]), chance(p)]
        texts = scored(row["coverage"], sum(row["sizes"].values()))
        body.append((model, test, size, *chances, row["how"] or "—", counted(row.get("unknown")), texts))
    table = Table(
        name=f"{name}-effects",
        caption="Effect sizes, with 95 % intervals over targets",
        columns=("model", "test", "d", "p", "p (Holm)", "p is", "unknown", "texts that count"),
        rows=tuple(body),
        signatures=signatures(rows),
        warnings=warned(rows),
        unscored=unscored(rows),
        by=grouped(rows, "test"),
        notes=(
            "Each test is a data set of its own, so that signatures differ in their data from test to test. How a "
            "vector is made of a text (pooling, layer) is part of the model in the signature; it may differ between "
            "models.",
            "unknown: texts with a token that the tokenizer does not know; — if not counted.",
        ),
    )
    drawn = Figure(
        name=f"{name}-matrix",
        caption="Effect sizes d, with stars after Holm's correction",
        alt="; ".join(f"{model}, {test}: {size}" for model, by_test in sizes.items() for test, size in by_test.items()),
        draw=lambda: matrix(sizes),
    )
    protocol = rows[0][2].protocol
    agree = [
        (model, why, *tests, *map(chance, p_values), "yes" if coherent else "no")
        for model, report, _ in rows
        for why, tests, p_values, coherent in coherence(report["results"])
    ]
    tables = [table]
    if agree:
        tables.append(
            Table(
                name=f"{name}-coherence",
                caption="Tests that should agree: the same words in sentences, like sets, ever smaller sets",
                columns=("model", "because of", "test", "other test", "p", "p of the other", "coherent"),
                rows=tuple(agree),
                signatures=signatures(rows),
                notes=(
                    f"no: one p is at most {SHOWN} and the other above {NOT_SHOWN}; of smaller sets, only if the "
                    "smaller ones show what the larger ones do not. Then the sets may be no coherent concepts to the "
                    "model.",
                ),
            )
        )
    return WORDS.section(name, f"protocol {protocol}", tables, [drawn])


def tests_of(rows: Sequence[Row]) -> Iterator[Test]:
    """Yields every test; tests of one name on different data have their data in the name."""
    data: dict[str, set[tuple[str, str]]] = {}
    for _, report, signature in rows:
        for row in report["results"]:
            data.setdefault(row["test"], set()).add(_data(signature))
    for model, report, signature in rows:
        for row in report["results"]:
            apart = len(data[row["test"]]) > 1
            yield model, f"{row['test']} ({' '.join(_data(signature)).strip()})" if apart else row["test"], row


def _data(signature: Signature) -> tuple[str, str]:
    """Returns the parts of a signature that identify its data."""
    return signature.data, signature.subset


def matrix(values: Mapping[str, Mapping[str, Number]]) -> Any:
    """Draws the effect size of each test and model on a colour scale symmetric around 0; the shorter list is across."""
    tests = list(dict.fromkeys(test for by_test in values.values() for test in by_test))
    cells = {(model, test): number for model, by_test in values.items() for test, number in by_test.items()}
    down, across = (tests, list(values)) if len(tests) > len(values) else (list(values), tests)
    grid = [[cells.get((b, a) if down is tests else (a, b)) for b in across] for a in down]
    beside, below = (figures.told_apart(names, WHOLE).values() for names in (down, across))
    flat = sum(map(len, below)) < 30
    # a column is wide enough for an effect with three stars
    drawing, axes = figures.empty_axes(
        0.3 + 0.26 * len(down) + (0.1 if flat else 0.075 * max(map(len, below))),
        max(figures.WIDTH, 0.3 + 0.075 * max(map(len, beside)) + 0.5 * len(across)),
    )
    numbers = [[np.nan if cell is None or cell.value is None else cell.value for cell in row] for row in grid]
    # a mesh instead of an image stays sharp in print
    axes.pcolormesh(np.array(numbers), cmap="RdBu_r", vmin=-2, vmax=2, edgecolors="#ffffff", linewidth=2)
    for row, line in enumerate(grid):
        for column, cell in enumerate(line):
            if cell and cell.value is not None:
                ink, text = "#ffffff" if abs(cell.value) > 1.2 else "#111111", replace(cell, digits=2).point
                # exclude the text from the layout, which would measure each of them twice
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
