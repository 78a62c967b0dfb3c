"""Pairs of sentences as rows of token ids: as the model was trained to read two texts, cut longest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from catsofa.scoring.likelihood.queries import Ids
from catsofa.scoring.models import Model
from catsofa.scoring.models.tokens import Reader, Tokens

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """The ids of a pair and the segment of each."""

    ids: Ids
    types: Ids


class PairReader:
    """A model's way of reading two sentences: two segments, or one text with a space between for a causal model."""

    def __init__(self, model: Model, max_length: int) -> None:
        self.reader = Reader(model)
        self._joined = model.kind == "causal"
        self._start = (self.reader.start,) if self._joined and model.tokenizer.bos_token_id is not None else ()
        self.max_length = min(max_length, self.reader.limit)

    def rows(self, pairs: Sequence[Pair]) -> list[Row | None]:
        """The row of each pair; None of a pair that has no tokens on one side, or too many special ones."""
        if self._joined:
            texts = [f"{first} {second}" for first, second in pairs]
            bare = self.reader.bare(texts)
            return [self._joined_row(bare[text], len(pair[0])) for text, pair in zip(texts, pairs, strict=True)]
        framed = self.reader.framed(pairs)
        return [self._framed_row(framed[pair]) for pair in pairs]

    def _joined_row(self, tokens: Tokens, boundary: int) -> Row | None:
        """The start token, if there is one, then both texts; a token across the boundary belongs to the second."""
        kept = _kept([int(end > boundary) for _, end in tokens.offsets], self.max_length - len(self._start))
        return Row((*self._start, *(tokens.ids[at] for at in kept)), ()) if kept else None

    def _framed_row(self, tokens: Tokens) -> Row | None:
        """Both texts with the special tokens around them."""
        kept = _kept(tokens.segments, self.max_length)
        return Row(tuple(tokens.ids[at] for at in kept), tuple(tokens.types[at] for at in kept)) if kept else None


def _kept(segments: Sequence[int | None], most: int) -> list[int]:
    """The positions that stay when the longer text is cut from its end until all fit; special tokens always stay."""
    places = [[at for at, segment in enumerate(segments) if segment == text] for text in (0, 1)]
    for _ in range(len(segments) - most):
        max(places, key=len).pop()
        if not all(places):
            break
    if not all(places):
        return []
    return sorted({*places[0], *places[1], *(at for at, segment in enumerate(segments) if segment is None)})
