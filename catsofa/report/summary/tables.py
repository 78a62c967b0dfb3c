"""The tables of the summary: each model on each measure, and the differences between models."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from catsofa.data.percentages import in_percent, quantity
from catsofa.report.cells import stars
from catsofa.report.elements import BEST, NOT_COVERED, WARNED, Cell, Number, Table
from catsofa.report.summary import Standing
from catsofa.report.summary.bases import texts
from catsofa.report.summary.pairs import FEW, listed


def heads(standings: Sequence[Standing]) -> list[str]:
    """Returns the column heading of each standing: its measure, and the distinction of its section."""
    return [f"{one.of.name}, {one.about}" if one.about else one.of.name for one in standings]


def cell(one: Standing, model: str) -> Cell:
    """Returns the value of a model, marked if best or if warned of; a dash if the measure does not cover it."""
    if model not in one.values:
        return Number(None) if model in one.missing else NOT_COVERED
    number = one.values[model]
    marks = WARNED * (model in one.warned) + BEST * (model == one.best)
    return replace(number, mark=f"{number.mark}{marks}") if marks else number


def summary(standings: Sequence[Standing], signatures: Sequence[str]) -> Table:
    """Returns the table of each model on each measure."""
    models = dict.fromkeys(model for one in standings for model in (*one.values, *one.missing))
    return Table(
        name="summary-table",
        caption="Each model on each measure, with 95\u00a0% intervals",
        columns=("model", *heads(standings)),
        rows=tuple((model, *(cell(one, model) for one in standings)) for model in models),
        signatures=tuple(signatures),
        notes=tuple(dict.fromkeys(notes(standings))),
    )


def notes(standings: Sequence[Standing]) -> Iterator[str]:
    """Yields notes on the items behind the values, on the marks, and on measures without tests."""
    if items := _items(standings):
        yield items
    if any(one.best for one in standings):
        ideals = dict.fromkeys(f"{one.of.name} {one.of.ideal:g}" for one in standings if one.pairs)
        yield (
            f"{BEST}: shown to be nearer to the ideal value ({', '.join(ideals)}) than every other model. Models are "
            "compared on the items that both decide, with Holm's correction over all pairs of models of a measure."
        )
    if any(one.warned & one.values.keys() for one in standings):
        yield f"{WARNED}: a warning in the section of the measure is about this model. Read it first."
    if any(one.kind == "seat" and one.values for one in standings):
        yield "SEAT counts are after Holm's correction over all tests of all models of a section: they depend on both."
    for one in standings:
        yield from one.otherwise()
    for why, some in groupby((one for one in standings if one.untested), key=lambda one: one.untested):
        yield f"No two models are compared on {', '.join(one.of.name for one in some)}: {why}."


def _items(standings: Sequence[Standing]) -> str:
    """Returns the items behind each measure, and how many count for the models that lack some; empty if unknown."""
    parts = []
    for (_, about), some in groupby(standings, key=lambda one: (one.kind, one.about)):
        several = list(some)
        names = listed([one.of.name for one in several])
        parts += [f"{names}{f' ({about})' if about else ''}: {text}" for text in texts(several[0].bases, FEW)]
    return f"Items behind the values: {'; '.join(parts)}." if parts else ""


def matrix(name: str, one: Standing, signatures: Sequence[str]) -> Table:
    """Returns the table of differences between every two models on a measure."""
    models = list(one.values)
    least = min(pair.decided for pair in one.pairs.values())
    return Table(
        name=name,
        caption=f"Differences in {one.of.name}: the model of the row less that of the column",
        columns=("model", *models[1:]),
        rows=tuple(
            (
                model,
                *(_difference(one, model, other) if row <= place else "" for place, other in enumerate(models[1:])),
            )
            for row, model in enumerate(models[:-1])
        ),
        signatures=tuple(signatures),
        notes=(
            f"* p < .05, ** p < .01, *** p < .001, after Holm's correction over {quantity(len(one.pairs), 'pair')}. A "
            f"pair rests on the items that both models decide, {in_percent(least)} of all{' or more' * (least < 1)}.",
            *one.otherwise(),
        ),
    )


def differing(name: str, one: Standing, signatures: Sequence[str]) -> Table:
    """Returns the table of the number of association tests in which every two models differ."""
    models = list(dict.fromkeys(model for pair in one.tests for model in pair))
    cells = {pair: f"{count} of {total}" for pair, (count, total) in one.tests.items()}
    return Table(
        name=name,
        caption="Association tests in which two models differ",
        columns=("model", *models[1:]),
        rows=tuple((model, *(cells.get((model, other), "") for other in models[1:])) for model in models[:-1]),
        signatures=tuple(signatures),
        notes=(
            "The effect sizes of two models differ by a paired test over the targets, after Holm's correction over all "
            f"tests of {quantity(len(one.tests), 'pair')}.",
        ),
    )


def _difference(one: Standing, model: str, other: str) -> Cell:
    """Returns the difference of two models with its stars; a dash without a test."""
    pair = one.pairs.get((model, other))
    return "—" if pair is None else Number(pair.difference, digits=one.digits((model, other)), mark=stars(pair.apart))
