"""Pairs in any CSV, whose columns the user names."""

__all__ = ["PairColumns"]

from dataclasses import dataclass
from pathlib import Path

from catsofa.data.files import csv_files
from catsofa.data.files.csv_files import Row
from catsofa.data.formats import Format
from catsofa.data.formats.pairs import PairTable, indexes, read_only
from catsofa.data.formats.pairs.crows_pairs import direction_of
from catsofa.data.records import Pair

EXPECTED = "pairs in the columns that you name"
UNSPECIFIED = "unspecified"
"""The domain of pairs whose table has no domain column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairColumns:
    """The columns of a CSV that hold pairs; other columns go to `extra`."""

    more: str
    """The more stereotyping sentence."""
    less: str
    """The less stereotyping sentence."""
    bias_type: str = ""
    """The domain; if empty, the domain of each pair is `unspecified`."""
    direction: str = ""
    """`stereo` or `antistereo`; if empty, each pair is `stereo`."""

    def __post_init__(self) -> None:
        """Raise a ValueError if one column is named for two parts."""
        named = self.named
        if twice := [name for name in named if named.count(name) > 1]:
            raise ValueError(f"the column {twice[0]!r} is named twice; name another column for each part of a pair")

    @property
    def named(self) -> list[str]:
        """The columns that are named."""
        return [name for name in (self.more, self.less, self.bias_type, self.direction) if name]

    def as_format(self) -> Format:
        """The format of such a file; a pair's id comes from a column `id` or an index, otherwise from its content."""
        table = PairTable(EXPECTED, self.named, self._pair)
        return Format(
            name="named columns",
            holds=(Pair,),
            about=EXPECTED,
            matches=table.matches,
            read=table.read,
            write=read_only("named columns"),
            loses=lambda pair: (),
            suffix=None,
        )

    def _pair(self, row: Row, path: Path, line: int) -> list[Pair]:
        """A row as a pair."""
        index = [name for name in indexes(row)[:1] if name not in self.named]
        direction = row[self.direction].strip() if self.direction else "stereo"
        return [
            Pair(
                id="".join(row[name] for name in index),
                more=row[self.more],
                less=row[self.less],
                direction=direction_of(direction, path, EXPECTED, line),
                bias_type=row[self.bias_type] if self.bias_type else UNSPECIFIED,
                extra=csv_files.others(row, (*index, *self.named)),
            )
        ]
