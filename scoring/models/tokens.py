"""The tokens of a text; finds the tokens of words by character offsets."""

from bisect import bisect_left
from dataclasses import dataclass

Text = str | tuple[str, str]
"""A sentence, or a context and its following sentence."""
Ids = tuple[int, ...]


class Unscorable(ValueError):
    """The error for an item without a valid score under this protocol and model; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, with the characters, the word and the segment of each token.

    Tokens that were joined from parts have neither characters nor words.
    """

    text: str
    ids: Ids
    offsets: tuple[tuple[int, int], ...]
    words: tuple[int | None, ...]
    types: Ids
    segments: tuple[int | None, ...]
    """0 or 1 for the tokens of the first or second text, None for special tokens."""
    dropped: int = 0
    """The number of letters in the text, or in both texts, that the tokenizer dropped."""

    def of(self, segment: int = 0) -> list[int]:
        """The positions of the tokens of one segment, without special tokens."""
        if segment == 0 and not any(self.segments) and None not in self.segments:
            return list(range(len(self.segments)))
        return [place for place, number in enumerate(self.segments) if number == segment]

    def span(self, begin: int, end: int) -> range:
        """The positions of the tokens that spell these characters of the first text.

        A token of only spaces belongs to the context, unless the tokenizer begins the word with it: Llama tokenizes
        "zorb" as "▁" and "zorb", and "▁" is then the first token of the word.
        """
        inside: list[int] = []
        before: int | None = None
        for position in self.of():
            if self.offsets[position][0] >= end:
                break  # tokens are in the order of their characters
            low, high = self._without_space(position)
            if low == high:
                before = position
                continue
            if low < end and high > begin:
                if low < begin or high > end:
                    piece = self.text[low:high]
                    raise Unscorable(f"the token {piece!r} joins {self.text[begin:end]!r} with the letters beside it")
                if not inside and before is not None and self._begins_word(before, position):
                    inside.append(before)
                inside.append(position)
            before = None
        if not inside:
            raise Unscorable(f"no token covers {self.text[begin:end]!r}")
        return range(inside[0], inside[-1] + 1)

    def _begins_word(self, space: int, first: int) -> bool:
        """Returns True if a token of spaces begins the word: at most one plain space, next to it, with its word id."""
        low, high = self.offsets[space]
        joined = high == self._without_space(first)[0] and self.offsets[first][0] >= high
        return joined and self.text[low:high] in ("", " ") and self.words[space] == self.words[first]

    def after(self, end: int) -> int:
        """The number of tokens of the first text after the tokens in `span(0, end)`."""
        places = self.of()
        last = bisect_left(places, end, key=lambda place: self.offsets[place][0])
        while last:
            low, high = self._without_space(places[last - 1])
            if low < min(high, end):
                break
            last -= 1  # only spaces: this token belongs to the text after `end`
        else:
            raise Unscorable(f"no token covers {self.text[:end]!r}")
        if high > end:
            raise Unscorable(f"the token {self.text[low:high]!r} joins {self.text[:end]!r} with the letters beside it")
        return len(places) - last

    def _without_space(self, place: int) -> tuple[int, int]:
        """The character range of a token, without leading spaces."""
        low, high = self.offsets[place]
        piece = self.text[low:high]
        return low + len(piece) - len(piece.lstrip()), high
