"""Wording of items: how much more likely is the known text than paraphrases of equal meaning?"""

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
    """Returns for each CAT the preference for its wording in nats per character, and 1.

    The preference is the value of the CAT minus the mean over its paraphrases. The unit is characters, because tokens
    differ between models, and paraphrases in length. NaN if a text has no likelihood.
    """
    texts = [[text_of(cat).text, *(_reworded(cat, each) for each in paraphrases)] for cat, paraphrases in pairs]
    every = list(dict.fromkeys(text for some in texts for text in some))
    likelihoods = log_likelihoods(backend, every)
    each = {text: value / len(text) for text, value in zip(every, likelihoods.tolist(), strict=True)}
    values = [each[own] - float(np.mean([each[other] for other in paraphrases])) for own, *paraphrases in texts]
    return np.column_stack([values, np.where(np.isnan(values), np.nan, 1.0)])


def _reworded(cat: Cat, paraphrase: Cat) -> str:
    """Returns the text of a paraphrase, with its lines in the order of the original."""
    return text_of(paraphrase, [candidate.label for candidate in cat.candidates]).text
