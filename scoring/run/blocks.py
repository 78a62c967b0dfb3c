"""Scores in columns in the database of a run: a row for each chunk, with one checksum."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from catsofa.scoring.probe_numbers import NONE, ProbeNumbers
from catsofa.scoring.run.plausible import LOWEST, ROUNDING, impossible, why_impossible
from catsofa.scoring.score_columns import ScoreColumns

TABLE = "blocks"
VALUES, COUNTS = np.dtype("<f8"), np.dtype("<i4")
"""The types of the numbers of a block: three columns of values, then three of counts."""

Checksum = Callable[[tuple[Any, ...]], bytes]


def add(connection: sqlite3.Connection, scores: ScoreColumns, checksum: Checksum) -> None:
    """Store scores in columns as one row."""
    values = (scores.scores, scores.identities, scores.conditionals)
    counts = (scores.tokens, scores.unknown, scores.unknown_identities)
    numbers = b"".join(
        [
            *(column.astype(VALUES).tobytes() for column in values),
            *(column.astype(COUNTS).tobytes() for column in counts),
        ]
    )
    row = (scores.task, len(scores), json.dumps([*scores.items]), numbers)
    connection.execute(
        f"INSERT INTO {TABLE} (task, texts, items, numbers, checksum) VALUES (?, ?, ?, ?, ?)",
        (*row, checksum(_digests(row))),
    )


def read(connection: sqlite3.Connection, checksum: Checksum) -> Iterator[ScoreColumns]:
    """Each block, after a check; raises ValueError for a changed or impossible one."""
    if not exists(connection):
        return
    for *row, stored in connection.execute(
        f"SELECT task, texts, items, numbers, checksum FROM {TABLE} ORDER BY number"
    ):
        if stored != checksum(_digests(row)):
            raise ValueError("a block of scores that its checksum does not fit")
        task, texts, items, numbers = row
        values = np.frombuffer(numbers, VALUES, 3 * texts).reshape(3, texts)
        counts = np.frombuffer(numbers, COUNTS, offset=values.nbytes).reshape(3, texts)
        scores = ScoreColumns(task, json.loads(items), *values, *counts)
        if wrong := first_impossible(scores):
            raise ValueError("a score of {!r} that is {}".format(*wrong))
        yield scores


def _digests(row: Sequence[Any]) -> tuple[Any, ...]:
    """The values that the checksum of a row is made of: digests in place of long values."""
    return tuple(
        blake2b(value.encode() if isinstance(value, str) else value, digest_size=32).hexdigest()
        if isinstance(value, str | bytes)
        else value
        for value in row
    )


def first_impossible(scores: ScoreColumns) -> tuple[str, str] | None:
    """The first item whose score or a part of it cannot be a log-probability, and the reason."""
    highest = ROUNDING * np.maximum(1, scores.tokens)
    parts = (scores.scores, scores.identities, scores.conditionals)
    wrong = np.isnan(scores.scores) | np.logical_or.reduce([(part < LOWEST) | (part > highest) for part in parts])
    if not wrong.any():
        return None
    one = scores[int(wrong.argmax())]
    return one.item, why_impossible(one.score, one.extra, ROUNDING * max(1, one.tokens))


def refuse_impossible(scores: ScoreColumns) -> None:
    """Raise an error for the first score that cannot be a log-probability."""
    if wrong := first_impossible(scores):
        raise impossible(*wrong)


def items(connection: sqlite3.Connection) -> set[str]:
    """The items of all blocks."""
    rows = connection.execute(f"SELECT items FROM {TABLE}") if exists(connection) else ()
    return {item for (held,) in rows for item in json.loads(held)}


def repeat_an_item(connection: sqlite3.Connection) -> bool:
    """Returns True if an item of a block is also in another block or in a row."""
    if not count(connection):
        return False
    known = ProbeNumbers()
    for (held,) in connection.execute(f"SELECT items FROM {TABLE}"):
        known.add(json.loads(held))
    known.add([item for (item,) in connection.execute("SELECT DISTINCT item FROM scores")])
    return known.repeated != NONE


def count(connection: sqlite3.Connection) -> int:
    """The number of scores in all blocks."""
    if not exists(connection):
        return 0
    return int(connection.execute(f"SELECT coalesce(sum(texts), 0) FROM {TABLE}").fetchone()[0])


def exists(connection: sqlite3.Connection) -> bool:
    """Returns True if the database has the table; those of earlier versions lack it."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)).fetchone() is not None
