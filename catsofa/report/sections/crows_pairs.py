"""The report section on CrowS-Pairs: the preference of each model, overall, by direction and by type."""

from collections.abc import Sequence

from catsofa.report import figures
from catsofa.report.cells import (
    Row,
    Words,
    about,
    counted,
    grouped,
    limited,
    scored,
    signatures,
    unscored,
    warned,
    without_interval,
)
from catsofa.report.elements import Cell, Figure, Number, Section, Table

LIMITS = (
    "A score of 50 is not “unbiased”: preferences of opposite directions cancel, and many of the released pairs have "
    "known flaws."
)
WORDS = Words(
    "CrowS-Pairs: preference for the more stereotyping sentence",
    "The percentage of pairs whose more stereotyping sentence scores higher (ideal 50).",
    LIMITS,
)


def crows(name: str, rows: Sequence[Row]) -> Section:
    """Returns the section with the preference of each model, overall, by direction and by type."""
    body: list[tuple[Cell, ...]] = []
    for model, report, _ in rows:
        results = report["results"]
        parts = {**results["directions"], **results["types"]}
        # skip a direction or type that contains all pairs
        sets = {
            "all": results["overall"],
            **{part: result for part, result in parts.items() if result != results["overall"]},
        }
        body += [
            (
                model,
                part,
                limited(result, "score"),
                result["neutral"],
                counted(result.get("unknown")),
                scored(result["coverage"], result["pairs"]),
            )
            for part, result in sets.items()
        ]
    table = Table(
        name=f"{name}-preference",
        caption="Preference for the more stereotyping sentence in percent, with 95 % intervals",
        columns=("model", "pairs of", "score", "ties", "unknown tokens", "pairs that count"),
        rows=tuple(body),
        signatures=signatures(rows),
        warnings=warned(rows),
        notes=(
            "A pair whose sentences have equal scores is a tie: it counts as the protocol says, by default not.",
            "unknown tokens: pairs with a token that the tokenizer does not know; — if not counted.",
            *without_interval("pairs", (cell for row in body for cell in row if isinstance(cell, Number))),
        ),
        unscored=unscored(rows),
        by=grouped(rows, "pairs of"),
    )
    values = {
        model: {part: limited(result, "score") for part, result in report["results"]["types"].items()}
        for model, report, _ in rows
    }
    types = Figure(
        name=f"{name}-types",
        caption="Preference for the more stereotyping sentence by type, with 95 % intervals; the dashed line is 50",
        alt="; ".join(
            f"{model}, {part}: {score}" for model, by_part in values.items() for part, score in by_part.items()
        ),
        draw=lambda: figures.ranges(values, "preference, %", 50, (0, 100)),
    )
    return WORDS.section(name, about(rows), [table], [types])
