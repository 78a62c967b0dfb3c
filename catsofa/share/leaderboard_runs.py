"""A leaderboard of finished runs: a table for each number, with shared places for overlapping intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catsofa.data.percentages import decimals, in_percent
from catsofa.report import formats
from catsofa.report.cells import about
from catsofa.report.elements import Document, Number, Section, Table
from catsofa.report.inputs import Finished, find, groups, with_unique_names
from catsofa.report.summary.sentences import NAMES
from catsofa.scoring.signature import Signature, distinctions
from catsofa.share.leaderboard_page import APART, WARNING
from catsofa.share.places import places, written
from catsofa.share.results import OVERALL, Measured, measured

JOINED = ("lms", "ss")
"""Measures of CATs that are shown beside icat, which combines them."""
SHARED = (
    "A place is shared where intervals overlap: a model stands before another one where all of its 95 % interval is "
    "nearer to the ideal value."
)
LIMITS = (
    "The ideal value is no proof of a fair model. Models that share a place may still differ: the command "
    "compare tests the items of two runs in pairs."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The result of a model for one number."""

    model: str
    place: tuple[int, int] | None
    """The first and last place that the model can have; None without an interval."""
    number: Measured
    beside: tuple[Measured, ...]
    coverage: float | None
    """The share of the items behind the numbers; None if it was not counted."""
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The models of one measure, data set and protocol, ranked by one number."""

    kind: str
    about: str
    number: str
    set: str
    ideal: float
    rows: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    """Models without this number."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the board for JSON."""
        return {
            "measure": self.kind,
            "about": self.about,
            "number": self.number,
            "set": self.set,
            "ideal": self.ideal,
            "rows": [
                {
                    "model": row.model,
                    "place": list(row.place) if row.place else None,
                    **{
                        one.name: {"value": one.value, "low": one.low, "high": one.high}
                        for one in (row.number, *row.beside)
                    },
                    "items": row.number.items,
                    "coverage": row.coverage,
                    "signature": str(row.signature),
                }
                for row in self.rows
            ],
            "missing": list(self.missing),
        }


def boards(paths: Sequence[Path]) -> list[Board]:
    """Returns the boards of the finished runs in and below these folders."""
    runs = with_unique_names(find(paths).runs)
    if not runs:
        raise ValueError(f"found no finished run in {', '.join(map(str, paths))}; expected folders of `score --out`")
    grouped = list(groups(runs))
    titles = [about([(run.model, run.report, run.signature) for run in same]) for _, same in grouped]
    signatures = [same[0].signature for _, same in grouped]
    differ = distinctions([(kind, title) for (kind, _), title in zip(grouped, titles, strict=True)], signatures)
    return [
        board
        for (kind, same), title, parts in zip(grouped, titles, differ, strict=True)
        for board in _of_group(kind, same, ", ".join(filter(None, (title, parts))))
    ]


def _of_group(kind: str, runs: Sequence[Finished], title: str) -> Iterator[Board]:
    """Yields a board for each number over all items; for association tests, one for each test."""
    numbers = {run.model: {(one.name, one.set): one for one in measured(run)} for run in runs}
    by_model = {run.model: run for run in runs}
    keys = dict.fromkeys(key for by_key in numbers.values() for key in by_key if kind == "seat" or key[1] == OVERALL)
    for name, in_set in keys:
        if kind == "stereoset" and name in JOINED:
            continue
        have = {model: by_key[name, in_set] for model, by_key in numbers.items() if (name, in_set) in by_key}
        ideal = next(iter(have.values())).scale.ideal
        placed = places({model: (one.low, one.high) for model, one in have.items()}, ideal)
        rows = [
            Row(
                model=model,
                place=placed.get(model),
                number=one,
                beside=tuple(numbers[model][other, in_set] for other in JOINED if (other, in_set) in numbers[model]),
                coverage=_coverage(by_model[model].report["results"], name, in_set),
                signature=by_model[model].signature,
            )
            for model, one in have.items()
        ]
        rows.sort(key=lambda row: (*(row.place or (len(rows) + 1, 0)), abs(row.number.value - ideal), row.model))
        missing = tuple(model for model in numbers if model not in have)
        yield Board(kind=kind, about=title, number=name, set=in_set, ideal=ideal, rows=tuple(rows), missing=missing)


def _coverage(results: Any, name: str, in_set: str) -> float | None:
    """Returns the smallest share of items behind a number and behind the numbers that it combines."""
    rows = {} if isinstance(results, Mapping) else {row["test"]: row for row in results}  # association tests only
    whole = rows.get(in_set, {}) if rows else results.get(OVERALL, results)
    parts = ("coverage", f"{name}_coverage", *(f"{one}_coverage" for one in JOINED if name == "icat"))
    shares = [float(whole[part]) for part in parts if isinstance(whole.get(part), int | float)]
    return min(shares) if shares else None


def write(ranked: Sequence[Board], path: Path) -> None:
    """Writes the page atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    formats.write(document(ranked), path, "html")


def document(ranked: Sequence[Board]) -> Document:
    """Returns a section for each measure, data set and protocol, with a table for each number."""
    kinds = dict.fromkeys((board.kind, board.about) for board in ranked)
    sections = []
    for index, (kind, data_title) in enumerate(kinds, 1):
        own = [board for board in ranked if (board.kind, board.about) == (kind, data_title)]
        tables = tuple(_table(f"board{index}-{n}", board) for n, board in enumerate(own, 1))
        means = "; ".join(dict.fromkeys(f"{board.number}: {board.rows[0].number.scale.about}" for board in own))
        sections.append(
            Section(
                name=f"board{index}",
                title=f"{NAMES.get(kind, kind)} ({data_title})",
                lead=f"{means}. {SHARED}",
                limits=LIMITS,
                tables=tables,
            )
        )
    return Document(
        title="Leaderboard of stereotypes in language models",
        warning=WARNING,
        notes=(APART,) if len(sections) > 1 else (),
        sections=tuple(sections),
    )


def _table(name: str, board: Board) -> Table:
    """Returns the table of the models by place."""
    joined = [one.name for one in board.rows[0].beside]
    called = board.number if board.set == OVERALL else f"{board.set}: {board.number}"
    missing = (f"Without this number: {', '.join(board.missing)}.",) if board.missing else ()
    return Table(
        name=name,
        caption=f"{called}, ideal {board.ideal:g}: the nearest first",
        columns=("model", "place", board.number, *joined, "items", "coverage"),
        rows=tuple(
            (
                row.model,
                written(row.place),
                number(row.number),
                *map(number, row.beside),
                "—" if row.number.items is None else row.number.items,
                shown_coverage(row),
            )
            for row in board.rows
        ),
        signatures=tuple(str(row.signature) for row in board.rows),
        notes=missing,
    )


def shown_coverage(row: Row) -> str:
    """Returns the coverage in percent."""
    return "—" if row.coverage is None else in_percent(row.coverage)


def number(one: Measured) -> Number:
    """Returns a number for people, with its limits."""
    return Number(one.value, one.low, one.high, decimals(one.value, one.low, one.high, digits=1))
