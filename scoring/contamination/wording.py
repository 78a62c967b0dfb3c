"""The wording of items: how much likelier is the known text than paraphrases of equal meaning?"""

from collections.abc import Sequence

import numpy as np

from catsofa.data.records import Cat
from catsofa.data.statistics import Array
from catsofa.scoring.contamination.texts import log_likelihoods, text_of
from catsofa.scoring.likelihood.backend import Backend

Pairs = Sequence[tuple[Cat, Sequence[Cat]]]
"""CATs with their paraphrases."""
UNIT = "nats per 100 characters above paraphrases"


def preferences(backend: Backend, pairs: Pairs) -> Array:
    """For each CAT the preference for its wording, and 1: nats a character, less the mean over its paraphrases.

    Characters, since tokens differ between models, and paraphrases in length. NaN where a text has no likelihood.
    """
    texts = [[text_of(cat).text, *(_reworded(cat, each) for each in others)] for cat, others in pairs]
    every = list(dict.fromkeys(text for some in texts for text in some))
    found = log_likelihoods(backend, every)
    each = {text: value / len(text) for text, value in zip(every, found.tolist(), strict=True)}
    values = [each[own] - float(np.mean([each[other] for other in others])) for own, *others in texts]
    return np.column_stack([values, np.where(np.isnan(values), np.nan, 1.0)])


def _reworded(cat: Cat, paraphrase: Cat) -> str:
    """The text of a paraphrase, its lines in the order of the original."""
    return text_of(paraphrase, [candidate.label for candidate in cat.candidates]).text
