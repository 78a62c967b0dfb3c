"""Releases: a folder with one Parquet file per split and a dataset card, readable by `datasets.load_dataset`.

`SHA256SUMS` lists the checksums of the data files; reading refuses a file with another checksum. In a folder without a
list, which other tools and earlier versions write, only the checksums of Parquet pages are verified.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from catsofa.data.files import BadInput, existing_file, parquet_columns, short
from catsofa.data.files.checksums import FETCH_AGAIN, LIST, SHARD, check_listed, read_list, sha256_of, write_list
from catsofa.data.files.folders import atomic_folder
from catsofa.data.files.jsonl import adapter, explain
from catsofa.data.records import Cat, Refused, kind_name
from catsofa.data.release import croissant
from catsofa.data.release.dataset_card import Canary, CardFacts, Split, canary, canary_on, card

EXPECTED = "a release: a folder with data/SPLIT.parquet for each split, written by catsofa"
ROWS = 20_000
"""Rows per row group: small enough for the Hub's viewer and for little memory, large enough to compress well."""
JUDGEMENTS = "judgements.csv"
"""The file of judgements, with the groups of their annotators."""
OURS = ("README.md", "data/*.parquet", "stereoset-*.json", croissant.FILE, JUDGEMENTS, LIST)
"""The patterns of the files that a release may replace in a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A written release: the folder, and each split with its rows, bytes and SHA-256."""

    folder: Path
    splits: tuple[Split, ...]

    @property
    def records(self) -> int:
        """The total number of records of all splits."""
        return sum(split.rows for split in self.splits)


def write_release(
    records_by_split: Mapping[str, Iterable[Any]],
    folder: Path | str,
    facts: CardFacts,
    also: Callable[[Path], object] = lambda filling: None,
) -> Release:
    """Write each split as Parquet, and the card; the folder is written atomically.

    Records are read once, one row group at a time. An id may occur only once, in one split. `also` may write
    further files of `OURS` into the folder, or raise an error to refuse it, before the folder is moved into place.
    """
    if not records_by_split:
        raise ValueError("a release needs at least one split")
    for name in records_by_split:
        if not re.fullmatch(r"\w+(\.\w+)*", name) or name == "all":
            raise ValueError(f"{name!r} cannot name a split; use letters, digits and _ (and not 'all')")
    ours = has_card(Path(folder))  # the card distinguishes catsofa's files from those of another dataset
    with atomic_folder(folder, lambda file: ours and any(map(file.match, OURS))) as filling:
        (filling / "data").mkdir()
        ids = _Ids()
        record_type: type[Any] | None = None
        splits = []
        for name, records in records_by_split.items():
            first, rest = _first(records, name)
            record_type = record_type or type(first)
            splits.append(_write_split(rest, filling / "data" / f"{name}.parquet", record_type, ids))
        assert record_type is not None
        guid = facts.canary or canary(splits)
        croissant.write(filling, facts, record_type, splits, guid)
        text = card(facts, kind_name(record_type), splits)
        (filling / "README.md").write_text(text, encoding="utf-8")
        also(filling)
        digests = {
            file.name: sha256_of(file)
            for name in ("stereoset-*.json", croissant.FILE, JUDGEMENTS)
            for file in filling.glob(name)
        }
        write_list(filling, {split.file: split.sha256 for split in splits} | digests)
    return Release(folder=Path(folder), splits=tuple(splits))


def _first(records: Iterable[Any], name: str) -> tuple[Any, Iterator[Any]]:
    """The first record, and an iterator over all records; refuses an empty split."""
    iterator = iter(records)
    for first in iterator:
        return first, chain([first], iterator)
    raise ValueError(f"split {name!r} holds no records; leave it out")


def _write_split(records: Iterator[Any], path: Path, record_type: type[Any], ids: "_Ids") -> Split:
    """Write one Parquet file; refuses a record of another type."""
    rows = 0
    with closing(parquet_columns.writer(path, record_type)) as writer:
        while group := list(islice(records, ROWS)):
            for number, record in enumerate(group, rows + 1):
                if type(record) is not record_type:
                    raise ValueError(
                        f"a release holds one kind of record; found {kind_name(type(record))} "
                        f"among {kind_name(record_type)} in split {path.stem!r}"
                    )
                ids.add(record, f"split {path.stem!r}", number)
            writer.write_batch(parquet_columns.to_batch(group, record_type))
            rows += len(group)
    digest = sha256_of(path)
    return Split(name=path.stem, file=f"data/{path.name}", rows=rows, bytes=path.stat().st_size, sha256=digest)


