"""The command that examines how well the items of a benchmark work."""

import json as written_json
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.data import local
from catsofa.cli.numbers import UNDEFINED, chance
from catsofa.cli.score.protocols import ProtocolName, Seed
from catsofa.cli.terminal import DATA, Json, Quiet, doing, examples, print_json, say, table, warn
from catsofa.data.percentages import in_percent, quantity

if TYPE_CHECKING:
    from catsofa.scoring.examine import Examination, Facet, Part
    from catsofa.scoring.examine.limits import Estimate
    from catsofa.scoring.statistics.intervals import Interval

NAMES = {"model": "models", "item": "items", "term": "terms", "model_term": "model × term", "residual": "rest"}
"""Names of the variance components in tables."""
NEGATIVE = "E2"
"""Rule for items that reverse the order of the models."""
NAMED = 10
"""Number of items printed for a group; JSON has all items."""
LEVELS = {
    "model": "models",
    "item": "items",
    "model_item": "model × item",
    "model_level": "model × {}",
    "item_level": "item × {}",
    "residual": "rest",
}
"""Names of the variance components of models × items × levels in tables."""
LIMITS = ["over both", "other terms", "other models"]
"""Headings of the intervals: what each interval resamples."""


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command(
        epilog=examples(
            "catsofa examine runs/a runs/b runs/c runs/d",
            "catsofa examine a.json b.json c.json d.json --on dev.json --json",
            "catsofa examine runs/*-chat --on crows-pairs --drop look-at.json",
            "catsofa examine runs/*/catsofa runs/*/stereoset-code",
            "catsofa examine runs/* --group roberta",
            "catsofa examine runs/* --short 100 --out short.jsonl",
        )
    )(examine)


