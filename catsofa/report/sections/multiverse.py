"""The report section on one data set by three protocols or more: cells, ranges over protocols, specification curves."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from catsofa.data import sources
from catsofa.data.percentages import in_percent
from catsofa.data.visible import without_folders
from catsofa.report.cells import Words, between
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.report.figures import COLOURS, INK, WIDTH, errors, short
from catsofa.report.inputs import Finished, NotThere, protocol
from catsofa.scoring.choosing.replies import REPLIES
from catsofa.scoring.dataset import open_data, place_of
from catsofa.scoring.multiverse import Multiverse, compared, multiverse
from catsofa.scoring.multiverse.cells import digits
from catsofa.scoring.multiverse.choices import written
from catsofa.scoring.multiverse.chosen import PART, chosen
from catsofa.scoring.multiverse.dependence import distinct
from catsofa.scoring.protocols import PRESETS
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.signature import first_of, without_hashes

WORDS = Words(
    "One data set by several protocols",
    "Each model on the same items, scored by every protocol. The range is the highest value less the lowest, over the "
    "items that every protocol scored; its interval holds the true range in 95 % of samples of terms, or more.",
    "Protocols that were not run are missing: the range over all defensible protocols can only be larger.",
)
CHOICES = "choices"
LEAST = 3
"""The minimum number of protocols of one model for a section; two protocols are compared in pairs instead."""
ASKED = ("coverage", "refusals")
FEWER = (
    "* counts fewer items than another protocol does: unscored, or tied and left out.",
    "* counts fewer replies than another protocol does: refused, unread or missing.",
)
HEADLINES = {"stereoset": "ss", "crows_pairs": "score", CHOICES: "preference"}
"""Maps a measure to the number in its figure."""
Runs = Mapping[str, Mapping[str, Finished]]
"""Runs by model and protocol."""


def many(runs: Sequence[Finished]) -> dict[tuple[str, str], Runs]:
    """Returns the runs of models that three protocols or more scored on the same items, by measure and data."""
    by_data: dict[tuple[str, str], dict[str, dict[str, Finished]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if run.kind in HEADLINES and (run.kept or (run.folder / REPLIES).is_file()):
            signature = run.signature
            protocol_name = signature.protocol.removesuffix("-neutral") if run.kind == CHOICES else ""
            same = str(replace(signature, model="", protocol=protocol_name, options="", batching="", seed=0))
            by_protocol = by_data[run.kind, same][run.model]
            name = signature.protocol
            by_protocol[f"{name}@{signature.options}" if name in by_protocol else name] = run
    order = list(PRESETS)

    def place(name: str) -> int:
        return order.index(name) if name in order else len(order)

    return {
        key: {
            model: {n: by_protocol[n] for n in sorted(by_protocol, key=place)}
            for model, by_protocol in models.items()
            if len(by_protocol) >= LEAST
        }
        for key, models in by_data.items()
        if any(len(by_protocol) >= LEAST for by_protocol in models.values())
    }


def sections(name: str, by_data: Mapping[tuple[str, str], Runs]) -> Iterator[Section]:
    """Yields a section for each measure and data set."""
    for number, ((kind, _), models) in enumerate(by_data.items(), 1):
        one = next(iter(next(iter(models.values())).values()))
        about = without_hashes(", ".join(filter(None, (one.signature.data, one.signature.subset))))
        try:
            yield _section(f"{name}-{number}", kind, about, models)
        except NotThere as error:
            yield replace(WORDS, lead=without_folders(f"The protocols are not compared: {error}.")).section(
                f"{name}-{number}", about, []
            )


def _section(name: str, kind: str, about: str, models: Runs) -> Section:
    """Returns a section with the cells and ranges of each part, and a curve for each model."""
    result = _of_choices(models) if kind == CHOICES else _of_scores(models)
    signatures = tuple(str(run.signature) for by_protocol in models.values() for run in by_protocol.values())
    tables = [
        table
        for part in result.cells
        for table in (
            _cells(name, part, result, signatures),
            _ranges(name, part, result, signatures),
            *_choices(name, part, HEADLINES[kind], result, signatures),
        )
    ]
    figures = [
        _curve(f"{name}-{part}-{index}", part, model, HEADLINES[kind], result)
        for part, models_of in result.cells.items()
        for index, model in enumerate(models_of, 1)
        if HEADLINES[kind] in result.dependence[part][model].spreads
    ]
    return WORDS.section(name, about, tables, figures)


def _of_scores(models: Runs) -> Multiverse:
    """Compares runs of `score`; raises NotThere if their data are unavailable."""
    one = next(iter(next(iter(models.values())).values()))
    try:
        records = list(islice(sources.read(data_of(one.folder)), first_of(one.signature.subset)))
    except ValueError as error:
        raise NotThere(str(error)) from None
    by_name = {each: protocol(run) for by_protocol in models.values() for each, run in by_protocol.items()}
    scores = {model: {each: run.scores for each, run in by_protocol.items()} for model, by_protocol in models.items()}
    return multiverse(records, scores, by_name, resamples=one.signature.resamples, seed=one.signature.seed)


def _of_choices(models: Runs) -> Multiverse:
    """Compares runs of `choose`, each named by its options; raises NotThere if their data are unavailable."""
    one = next(iter(next(iter(models.values())).values()))
    try:
        if (place := place_of(one.folder, one.report.get("on"))) is None:
            raise NotThere(f"{one.folder} does not name the place of its data; run its `catsofa choose` again")
        data = open_data(place)
        cells = {
            model: [chosen(run.folder, data) for run in by_protocol.values()] for model, by_protocol in models.items()
        }
    except ValueError as error:
        raise NotThere(str(error)) from None
    options = {cell.name: cell.options for row in cells.values() for cell in row}
    by_name = {model: {cell.name: cell.cell for cell in row} for model, row in cells.items()}
    return compared({PART: by_name}, options, resamples=one.signature.resamples, seed=one.signature.seed)


def _cells(name: str, part: str, result: Multiverse, signatures: tuple[str, ...]) -> Table:
    """Returns the table with a row for each model and protocol."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    first = next(iter(next(iter(result.cells[part].values())).values()))
    for model, by_protocol in result.cells[part].items():
        most = max(cell.coverage for cell in by_protocol.values())
        for each, cell in by_protocol.items():
            numbers = (between(value, digits(cell.measures[measure])) for measure, value in cell.numbers.items())
            counted = f"{int(cell.scored.sum()):,} of {cell.items:,}{' *' * (cell.coverage < most)}"
            reply_cells: list[Cell] = (
                [in_percent(cell.coverage), in_percent(cell.outcomes["refusal"])] if cell.outcomes else []
            )
            rows.append((model, each, *numbers, counted, *(reply_cells or [cell.ties])))
            notes += [f"{model}, {each}: {next(iter(first.numbers))} is undefined, {cell.undefined}."] * bool(
                cell.undefined
            )
        notes += [
            f"{model}: {a} has the scores and the outcomes of {b} and counts once."
            for a, b in distinct(by_protocol)[1].items()
        ]
    return Table(
        name=f"{name}-{part}-cells",
        caption=f"{part}: each protocol, with 95 % intervals",
        columns=("model", "protocol", *first.numbers, "scored", *(ASKED if first.outcomes else ("ties",))),
        rows=tuple(rows),
        by=("model",),
        signatures=signatures,
        notes=(FEWER[bool(first.outcomes)], *notes),
    )


