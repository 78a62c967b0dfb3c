"""Writes the kept and the refused records of a builder to two files in one pass, and counts them by reason."""

__all__ = ["Rows", "write"]

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from catsofa.data.files import atomic_write, jsonl
from catsofa.data.records import Refused

KEPT = "kept"


class Rows:
    """Input rows by outcome. One row can yield several items, so it can be both kept and refused."""

    def __init__(self) -> None:
        """Starts without counts."""
        self.of: dict[str, set[int]] = defaultdict(set)
        """Numbers of the rows with a kept item, and of the rows with a refusal, by reason."""

    @property
    def total(self) -> int:
        """The number of rows with any outcome."""
        return len(set().union(*self.of.values()))

    def counting(self, outcomes: Iterable[Any]) -> Iterator[Any]:
        """Yields the outcomes and counts each under the row in its source."""
        for one in outcomes:
            self.of[one.reason if isinstance(one, Refused) else KEPT].add(one.source["row"])
            yield one


def write(outcomes: Iterable[Any], kept: Path | str, refused: Path | str | None = None) -> Counter[str]:
    """Writes the records of a builder, and its refusals to a separate file; both files are complete or not written.

    Returns the number of kept records and of refusals for each reason. Without a second file, refusals are only
    counted.
    """
    counts: Counter[str] = Counter({KEPT: 0})
    if refused is not None and Path(refused).resolve() == Path(kept).resolve():
        raise ValueError(f"{kept} cannot hold both what is kept and what is refused; name two files")
    with ExitStack() as open_files:
        keep = open_files.enter_context(atomic_write(kept))
        turn_away = open_files.enter_context(atomic_write(refused)) if refused is not None else None
        for record in outcomes:
            turned_away = isinstance(record, Refused)
            counts[record.reason if turned_away else KEPT] += 1
            file = turn_away if turned_away else keep
            if file is not None:
                file.write(jsonl.dumps(record) + b"\n")
    return counts
