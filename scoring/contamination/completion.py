"""Completion: how much of the second half of an item does a model write after the first half, word for word?"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from catsofa.data.statistics import Array
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Continuation
from catsofa.scoring.models.tokens import Tokens, Unscorable

UNIT = "% of the tokens of second halves"
AT_ONCE = 256
"""Texts that are forwarded together."""


def reproduced(backend: Backend, texts: Sequence[str]) -> Array:
    """For each text the tokens of its second half that greedy decoding reproduces up to its first error, and all.

    Greedy decoding follows the text as long as each token is the likeliest after those before it, so one forward of
    the text says how far. NaN where the model cannot read the text, or no token begins at its middle.
    """
    found = np.full((len(texts), 2), np.nan)
    for low in range(0, len(texts), AT_ONCE):
        some = texts[low : low + AT_ONCE]
        known, asked = backend.reader.bare(some), dict[int, Continuation]()
        for place, text in enumerate(some, low):
            with suppress(Unscorable):
                asked[place] = second_half(backend, known[text])
        for place, gaps in zip(asked, _gaps(backend, list(asked.values())), strict=True):
            errors = np.flatnonzero(gaps)
            found[place] = (errors[0] if len(errors) else len(gaps)), len(gaps)
    return found


def second_half(backend: Backend, tokens: Tokens) -> Continuation:
    """The tokens after the middle of a text: its first space there, or its middle letter where no space follows."""
    middle = len(tokens.text) // 2
    space = re.compile(r"\s").search(tokens.text, middle)
    ids = backend.reader.started(tokens)
    return Continuation(ids, len(ids) - tokens.after(space.start() if space else middle))


def _gaps(backend: Backend, asked: Sequence[Continuation]) -> list[Answer]:
    """How far each token lies below the likeliest one, in nats; 0 where it is the likeliest."""

    def forward(batch: list[int]) -> Any:
        some = [asked[at] for at in batch]
        return backend.head.continuations(backend.padded([one.ids[:-1] for one in some]), some, gaps=True)

    return backend.run("completions", [len(one.ids) - 1 for one in asked], forward)