def _ranges(name: str, part: str, result: Multiverse, signatures: tuple[str, ...]) -> Table:
    """Returns the table with a row for each model and measure: its range over protocols."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for model, dependence in result.dependence[part].items():
        notes += [f"{model}: protocols are not compared: {dependence.refused}."] * bool(dependence.refused)
        for measure, spread in dependence.spreads.items():
            low, high = spread.ends
            sides = "—"
            if spread.ideal is not None:
                sides = f"{spread.above.holds} above {spread.ideal:g}, {spread.below.holds} below"
            median = f"{spread.median:.{spread.digits}f}"
            rows.append(
                (model, measure, low, high, median, between(spread.range, spread.digits), sides, dependence.items)
            )
    for measure, order in result.orders[part].items():
        tau = between(order.tau, 2)
        notes.append(
            f"{measure}: {order.kept} of {len(order.pairs)} pairs of models in one order; Kendall's tau {tau}."
        )
    return Table(
        name=f"{name}-{part}-ranges",
        caption=f"{part}: range over protocols, on the items that every one scored",
        columns=("model", "measure", "lowest", "highest", "median", "range", "protocols", "items"),
        rows=tuple(rows),
        by=("model",),
        signatures=signatures,
        notes=tuple(notes),
    )


def _choices(name: str, part: str, measure: str, result: Multiverse, signatures: tuple[str, ...]) -> Iterator[Table]:
    """Yields a table with a row for each model and choice: how far the choice moves the number."""
    rows = list[tuple[Cell, ...]]()
    for model, dependence in result.dependence[part].items():
        if not (spread := dependence.spreads.get(measure)):
            continue
        effects = spread.effects
        estimated = {option: effect for option, effect in effects.items() if effect}
        for option, effect in sorted(estimated.items(), key=lambda one: -one[1].moves.value):
            values = ", ".join(effect.values)
            rows.append((model, option, values, between(effect.moves, spread.digits), between(effect.share, 0)))
        for option in effects.keys() - estimated.keys():
            rows.append((model, option, "chosen together with others", "—", "—"))
    if rows:
        yield Table(
            name=f"{name}-{part}-choices",
            caption=f"{part}: how far each choice moves {measure}, the others held equal",
            columns=("model", "choice", "values", "moves", "% of the variation"),
            rows=tuple(rows),
            by=("model",),
            signatures=signatures,
            notes=("Main effects by least squares. What they do not explain, combinations of choices do.",),
        )


def _curve(name: str, part: str, model: str, measure: str, result: Multiverse) -> Figure:
    """Returns the specification curve of one model on one part."""
    spread = result.dependence[part][model].spreads[measure]
    numbers = {each: between(value, spread.digits) for each, value in spread.values.items()}
    options = result.options
    differ = list(spread.effects)
    # the names of protocols in a grid list their choices; presets have other names
    presets = len({each.partition(",")[0] for each in numbers}) > 1
    points = [
        (
            number,
            ({"protocol": each} if presets else {}) | {option: written(options[each][option]) for option in differ},
        )
        for each, number in numbers.items()
    ]
    return Figure(
        name=name,
        caption=f"{part}, {model}: {measure} by each protocol, and the choices behind each",
        alt="; ".join(f"{each}: {number}" for each, number in numbers.items()),
        draw=partial(curve, points, measure, spread.ideal),
    )


def curve(points: Sequence[tuple[Number, Mapping[str, str]]], measure: str, ideal: float | None) -> Any:
    """Draws the sorted numbers, each above dots for its choices; the protocol's name is one of the choices."""
    from matplotlib.figure import Figure as Drawing

    ordered = sorted(points, key=lambda point: point[0].value or 0.0)
    lines = list(dict.fromkeys((option, choices[option]) for option in ordered[0][1] for _, choices in ordered))
    above, below = 1.8, 0.3 + 0.17 * len(lines)
    drawing = Drawing(figsize=(WIDTH, above + below), layout="constrained")
    top, bottom = drawing.subplots(2, 1, sharex=True, height_ratios=(above, below))
    for index, (number, choices) in enumerate(ordered):
        top.errorbar(index, number.value or 0.0, yerr=errors(number), fmt="o", color=COLOURS[0])
        places = [row for row, (option, choice) in enumerate(lines) if choices[option] == choice]
        bottom.plot([index] * len(places), places, "o", color=INK, markersize=4)
    if ideal is not None:
        top.axhline(ideal, color=INK, linestyle="--", linewidth=0.8)
    top.set(ylabel=measure)
    names = [choice if option == "protocol" else f"{option}: {choice}" for option, choice in lines]
    bottom.set_yticks(range(len(lines)), [short(name) for name in names], fontsize=8)
    bottom.set(xlim=(-0.5, len(ordered) - 0.5), ylim=(len(lines) - 0.5, -0.5), xticks=[])
    for row in range(1, len(lines)):
        bottom.axhline(row - 0.5, color="#8a8a8a", linewidth=0.3)
    return drawing
