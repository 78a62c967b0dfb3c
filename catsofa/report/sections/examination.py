"""The report section on an examination: how well the items distinguish models, and whether the tasks agree."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files import BadInput
from catsofa.data.percentages import quantity
from catsofa.report import figures
from catsofa.report.cells import UNDEFINED, Words, chance, known
from catsofa.report.elements import Cell, Figure, Number, Section, Table

WORDS = Words(
    "Does the benchmark measure?",
    "How good the items are at telling these models apart. Intervals are over other terms and other models together. "
    "A coefficient near 1 says that other items of the same kind would order these models alike.",
    "A set can order models reliably and not measure bias: reliability is not validity. The numbers hold for models "
    "like these; models of one family count as several.",
)
SHARES = {
    "variance.model": "variance of models, %",
    "variance.item": "variance of items, %",
    "variance.residual": "variance of the rest, %",
    "all_agree": "all models agree, % of items",
    "item_rest.negative": "item–rest correlation below 0, % of items",
}
PLAIN = {
    "kr20": "coefficient, these terms (alpha)",
    "coefficient": "coefficient, other terms",
    "split_half": "split-half over terms",
    "item_rest.median": "item–rest correlation, median",
    "people.preference": "people's agreement and preference, ρ",
    "people.item_rest": "people's agreement and item–rest, ρ",
}
COMPONENTS = {
    "model": "models",
    "item": "items",
    "level": "{}s",
    "model_item": "model × item",
    "model_level": "model × {}",
    "item_level": "item × {}",
    "residual": "the rest",
}
MANY = ("one {}", "these {}s", "twice as many {}s")
"""Texts for the numbers of levels in a study."""
COLUMNS = 4
"""The number of tasks in one table, limited by the line width of a paper."""
WANTED = ("0.8", "0.9")
Tasks = Mapping[str, Mapping[str, Any]]


def examination(name: str, result: Mapping[str, Any], path: Path) -> Section:
    """Returns the section of the output of `catsofa examine --json`; raises BadInput if a field is missing."""
    try:
        tasks = {task: part for task, part in result["results"].items() if task != "convergence"}
        tables = [
            *_numbers(f"{name}-numbers", result, tasks),
            *_facets(name, result, tasks),
            *_convergence(f"{name}-convergence", result),
        ]
        drawn = [_variance(f"{name}-variance", tasks), *_rests(f"{name}-rests", tasks), *_study(f"{name}-study", tasks)]
        subject = f"{quantity(len(result['models']), 'model')}, {result['signature']['data']}"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        found_there = f"an examination that lacks a field ({type(error).__name__}: {error})"
        raise BadInput(path, found_there, "what `catsofa examine --json` prints") from None
    return WORDS.section(name, subject, tables, drawn)


def _value(part: Mapping[str, Any], name: str) -> float | None:
    """Returns the number at a dotted path; `coefficient` (over other terms) is below `terms`."""
    node: Any = part.get("terms", {}) if name == "coefficient" else part
    for key in name.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    return known(node)


def _cell(part: Mapping[str, Any], name: str) -> Number:
    """Returns a number with its limits over terms and models; shares are in percent."""
    times, digits = (100, 1) if name in SHARES else (1, 2)
    limits = part["intervals"].get(name, {})
    value, low, high = (
        None if one is None else times * one
        for one in (_value(part, name), known(limits.get("low")), known(limits.get("high")))
    )
    return Number(value, low, high, digits, missing=UNDEFINED)


def _needed(part: Mapping[str, Any], unit: str, wanted: str) -> Cell:
    """Returns the number of items or terms needed for a coefficient of `wanted`, with its limits over both."""
    name, counts = ("kr20", part) if unit == "items" else ("coefficient", part.get("terms", {}))
    if _value(part, name) is None:
        return UNDEFINED
    return _count(counts[f"{unit}_for"][wanted], part["intervals"][f"{unit}_for.{wanted}"])


def _count(count: int | None, limits: Mapping[str, Any]) -> Cell:
    """Returns a number of items or terms with its limits; `no number` if no number reaches the coefficient."""
    if count is None:
        return "no number"
    if limits["low"] is None:
        return f"{count:,}"
    return f"{count:,} [{limits['low']:,}, {'no limit' if limits['high'] is None else format(limits['high'], ',')}]"


def _side_by_side(name: str, tasks: Tasks) -> Iterator[tuple[str, Tasks]]:
    """Yields the tasks in groups of `COLUMNS`, each with the name of its table."""
    for start in range(0, len(tasks), COLUMNS):
        yield f"{name}{start // COLUMNS + 1}" if start else name, dict(list(tasks.items())[start : start + COLUMNS])


def _numbers(name: str, result: Mapping[str, Any], every: Tasks) -> Iterator[Table]:
    """Yields tables with a row for each number and a column for each task."""
    for called, tasks in _side_by_side(name, every):
        rows: list[tuple[Cell, ...]] = []
        for each, title in {**SHARES, **PLAIN}.items():
            cells = [_cell(part, each) for part in tasks.values()]
            if any(cell.value is not None for cell in cells):
                rows.append((title, *cells))
        for unit in ("items", "terms"):
            for wanted in WANTED:
                needs = [_needed(part, unit, wanted) for part in tasks.values()]
                if any(cell != UNDEFINED for cell in needs):
                    rows.append((f"{unit} for a coefficient of {wanted}", *needs))
        warnings = [f"{task}: {warning}" for task, part in tasks.items() for warning in part["warnings"]]
        yield Table(
            name=called,
            caption="How good the items are at telling models apart, with 95 % intervals",
            columns=("number", *tasks),
            rows=tuple(rows),
            signatures=(str(result["signature"]["line"]),),
            notes=tuple(note for task, part in tasks.items() for note in _notes(task, part)),
            warnings=(*warnings, *(result["warnings"] if called == name else ())),
        )


def _notes(task: str, part: Mapping[str, Any]) -> Iterator[str]:
    """Yields notes on the size of a task, its null distribution, and further fitted models."""
    counts, null = part["counts"], part["item_rest"]
    yield (
        f"{task}: {quantity(counts['items'], 'item')} of {quantity(counts['terms'], 'term')}, "
        f"{quantity(counts['models'], 'model')}."
    )
    for same in part.get("agreed", ()):
        yield (
            f"{task}: all models score {same['value']:g} on {quantity(same['count'], 'item')}; "
            f"{same['by_chance']:.1f} expected by chance."
        )
    if "null_median" in null:
        yield (
            f"{task}: with shuffled models the median item–rest correlation is {null['null_median']:z.2f}, and "
            f"{100 * null['null_negative']:.1f} % are below 0."
        )
    if fit := part.get("bipolar"):
        low, high = fit["interval"]["low"], fit["interval"]["high"]
        yield (
            f"{task}: the models' mean log odds of the stereotype are {fit['mean']:.2f} [{low:.2f}, {high:.2f}]; 0 is "
            "no preference."
        )
    for group, one in part.get("dif", {}).items():
        items = one["refused"] or f"{quantity(len(one['items']), 'item')} of {one['tested']:,} answered otherwise"
        yield f"{task}: {group} against other models: {items}."
    if short := part.get("short"):
        yield (
            f"{task}: a short form of {quantity(short['length'], 'item')} tells the scores of models left out with "
            f"r {short['r']['value']:.2f} (random ones {short['random']['r']['value']:.2f}) and an error of at most "
            f"{short['error']['largest']:.3f} (random ones {short['random']['largest']['value']:.3f})."
        )


def _facets(name: str, result: Mapping[str, Any], tasks: Tasks) -> Iterator[Table]:
    """Yields the tables of each facet, with the numbers of models, items and levels in notes."""
    for facet in dict.fromkeys(facet for part in tasks.values() for facet in part.get("facets", {})):
        every = {task: part["facets"][facet] for task, part in tasks.items() if facet in part.get("facets", {})}
        for called, studies in _side_by_side(f"{name}-{facet}", every):
            notes = [
                f"{task}: {quantity(one['counts']['models'], 'model')} × {quantity(one['counts']['items'], 'item')} × "
                f"{quantity(len(one['levels']), facet)} ({', '.join(one['levels'])})."
                for task, one in studies.items()
            ]
            notes += [
                f"{task}: {key}: {UNDEFINED}, {why}."
                for task, one in studies.items()
                for key, why in one["undefined"].items()
            ]
            yield Table(
                name=called,
                caption=f"How far answers depend on the {facet}, with 95 % intervals over terms, models and {facet}s",
                columns=("number", *studies),
                rows=tuple(_rows_of(facet, list(studies.values()))),
                signatures=(str(result["signature"]["line"]),),
                notes=tuple(notes),
            )


def _rows_of(facet: str, studies: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Cell, ...]]:
    """Yields the shares of variance, then the coefficient and the items needed for fewer and more levels of a facet."""
    for key, title in COMPONENTS.items():
        cells = [_limited(one, f"variance.{key}", one["variance"].get(key), 100, 1) for one in studies]
        if any(cell.value is not None for cell in cells):
            yield f"variance of {title.format(facet)}, %", *cells
    for index, many in enumerate(MANY):
        lines = [(one, one["study"][index]) for one in studies]
        cells = [_limited(one, f"coefficient.{line['levels']}", line["coefficient"], 1, 2) for one, line in lines]
        yield f"coefficient, {many.format(facet)}", *cells
        for wanted in WANTED:
            needs = [
                UNDEFINED
                if known(line["coefficient"]) is None
                else _count(line["items_for"][wanted], one["intervals"][f"items_for.{line['levels']}.{wanted}"])
                for one, line in lines
            ]
            yield f"items for a coefficient of {wanted}, {many.format(facet)}", *needs


def _limited(study: Mapping[str, Any], name: str, value: Any, times: int, digits: int) -> Number:
    """Returns a number of a facet with its limits over all; `times` scales both."""
    limits = study["intervals"].get(name, {})
    shown = [known(value), known(limits.get("low")), known(limits.get("high"))]
    value, low, high = (None if one is None else times * one for one in shown)
    return Number(value, low, high, digits, missing=UNDEFINED)


def _convergence(name: str, result: Mapping[str, Any]) -> Iterator[Table]:
    """Yields the table of Kendall's tau between the orders of models in two tasks or two domains."""
    rows = tuple(
        (
            " – ".join(pair["parts"]),
            Number(
                known(pair["kendall"]),
                known(pair["intervals"]["kendall"]["low"]),
                known(pair["intervals"]["kendall"]["high"]),
                2,
            ),
            chance(pair["p"]),
            chance(pair["holm"]),
            Number(known(pair["disattenuated"]), digits=2, missing=UNDEFINED),
        )
        for pair in result["results"]["convergence"]
        if known(pair["kendall"]) is not None
    )
    if rows:
        yield Table(
            name=name,
            caption="Whether the parts order the models alike: Kendall's τ with 95 % intervals",
            columns=("order of the models in", "τ", "p", "p (Holm)", "r, disattenuated"),
            rows=rows,
            signatures=(str(result["signature"]["line"]),),
            notes=("r, disattenuated, is Pearson's r over the root of both coefficients; it may exceed 1.",),
        )


