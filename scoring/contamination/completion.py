"""Completion: how much of the second half of an item does a model write verbatim after the first half?"""

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
"""Texts forwarded together."""


def reproduced(backend: Backend, texts: Sequence[str]) -> Array:
    """Returns for each text how many tokens of its second half greedy decoding reproduces, and how many it has.

    The count ends at the first error. Greedy decoding follows the text as long as each token is the most likely one. So
    one forward pass of the text gives the count. NaN if the model cannot read the text, or if no token begins at its
    middle.
    """
    counts = np.full((len(texts), 2), np.nan)
    for low in range(0, len(texts), AT_ONCE):
        some = texts[low : low + AT_ONCE]
        tokenised, questions = backend.reader.bare(some), dict[int, Continuation]()
        for place, text in enumerate(some, low):
            with suppress(Unscorable):
                questions[place] = second_half(backend, tokenised[text])
        for place, gaps in zip(questions, _gaps(backend, list(questions.values())), strict=True):
            errors = np.flatnonzero(gaps)
            counts[place] = (errors[0] if len(errors) else len(gaps)), len(gaps)
    return counts


def second_half(backend: Backend, tokens: Tokens) -> Continuation:
    """Returns the tokens from the first space after the middle of a text, or from the middle if no space follows."""
    middle = len(tokens.text) // 2
    space = re.compile(r"\s").search(tokens.text, middle)
    ids = backend.reader.started(tokens)
    return Continuation(ids, len(ids) - tokens.after(space.start() if space else middle))


def _gaps(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """Returns how far each token lies below the most likely one, in nats; 0 for the most likely one."""

    def forward(batch: list[int]) -> Any:
        some = [questions[number] for number in batch]
        return backend.head.continuations(backend.padded([one.ids[:-1] for one in some]), some, gaps=True)

    return backend.run("completions", [len(one.ids) - 1 for one in questions], forward)
