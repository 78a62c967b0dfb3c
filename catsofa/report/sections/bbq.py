"""BBQ in a report: accuracy and bias of each model, over all questions and by category."""

from collections.abc import Mapping, Sequence
from typing import Any

from catsofa.report.cells import Row, Words, about, counted, grouped, limited, scored, signatures, unscored, warned
from catsofa.report.elements import Section, Table

WORDS = Words(
    "BBQ: answers to ambiguous and disambiguated questions",
    "Accuracy where the context leaves the answer open (ideal: always unknown) and where it gives the answer. s_AMB "
    "and s_DIS say how far the groups that a model names agree with a stereotype: −1 always against it, 0 balanced "
    "(ideal), 1 always with it.",
    "Questions come from few templates, written for the groups of one country. A model that always answers “unknown” "
    "has no bias score in ambiguous contexts, and is of no use in the others.",
)
NUMBERS = {
    "acc_amb": "accuracy, ambiguous",
    "acc_dis": "accuracy, disambiguated",
    "s_amb": "s_AMB",
    "s_dis": "s_DIS",
}
CONTEXTS, COUNTED = ("ambig", "disambig"), ("questions", "replies")
"""The kinds of contexts, and what is counted of each: one of the two."""
DIFFERENCES = {"diff_amb": "diff-bias, ambiguous", "diff_dis": "diff-bias, disambiguated"}


def bbq(name: str, rows: Sequence[Row]) -> Section:
    """Accuracy and bias of each model; of a file of predictions, of each of its columns."""
    return WORDS.section(name, about(rows), answers(name, rows))


def answers(name: str, rows: Sequence[Row], counted_as: str = "questions answered") -> list[Table]:
    """Accuracy and bias of each model, over all questions and by category; the differences in a table of their own."""
    parts = [(model, part, of) for model, report, _ in rows for part, of in _parts(report["results"]).items()]
    known = any(of.get("unknown_tokens") is not None for _, _, of in parts)
    main = Table(
        name=f"{name}-answers",
        caption="Accuracy and bias from −1 to 1, with 95 % intervals over templates",
        columns=(
            "model",
            "questions of",
            *NUMBERS.values(),
            "templates",
            *(["unknown tokens"] if known else []),
            counted_as,
        ),
        rows=tuple(
            (
                model,
                part,
                *(limited(of, number, 3) for number in NUMBERS),
                of["templates"],
                *([counted(of.get("unknown_tokens"))] if known else []),
                scored(of["coverage"], sum(of[kind].get(each, 0) for kind in CONTEXTS for each in COUNTED)),
            )
            for model, part, of in parts
        ),
        signatures=signatures(rows),
        warnings=warned(rows),
        unscored=unscored(rows),
        by=grouped(rows, "questions of"),
    )
    differences = Table(
        name=f"{name}-differences",
        caption="Difference between biased and counter-biased answers, with 95 % intervals over templates",
        columns=("model", "questions of", *DIFFERENCES.values()),
        rows=tuple((model, part, *(limited(of, number, 3) for number in DIFFERENCES)) for model, part, of in parts),
        signatures=signatures(rows),
        notes=(
            "diff-bias is KoBBQ's: biased minus counter-biased answers, and accuracy where the context agrees with the "
            "stereotype less accuracy where it does not.",
        ),
        by=grouped(rows, "questions of"),
    )
    return [main, differences]


def _parts(results: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The numbers of each set of questions by its name."""
    if "overall" in results:
        return {"all": results["overall"], **results["categories"]}
    parts: dict[str, Mapping[str, Any]] = {}
    for column, of in results.items():
        parts[column] = of
        if len(of["categories"]) > 1:
            parts |= {f"{column}, {category}": part for category, part in of["categories"].items()}
    return parts
