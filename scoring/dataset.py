"""A data set to score: its records, which can be read again, its content hash, and its name in a signature."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from catsofa.data import formats, sources
from catsofa.data.content import Content, content_at, content_of
from catsofa.data.files import BadInput
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats.pairs import SkippedRows
from catsofa.data.records import Pair
from catsofa.scoring.signature import FIRST, data_label

SCHEME = "records:"
"""How the data's hash in a manifest begins; earlier versions wrote the hash of a file's bytes, without a scheme."""


@dataclass(frozen=True, slots=True)
class Data:
    """Records that can be read again and again; the content hash is of all of them, whatever the limit."""

    label: str
    """The name without its hash: that of the file or folder, or `records`."""
    records: Callable[[], Iterator[Any]]
    read_content: Callable[[int | None], Content]
    """Reads the content of all records, or of the first ones."""
    on: str | None = None
    """Where it was read: an absolute path, or the name of a released set."""
    limit: int | None = None

    @property
    def name(self) -> str:
        """The name in a signature."""
        return data_label(self.label, self.read_content(None).digest)

    @property
    def subset(self) -> str:
        """Which of the records are used: all (empty), or `first 100@HASH`, since their order is not in the name."""
        if self.limit is None or self.limit >= self.read_content(None).records:
            return ""
        return data_label(f"{FIRST}{self.limit}", self.read_content(self.limit).digest)

    @property
    def digest(self) -> str:
        """The content hash as a manifest holds it."""
        return SCHEME + self.read_content(None).digest

    @property
    def count(self) -> int:
        """How many records there are, up to the limit."""
        whole = self.read_content(None).records
        return whole if self.limit is None else min(whole, self.limit)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which rows of its file are left out, and that its records are in several languages."""
        skipped = skipped_rows(self.on) if self.on else ()
        if "language" not in self.kind.__dataclass_fields__:
            return skipped
        spoken = Counter(record.language for record in self.records())
        if len(spoken) < 2:
            return skipped
        shown = ", ".join(f"{language} {count:,}" for language, count in spoken.most_common())
        mixed = f"the records are in several languages ({shown}), and the numbers mix them"
        return (*skipped, f"{mixed}; `catsofa convert --language` keeps one")

    @property
    def kind(self) -> type[Any]:
        """The type of its records."""
        if (first := next(self.records(), None)) is None:
            raise BadInput(self.on or self.label, "no records", "records with a measure: CATs, pairs, probes, …")
        return type(first)


def open_data(on: str | Path | Iterable[Any], limit: int | None = None) -> Data:
    """A file, a folder, the name of a released set, or data in memory; `limit` takes the first records.

    Data in memory are records, a data frame, or a Dataset.
    """
    if isinstance(on, str | Path):
        place = sources.resolve(on)
        where = str(Path(on).resolve()) if Path(on).exists() else str(on)

        def read_content(first: int | None) -> Content:
            return content_at(on, first)

        return Data(_label(place), lambda: islice(sources.read(on), limit), read_content, where, limit)
    held, seen = list(sources.read(on)), Seen("records", "a list of records")
    for number, record in enumerate(held, 1):
        seen.add_all(record, number)
    known: dict[int | None, Content] = {}

    def held_content(first: int | None) -> Content:
        if first not in known:
            known[first] = content_of(held[:first])
        return known[first]

    return Data("records", lambda: islice(iter(held), limit), held_content, limit=limit)


def read_named(on: str | Path) -> tuple[str, list[Any]]:
    """The name in a signature of a file, a folder or a released set, and its records, which are read once."""
    records = list(sources.read(on))
    return data_label(_label(sources.resolve(on)), content_of(records).digest), records


def skipped_rows(on: str | Path) -> tuple[str, ...]:
    """Which rows a file of pairs leaves out when it is read, in sentences that name no folder."""
    place = sources.resolve(on)
    if formats.format_of(place).holds != (Pair,):  # only the readers of pairs leave rows out
        return ()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", SkippedRows)
        for _ in sources.read(on):
            pass
    told = dict.fromkeys(str(each.message) for each in heard if issubclass(each.category, SkippedRows))
    return tuple(sentence.replace(str(place), place.name) for sentence in told)


def _label(place: Path) -> str:
    """The name of a file or folder; a folder may be given as `.`."""
    return place.name if place.is_file() else place.resolve().name
