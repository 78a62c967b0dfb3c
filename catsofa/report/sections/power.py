"""The report section on the power of a data set: the smallest effect that each set detects."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.visible import without_folders
from catsofa.report import figures
from catsofa.report.cells import Words, known
from catsofa.report.elements import Cell, Figure, Number, Section, Table

WORDS = Words(
    "What can the data set find?",
    "The smallest effect that a test at a level of 5 % finds with a power of 80 %, in each set. Power is simulated, "
    "with its 95 % Monte Carlo interval, or exact.",
    "The power is that of the variance model. Models, groups or items that vary more have less. Holm's correction over "
    "several tests leaves less power too.",
)
IMPOSSIBLE = "larger than any"
"""The text for an effect that is larger than possible."""


def power(name: str, result: Mapping[str, Any], path: Path) -> Section:
    """Returns the section of the output of `catsofa power --json`; raises BadInput if a field is missing."""
    try:
        signed = {part: without_folders(str(result["signature"][part])) for part in ("data", "line")}
        notes = tuple(_notes(result))
        parts = []
        for number, (test, rows) in enumerate(_by_test(result["sets"]).items(), 1):
            table = Table(
                name=f"{name}-{number}",
                caption=f"{test}: smallest effect, in {rows[0]['unit']}",
                columns=("set", "items", str(rows[0]["clusters_are"]), "effect", "power, %", *_asked(result, rows)),
                rows=tuple(map(_row, rows)),
                signatures=(signed["line"],),
                notes=notes,
                warnings=tuple(result["warnings"]) if number == 1 else (),
            )
            parts.append((table, _figure(f"{name}-{number}-effects", test, rows)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"power that lacks a field ({type(error).__name__}: {error})"
        raise BadInput(path, problem, "what `catsofa power --json` prints") from None
    return WORDS.section(
        name, signed["data"], [table for table, _ in parts], [one for _, drawn in parts for one in drawn]
    )


def _by_test(sets: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Returns the sets grouped by test."""
    by_test: dict[str, list[Mapping[str, Any]]] = {}
    for one in sets:
        by_test.setdefault(str(one["test"]), []).append(one)
    return by_test


def _set(one: Mapping[str, Any]) -> str:
    """Returns the name of a set: its task and domain."""
    return ", ".join(filter(None, (one["task"], one["domain"])))


def _asked(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Returns the columns for a requested effect; none if no effect was requested."""
    return (f"power at {result['asked']:g}, %", f"items needed at {result['asked']:g}") if "at" in rows[0] else ()


def _row(one: Mapping[str, Any]) -> tuple[Cell, ...]:
    """Returns the row of one set."""
    effect: Cell = IMPOSSIBLE if one["impossible"] else Number(known(one["effect"]), digits=2)
    extra: tuple[Cell, ...] = ()
    if "at" in one:
        items = one["needed"]["items"]
        extra = (_share(one["at"]), "too many" if items is None else items)
    return (_set(one), one["items"], one["clusters"], effect, _share(one["power"]), *extra)


def _share(estimate: Mapping[str, Any]) -> Number:
    """Returns a power in percent with its limits."""
    value, low, high = (
        None if (number := known(estimate[part])) is None else 100 * number for part in ("value", "low", "high")
    )
    return Number(value, low, high)


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    """Yields notes on the variance model, and on the number of human judgements needed per item."""
    yield f"Variance model: {result['model']}."
    if people := result["people"]:
        yield (
            f"People who are right in {100 * people['accuracy']:.0f} % of cases: {people['judgements']} judgements of "
            f"each item make the majority right with a probability of {100 * people['right']:.1f} %."
        )


def _figure(name: str, test: str, rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Returns the figure of the smallest effects, a dot per set; none for fewer than two sets with an effect."""
    points = [(_set(one), Number(one["effect"], digits=2)) for one in rows if known(one["effect"]) is not None]
    if len(points) < 2:
        return []
    most = max(number.value or 0.0 for _, number in points)
    return [
        Figure(
            name=name,
            caption=f"{test}: smallest effect of each set",
            alt="; ".join(f"{title}: {effect}" for title, effect in points),
            draw=partial(figures.dots, points, f"effect, {rows[0]['unit']}", 0.0, (0.0, 1.1 * most)),
        )
    ]
