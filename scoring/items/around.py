"""Questions about the words around a slot, and about the word in it."""

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
    """The mean log-probability of a text's tokens, given the words in its slot; neither these nor those aside count.

    A masked model is asked for all of them, one that reads from the left for those behind the slot.
    """
    hidden = {at for place in (slot, *aside) for at in tokens.span(*place)}
    places = [at for at in tokens.of() if at not in hidden]
    if backend.model.kind == "masked":
        if not places:
            raise Unscorable("no word of the text is left to count")
        asked = sentences.behind_masks(backend.reader, tokens, places, pseudo)
        return Item(key, "", asked, lambda answers: (mean(joined(answers)), {}), len(places))
    own = tokens.of()
    first = len(own) - tokens.after(slot[1])
    behind = np.array([at in places for at in own[first:]], dtype=bool)
    if not behind.any():
        raise Unscorable("no word behind the slot is left to count")
    ids = backend.reader.started(tokens)

    def reduce(answers: Sequence[Answer]) -> Reduced:
        return mean(answers[0][behind]), {}

    return Item(key, "", (Continuation(ids, len(ids) - len(behind)),), reduce, int(behind.sum()))


def single_tokens(reader: Reader, vocabulary: Iterable[str]) -> dict[str, int]:
    """The words in small letters that are one token inside a sentence, with the id of that token."""
    before = "It is "
    found = sorted({match["word"] for piece in vocabulary if (match := _WORD.fullmatch(piece))})
    ids = {}
    for text, tokens in reader.framed(f"{before}{word} now." for word in found).items():
        word = str(text).removeprefix(before).removesuffix(" now.")
        if len(place := tokens.span(len(before), len(before) + len(word))) == 1:
            ids[word] = tokens.ids[place[0]]
    if not ids:
        raise ValueError(f"{reader.name} has no English word as one token; name a model that has")
    return ids


def gap(reader: Reader, before: str, after: str, ids: Mapping[str, int]) -> Fill:
    """The log-probability of each of these tokens in the gap between two texts."""
    word = next(iter(ids))
    text = before + word + after
    tokens = reader.check(reader.framed([text])[text])
    (at,) = tokens.span(len(before), len(before) + len(word))
    row = (*tokens.ids[:at], reader.mask, *tokens.ids[at + 1 :])
    return Fill(row, (at,) * len(ids), tuple(ids.values()), tokens.types)
