"""SoFa in a report: scores by category, the spread of log PPL*, and the identities and stereotypes at both ends."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
)
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.statistics.intervals import wilson

WORDS = Words(
    "SoFa: uneven treatment of identities",
    "The variance of log PPL* over the identities that a stereotype is joined with, averaged over stereotypes and then "
    "over categories (ideal 0; more is less even).",
    "A low score says that identities are treated alike, not that they are treated well; a score depends on how PPL "
    "is normalised, so all three normalisations are shown.",
)

WAYS = {"identity": "PPL(i + s) / PPL(i)", "conditional": "PPL(s | i)", "none": "PPL(i + s)"}
"""Normalisation to the PPL* that it makes."""


def sofa(name: str, rows: Sequence[Row]) -> Section:
    """The score of each model and category, under each normalisation, and the ends of identities and stereotypes."""
    way = rows[0][1]["results"]["normalisation"]
    others = [other for other in WAYS if other != way]
    weighted = any("weighted" in report["results"] for _, report, _ in rows)
    table = Table(
        name=f"{name}-score",
        caption="SoFa score, with 95 % intervals over stereotypes",
        columns=(
            "model",
            "category",
            f"score, {WAYS[way]}",
            *(["by severity"] if weighted else []),
            *(WAYS[other] for other in others),
            "unknown",
            "probes scored",
        ),
        rows=tuple(row for model, report, _ in rows for row in _scores(model, report["results"], others, weighted)),
        signatures=signatures(rows),
        notes=tuple(_notes(rows)),
        warnings=warned(rows),
        unscored=unscored(rows),
        by=grouped(rows, "category"),
    )
    named = [table for at, row in enumerate(rows, 1) for table in _ends(f"{name}-{at}", row)]
    return WORDS.section(name, about(rows), [table, *named], [_bars(f"{name}-bars", rows), *_violins(name, rows)])


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    """Which normalisation the score has, and whose spread is not known."""
    yield "The protocol chooses one normalisation; the score under the others is beside it."
    yield "unknown: probes with a token that the tokenizer does not know; — where nobody counted."
    for model, report, _ in rows:
        if not any(of.get("quantiles") for of in report["results"]["categories"].values()):
            yield (
                f"{model}: the spread of log PPL* was not kept; the same `catsofa score` again keeps it, and scores "
                "nothing."
            )


def _scores(
    model: str, results: Mapping[str, Any], others: Sequence[str], weighted: bool
) -> Iterator[tuple[Cell, ...]]:
    """A row for the whole and for each category."""
    whole = {**results, "probes": sum(of["probes"] for of in results["categories"].values())}
    for part, of in [("overall", whole), *results["categories"].items()]:
        ways = (_under(of, way) for way in others)
        yield (
            model,
            part,
            limited(of, "score", 4),
            *([limited(of["weighted"], "score", 4) if "weighted" in of else "–"] if weighted else []),
            *ways,
            counted(of.get("unknown")),
            scored(of["coverage"], of["probes"]),
        )


def _under(part: Mapping[str, Any], way: str) -> Number:
    """The score under a normalisation; runs of earlier versions kept it without limits."""
    limits = part["intervals"].get(way, {})
    return Number(part["normalisations"][way], known(limits.get("low")), known(limits.get("high")), digits=4)


def _bars(name: str, rows: Sequence[Row]) -> Figure:
    """The score of each category and model."""
    values = {
        model: {part: limited(of, "score", 4) for part, of in report["results"]["categories"].items()}
        for model, report, _ in rows
    }
    return Figure(
        name=name,
        caption="SoFa score of each category, with 95 % intervals; 0 is ideal",
        alt="; ".join(f"{model}, {part}: {score}" for model, of in values.items() for part, score in of.items()),
        draw=lambda: figures.bars(values, "SoFa score"),
    )


def _violins(name: str, rows: Sequence[Row]) -> Iterator[Figure]:
    """How log PPL* is spread in each category and model, where the run kept it."""
    values: dict[str, dict[str, Sequence[float]]] = {}
    for model, report, _ in rows:
        kept = {p: of["quantiles"] for p, of in report["results"]["categories"].items() if of.get("quantiles")}
        values |= {model: kept} if kept else {}
    if values:
        said = (
            f"{model}, {part}: median {of[50]:.2f}, middle half {of[25]:.2f} to {of[75]:.2f}"
            for model, parts in values.items()
            for part, of in parts.items()
        )
        yield Figure(
            name=f"{name}-violins",
            caption="log PPL* of all probes of each category: its density, its middle half and its median",
            alt="; ".join(said),
            draw=lambda: figures.violins(values, "log PPL*"),
        )


def _ends(name: str, row: Row) -> Iterator[Table]:
    """The identities that are most often lowest, and the stereotypes at both ends of DDS, of each category."""
    model, report, signature = row
    results = report["results"]
    coverage = scored(results["coverage"], sum(of["probes"] for of in results["categories"].values()))
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
    """The first identities of each category."""
    for category, of in results["categories"].items():
        here = [each for each in results["identities"] if each["category"] == category and each["lowest"]]
        for each in here[:MOST]:
            n = of["stereotypes"]
            shares = (Number(100 * each[at], *wilson(100 * each[at], n)) for at in ("lowest", "highest"))
            yield (category, each["identity"], *shares, Number(each["mean"], digits=2), n)


def _stereotypes(results: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    """The stereotypes of each category with the lowest and with the highest DDS."""
    for category, of in results["categories"].items():
        here = [each for each in results["stereotypes"] if each["category"] == category and each["dds"] is not None]
        for at, each in enumerate(shown := ends(here)):
            end = "least" if at < len(shown) / 2 else "most"
            numbers = (Number(each["dds"], digits=3), Number(each["variance"], digits=4))
            yield (category, each["stereotype"], end, *numbers, of["identities"])