def examine(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Runs of score or choose of two or more models, folders that hold runs, or files of scores. Several "
            "protocols, prompts or samples of each model are a facet."
        ),
    ],
    on: Annotated[str | None, typer.Option(metavar=DATA, help="Data, for files of scores and runs of choose.")] = None,
    protocol: ProtocolName = "catsofa",
    seed: Seed = None,
    drop: Annotated[
        Path | None, typer.Option(help="Output file for the items that people should look at, in the format of lint.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Part of the names of the models to compare with the others item by item."
        ),
    ] = None,
    short: Annotated[
        int, typer.Option(min=0, help="Items of each task to choose that tell the models' scores on all; 0: none.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Output file for the records of the short form (JSONL).")] = None,
    margins: Annotated[
        bool,
        typer.Option(
            "--margins",
            help="Use the difference between the scores of stereotype and anti-stereotype, not only its sign.",
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Examine how well the items of a data set tell these models apart.

    Prints the shares of variance, and how many items and terms a reliable order of models needs. Lists the items on
    which all models agree, and those that turn the order around. Says whether the tasks order the models alike. Each
    number has an interval over other terms, over other models, and over both.
    """
    from catsofa.data.files import atomic_write
    from catsofa.examination import examine as run
    from catsofa.examination import findings
    from catsofa.validation.lint import as_json

    doing("examining, by resampling")
    data = local(on) if on is not None else None
    how: dict[str, Any] = {"groups": group or [], "short": short, "out": out, "margins": margins}
    examination = run(models, data, protocol=protocol, seed=seed, **how)
    if drop:
        with atomic_write(drop) as file:
            file.write(written_json.dumps(as_json(findings(examination.flags)), ensure_ascii=False, indent=1).encode())
    if json:
        print_json(examination.to_dict())
    if json or quiet:
        return
    for task, part in examination.parts.items():
        show_part(task, part)
    show_convergence(examination)
    warn(examination.warnings)
    if out:
        say(f"short form in {out}")
    if drop:
        say(f"{quantity(len(examination.flags), 'item')} to look at in {drop}")
    say(str(examination.signature))


def show_part(task: str, part: "Part") -> None:
    """Prints the numbers of one task."""
    size = f"{quantity(part.items, 'item')} of {quantity(part.terms, 'term')}, {quantity(part.models, 'model')}"
    scored = "" if part.coverage == 1 else f", {in_percent(part.coverage)} of the cells scored"
    rows = [[title, *cells(part.numbers[name], name)] for title, name in _numbers(part)]
    table(f"{task}: {size}{scored}; 95 % intervals", ["number", "value", *LIMITS], rows)
    for name, noun in {"kr20": "items", "coefficient": "terms"}.items():
        if name in part.numbers:
            needs = [f"{wanted}: {_needed(part, name, wanted)}" for wanted in (0.8, 0.9)]
            say(f"{noun} for a coefficient of {', of '.join(needs)}")
    for same in part.agreed:
        say(same.said())
    if null := part.null:
        say(
            f"item–rest correlations where models are shuffled: median {null['null_median']:z.2f}, below 0 "
            f"{in_percent(null['null_negative'])}; p {chance(null['p_median'])} (median), "
            f"{chance(null['p_negative'])} (below 0)"
        )
        pairs = zip(part.eigenvalues[:3], part.shuffled[:3], strict=True)
        roots = ", ".join(f"{one:.1f} ({limit:.1f})" for one, limit in pairs)
        turned = (
            f"{quantity(part.named(NEGATIVE), 'item')} below 0 with p ≤ 0.025, at most {part.by_chance:.0f} by chance"
        )
        say(f"{turned}; dimensions: {part.dimensions}; first eigenvalues (shuffled, 95 %): {roots}")
    if fit := part.bipolar:
        (low, high), (above, below) = fit.limits(), fit.sides()
        say(
            f"mean log odds of a stereotype (0: no preference): {fit.mean:.2f} [{low:.2f}, {high:.2f}] over models, "
            f"SD {fit.spread:.2f}; {above} above 0, {below} below"
        )
    for name, group in part.dif.items():
        line = f"{name}, {quantity(group.inside, 'model')} against {group.outside}"
        if group.refused:
            say(f"{line}: {UNDEFINED}, {group.refused}")
            continue
        say(f"{line}: {group.tested:,} items tested, {quantity(len(group.items), 'item')} with Holm's p ≤ 0.05")
        rows = [[one.item, f"{one.odds:.2f}", chance(one.holm)] for one in group.items[:NAMED]]
        if rows:
            table(f"answered otherwise by {name}", ["item", "odds ratio", "Holm's p"], rows)
    for facet in part.facets.values():
        show_facet(facet)
    if form := part.short:
        chance_r, chance_error = form.random_r, form.random_largest
        say(
            f"short form of {len(form.items):,} items, on models left out: r {form.r:.2f} with the score on all; error "
            f"{form.error:.3f}, at most {form.largest:.3f} (random: r {chance_r:.2f}, at most {chance_error:.3f})"
        )
        say(f"score on all = {form.intercept:.3f} + {form.slope:.3f} × score on the short form")
    for name, why in part.undefined.items():
        say(f"{name.replace('_', ' ')}: {UNDEFINED}, {why}")
    warn(part.warnings)


def show_facet(facet: "Facet") -> None:
    """Prints the variance study of models × items × levels."""
    titles = {**LEVELS, "level": f"{facet.name}s"}
    shown = {f"variance.{name}": titles[name].format(facet.name) for name in facet.components}
    shown |= {f"coefficient.{count}": f"coefficient, {quantity(count, facet.name)}" for count in facet.counts}
    rows = [[title, *cells(facet.numbers[name], name)] for name, title in shown.items()]
    size = f"{quantity(facet.models, 'model')} × {quantity(facet.items, 'item')}"
    columns = ["variance of", "value", "over all", *LIMITS[1:], f"other {facet.name}s"]
    table(f"{size} × {quantity(len(facet.levels), facet.name)}: {', '.join(facet.levels)}", columns, rows)
    for count in facet.counts:
        needs = (f"{wanted}: {_with_limits(*facet.needs(count, wanted))}" for wanted in (0.8, 0.9))
        if "coefficient" not in facet.undefined:
            say(f"items for a coefficient with {quantity(count, facet.name)} of {', of '.join(needs)}")
    for name, why in facet.undefined.items():
        say(f"{name}: {UNDEFINED}, {why}")


def _numbers(part: "Part") -> "Iterator[tuple[str, str]]":
    """Yields the rows of the table: title and name of each number."""
    nested = "coefficient" in part.numbers
    for name, title in NAMES.items():
        if f"variance.{name}" in part.numbers:
            yield f"variance of {title}", f"variance.{name}"
    if nested:
        yield "variance of terms", "terms.term"
        yield "variance of model × term", "terms.model_term"
    yield "coefficient, these terms (alpha)", "kr20"
    if nested:
        yield "coefficient, other terms", "coefficient"
    if "split_half" in part.numbers:
        yield "split-half over terms", "split_half"
    if "all_agree" in part.numbers:
        yield "all models agree", "all_agree"
    if "item_rest.median" in part.numbers:
        yield "item–rest, median", "item_rest.median"
        yield "item–rest, below 0", "item_rest.negative"
    if "people.preference" in part.numbers:
        yield "people – preference, ρ", "people.preference"
        yield "people – item–rest, ρ", "people.item_rest"


def cells(estimate: "Estimate", name: str) -> list[str]:
    """Formats a number and each of its intervals; shares in percent."""
    shares = name.startswith(("variance.", "terms.", "all_agree", "item_rest.negative"))

    def shown(value: float) -> str:
        return UNDEFINED if isnan(value) else f"{100 * value:.1f} %" if shares else f"{value:.3f}"

    def limits(interval: "Interval") -> str:
        if isnan(interval.low):
            return "–"
        return ", ".join(f"{100 * side:.1f}" if shares else f"{side:.2f}" for side in (interval.low, interval.high))

    sides = [estimate.both, estimate.terms, estimate.models, *([estimate.levels] if estimate.levels else [])]
    return [shown(estimate.value), *map(limits, sides)]


def _needed(part: "Part", name: str, wanted: float) -> str:
    """Formats how many items or terms are needed, with the limits over terms and models, or over models."""
    count, limits = part.needs(name, wanted)
    if isnan(part.numbers[name].value):
        return UNDEFINED
    return _with_limits(count, {} if isnan(part.numbers[name].both.low) else limits)


def _with_limits(count: int | None, limits: "Mapping[str, Any]") -> str:
    """Formats a number of items or terms with its limits, if it has some."""
    if count is None:
        return "no number"
    low, high = limits.get("low"), limits.get("high")
    return f"{count:,}" if low is None else f"{count:,} [{low:,}, {f'{high:,}' if high is not None else 'no limit'}]"


def show_convergence(examination: "Examination") -> None:
    """Prints how far the tasks and domains agree on the order of the models."""

    rows = [
        [
            _title(pair.parts),
            f"{pair.kendall.value:.2f}",
            chance(pair.kendall.p),
            chance(pair.holm),
            f"{pair.disattenuated:.2f}" if not isnan(pair.disattenuated) else UNDEFINED,
        ]
        for pair in examination.convergence
        if not isnan(pair.kendall.value.value)
    ]
    if rows:
        columns = ["order of the models in", "Kendall's tau", "p", "Holm's p", "r, disattenuated"]
        table(f"convergence, {quantity(len(examination.models), 'model')}", columns, rows)
    for why, count in Counter(pair.undefined for pair in examination.convergence if pair.undefined).items():
        say(f"convergence of {quantity(count, 'pair')}: {UNDEFINED}, {why}")


def _title(parts: "tuple[str, str]") -> str:
    """Formats a pair of tasks; or a pair of domains, with the name of their task once."""
    (task, domain), (_, other) = ([*name.split(": ", 1), ""][:2] for name in parts)
    return f"{domain} – {other} ({task})" if domain else " – ".join(parts)
