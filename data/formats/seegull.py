"""SeeGULL: associations of an attribute with an identity, vote counts of three raters, ratings of offensiveness.

The global file has votes of raters in the region and in North America; the file of US states has one group of raters.
The rating -1 is by far the most frequent, and the mean column includes it, so -1 very probably means "not offensive".
12 released rows have a broken identity (`,New Hampshirite`, `United KingdomUK`): punctuation before the name, or an
abbreviation attached to it. The reader removes these and keeps the cell in `extra`, under `identity_as_written`.
"""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from catsofa.data.associations import Association, Votes
from catsofa.data.files import BadInput, atomic_write, csv_files, short
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost

EXPECTED = "associations of SeeGULL"
NEEDED = ("identity", "attribute", "region_stereo", "region_nonstereo", "region_unsure")
RATINGS = ("Annotation1", "Annotation2", "Annotation3")
ANSWERS = {"stereo": "yes", "nonstereo": "no", "unsure": "unsure"}
"""Maps the end of a column name to the field of `Votes`."""
_BROKEN = re.compile(r"^[\s.,;:'\"`]+|(?<=[a-z])[A-Z]{2,}$")
"""Parts that do not belong to an identity: punctuation before the name, and an abbreviation attached to it."""
_WRITTEN = "identity_as_written"


@dataclass(frozen=True, slots=True)
class Layout:
    """The differences between the two released files."""

    raters: tuple[str, ...]
    mean: str
    missing: str
    """The cell of a missing rating."""
    last_end: bytes
    """The line ending of the last line."""

    @property
    def votes(self) -> tuple[str, ...]:
        """The vote columns."""
        return tuple(f"{raters}_{answer}" for raters in self.raters for answer in ANSWERS)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the file."""
        return ("identity", "attribute", *self.votes, *RATINGS, self.mean)


WORLD = Layout(("region", "NA"), "mean offensiveness_score", "", b"\r\n")
STATES = Layout(("region",), "offensiveness_score", "NA", b"")


def read(path: Path) -> Iterator[Association]:
    """Each association; refuses a repeated pair of identity and attribute."""
    ids = Seen(path, EXPECTED)

    def association_of(line: int, row: Row) -> Association:
        layout = WORLD if WORLD.mean in row else STATES
        if missing := [name for name in layout.columns if name not in row]:
            raise BadInput(path, f"no column {missing[0]!r}", f"{EXPECTED}, with {', '.join(layout.columns)}", 1)
        csv_files.refuse_empty(row, ("identity", "attribute"), path, EXPECTED, line)
        if not _BROKEN.sub("", row["identity"]):
            raise BadInput(path, f"no name in the identity {short(row['identity'])}", EXPECTED, line)
        association = _association(row, layout, path, line)
        ids.add(association.id, line)
        return association

    return each(association_of, csv_files.rows(path, NEEDED, EXPECTED))


def write(associations: Iterable[Association], path: Path) -> int:
    """Write in the layout of the first association: global with votes of North America, otherwise that of the states.

    Line endings are those of the released files, so that a released file is reproduced byte by byte.
    """
    coming = iter(associations)
    first = next(coming, None)
    if first is None:
        raise ValueError(f"there is nothing to write to {path}")
    layout, count = _layout(first), 0
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(layout.columns)
        for association in chain([first], coming):
            count += 1
            writer.writerow(_row(association, layout)[name] for name in layout.columns)
        text.flush()
        if not layout.last_end:
            file.seek(-2, os.SEEK_END)
            file.truncate()
        text.detach()
    return count


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the header has the columns of votes and ratings."""
    return set(NEEDED) | set(RATINGS) <= csv_files.columns_of(head)


def loses(association: Association) -> Iterator[str]:
    """The fields that are lost: all except identity, attribute, votes of known raters, three ratings and their mean."""
    layout = _layout(association)
    return lost(association, _association(_row(association, layout), layout, Path(), 0))


def _layout(association: Association) -> Layout:
    """The layout that can represent an association."""
    return WORLD if any(votes.raters == "NA" for votes in association.votes) else STATES


def _association(row: Row, layout: Layout, path: Path, line: int) -> Association:
    """A row as an Association; the mean is kept as text, since it is not always the mean of the ratings."""
    counts = {name: _count(row[name], name, path, line) for name in layout.votes}
    identity = _BROKEN.sub("", row["identity"])
    return Association(
        identity=identity,
        attribute=row["attribute"],
        votes=tuple(
            Votes(raters=raters, **{field: counts[f"{raters}_{answer}"] for answer, field in ANSWERS.items()})
            for raters in layout.raters
        ),
        offensiveness=tuple(_rating(row[name], name, layout, path, line) for name in RATINGS),
        extra={layout.mean: row[layout.mean], **({_WRITTEN: row["identity"]} if identity != row["identity"] else {})},
    )


def _count(cell: str, column: str, path: Path, line: int) -> int:
    """A number of votes."""
    if not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
        raise BadInput(path, f"{short(cell)} in the column {column!r}", "a number of votes", line)
    return int(cell)


def _rating(cell: str, column: str, layout: Layout, path: Path, line: int) -> float | None:
    """A rating, or None if missing; a few released ratings are fractions."""
    if cell == layout.missing:
        return None
    try:
        rating = float(cell)
    except ValueError:
        rating = float("nan")
    if not -1 <= rating <= 4:
        expected = f"a rating from -1 to 4, or {layout.missing or 'nothing'!r} where it is missing"
        raise BadInput(path, f"{short(cell)} in the column {column!r}", expected, line)
    return rating


def _row(association: Association, layout: Layout) -> Row:
    """An Association as a row; a mean that the source lacks is computed from the ratings, and is 0 without ratings."""
    ratings = association.offensiveness[: len(RATINGS)]
    numbers = [rating for rating in ratings if rating is not None]
    padded = [*ratings, *[None] * (len(RATINGS) - len(ratings))]
    mean = _number(sum(numbers) / len(numbers) if numbers else 0)
    votes = {
        f"{raters}_{answer}": str(getattr(association.votes_of(raters), field))
        for raters in layout.raters
        for answer, field in ANSWERS.items()
    }
    return {
        "identity": str(association.extra.get(_WRITTEN, association.identity)),
        "attribute": association.attribute,
        **votes,
        **{
            name: layout.missing if rating is None else _number(rating)
            for name, rating in zip(RATINGS, padded, strict=True)
        },
        layout.mean: str(association.extra.get(layout.mean, mean)),
    }


def _number(value: float) -> str:
    """A number with the ten digits of the released files."""
    return f"{value:.10g}"


FORMAT = Format(
    name="seegull",
    holds=(Association,),
    about=EXPECTED,
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".csv",
    columns=NEEDED,
)
