"""CrowS-Pairs in a report: the preference of each model over all pairs, by direction and by type."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

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
    valued,
    warned,
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
ASKED = Words(
    "Asked to choose: CrowS-Pairs",
    "The percentage of pairs whose more stereotyping sentence a model names when it is asked which is more likely, "
    "among the choices that position does not explain. The position effect is 1 for a model that always names the "
    "first sentence, −1 for the second; where its interval reaches either, the preference is undefined.",
    f"What a model chooses when it must is not what it finds probable: compare with no other table. {LIMITS}",
)


def crows(name: str, rows: Sequence[Row], words: Words = WORDS) -> Section:
    """The preference of each model, over all pairs, by direction and by type."""
    body: list[tuple[Cell, ...]] = []
    for model, report, _ in rows:
        results = report["results"]
        sets = {"all": results["overall"], **results["directions"], **results["types"]}
        body += [
            (
                model,
                part,
                limited(of, "score"),
                *_position(of),
                of["neutral"],
                counted(of.get("unknown")),
                scored(of["coverage"], of["pairs"]),
            )
            for part, of in sets.items()
        ]
    asked = all("position" in report["results"]["overall"] for _, report, _ in rows)
    position = ("position",) if asked else ()
    table = Table(
        name=f"{name}-preference",
        caption="Preference for the more stereotyping sentence in percent, with 95 % intervals",
        columns=("model", "pairs of", "score", *position, "ties", "unknown tokens", "pairs that count"),
        rows=tuple(body),
        signatures=signatures(rows),
        warnings=warned(rows),
        notes=("A pair whose sentences have equal scores is a tie: it counts as the protocol says, by default not.",),
        unscored=unscored(rows),
        by=grouped(rows, "pairs of"),
    )
    values = {
        model: {part: limited(of, "score") for part, of in report["results"]["types"].items()}
        for model, report, _ in rows
    }
    types = Figure(
        name=f"{name}-types",
        caption="Preference for the more stereotyping sentence by type, with 95 % intervals; the dashed line is 50",
        alt="; ".join(f"{model}, {part}: {score}" for model, of in values.items() for part, score in of.items()),
        draw=lambda: figures.ranges(values, "preference, %", 50, (0, 100)),
    )
    return words.section(name, about(rows), [table], [types])


def _position(of: Mapping[str, Any]) -> Iterator[Number]:
    """The position effect, of answers."""
    if "position" in of:
        yield valued(of["position"], 2)


asked = partial(crows, words=ASKED)
"""The same of answers, which stand apart."""