def _variance(name: str, tasks: Tasks) -> Figure:
    """Returns the figure with a bar for each task, stacked from its shares of variance."""
    parts = {"model": "models", "item": "items", "residual": "rest"}
    shares = {
        task: {title: 100 * max(0.0, known(part["variance"][key]) or 0.0) for key, title in parts.items()}
        for task, part in tasks.items()
    }
    return Figure(
        name=name,
        caption="Shares of variance: only that of models orders them",
        alt="; ".join(
            f"{task}: " + ", ".join(f"{t} {s:.1f} %" for t, s in by_title.items()) for task, by_title in shares.items()
        ),
        draw=partial(figures.stacked, {"": shares}, "share of variance, %"),
    )


def _rests(name: str, tasks: Tasks) -> Iterator[Figure]:
    """Yields the figure of item–rest correlations of each task, beside those with shuffled models."""
    shown = {task: part["item_rest"] for task, part in tasks.items() if part["item_rest"].get("quantiles")}
    if shown:
        spread = {
            title: {task: item_rest[key] for task, item_rest in shown.items()}
            for title, key in {"items": "quantiles", "models shuffled": "null_quantiles"}.items()
        }
        yield Figure(
            name=name,
            caption="Item–rest correlations, and those of items whose models are shuffled",
            alt="; ".join(f"{task}: median {item_rest['median']:.2f}, by chance {item_rest['null_median']:.2f}"
                          for task, item_rest in shown.items()),
            draw=partial(figures.violins, spread, "item–rest correlation"),
        )  # fmt: skip


