"""Questions to a model about token sequences: pure data, so that equal questions are asked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]
Numbers = NDArray[np.int64]
Answer = NDArray[np.float64]
"""Natural logarithms, one for each requested token."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Asks how likely `ids[start:]` are from left to right, each given all ids before it."""

    ids: Ids
    start: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError if the first token is requested, because nothing conditions it."""
        if not 1 <= self.start < len(self.ids):
            raise ValueError(f"cannot ask for tokens {self.start}… of {len(self.ids)}")


class Continuations(Sequence[Continuation]):
    """Continuations in columns: the ids of all of them, one after another."""

    def __init__(self, ids: Numbers, lengths: Numbers, starts: Numbers) -> None:
        self.ids, self.lengths, self.starts = ids, lengths, starts

    @classmethod
    def of(cls, questions: Sequence[Continuation]) -> "Continuations":
        """Returns questions in columns."""
        if isinstance(questions, Continuations):
            return questions
        lengths = np.fromiter((len(question.ids) for question in questions), np.int64, len(questions))
        ids = np.fromiter(chain.from_iterable(question.ids for question in questions), np.int64, int(lengths.sum()))
        return cls(ids, lengths, np.fromiter((question.start for question in questions), np.int64, len(questions)))

    @classmethod
    def joined(cls, *parts: "Continuations") -> "Continuations":
        """Returns the questions of several parts, one part after another."""
        names = ("ids", "lengths", "starts")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @cached_property
    def ends(self) -> Numbers:
        """The place in `ids` where each question begins, and where the last one ends."""
        return offsets(self.lengths)

    @cached_property
    def requested(self) -> Numbers:
        """The number of requested tokens of each question."""
        return self.lengths - self.starts

    @cached_property
    def _keys(self) -> list[bytes]:
        """The ids of each question, as bytes that compare as the ids do."""
        spelt = self.ids.astype(">u4").tobytes()
        return [spelt[4 * begin : 4 * end] for begin, end in pairwise(self.ends.tolist())]

    def sorted(self) -> list[int]:
        """The indices of the questions in the order of their ids."""
        return sorted(range(len(self)), key=self._keys.__getitem__)

    def distinct(self) -> "tuple[Continuations, Numbers]":
        """The different questions, and the place of each question among them."""
        places: dict[tuple[bytes, int], int] = {}
        pairs = zip(self._keys, self.starts.tolist(), strict=True)
        which = np.fromiter((places.setdefault(pair, len(places)) for pair in pairs), np.int64, len(self))
        if len(places) == len(self):
            return self, which
        _, once = np.unique(which, return_index=True)
        return self.only(once), which

    def only(self, places: Numbers) -> "Continuations":
        """The questions at these places."""
        lengths = self.lengths[places]
        return Continuations(segments(self.ids, self.ends[places], lengths), lengths, self.starts[places])

    def __len__(self) -> int:
        """The number of questions."""
        return len(self.lengths)

    @overload
    def __getitem__(self, place: int) -> Continuation: ...
    @overload
    def __getitem__(self, place: slice) -> "Continuations": ...
    def __getitem__(self, place: int | slice) -> "Continuation | Continuations":
        """One question, or some of them in columns."""
        if isinstance(place, slice):
            return self.only(np.arange(len(self))[place])
        begin = int(self.ends[:-1][place])
        return Continuation(tuple(self.ids[begin : begin + self.lengths[place]].tolist()), int(self.starts[place]))


class Answers(Sequence[Answer]):
    """Answers in one array; each is a part of it."""

    def __init__(self, values: Answer, begins: Numbers, lengths: Numbers) -> None:
        self.values, self.begins, self.lengths = values, begins, lengths

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> "Answers":
        """Returns answers in one array."""
        if isinstance(answers, Answers):
            return answers
        lengths = np.fromiter(map(len, answers), np.int64, len(answers))
        return cls(np.concatenate([np.empty(0), *answers]), offsets(lengths)[:-1], lengths)

    def __len__(self) -> int:
        """The number of answers."""
        return len(self.lengths)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> "Answers": ...
    def __getitem__(self, place: int | slice) -> "Answer | Answers":
        """One answer, or some of them in the same array."""
        begins, lengths = self.begins[place], self.lengths[place]
        return Answers(self.values, begins, lengths) if isinstance(place, slice) else self.values[begins:][:lengths]

    def last(self, count: int, places: Numbers) -> Answer:
        """The last values of the answers at these places, as the rows of a matrix."""
        ends = self.begins[places] + self.lengths[places]
        return self.values[ends[:, None] + np.arange(-count, 0)]


def segments(values: Numbers, begins: Numbers, lengths: Numbers) -> Numbers:
    """Returns these segments of the values, one after another."""
    moved = np.repeat(begins - offsets(lengths)[:-1], lengths)
    found: Numbers = values[moved + np.arange(len(moved))]
    return found


def offsets(lengths: Numbers) -> Numbers:
    """Returns where each segment begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


@dataclass(frozen=True, slots=True)
class Padded(Continuation):
    """A Continuation with masked padding between its start token and `ids[start:]`, as in released code."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Asks how likely `targets` are at `positions` of a row that is read in both directions."""

    ids: Ids
    positions: Ids
    targets: Ids
    types: Ids = ()
    """Segment of each token; if empty, all tokens are in the first segment."""


@dataclass(frozen=True, slots=True)
class SingleFill(Fill):
    """A Fill with a softmax in single precision over the whole vocabulary, as in released code.

    It is off by up to 1.1e-5 of a probability, and released numbers include this error.
    """


@dataclass(frozen=True, slots=True)
class Attended:
    """The Fill of an unmasked row; each log-probability is multiplied by the mean attention its token receives."""

    ids: Ids
    positions: Ids
    types: Ids = ()


@dataclass(frozen=True, slots=True)
class Follows:
    """Asks how likely the second segment of a row follows the first, by a next-sentence head."""

    ids: Ids
    types: Ids


@dataclass(frozen=True, slots=True)
class Infill:
    """Asks how likely an encoder-decoder writes `ids[start:]` after `ids[:start]`, given the input `source`."""

    source: Ids
    ids: Ids
    start: int = 1


Question = Continuation | Padded | Fill | SingleFill | Attended | Follows | Infill
