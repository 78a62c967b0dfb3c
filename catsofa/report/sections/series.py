"""The report section on checkpoints of a model: each measure over the training, as lines."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from catsofa.report.cells import Row, Words, about, limited, signatures, valued, with_distinct_titles
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.report.figures import COLOURS, INK, MARKERS, WIDTH, errors, legend, legend_height, told_apart
from catsofa.report.inputs import Finished
from catsofa.scoring.signature import Signature

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
"""Runs by model and by the number of the checkpoint."""
TestsOf = Callable[[Sequence[Row]], Iterator[tuple[str, str, Mapping[str, Any]]]]
"""Yields for each association test in rows its model, its name and its numbers."""
MOST = 6
"""The maximum number of measures in the figure; the table has all."""
APART = 4
"""The horizontal offset between the lines of two models, in points."""


def series(
    name: str, groups: Sequence[tuple[str, Sequence[Finished]]], word: str, tests_of: TestsOf
) -> Iterator[Section]:
    """Yields a section for each group of runs in which a model has two checkpoints or more.

    Raises ValueError if no group has one, and if two runs of one checkpoint conflict. Raises ValueError also for a
    number such as 1k or 1.5, because it would be read as 1.
    """
    number, undrawn = re.compile(rf"(?<![^\W\d_]){re.escape(word)}[-_=]?(\d+)([.,]?[^\W_]+)?"), list[str]()
    sections, signed = list[Section](), list[Signature]()
    for index, (kind, runs) in enumerate(groups, 1):
        points: dict[str, dict[int, list[Finished]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            if match := number.search(run.model):
                if match[2]:
                    expected = f"expected a whole number after {word!r}, such as {word}1000"
                    raise ValueError(f"found the number {match[1] + match[2]} in {run.model}; {expected}")
                model = run.model[: match.start()].rstrip("-_@=/ ") + run.model[match.end() :]
                point = points[model][int(match[1])]
                if twin := next((other for other in point if _of_one(other, run)), None):
                    raise ValueError(
                        f"{twin.model} and {run.model} have one {word}, {int(match[1])}; expected each once"
                    )
                point.append(run)
        several = {model: dict(sorted(by_x.items())) for model, by_x in points.items() if len(by_x) > 1}
        values = _values(kind, several, tests_of)
        if any(numbers for by_x in values.values() for numbers in by_x.values()):
            sections.append(_section(f"{name}{index}", several, values, word))
            signed.append(runs[0].signature)
        elif several:
            undrawn.append(kind)
    if undrawn and not sections:
        drawable = ", ".join([*NUMBERS, SEAT])
        raise ValueError(
            f"found checkpoints of {', '.join(undrawn)} alone, which has no lines; expected runs of {drawable}"
        )
    if not sections:
        names = ", ".join(dict.fromkeys(run.model for _, runs in groups for run in runs)) or "none"
        raise ValueError(
            f"found no model with two checkpoints or more, by a number after {word!r}, in the names {names}; expected "
            f"names such as model-{word}1000 and model-{word}2000"
        )
    yield from with_distinct_titles(sections, signed)


def _of_one(one: Finished, other: Finished) -> bool:
    """Returns True if two runs of one checkpoint conflict; SEAT runs of one model on different data do not."""
    same = (one.signature.data, one.signature.subset) == (other.signature.data, other.signature.subset)
    return one.kind != SEAT or same or one.model != other.model


def _values(kind: str, models: Points, tests_of: TestsOf) -> dict[str, dict[int, dict[str, Number]]]:
    """Returns the numbers of each checkpoint, by measure or by association test."""
    numbers = {
        model: {x: NUMBERS[kind](runs[0].report["results"]) if kind in NUMBERS else {} for x, runs in by_x.items()}
        for model, by_x in models.items()
    }
    if kind == SEAT:
        rows = [(f"{model}\n{x}", run.report, run.signature) for model, xs in models.items() for x, runs in xs.items()
                for run in runs]  # fmt: skip
        for point, test, row in tests_of(rows):
            model, _, x = point.rpartition("\n")
            numbers[model][int(x)][test] = limited(row, "effect_size", 2)
    return numbers


def _section(name: str, models: Points, values: Mapping[str, Mapping[int, Mapping[str, Number]]], word: str) -> Section:
    """Returns a section with the table of all checkpoints and the line chart."""
    runs = [run for by_x in models.values() for point in by_x.values() for run in point]
    rows = [(run.model, run.report, run.signature) for run in runs]
    measures = list(dict.fromkeys(m for by_x in values.values() for numbers in by_x.values() for m in numbers))
    body: list[tuple[Cell, ...]] = [
        (model or word, x, *(numbers.get(measure, "—") for measure in measures))
        for model, by_x in values.items()
        for x, numbers in by_x.items()
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
        measure: {
            model or word: {x: n[measure] for x, n in by_x.items() if measure in n} for model, by_x in values.items()
        }
        for measure in drawn
    }
    figure = Figure(
        name=f"{name}-lines",
        caption=f"{', '.join(drawn)} by {word}, with 95 % intervals; dashed lines are ideal values",
        alt="; ".join(
            f"{m}, {model}, {word} {x}: {n}"
            for m, by_model in lines.items()
            for model, p in by_model.items()
            for x, n in p.items()
        ),
        draw=partial(drawing, lines, word),
    )
    one = len({run.signature.data for run in runs}) == 1
    return WORDS.section(name, about(rows) if one else f"protocol {rows[0][2].protocol}", [table], [figure])


def _answers(result: Mapping[str, Any]) -> dict[str, Number]:
    """Returns accuracy and bias of answers to questions."""
    return {
        measure: limited({**result, "undefined": True}, measure, 3)
        for measure in ("acc_amb", "acc_dis", "s_amb", "s_dis")
    }


def _choices(results: Any) -> dict[str, Number]:
    """Returns the defined numbers: preference, position effect, bias of each association test, and answers."""
    whole, answers = results["overall"], results.get("answers")
    numbers = {"preference": valued(whole["preference"], 3), "position effect": valued(whole["position"], 3)}
    numbers |= {
        test: valued(result, 3)
        for part in ("associations", "decisions")
        for test, result in results.get(part, {}).items()
    }
    numbers |= _answers(answers["overall"]) if answers else {}
    return {measure: number for measure, number in numbers.items() if number.value is not None}


NUMBERS: dict[str, Callable[[Any], dict[str, Number]]] = {
    "stereoset": lambda results: {m: limited(results["overall"], m) for m in ("lms", "ss", "icat")},
    "crows_pairs": lambda results: {"score": limited(results["overall"], "score")},
    "sofa": lambda results: {"SoFa score": limited(results, "score", 3)},
    # results of a prediction file are by model column, without overall numbers
    "bbq": lambda results: _answers(results["overall"]) if "overall" in results else {},
    "choices": _choices,
}
"""Maps the registered name of a measure to the shown numbers of its results; `tests_of` names association tests."""


def drawing(lines: Mapping[str, Mapping[str, Mapping[int, Number]]], word: str) -> Any:
    """Draws a panel for each measure and a line for each model."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.transforms import ScaledTranslation

    labels = told_apart(model for models in lines.values() for model in models)
    whole = Drawing(figsize=(WIDTH, 0.5 + 1.5 * len(lines) + legend_height(labels.values())), layout="constrained")
    panels = whole.subplots(len(lines), 1, sharex=True, squeeze=False)[:, 0]
    named = set[str]()
    for axes, (measure, models) in zip(panels, lines.items(), strict=True):
        for index, (model, points) in enumerate(models.items()):
            scored = {x: number for x, number in points.items() if number.value is not None}
            if not scored:
                continue
            how: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "fmt": f"{MARKERS[index % len(MARKERS)]}-"}
            if len(models) > 1 and model not in named:
                how["label"] = labels[model]
                named.add(model)
            values = np.array([number.value for number in scored.values()])
            reach = np.hstack([*map(errors, scored.values())])
            # shift the intervals of several models so that they do not overlap
            beside = ScaledTranslation((index - (len(models) - 1) / 2) * APART / 72, 0, whole.dpi_scale_trans)
            axes.errorbar([*scored], values, yerr=reach, markersize=4, transform=axes.transData + beside, **how)
            for ends in (values - reach[0], values + reach[1]):  # matplotlib ignores shifted data in its axis limits
                axes.update_datalim(np.column_stack([[*scored], ends]))
        axes.axhline(IDEALS.get(measure, 0), color=INK, linestyle="--", linewidth=0.8)
        axes.set(ylabel=measure)
    panels[-1].set(xlabel=word)
    legend(whole, labels.values())
    return whole
