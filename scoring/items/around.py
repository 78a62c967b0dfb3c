"""The words around a slot as questions: of a masked model all of them, of one that reads from the left those behind."""

from collections.abc import Iterable, Sequence

import numpy as np

from catsofa.scoring.choices import Pseudo
from catsofa.scoring.items import Item, Reduced, joined, mean, sentences
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Continuation
from catsofa.scoring.models.tokens import Tokens, Unscorable

Span = tuple[int, int]


def item(backend: Backend, tokens: Tokens, slot: Span, aside: Iterable[Span], key: str, pseudo: Pseudo) -> Item:
    """The mean log-probability of a text's tokens, given the words in its slot; neither these nor those aside count."""
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
