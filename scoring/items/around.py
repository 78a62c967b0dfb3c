"""Questions about the words around a slot, and about the word in the slot."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from catsofa.scoring.choices import Pseudo
from catsofa.scoring.items import Item, Reduced, joined, mean, sentences
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Continuation, Fill
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.tokens import Tokens, Unscorable

Span = tuple[int, int]
_WORD = re.compile(r"(?:Ġ|▁)?(?P<word>[a-z]{3,})")


def item(backend: Backend, tokens: Tokens, slot: Span, aside: Iterable[Span], key: str, pseudo: Pseudo) -> Item:
    """Returns an item: the mean log-probability of a text's tokens, given the words in its slot.

    Tokens of the slot and of the spans `aside` do not count. A masked model is asked for all other tokens, a model that
    reads from the left only for those after the slot.
    """
    hidden = {position for place in (slot, *aside) for position in tokens.span(*place)}
    places = [position for position in tokens.of() if position not in hidden]
    if backend.model.kind == "masked":
        if not places:
            raise Unscorable("no word of the text is left to count")
        questions = sentences.behind_masks(backend.reader, tokens, places, pseudo)
        return Item(key, "", questions, lambda answers: (mean(joined(answers)), {}), len(places))
    own = tokens.of()
    first = len(own) - tokens.after(slot[1])
    behind = np.array([position in places for position in own[first:]], dtype=bool)
    if not behind.any():
        raise Unscorable("no word behind the slot is left to count")
    ids = backend.reader.started(tokens)

    def reduce(answers: Sequence[Answer]) -> Reduced:
        return mean(answers[0][behind]), {}

    return Item(key, "", (Continuation(ids, len(ids) - len(behind)),), reduce, int(behind.sum()))


def single_tokens(reader: Reader, vocabulary: Iterable[str]) -> dict[str, int]:
    """Returns the lower-case words that are one token inside a sentence, with the id of that token."""
    before = "It is "
    words = sorted({match["word"] for piece in vocabulary if (match := _WORD.fullmatch(piece))})
    ids = {}
    for text, tokens in reader.framed(f"{before}{word} now." for word in words).items():
        word = str(text).removeprefix(before).removesuffix(" now.")
        if len(place := tokens.span(len(before), len(before) + len(word))) == 1:
            ids[word] = tokens.ids[place[0]]
    if not ids:
        raise ValueError(f"{reader.name} has no English word as one token; name a model that has")
    return ids


def gap(reader: Reader, before: str, after: str, ids: Mapping[str, int]) -> Fill:
    """Returns the question for the log-probability of each of these tokens in the gap between two texts."""
    word = next(iter(ids))
    text = before + word + after
    tokens = reader.check(reader.framed([text])[text])
    (position,) = tokens.span(len(before), len(before) + len(word))
    row = (*tokens.ids[:position], reader.mask, *tokens.ids[position + 1 :])
    return Fill(row, (position,) * len(ids), tuple(ids.values()), tokens.types)
