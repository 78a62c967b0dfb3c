"""A data set to score: its records (readable repeatedly), its content hash, and its name in a signature."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from catsofa.data import formats, sources
from catsofa.data.content import Content, content_at, content_of, records
from catsofa.data.files import BadInput, jsonl, short
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats.pairs import SkippedRows
from catsofa.data.records import RECORDS, Pair
from catsofa.scoring.signature import FIRST, data_label

SCHEME = "records:"
"""Prefix of the data hash in a manifest; earlier versions stored the hash of a file's bytes, without a prefix."""
KEPT = "data_in_memory.jsonl"
"""The file in the folder of a run that contains its data if they were in memory."""


@dataclass(frozen=True, slots=True)
class Data:
    """Records that can be read repeatedly; the content hash covers all records, whatever the limit."""

    label: str
    """Name without hash: the name of the file or folder, or `records`."""
    read: Callable[[int | None], Iterable[Any]]
    """Reads all records, or the first ones."""
    read_content: Callable[[int | None], Content]
    """Reads the content (number of records and hash) of all records, or of the first ones."""
    on: str | None = None
    """Source of the data: an absolute path, or the name of a released set; None for data in memory."""
    limit: int | None = None

    def records(self) -> Iterable[Any]:
        """The records, up to the limit."""
        return self.read(self.limit)

    @property
    def name(self) -> str:
        """Name in a signature."""
        return data_label(self.label, self.read_content(None).digest)

    @property
    def subset(self) -> str:
        """Records in use: empty for all, or `first 100@HASH`, because the name does not cover their order."""
        if self.limit is None or self.limit >= self.read_content(None).records:
            return ""
        return data_label(f"{FIRST}{self.limit}", self.read_content(self.limit).digest)

    @property
    def digest(self) -> str:
        """Content hash as stored in a manifest."""
        return SCHEME + self.read_content(None).digest

    @property
    def count(self) -> int:
        """Number of records, up to the limit."""
        whole = self.read_content(None).records
        return whole if self.limit is None else min(whole, self.limit)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about rows of the file that are left out, and about records in several languages."""
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
        """Type of the first record; raises BadInput if the data has no records."""
        if (first := next(iter(self.records()), None)) is None:
            raise BadInput(self.on or self.label, "no records", "records with a measure: CATs, pairs, probes, …")
        return type(first)


def open_data(on: str | Path | Iterable[Any], limit: int | None = None) -> Data:
    """Opens a file, a folder, a released set by its name, or data in memory; `limit` takes the first records.

    Data in memory are records, a data frame, or a Dataset.
    """
    if isinstance(on, str | Path):
        place = sources.resolve(on)
        where = str(Path(on).resolve()) if Path(on).exists() else str(on)

        def read_content(first: int | None) -> Content:
            return content_at(on, first)

        return Data(_label(place), partial(records, on), read_content, where, limit)
    held, ids = list(sources.read(on)), Seen("records", "a list of records")
    for number, record in enumerate(held, 1):
        if not isinstance(name := getattr(record, "id", ""), str | None):
            raise BadInput("records", f"the id {short(name)}", "a text", number)
        ids.add_all(record, number)
    contents: dict[int | None, Content] = {}

    def held_content(first: int | None) -> Content:
        if first not in contents:
            try:
                contents[first] = content_of(held[:first])
            except TypeError as error:
                raise BadInput("records", f"a value of a wrong type ({error})", "texts and numbers") from None
        return contents[first]

    return Data("records", lambda first: islice(iter(held), first), held_content, limit=limit)


def keep(data: Data, folder: Path | None) -> None:
    """Writes data in memory into the folder of its run, so that reports and comparisons find it.

    Records that a file cannot hold are not kept. Data from a file replace those that an earlier call kept.
    """
    if folder is None:
        return
    path = folder / KEPT
    if data.kind not in RECORDS.values() or (data.on and not path.exists()) or _holds(path, data):
        return
    path.unlink(missing_ok=True)
    with suppress(ValueError):
        jsonl.write(data.read(None), path)
    if not _holds(path, data):
        path.unlink(missing_ok=True)


def _holds(path: Path, data: Data) -> bool:
    """Returns whether a file holds these records; with a limit, the first ones must be the same, too."""
    with suppress(ValueError, OSError):
        return all(content_at(path, first) == data.read_content(first) for first in (None, data.limit))
    return False


def place_of(run: Path | str, recorded: Any) -> str | None:
    """The place of a run's data: the recorded one, or the run's folder for data in memory; None if neither exists.

    The data in the folder also replace a recorded file that is gone.
    """
    held = Path(run) / KEPT
    gone = not isinstance(recorded, str) or (Path(recorded).is_absolute() and not Path(recorded).exists())
    if gone and held.is_file():
        return str(held)
    return recorded if isinstance(recorded, str) else None


def read_named(on: str | Path) -> tuple[str, list[Any]]:
    """Returns the name in a signature of a file, a folder or a released set, and its records, which are read once."""
    every = list(sources.read(on))
    return data_label(_label(sources.resolve(on)), content_of(every).digest), every


def skipped_rows(on: str | Path) -> tuple[str, ...]:
    """Returns warnings about rows that a file of pairs leaves out when it is read; they contain no folder names."""
    place = sources.resolve(on)
    if formats.format_of(place).holds != (Pair,):  # only the readers of pairs leave rows out
        return ()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", SkippedRows)
        for _ in sources.read(on):
            pass
    sentences = dict.fromkeys(str(each.message) for each in heard if issubclass(each.category, SkippedRows))
    return tuple(sentence.replace(str(place), place.name) for sentence in sentences)


def _label(place: Path) -> str:
    """Returns the name of a file or folder; `.` is resolved to the folder's own name."""
    return place.name if place.is_file() else place.resolve().name
