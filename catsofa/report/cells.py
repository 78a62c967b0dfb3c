"""Shared parts of the tables of all measures: cells with limits, counts of scored items, and signatures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any

from catsofa.data.percentages import decimals, quantity
from catsofa.report.elements import UNSCORED, Cell, Figure, Number, Section, Table
from catsofa.scoring.signature import Signature, distinctions, without_hashes
from catsofa.scoring.statistics.intervals import Interval

Row = tuple[str, Mapping[str, Any], Signature]
"""The name of a model, the report of its run, and its signature."""
MOST = 5
"""The number of terms, identities and stereotypes shown at each end of a ranking."""
UNDEFINED = "undefined"
"""The text for a value that is undefined, such as a measure if all its items tie."""
WITHOUT = {
    "terms": "it rests on one target term, or it (of icat: lms or ss) is the same, and neither 0 nor 100, in each term",
    "pairs": "it rests on one pair, or only on ties",
    "stereotypes": "it rests on one stereotype or on equal variances, or a limit differs from it by a factor over 100",
}
"""Maps the clusters of a measure to the reasons why a value may have no interval."""
SS_BASIS = "ss rests on"
"""The heading of the column of `ss_basis`."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of a section about its measure: its title, how to read it, and its limits."""

    title: str
    lead: str
    limits: str

    def section(self, name: str, subject: str, tables: Sequence[Table], figures: Sequence[Figure] = ()) -> Section:
        """Returns a section with these tables and figures; `subject`, if any, follows the title in brackets."""
        title = f"{self.title} ({subject})" if subject else self.title
        return Section(
            name=name, title=title, lead=self.lead, limits=self.limits, tables=tuple(tables), figures=tuple(figures)
        )


def about(rows: Sequence[Row]) -> str:
    """Returns the data and the protocol of rows that differ only in their models, and the way unless it is default."""
    signature = rows[0][2]
    subset = f", {signature.subset}" if signature.subset else ""
    way = f", {signature.way}" if signature.way else ""
    return f"{without_hashes(signature.data + subset)}, protocol {signature.protocol}{way}"


def known(value: float | None) -> float | None:
    """Returns the number; None if it is None or NaN."""
    return None if value is None or value != value else value


def limited(results: Mapping[str, Any], name: str, digits: int = 1, mark: str = "") -> Number:
    """Returns the measure `name` of JSON results as a cell with its limits."""
    limits = results["intervals"][name]
    missing = UNDEFINED if any(results.get(why) for why in ("ties", "neutral", "undefined")) else UNSCORED
    value, low, high = (known(number) for number in (results[name], limits["low"], limits["high"]))
    return Number(value, low, high, decimals(value, low, high, digits=digits), mark, missing)


def valued(result: Mapping[str, Any], digits: int = 1, mark: str = "") -> Number:
    """Returns the `value` of a JSON result as a cell with its limits `low` and `high`."""
    value, low, high = (known(result[name]) for name in ("value", "low", "high"))
    return Number(value, low, high, decimals(value, low, high, digits=digits), mark)


def between(interval: Interval, digits: int = 2, mark: str = "") -> Number:
    """Returns an interval as a cell; a NaN value is shown as unscored, a NaN limit is left out."""
    return valued(interval.to_dict(), digits, mark)


def chance(p: float | None) -> Number:
    """Returns a p-value as a cell with four decimals or more, so that two significant digits show; at most twelve."""
    value = known(p)
    return Number(value, digits=4 if not value else min(12, max(4, 1 - floor(log10(value)))))


def grouped(rows: Sequence[Row], *columns: str) -> tuple[str, ...]:
    """Returns the columns that group the rows of a table.

    With several models these are `columns`, so that equal rows of all models follow each other. With one model these
    are `model` and all of `columns` but the last.
    """
    return columns if len({model for model, _, _ in rows}) > 1 else ("model", *columns[:-1])


def scored(coverage: float | None, total: int) -> str:
    """Returns the number of scored items and the total, such as `3 of 4`."""
    return f"{round((coverage or 0) * total):,} of {total:,}"


def ss_differs(results: Mapping[str, Any]) -> bool:
    """Returns True if ss is based on other CATs or terms than lms; results of earlier versions lack the counts."""
    return "ss_items" in results and (
        results["ss_items"] != results["scored"] or results.get("ss_terms") != results.get("lms_terms")
    )


def ss_basis(results: Mapping[str, Any]) -> str:
    """Returns the numbers of CATs and target terms behind ss."""
    terms = [quantity(results["ss_terms"], "term")] if "ss_terms" in results else []
    return ", ".join([quantity(results["ss_items"], "CAT"), *terms])


def counted(count: Any) -> Cell:
    """Returns a count, or a dash if the value is no integer."""
    return count if isinstance(count, int) else "—"


def share(value: Any) -> Cell:
    """Returns a share in percent, or a dash if it is unknown."""
    return (
        Number(100 * value, digits=decimals(100 * value)) if isinstance(value, int | float) and value == value else "—"
    )


def without_interval(clusters: str, numbers: Iterable[Number]) -> Iterator[str]:
    """Yields a note with the reasons if one of these numbers has a value and no limits."""
    if any(number.value is not None and not number.limits for number in numbers):
        yield f"A number without brackets has no interval: {WITHOUT[clusters]}."


def with_distinct_titles(sections: Sequence[Section], given: Sequence[Signature]) -> Iterator[Section]:
    """Yields sections; where titles would be equal, each title gets the parts of its signature that differ."""
    differ = distinctions([section.title for section in sections], given)
    for section, parts in zip(sections, differ, strict=True):
        yield replace(section, title=", ".join(filter(None, (section.title, parts))))


def signatures(rows: Sequence[Row]) -> tuple[str, ...]:
    """Returns the signature of each model's numbers."""
    return tuple(str(signature) for _, _, signature in rows)


def unscored(rows: Sequence[Row]) -> tuple[str, ...]:
    """Returns the reasons why texts have no score, by model with counts."""
    return tuple(
        f"{model}: {count:,} unscored: {reason}"
        for model, report, _ in rows
        for reason, count in report.get("unscored", {}).items()
    )


MANY = 4
"""The largest number of models that are named even if a warning is about all of them."""


def warned(rows: Sequence[Row]) -> tuple[str, ...]:
    """Returns each distinct warning with the names of its models, or `all N models` if there are more than `MANY`."""
    models = list(dict.fromkeys(model for model, _, _ in rows))
    by_warning: dict[str, dict[str, None]] = {}
    for model, report, _ in rows:
        for warning in report.get("warnings") or ():
            by_warning.setdefault(warning, {})[model] = None
    return tuple(f"{_models(list(names), len(models))}: {warning}" for warning, names in by_warning.items())


def _models(names: Sequence[str], whole: int) -> str:
    """Returns the names of the models, or `all N models` if they are all of more than `MANY`."""
    return f"all {whole} models" if len(names) == whole > MANY else ", ".join(names)


def ends(rows: Sequence[Any]) -> list[Any]:
    """Returns the first and the last `MOST` of an ordered list without repetition."""
    return list(rows) if len(rows) <= 2 * MOST else [*rows[:MOST], *rows[-MOST:]]


def stars(p: float | None) -> str:
    """Returns one to three stars for p below 0.05, 0.01, 0.001; an empty text for other p, None and NaN."""
    return "" if p is None else next((mark for limit, mark in STARS if p < limit), "")
