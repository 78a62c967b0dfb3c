"""Releases as a format: Parquet files and a dataset card, without loss."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data.formats import Format
from catsofa.data.records import RECORDS

SPLIT = "test"
"""The default split; records are for evaluation, not for training."""


def read(path: Path) -> Iterator[Any]:
    """Each record of a release, split by split, or of one Parquet file; both can have the columns of a format."""
    import pyarrow.parquet as pq

    from catsofa.data import release
    from catsofa.data.formats.plain.rows import are_rows, is_ours, records_of

    def holds_rows(file: Path) -> bool:
        names = set(release.columns_of(file))
        return are_rows(names) and not (is_ours(names) if path.is_dir() else release.holds_records(file))

    files = sorted((path / "data").glob("*.parquet")) if path.is_dir() else [path]
    if files and all(map(holds_rows, files)):
        rows = [row for file in files for row in pq.read_table(file).to_pylist()]
        return iter(records_of(rows, path, "the rows of a format"))
    return release.read(path)


def write(records: Iterable[Any], path: Path) -> int:
    """Write a release with one split, named after the folder; returns the number of records."""
    from catsofa.data.release import write_release
    from catsofa.data.release.dataset_card import CardFacts

    return write_release({SPLIT: records}, path, CardFacts(pretty_name=Path(path).resolve().name)).records


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the path is a Parquet file, or a folder with Parquet files under data/."""
    return head.startswith(b"PAR1") or (path.is_dir() and any((path / "data").glob("*.parquet")))


FORMAT = Format(
    name="release",
    holds=tuple(RECORDS.values()),
    about="a release in Parquet",
    matches=matches,
    read=read,
    write=write,
    loses=lambda record: (),
    suffix="",
    says_language=True,
)
