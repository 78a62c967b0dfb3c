"""Releases as a format: Parquet files and a dataset card, without loss."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data.formats import Format
from catsofa.data.records import RECORDS

SPLIT = "test"
"""The default split; records are for evaluation, not for training."""


def read(path: Path) -> Iterator[Any]:
    """Each record of a release, split by split, or of one Parquet file, possibly with the columns of a format."""
    import pyarrow.parquet as pq

    from catsofa.data import release
    from catsofa.data.formats.plain.rows import are_rows, records_of

    if path.is_file() and not release.holds_records(path) and are_rows(set(release.columns_of(path))):
        return iter(records_of(pq.read_table(path).to_pylist(), path, "the rows of a format"))
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
