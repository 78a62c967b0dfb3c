"""What the tables of all measures share: cells with limits, how many are scored of how many, and signatures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from catsofa.data.percentages import decimals, quantity
from catsofa.report.elements import UNSCORED, Cell, Figure, Number, Section, Table
from catsofa.scoring.signature import Signature, without_hashes
from catsofa.scoring.statistics.intervals import Interval

Row = tuple[str, Mapping[str, Any], Signature]
"""The name of a model, the report of its run, and its signature."""
MOST = 5
"""Terms, identities and stereotypes named at each end."""
UNDEFINED = "undefined"
"""What stands for a measure of nothing but ties."""
SS_BASIS = "ss rests on"
"""The heading of `ss_basis`."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, slots=True)
class Words:
    """What a section says of its measure: its title, how to read it, and what it cannot show."""

    title: str
    lead: str
    limits: str

    def section(self, name: str, of: str, tables: Sequence[Table], figures: Sequence[Figure] = ()) -> Section:
        """A section about a data set."""
        title = f"{self.title} ({of})" if of else self.title
        return Section(
            name=name, title=title, lead=self.lead, limits=self.limits, tables=tuple(tables), figures=tuple(figures)
        )


def about(rows: Sequence[Row]) -> str:
    """The data and the protocol of rows that differ in their models alone, and the way where it is not the usual."""
    signature = rows[0][2]
    subset = f", {signature.subset}" if signature.subset else ""
    way = f", {signature.way}" if signature.way else ""
    return f"{without_hashes(signature.data + subset)}, protocol {signature.protocol}{way}"


def known(value: float | None) -> float | None:
    """A number, or None for what is unscored."""
    return None if value is None or value != value else value


def limited(of: Mapping[str, Any], name: str, digits: int = 1, mark: str = "") -> Number:
    """A measure of our JSON with its limits."""
    limits = of["intervals"][name]
    missing = UNDEFINED if any(of.get(why) for why in ("ties", "neutral", "undefined")) else UNSCORED
    value, low, high = (known(number) for number in (of[name], limits["low"], limits["high"]))
    return Number(value, low, high, decimals(value, low, high, digits=digits), mark, missing)


def valued(of: Mapping[str, Any], digits: int = 1, mark: str = "") -> Number:
    """A `value` of our JSON with its limits beside it."""
    value, low, high = (known(of[name]) for name in ("value", "low", "high"))
    return Number(value, low, high, decimals(value, low, high, digits=digits), mark)


def between(of: Interval, digits: int = 2, mark: str = "") -> Number:
    """An interval as a cell; NaN is unscored, or no limit."""
    return valued(of.to_dict(), digits, mark)


def chance(p: float | None) -> Number:
    """A p-value with two digits that are no zero, and four decimals or more."""
    value = known(p)
    return Number(value, digits=4 if not value else min(12, max(4, 1 - floor(log10(value)))))


def grouped(rows: Sequence[Row], *by: str) -> tuple[str, ...]:
    """What heads the rows of a table: these columns, so that models stand together; of one model, it and the first."""
    return by if len({model for model, _, _ in rows}) > 1 else ("model", *by[:-1])


def scored(coverage: float | None, of: int) -> str:
    """How many are scored of how many."""
    return f"{round((coverage or 0) * of):,} of {of:,}"


def ss_differs(of: Mapping[str, Any]) -> bool:
    """Whether ss rests on other CATs or terms than lms; results of earlier versions do not say."""
    return "ss_items" in of and (of["ss_items"] != of["scored"] or of.get("ss_terms") != of.get("lms_terms"))


def ss_basis(of: Mapping[str, Any]) -> str:
    """The CATs and target terms that ss rests on."""
    terms = [quantity(of["ss_terms"], "term")] if "ss_terms" in of else []
    return ", ".join([quantity(of["ss_items"], "CAT"), *terms])


def counted(count: Any) -> Cell:
    """A count, or a dash where nobody counted."""
    return count if isinstance(count, int) else "—"


def share(of: Any) -> Cell:
    """A share in percent, or a dash where it is not known."""
    return Number(100 * of, digits=decimals(100 * of)) if isinstance(of, int | float) and of == of else "—"


def signatures(rows: Sequence[Row]) -> tuple[str, ...]:
    """The signature of each model's numbers."""
    return tuple(str(signature) for _, _, signature in rows)


def unscored(rows: Sequence[Row]) -> tuple[str, ...]:
    """Why texts have no score."""
    return tuple(
        f"{model}: {count:,} unscored: {reason}"
        for model, report, _ in rows
        for reason, count in report.get("unscored", {}).items()
    )


MANY = 4
"""Models that share a warning and are named though they are all."""


def warned(rows: Sequence[Row]) -> tuple[str, ...]:
    """The warnings beside the numbers, each once with the models that have it; of many, all of them are not named."""
    models = list(dict.fromkeys(model for model, _, _ in rows))
    of: dict[str, dict[str, None]] = {}
    for model, report, _ in rows:
        for warning in report.get("warnings") or ():
            of.setdefault(warning, {})[model] = None
    return tuple(f"{_models(list(names), len(models))}: {warning}" for warning, names in of.items())


def _models(names: Sequence[str], whole: int) -> str:
    """These models by name, or all of many."""
    return f"all {whole} models" if len(names) == whole > MANY else ", ".join(names)


def ends(of: Sequence[Any]) -> list[Any]:
    """The first and the last few of an ordered list, none twice."""
    return list(of) if len(of) <= 2 * MOST else [*of[:MOST], *of[-MOST:]]


def stars(p: float | None) -> str:
    """One to three stars for p below 0.05, 0.01, 0.001; none for what is unscored."""
    return "" if p is None else next((mark for limit, mark in STARS if p < limit), "")