class _Ids:
    """The ids of a release so far: each may occur once, so that no item is used for both tuning and testing."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def add(self, record: Any, path: Path | str, row: int) -> None:
        """Note the ids of a record and of a Cat's candidates; a Refused has another record's id, which may repeat."""
        ids = [] if isinstance(record, Refused) else [getattr(record, "id", "")]
        if isinstance(record, Cat):
            ids += [f"candidate {candidate.id}" for candidate in record.candidates]
        for item in filter(None, ids):
            if item in self._seen:
                expected = "a release with every id once, in one split"
                raise BadInput(path, f"id {short(item)} a second time", expected, row)
            self._seen.add(item)


def has_card(folder: Path) -> bool:
    """Returns whether the README.md of a folder is a dataset card that catsofa wrote."""
    readme = folder / "README.md"
    return readme.is_file() and b'- "catsofa"' in readme.read_bytes()


def canary_of(place: Path) -> Canary | None:
    """The canary on the card of a release, or of the release that contains a file; None if there is none."""
    for folder in [place, place.parent, place.parent.parent]:
        ours = place == folder or any(map(place.relative_to(folder).match, OURS))
        if ours and has_card(folder):
            return canary_on((folder / "README.md").read_text(encoding="utf-8"))
    return None


def holds_records(file: Path) -> bool:
    """Returns whether catsofa wrote a Parquet file: columns of a record type, without metadata of `datasets`."""
    try:
        schema = pq.read_schema(file)
        return b"huggingface" not in (schema.metadata or {}) and bool(parquet_columns.record_type_of(schema.names))
    except (pa.ArrowException, ValueError, OSError):
        return False


def columns_of(file: Path) -> list[str]:
    """The columns of a Parquet file."""
    with _opened(file) as (_, names):
        return names


def read_release(folder: Path | str) -> dict[str, Iterator[Any]]:
    """The records of each split, read lazily."""
    folder = Path(folder)
    files = sorted((folder / "data").glob("*.parquet"))
    if not files:
        raise BadInput(folder, "no data/*.parquet", EXPECTED)
    for name in read_list(folder) or ():
        if name.startswith("data/") and not (folder / name).exists():
            raise BadInput(folder / name, "no such file", f"every file that {LIST} lists; {FETCH_AGAIN}")
    splits: dict[str, list[Path]] = {}
    for file in files:
        splits.setdefault(SHARD.sub("", file.stem), []).append(file)
    for name, shards in splits.items():
        if wanted := {int(match[1]) for file in shards if (match := SHARD.search(file.stem))} - {len(shards)}:
            problem = f"{len(shards)} of the {max(wanted)} files of split {name!r}"
            raise BadInput(folder, problem, "all of them; run what makes them again, or fetch them again")
    ids = _Ids()
    return {name: chain.from_iterable(_records(file, ids) for file in shards) for name, shards in splits.items()}


def read(path: Path) -> Iterator[Any]:
    """The records of a release, split by split, or of one of its files."""
    if path.is_dir():
        return chain.from_iterable(read_release(path).values())
    return _records(path, _Ids())


def _records(path: Path, ids: "_Ids") -> Iterator[Any]:
    """The validated records of one Parquet file, with one batch of rows in memory at a time."""
    from pydantic import ValidationError

    with _opened(path) as (file, names):
        record_type = parquet_columns.record_type_of(names)
        if record_type is None:
            raise BadInput(path, f"the columns {short(', '.join(names))}", EXPECTED)
        validate = adapter(record_type).validate_python
        before = 0
        for batch in _batches(file, path):
            rows = _rows(batch, record_type, path, before)
            for number, row in enumerate(rows, before + 1):
                try:
                    record = validate(row)
                except ValidationError as error:
                    problem, expected = explain(error, record_type)
                    raise BadInput(path, problem, expected, number) from None
                ids.add(record, path, number)
                yield record
            before += len(rows)
        if not before:
            raise BadInput(path, "no rows", EXPECTED)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[pq.ParquetFile, list[str]]]:
    """An open Parquet file and the names of its columns; verifies its checksum if the folder lists one."""
    existing_file(path, EXPECTED)
    folder = path.parent.parent
    if path.parent.name == "data" and (listed := read_list(folder)) is not None:
        check_listed(folder, path, listed)
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        names: list[str] = file.schema_arrow.names
    except (pa.ArrowException, ValueError, OSError) as error:
        raise BadInput(path, f"no readable Parquet file ({_first_line(error)})", EXPECTED) from None
    with file:
        yield file, names


def _batches(file: pq.ParquetFile, path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of a Parquet file; a damaged file becomes a BadInput."""
    try:
        yield from file.iter_batches(ROWS)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise BadInput(path, f"damaged Parquet ({_first_line(error)})", EXPECTED) from None


def _rows(batch: pa.RecordBatch, record_type: type[Any], path: Path, before: int) -> list[dict[str, Any]]:
    """The rows of a batch; a column of the wrong type becomes a BadInput."""
    try:
        return parquet_columns.from_batch(batch, record_type)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        problem = f"rows that are no {kind_name(record_type)} ({_first_line(error)})"
        raise BadInput(path, problem, EXPECTED, before + 1) from None


def _first_line(error: BaseException) -> str:
    """The first line of the error message of a library."""
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
