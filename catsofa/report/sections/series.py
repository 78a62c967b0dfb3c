"""Checkpoints of a model in a report: each measure along the training, as lines."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from catsofa.report.cells import Row, Words, about, limited, signatures, valued
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.report.figures import COLOURS, INK, MARKERS, WIDTH, errors, legend, legend_height, told_apart
from catsofa.report.inputs import Finished

WORDS = Words(
    "Along the training",
    "Each measure of the checkpoints of a model, with 95 % intervals, in the order of the number in their names.",
    "Checkpoints of one model share their data and their seed: a change between two of them is a fact about this "
    "training. The intervals are of each checkpoint alone; `catsofa compare` tests the change between two.",
)
IDEALS = {
    "lms": 100,
    "ss": 50,
    "icat": 100,
    "score": 50,
    "SoFa score": 0,
    "acc_amb": 1,
    "acc_dis": 1,
    "preference": 0.5,
}
SEAT = "seat"
Points = Mapping[str, Mapping[int, Sequence[Finished]]]
"""The runs of each model at each number."""
TestsOf = Callable[[Sequence[Row]], Iterator[tuple[str, str, Mapping[str, Any]]]]
"""Rows to each association test: its model, its name, and its numbers."""
MOST = 6
"""Measures that are drawn; the table has all."""
APART = 4
"""Points by which the lines of two models are apart."""


def series(
    name: str, groups: Sequence[tuple[str, Sequence[Finished]]], word: str, tests_of: TestsOf
) -> Iterator[Section]:
    """A section for each group of runs in which a model has two checkpoints or more; a ValueError if none has.

    A number that goes on, such as 1k or 1.5, is refused, since 1 is another.
    """
    number, made, undrawn = re.compile(rf"(?<![^\W\d_]){re.escape(word)}[-_=]?(\d+)([.,]?[^\W_]+)?"), 0, list[str]()
    for at, (kind, runs) in enumerate(groups, 1):
        points: dict[str, dict[int, list[Finished]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            if found := number.search(run.model):
                if found[2]:
                    expected = f"expected a whole number after {word!r}, such as {word}1000"
                    raise ValueError(f"found the number {found[1] + found[2]} in {run.model}; {expected}")
                model = run.model[: found.start()].rstrip("-_@=/ ") + run.model[found.end() :]
                point = points[model][int(found[1])]
                if twin := next((other for other in point if _of_one(other, run)), None):
                    raise ValueError(
                        f"{twin.model} and {run.model} have one {word}, {int(found[1])}; expected each once"
                    )
                point.append(run)
        several = {model: dict(sorted(of.items())) for model, of in points.items() if len(of) > 1}
        values = _values(kind, several, tests_of)
        if any(numbers for of in values.values() for numbers in of.values()):
            made += 1
            yield _section(f"{name}{at}", several, values, word)
        elif several:
            undrawn.append(kind)
    if undrawn and not made:
        known = ", ".join([*NUMBERS, SEAT])
        raise ValueError(
            f"found checkpoints of {', '.join(undrawn)} alone, which has no lines; expected runs of {known}"
        )
    if not made:
        names = ", ".join(dict.fromkeys(run.model for _, runs in groups for run in runs)) or "none"
        raise ValueError(
            f"found no model with two checkpoints or more, by a number after {word!r}, in the names {names}; expected "
            f"names such as model-{word}1000 and model-{word}2000"
        )


def _of_one(one: Finished, other: Finished) -> bool:
    """Whether two runs cannot both stand at one number: only association tests of one model are of several data."""
    same = (one.signature.data, one.signature.subset) == (other.signature.data, other.signature.subset)
    return one.kind != SEAT or same or one.model != other.model


def _values(kind: str, models: Points, tests_of: TestsOf) -> dict[str, dict[int, dict[str, Number]]]:
    """The numbers of each point, by measure or by association test."""
    found = {
        model: {x: NUMBERS[kind](runs[0].report["results"]) if kind in NUMBERS else {} for x, runs in of.items()}
        for model, of in models.items()
    }
    if kind == SEAT:
        rows = [(f"{model}\n{x}", run.report, run.signature) for model, of in models.items() for x, runs in of.items()
                for run in runs]  # fmt: skip
        for point, test, row in tests_of(rows):
            model, _, x = point.rpartition("\n")
            found[model][int(x)][test] = limited(row, "effect_size", 2)
    return found


def _section(name: str, models: Points, values: Mapping[str, Mapping[int, Mapping[str, Number]]], word: str) -> Section:
    """The table of all points, and the lines."""
    runs = [run for of in models.values() for point in of.values() for run in point]
    rows = [(run.model, run.report, run.signature) for run in runs]
    measures = list(dict.fromkeys(m for of in values.values() for numbers in of.values() for m in numbers))
    body: list[tuple[Cell, ...]] = [
        (model or word, x, *(numbers.get(measure, "—") for measure in measures))
        for model, of in values.items()
        for x, numbers in of.items()
    ]
    table = Table(
        name=f"{name}-points",
        caption=f"Each checkpoint, by {word}",
        columns=("model", word, *measures),
        rows=tuple(body),
        signatures=signatures(rows),
        by=("model",) if len(values) > 1 else (),
    )
    drawn = measures[:MOST]
    lines = {
        measure: {model or word: {x: n[measure] for x, n in of.items() if measure in n} for model, of in values.items()}
        for measure in drawn
    }
    figure = Figure(
        name=f"{name}-lines",
        caption=f"{', '.join(drawn)} by {word}, with 95 % intervals; dashed lines are ideal values",
        alt="; ".join(
            f"{m}, {model}, {word} {x}: {n}" for m, of in lines.items() for model, p in of.items() for x, n in p.items()
        ),
        draw=partial(drawing, lines, word),
    )
    one = len({run.signature.data for run in runs}) == 1
    return WORDS.section(name, about(rows) if one else f"protocol {rows[0][2].protocol}", [table], [figure])


def _answers(of: Mapping[str, Any]) -> dict[str, Number]:
    """Accuracy and bias of answers to questions."""
    return {
        measure: limited({**of, "undefined": True}, measure, 3) for measure in ("acc_amb", "acc_dis", "s_amb", "s_dis")
    }


def _choices(results: Any) -> dict[str, Number]:
    """Preference, position effect, the bias of each association test, and the numbers of answers, where they are."""
    whole, answers = results["overall"], results.get("answers")
    found = {"preference": valued(whole["preference"], 3), "position effect": valued(whole["position"], 3)}
    found |= {
        test: valued(of, 3) for part in ("associations", "decisions") for test, of in results.get(part, {}).items()
    }
    found |= _answers(answers["overall"]) if answers else {}
    return {measure: number for measure, number in found.items() if number.value is not None}


NUMBERS: dict[str, Callable[[Any], dict[str, Number]]] = {
    "stereoset": lambda results: {m: limited(results["overall"], m) for m in ("lms", "ss", "icat")},
    "crows_pairs": lambda results: {"score": limited(results["overall"], "score")},
    "sofa": lambda results: {"SoFa score": limited(results, "score", 3)},
    # a file of predictions has columns for models, and no whole
    "bbq": lambda results: _answers(results["overall"]) if "overall" in results else {},
    "choices": _choices,
}
"""Registered name of a measure to what is shown of its results; association tests are named by `tests_of`."""


def drawing(lines: Mapping[str, Mapping[str, Mapping[int, Number]]], word: str) -> Any:
    """A panel for each measure, a line for each model."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.transforms import ScaledTranslation

    labels = told_apart(model for models in lines.values() for model in models)
    whole = Drawing(figsize=(WIDTH, 0.5 + 1.5 * len(lines) + legend_height(labels.values())), layout="constrained")
    panels = whole.subplots(len(lines), 1, sharex=True, squeeze=False)[:, 0]
    named = set[str]()
    for axes, (measure, models) in zip(panels, lines.items(), strict=True):
        for at, (model, points) in enumerate(models.items()):
            known = {x: number for x, number in points.items() if number.value is not None}
            if not known:
                continue
            how: dict[str, Any] = {"color": COLOURS[at % len(COLOURS)], "fmt": f"{MARKERS[at % len(MARKERS)]}-"}
            if len(models) > 1 and model not in named:
                how["label"] = labels[model]
                named.add(model)
            values = np.array([number.value for number in known.values()])
            reach = np.hstack([*map(errors, known.values())])
            # intervals of several models beside one another, not on top of one another
            beside = ScaledTranslation((at - (len(models) - 1) / 2) * APART / 72, 0, whole.dpi_scale_trans)
            axes.errorbar([*known], values, yerr=reach, markersize=4, transform=axes.transData + beside, **how)
            for ends in (values - reach[0], values + reach[1]):  # matplotlib takes no limits from what is moved
                axes.update_datalim(np.column_stack([[*known], ends]))
        axes.axhline(IDEALS.get(measure, 0), color=INK, linestyle="--", linewidth=0.8)
        axes.set(ylabel=measure)
    panels[-1].set(xlabel=word)
    legend(whole, labels.values())
    return whole
