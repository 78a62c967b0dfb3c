"""Tokens of texts that share beginnings and endings: each part is tokenized once, and its tokens are joined.

A grid of probes is a product of identities and stereotypes. Their tokens are joined only at a space between two words,
and only if no token of the vocabulary continues over a space. Each pair of words that meet is checked once on a whole
text, and texts are drawn at random. Where one fails, no text is joined any more.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
Split = tuple[str, str]
"""The beginning and the rest of a text."""


class Joined(NamedTuple):
    """The tokens of a text, and how many of them are those of its rest."""

    ids: Ids
    rest: int


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

    def read(self, splits: Mapping[str, Split]) -> dict[str, Joined]:
        """Text to its tokens, for the texts whose parts can be joined; none if this saves no tokenization.

        `splits` maps each text to its beginning and its rest.
        """
        chosen = {text: parts for text, parts in splits.items() if _meet_at_a_space(*parts)} if self._sound else {}
        if not chosen:
            return {}
        for held in (self._beginnings, self._rests, self._met):
            if len(held) > MOST:
                held.clear()
        pairs = {_words(*parts): text for text, parts in chosen.items()}
        unseen = [text for pair, text in pairs.items() if pair not in self._met]
        beginnings, rests = (dict.fromkeys(part) for part in zip(*chosen.values(), strict=True))
        ended = [part for part in beginnings if part not in self._beginnings]
        begun = [part for part in rests if part not in self._rests]
        if 2 * (len(unseen) + len(ended) + len(begun)) > len(chosen):
            return {}
        if not self._learn(ended, begun, next(iter(chosen.values()))):
            return {}
        joined = {text: self._join(*parts) for text, parts in chosen.items()}
        texts = list(chosen)
        count = min(max(LEAST, int(DRAWN * len(texts))), len(texts))
        drawn = np.random.default_rng(len(texts)).choice(len(texts), count, replace=False)
        whole = self._reader.bare([*unseen, *(texts[place] for place in drawn)])
        self._sound = all(joined[text] == _parted(tokens, len(chosen[text][0])) for text, tokens in whole.items())
        if self._joined and not self._sound:
            raise ValueError(
                f"the tokenizer of {self._reader.name} gives a text other tokens than its two parts, which "
                "earlier texts did not show; their scores may be wrong: do not use this run, and report the tokenizer"
            )
        self._met.update(pairs)
        self._joined = self._sound
        return joined if self._sound else {}

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

    def _join(self, beginning: str, rest: str) -> Joined:
        """The tokens of a text from its parts."""
        last = self._rests[rest]
        return Joined(self._beginnings[beginning] + last, len(last))


def _parted(tokens: "Tokens", end: int) -> Joined | None:
    """The tokens of a whole text, and how many of them come after its beginning; None if a token joins both."""
    try:
        return Joined(tokens.ids, tokens.after(end))
    except ValueError:
        return None


def _joins_words(tokenizer: Any) -> bool:
    """Returns True if a token of the vocabulary may have letters or digits on the left of a space."""
    texts = (
        tokenizer.convert_tokens_to_string([token]) for token in filter(_OVER_A_SPACE.search, tokenizer.get_vocab())
    )
    return any(letter.isalnum() or letter == "\ufffd" for text in texts for letter in text)


def _meet_at_a_space(beginning: str, rest: str) -> bool:
    """Returns True if a letter or a digit, one space, and a letter or a digit meet."""
    return beginning[-1:].isalnum() and rest[:1] == " " and rest[1:2].isalnum()


def _words(beginning: str, rest: str) -> Split:
    """The two words that meet."""
    return beginning[beginning.rfind(" ") + 1 :], rest.split(" ", 2)[1]
