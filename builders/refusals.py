"""What a builder kept and what it refused, written to two files in one pass and counted by reason."""

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
    """The rows of the input by what came of them: a row makes several items, and may be kept and refused at once."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.of: dict[str, set[int]] = defaultdict(set)
        """The numbers of the rows that something was kept of, and those that each reason refused something of."""

    @property
    def total(self) -> int:
        """The number of rows that anything came of."""
        return len(set().union(*self.of.values()))

    def counting(self, outcomes: Iterable[Any]) -> Iterator[Any]:
        """The outcomes, each counted under the row that its source names."""
        for one in outcomes:
            self.of[one.reason if isinstance(one, Refused) else KEPT].add(one.source["row"])
            yield one


def write(outcomes: Iterable[Any], kept: Path | str, refused: Path | str | None = None) -> Counter[str]:
    """Write the records a builder yields, refusals to a file of their own; both whole or not at all.

    Returns how many were kept and how many refused for each reason; without a file, refusals are only counted.
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
