"""The power of a data set in a report: the smallest effect that each set finds."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.report import figures
from catsofa.report.cells import Words, known
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.report.inputs import without_folders

WORDS = Words(
    "What can the data set find?",
    "The smallest effect that a test at a level of 5 % finds with a power of 80 %, in each set. Power is simulated, "
    "with its 95 % Monte Carlo interval, or exact.",
    "The power is that of the variance model. Models, groups or items that vary more have less. Holm's correction over "
    "several tests leaves less power too.",
)
IMPOSSIBLE = "larger than any"
"""What stands for an effect that cannot be."""


def power(name: str, found: Mapping[str, Any], path: Path) -> Section:
    """The tables and figures of what `catsofa power --json` prints."""
    try:
        signed = {part: without_folders(str(found["signature"][part])) for part in ("data", "line")}
        notes = tuple(_notes(found))
        parts = []
        for number, (test, rows) in enumerate(_by_test(found["sets"]).items(), 1):
            table = Table(
                name=f"{name}-{number}",
                caption=f"{test}: smallest effect, in {rows[0]['unit']}",
                columns=("set", "items", str(rows[0]["clusters_are"]), "effect", "power, %", *_asked(found, rows)),
                rows=tuple(map(_row, rows)),
                signatures=(signed["line"],),
                notes=notes,
                warnings=tuple(found["warnings"]) if number == 1 else (),
            )
            parts.append((table, _figure(f"{name}-{number}-effects", test, rows)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        there = f"power that lacks a field ({type(error).__name__}: {error})"
        raise BadInput(path, there, "what `catsofa power --json` prints") from None
    return WORDS.section(name, signed["data"], [table for table, _ in parts], [one for _, of in parts for one in of])


def _by_test(sets: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The sets of each test."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in sets:
        found.setdefault(str(one["test"]), []).append(one)
    return found


def _set(one: Mapping[str, Any]) -> str:
    """The task and the domain of a set."""
    return ", ".join(filter(None, (one["task"], one["domain"])))


def _asked(found: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns of the effect that was asked about."""
    return (f"power at {found['asked']:g}, %", f"items needed at {found['asked']:g}") if "at" in rows[0] else ()


def _row(one: Mapping[str, Any]) -> tuple[Cell, ...]:
    """One set."""
    effect: Cell = IMPOSSIBLE if one["impossible"] else Number(known(one["effect"]), digits=2)
    asked: tuple[Cell, ...] = ()
    if "at" in one:
        items = one["needed"]["items"]
        asked = (_share(one["at"]), "too many" if items is None else items)
    return (_set(one), one["items"], one["clusters"], effect, _share(one["power"]), *asked)


def _share(of: Mapping[str, Any]) -> Number:
    """A power in percent."""
    value, low, high = (
        None if (number := known(of[part])) is None else 100 * number for part in ("value", "low", "high")
    )
    return Number(value, low, high)


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    """The variance model, and how many judgements people must give."""
    yield f"Variance model: {found['model']}."
    if people := found["people"]:
        yield (
            f"People who are right in {100 * people['accuracy']:.0f} % of cases: {people['judgements']} judgements of "
            f"each item make the majority right with a probability of {100 * people['right']:.1f} %."
        )


def _figure(name: str, test: str, rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """The smallest effects, a dot for each set; none of a single one."""
    points = [(_set(one), Number(one["effect"], digits=2)) for one in rows if known(one["effect"]) is not None]
    if len(points) < 2:
        return []
    most = max(of.value or 0.0 for _, of in points)
    return [
        Figure(
            name=name,
            caption=f"{test}: smallest effect of each set",
            alt="; ".join(f"{of}: {effect}" for of, effect in points),
            draw=partial(figures.dots, points, f"effect, {rows[0]['unit']}", 0.0, (0.0, 1.1 * most)),
        )
    ]
