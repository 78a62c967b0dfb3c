"""Tokens of texts that share beginnings and endings: each part is tokenized once, and its tokens are joined.

A grid of probes is a product of identities and stereotypes. Their tokens are joined only at a space between two words,
and only if no token of the vocabulary continues over a space. Each pair of words that meet is checked once on a whole
text, and texts are drawn at random. Where one fails, no text is joined any more.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from catsofa.scoring.models.reader import Reader
    from catsofa.scoring.models.tokens import Tokens

_OVER_A_SPACE = re.compile(r"[^\s!-/:-@\[-`{-~▁][ Ġ▁]")
"""A token that may continue over a space after a letter or a digit, as vocabularies spell it."""
LOCAL = ("BPE", "WordPiece", "WordLevel")
"""Models of tokenizers whose tokens of a word do not depend on other words; Unigram compares sums over a text."""
BY_WORD = ("WordPiece", "WordLevel")
"""Those of them that need a pre-tokenizer to see words."""
DRAWN, LEAST = 0.02, 16
"""Share of the texts, and the least number of them, that are also tokenized whole."""
MOST = 100_000
"""The maximum number of parts of each kind, and of pairs of words, that are remembered."""

Ids = tuple[int, ...]
Numbers = NDArray[np.int64]
Split = tuple[str, str]
"""The beginning and the rest of a text."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts whose tokens are those of two parts, in columns."""

    places: Numbers
    """Which of the texts."""
    beginnings: list[Ids]
    rests: list[Ids]
    """The tokens of each distinct part."""
    first: Numbers
    last: Numbers
    """The beginning and the rest of each text."""

    def text(self, number: int) -> tuple[Ids, int]:
        """The tokens of a text, and how many of them are those of its rest."""
        rest = self.rests[self.last[number]]
        return self.beginnings[self.first[number]] + rest, len(rest)


class Seams:
    """The parts of texts that a reader has tokenized, and the pairs of words that were checked."""

    def __init__(self, reader: "Reader", tokenizer: Any) -> None:
        self._reader = reader
        backend = tokenizer.backend_tokenizer
        kind = type(backend.model).__name__
        words = kind in LOCAL and (kind not in BY_WORD or backend.pre_tokenizer is not None)
        self._sound = words and not _joins_words(tokenizer)
        self._joined = False
        self._beginnings = dict[str, Ids]()
        self._rests = dict[str, Ids]()
        self._met = set[Split]()

    def read(self, beginnings: Sequence[str], rests: Sequence[str]) -> Joined | None:
        """The tokens of the texts whose parts can be joined; None if this saves no tokenization."""
        if not self._sound:
            return None
        for held in (self._beginnings, self._rests, self._met):
            if len(held) > MOST:
                held.clear()
        (ends, first), (begins, last) = numbered(beginnings), numbered(rests)
        places = np.flatnonzero(
            np.array([*map(_ends_well, ends)])[first] & np.array([*map(_begins_well, begins)])[last]
        )
        if not len(places):
            return None
        first, last = first[places], last[places]
        pairs, once = self._meeting(ends, first, begins, last)
        unseen = [place for pair, place in zip(pairs, once, strict=True) if pair not in self._met]
        ended = [ends[number] for number in np.unique(first) if ends[number] not in self._beginnings]
        begun = [begins[number] for number in np.unique(last) if begins[number] not in self._rests]
        if 2 * (len(unseen) + len(ended) + len(begun)) > len(places):
            return None
        if not self._learn(ended, begun, (ends[first[0]], begins[last[0]])):
            return None
        joined = Joined(
            places,
            [self._beginnings.get(part, ()) for part in ends],
            [self._rests.get(part, ()) for part in begins],
            first,
            last,
        )
        count = min(max(LEAST, int(DRAWN * len(places))), len(places))
        drawn = np.random.default_rng(len(places)).choice(len(places), count, replace=False)
        checked = {place: ends[first[place]] + begins[last[place]] for place in [*unseen, *drawn.tolist()]}
        whole = self._reader.bare(checked.values())
        self._sound = all(
            joined.text(place) == _parted(whole[text], len(ends[first[place]])) for place, text in checked.items()
        )
        if self._joined and not self._sound:
            raise ValueError(
                f"the tokenizer of {self._reader.name} gives a text other tokens than its two parts, which "
                "earlier texts did not show; their scores may be wrong: do not use this run, and report the tokenizer"
            )
        self._met.update(pairs)
        self._joined = self._sound
        return joined if self._sound else None

    def _meeting(
        self, ends: list[str], first: Numbers, begins: list[str], last: Numbers
    ) -> tuple[list[Split], list[int]]:
        """The distinct pairs of words that meet in texts, and a text for each of them."""
        (before, of_ends), (after, of_begins) = (
            numbered([*map(_last_word, ends)]),
            numbered([*map(_first_word, begins)]),
        )
        pairs, once = np.unique(of_ends[first] * len(after) + of_begins[last], return_index=True)
        return [(before[pair // len(after)], after[pair % len(after)]) for pair in pairs.tolist()], once.tolist()

    def _learn(self, beginnings: list[str], rests: list[str], example: Split) -> bool:
        """Tokenize parts beside an example of the other part; returns False if a token joins them."""
        first, last = example
        ended, begun = {part: part + last for part in beginnings}, {part: first + part for part in rests}
        whole = self._reader.bare([*ended.values(), *begun.values()])
        try:
            for part, text in ended.items():
                ids = whole[text].ids
                self._beginnings[part] = ids[: len(ids) - whole[text].after(len(part))]
            for part, text in begun.items():
                ids = whole[text].ids
                self._rests[part] = ids[len(ids) - whole[text].after(len(first)) :]
        except ValueError:
            self._sound = False
        return self._sound


def numbered(parts: Sequence[str]) -> tuple[list[str], Numbers]:
    """The distinct parts, and the number of each part among them."""
    numbers: dict[str, int] = {}
    which = np.array([numbers.setdefault(part, len(numbers)) for part in parts], dtype=np.int64)
    return list(numbers), which


def _parted(tokens: "Tokens", end: int) -> tuple[Ids, int] | None:
    """The tokens of a whole text, and how many of them come after its beginning; None if a token joins both."""
    try:
        return tokens.ids, tokens.after(end)
    except ValueError:
        return None


def _joins_words(tokenizer: Any) -> bool:
    """Returns True if a token of the vocabulary may have letters or digits on the left of a space."""
    texts = (
        tokenizer.convert_tokens_to_string([token]) for token in filter(_OVER_A_SPACE.search, tokenizer.get_vocab())
    )
    return any(letter.isalnum() or letter == "\ufffd" for text in texts for letter in text)


def _ends_well(beginning: str) -> bool:
    """Returns True if a beginning ends with a letter or a digit."""
    return beginning[-1:].isalnum()


def _begins_well(rest: str) -> bool:
    """Returns True if a rest begins with one space and a letter or a digit."""
    return rest[:1] == " " and rest[1:2].isalnum()


def _last_word(beginning: str) -> str:
    """The word at the end of a beginning."""
    return beginning[beginning.rfind(" ") + 1 :]


def _first_word(rest: str) -> str:
    """The word after the space at the beginning of a rest; empty without a space."""
    return "".join(rest.split(" ", 2)[1:2])
