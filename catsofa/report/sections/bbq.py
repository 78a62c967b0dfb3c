"""The report section on BBQ: accuracy and bias of each model, overall and by category."""

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
"""The kinds of contexts, and the two possible names of their counts."""
DIFFERENCES = {"diff_amb": "diff-bias, ambiguous", "diff_dis": "diff-bias, disambiguated"}


def bbq(name: str, rows: Sequence[Row]) -> Section:
    """Returns the section with accuracy and bias of each model, or of each column of a prediction file."""
    return WORDS.section(name, about(rows), answers(name, rows))


def answers(name: str, rows: Sequence[Row], counted_as: str = "questions answered") -> list[Table]:
    """Returns two tables, overall and by category: accuracy and bias of each model, and their differences."""
    parts = [(model, part, numbers) for model, report, _ in rows for part, numbers in _parts(report["results"]).items()]
    shows_unknown = any(numbers.get("unknown_tokens") is not None for _, _, numbers in parts)
    main = Table(
        name=f"{name}-answers",
        caption="Accuracy and bias from −1 to 1, with 95 % intervals over templates",
        columns=(
            "model",
            "questions of",
            *NUMBERS.values(),
            "templates",
            *(["unknown tokens"] if shows_unknown else []),
            counted_as,
        ),
        rows=tuple(
            (
                model,
                part,
                *(limited(numbers, number, 3) for number in NUMBERS),
                numbers["templates"],
                *([counted(numbers.get("unknown_tokens"))] if shows_unknown else []),
                scored(numbers["coverage"], sum(numbers[kind].get(each, 0) for kind in CONTEXTS for each in COUNTED)),
            )
            for model, part, numbers in parts
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
        rows=tuple(
            (model, part, *(limited(numbers, number, 3) for number in DIFFERENCES)) for model, part, numbers in parts
        ),
        signatures=signatures(rows),
        notes=(
            "diff-bias is KoBBQ's: biased minus counter-biased answers, and accuracy where the context agrees with the "
            "stereotype less accuracy where it does not.",
        ),
        by=grouped(rows, "questions of"),
    )
    return [main, differences]


def _parts(results: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns the numbers of each set of questions by name; for a prediction file the names start with the column."""
    if "overall" in results:
        return {"all": results["overall"], **results["categories"]}
    parts: dict[str, Mapping[str, Any]] = {}
    for column, numbers in results.items():
        parts[column] = numbers
        if len(numbers["categories"]) > 1:
            parts |= {f"{column}, {category}": part for category, part in numbers["categories"].items()}
    return parts