def _study(name: str, tasks: Tasks) -> Iterator[Figure]:
    """Yields the figure of the coefficient by number of items, for tasks where it is defined."""
    lines = {
        task: (part["counts"]["items"], [known(one) for one in _limits(part, "kr20")])
        for task, part in tasks.items()
        if known(part["kr20"]) is not None
    }
    if lines:
        yield Figure(
            name=name,
            caption="Coefficient by the number of items, with 95 % bands; a mark is this set, dashed lines: .8 and .9",
            alt="; ".join(
                f"{task}: {_needed(part, 'items', '0.8')} items for .8, {_needed(part, 'items', '0.9')} for .9"
                for task, part in tasks.items()
                if task in lines
            ),
            draw=partial(curves, lines),
        )


def _limits(part: Mapping[str, Any], name: str) -> tuple[Any, Any, Any]:
    """Returns a number and its limits over terms and models."""
    return part[name], part["intervals"][name]["low"], part["intervals"][name]["high"]


def curves(lines: Mapping[str, tuple[int, Sequence[float | None]]]) -> Any:
    """Draws the coefficient and its limits by number of items, extrapolated by the Spearman–Brown formula."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(figures.WIDTH, 3.2), layout="constrained")
    axes = drawing.subplots()
    most = max(items for items, _ in lines.values())
    across = np.geomspace(10, max(2.0 * most, 100.0), 200)
    for index, (task, (items, (value, low, high))) in enumerate(lines.items()):
        colour = figures.COLOURS[index % len(figures.COLOURS)]
        up, under, over = (
            np.full_like(across, nan) if end is None else _stepped(max(0.0, end), items, across)
            for end in (value, low, high)
        )
        axes.fill_between(across, under, over, color=colour, alpha=0.2, linewidth=0)
        axes.plot(across, up, color=colour, linestyle=("-", "--", "-.", ":")[index % 4], label=figures.short(task))
        if value is not None:
            axes.plot(items, max(0.0, value), marker=figures.MARKERS[index % len(figures.MARKERS)], color=colour)
    for wanted in WANTED:
        axes.axhline(float(wanted), color=figures.INK, linestyle="--", linewidth=0.6)
    ticks = [step * 10**power for power in range(1, 7) for step in (1, 2, 5) if step * 10**power <= across[-1]]
    axes.set(xscale="log", xlabel="items", ylabel="coefficient", ylim=(0, 1), xlim=(across[0], across[-1]))
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=45 if len(ticks) > 7 else 0)
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return drawing


def _stepped(coefficient: float, items: int, across: Any) -> Any:
    """Returns the coefficient for other numbers of items, by the Spearman–Brown formula."""
    one = coefficient / (items - (items - 1) * coefficient)
    return across * one / (1 + (across - 1) * one)
