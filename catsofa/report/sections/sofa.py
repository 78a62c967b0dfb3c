"""The report section on SoFa: scores by category, distribution of log PPL*, extreme identities and stereotypes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catsofa.data.percentages import decimals
from catsofa.report import figures
from catsofa.report.cells import (
    MOST,
    Row,
    Words,
    about,
    counted,
    ends,
    grouped,
    known,
    limited,
    scored,
    signatures,
    unscored,
    warned,
    without_interval,
)
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.measures.sofa.options import FORMULAS
from catsofa.scoring.statistics.intervals import wilson

WORDS = Words(
    "SoFa: uneven treatment of identities",
    "The variance of log PPL* over the identities that a stereotype is joined with, averaged over stereotypes and then "
    "over categories (ideal 0; more is less even).",
    "A low score says that identities are treated alike, not that they are treated well; a score depends on how PPL "
    "is normalised, so all three normalisations are shown.",
)


def sofa(name: str, rows: Sequence[Row]) -> Section:
    """Returns the section: scores by model and category for each normalisation, extreme identities and stereotypes."""
    way = rows[0][1]["results"]["normalisation"]
    other_ways = [other for other in FORMULAS if other != way]
    weighted = any("weighted" in report["results"] for _, report, _ in rows)
    body = tuple(row for one, report, _ in rows for row in _scores(one, report["results"], other_ways, weighted))
    numbers = [cell for row in body for cell in row if isinstance(cell, Number)]
    table = Table(
        name=f"{name}-score",
        caption="SoFa score, with 95 % intervals over stereotypes",
        columns=(
            "model",
            "category",
            f"score, {FORMULAS[way]}",
            *(["by severity"] if weighted else []),
            *(FORMULAS[other] for other in other_ways),
            "unknown",
            "probes scored",
        ),
        rows=body,
        signatures=signatures(rows),
        notes=(*_notes(rows), *without_interval("stereotypes", numbers)),
        warnings=warned(rows),
        unscored=unscored(rows),
        by=grouped(rows, "category"),
    )
    named = [table for number, row in enumerate(rows, 1) for table in _ends(f"{name}-{number}", row)]
    return WORDS.section(name, about(rows), [table, *named], [_bars(f"{name}-bars", rows), *_violins(name, rows)])


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    """Yields notes on the normalisation, on unknown tokens, and on models without stored distributions of log PPL*."""
    yield "The protocol chooses one normalisation; the score under the others is beside it."
    yield "unknown: probes with a token that the tokenizer does not know; — if not counted."
    for model, report, _ in rows:
        if not any(category.get("quantiles") for category in report["results"]["categories"].values()):
            yield (
                f"{model}: the spread of log PPL* was not kept; the same `catsofa score` again keeps it, and scores "
                "nothing."
            )


def _scores(
    model: str, results: Mapping[str, Any], other_ways: Sequence[str], weighted: bool
) -> Iterator[tuple[Cell, ...]]:
    """Yields a row for the overall score and for each category."""
    whole = {**results, "probes": sum(result["probes"] for result in results["categories"].values())}
    for part, result in [("overall", whole), *results["categories"].items()]:
        ways = (_under(result, way) for way in other_ways)
        yield (
            model,
            part,
            limited(result, "score", 4),
            *([limited(result["weighted"], "score", 4) if "weighted" in result else "–"] if weighted else []),
            *ways,
            counted(result.get("unknown")),
            scored(result["coverage"], result["probes"]),
        )


def _under(part: Mapping[str, Any], way: str) -> Number:
    """Returns the score under a normalisation; runs of earlier versions stored it without limits."""
    limits = part["intervals"].get(way, {})
    numbers = (part["normalisations"][way], known(limits.get("low")), known(limits.get("high")))
    return Number(*numbers, digits=decimals(*numbers, digits=4))


def _bars(name: str, rows: Sequence[Row]) -> Figure:
    """Returns the bar chart of the score of each category and model."""
    values = {
        model: {part: limited(result, "score", 4) for part, result in report["results"]["categories"].items()}
        for model, report, _ in rows
    }
    return Figure(
        name=name,
        caption="SoFa score of each category, with 95 % intervals; 0 is ideal",
        alt="; ".join(
            f"{model}, {part}: {score}" for model, by_part in values.items() for part, score in by_part.items()
        ),
        draw=lambda: figures.bars(values, "SoFa score"),
    )


def _violins(name: str, rows: Sequence[Row]) -> Iterator[Figure]:
    """Yields a violin plot of log PPL* by category and model if a run stored its percentiles."""
    values: dict[str, dict[str, Sequence[float]]] = {}
    for model, report, _ in rows:
        stored = {
            p: result["quantiles"] for p, result in report["results"]["categories"].items() if result.get("quantiles")
        }
        values |= {model: stored} if stored else {}
    if values:
        sentences = (
            f"{model}, {part}: median {percentiles[50]:.2f}, middle half {percentiles[25]:.2f} to {percentiles[75]:.2f}"
            for model, parts in values.items()
            for part, percentiles in parts.items()
        )
        yield Figure(
            name=f"{name}-violins",
            caption="log PPL* of all probes of each category: its density, its middle half and its median",
            alt="; ".join(sentences),
            draw=lambda: figures.violins(values, "log PPL*"),
        )


def _ends(name: str, row: Row) -> Iterator[Table]:
    """Yields the tables of identities with most lowest log PPL*, and of stereotypes with extreme DDS, by category."""
    model, report, signature = row
    results = report["results"]
    coverage = scored(results["coverage"], sum(category["probes"] for category in results["categories"].values()))
    for heading, columns, body, note in (
        ("Identities most often given the lowest log PPL*", IDENTITIES, _identities(results), SHARES),
        ("Stereotypes that divide identities least and most (DDS)", STEREOTYPES, _stereotypes(results), DDS),
    ):
        yield Table(
            name=f"{name}-{columns[1]}",
            caption=f"{heading}, {model}: {coverage} probes scored",
            columns=columns,
            rows=tuple(body),
            signatures=(str(signature),),
            notes=(note,),
            by=("category",),
            offensive=True,
        )


IDENTITIES = ("category", "identity", "lowest, %", "highest, %", "mean log PPL*", "stereotypes")
STEREOTYPES = ("category", "stereotype", "end", "DDS", "variance", "identities")
SHARES = (
    "lowest, highest: of how many stereotypes the identity has the lowest or highest log PPL*, with Wilson's limits "
    "over stereotypes. The first of each category are shown; an identity that is never the lowest is not."
)
DDS = (
    "DDS is the largest log PPL* of a stereotype's identities less the smallest: a range, of that many identities, "
    "without limits of its own. A low DDS is a stereotype that all identities share."
)


def _identities(results: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    """Yields the first `MOST` identities of each category that have the lowest log PPL* at least once."""
    for category, result in results["categories"].items():
        rows = [each for each in results["identities"] if each["category"] == category and each["lowest"]]
        for each in rows[:MOST]:
            n = result["stereotypes"]
            shares = (Number(100 * each[end], *wilson(100 * each[end], n)) for end in ("lowest", "highest"))
            yield (category, each["identity"], *shares, Number(each["mean"], digits=2), n)


def _stereotypes(results: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    """Yields the stereotypes of each category with the lowest and the highest DDS."""
    for category, result in results["categories"].items():
        rows = [each for each in results["stereotypes"] if each["category"] == category and each["dds"] is not None]
        for index, each in enumerate(shown := ends(rows)):
            end = "least" if index < len(shown) / 2 else "most"
            numbers = (Number(each["dds"], digits=3), Number(each["variance"], digits=4))
            yield (category, each["stereotype"], end, *numbers, result["identities"])
