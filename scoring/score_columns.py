"""Scores in columns: those of a grid of probes, where a million records would take a minute."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Score
from catsofa.scoring.extras import UNKNOWN, UNKNOWN_IDENTITY

AT_ONCE = 1 << 14
"""Records in one part."""

Values = NDArray[np.float64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ScoreColumns(Sequence[Score]):
    """Scores of probes, all of them scored; as a sequence, one record for each."""

    task: str
    items: Sequence[str]
    scores: Values
    identities: Values
    conditionals: Values
    """The scores of the identity alone, and of the tokens after it; NaN for None."""
    tokens: Counts
    unknown: Counts
    unknown_identities: Counts
    """The number of unknown tokens in the text, and in its identity."""

    def __len__(self) -> int:
        """The number of scores."""
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Score: ...
    @overload
    def __getitem__(self, place: slice) -> "ScoreColumns": ...
    def __getitem__(self, place: int | slice) -> "Score | ScoreColumns":
        """One score as a record, or some in columns."""
        if isinstance(place, slice):
            return self.only(np.arange(len(self))[place])
        return next(iter(self.only(np.array([place]))))

    def __iter__(self) -> Iterator[Score]:
        """Each score as a record."""
        columns = (self.scores, self.identities, self.conditionals, self.tokens, self.unknown, self.unknown_identities)
        parts = zip(self.items, *(column.tolist() for column in columns), strict=True)
        for item, score, identity, conditional, tokens, unknown, of_identity in parts:
            extra: dict[str, Any] = {"identity": _or_none(identity), "conditional": _or_none(conditional)}
            if of_identity:
                extra[UNKNOWN_IDENTITY] = of_identity
            if unknown:
                extra[UNKNOWN] = unknown
            yield Score(item=item, task=self.task, score=score, tokens=tokens, extra=extra)

    @property
    def with_unknown(self) -> list[str]:
        """The items whose texts have unknown tokens."""
        return [self.items[place] for place in np.flatnonzero(self.unknown).tolist()]

    def without(self, items: Collection[str]) -> "ScoreColumns":
        """The scores of other items than these."""
        if not items:
            return self
        return self.only(np.flatnonzero([item not in items for item in self.items]))

    def only(self, places: NDArray[np.int64]) -> "ScoreColumns":
        """The scores at these places."""
        return ScoreColumns(
            self.task,
            [self.items[place] for place in places.tolist()],
            self.scores[places],
            self.identities[places],
            self.conditionals[places],
            self.tokens[places],
            self.unknown[places],
            self.unknown_identities[places],
        )


class Scores(Iterable[Score]):
    """Scores that are read once, as records or in parts, some of which are in columns."""

    def __init__(self, parts: Callable[[], Iterator[Sequence[Score]]]) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[Score]:
        """Each score as a record."""
        return chain.from_iterable(self.parts())


def parts_of(scores: Iterable[Score]) -> Iterator[Sequence[Score]]:
    """The parts of scores; records that come one by one make parts of some thousand."""
    if isinstance(scores, Scores):
        yield from scores.parts()
        return
    remaining = iter(scores)
    while part := [*islice(remaining, AT_ONCE)]:
        yield part


def _or_none(value: float) -> float | None:
    """Returns None for NaN."""
    return None if value != value else value
