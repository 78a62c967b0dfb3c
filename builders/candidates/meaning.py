"""Groups the attributes of one group that mean the same, by the rules of the near-duplicate detector."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.near_duplicates import ALIKE
from catsofa.data.language.same_meaning import core, same_claim


def groups_alike(attributes: Sequence[str], language: str, encoder: Encoder | None) -> list[list[int]]:
    """Returns the indices of attributes that mean the same: equal cores, or near vectors with the same claim.

    Attributes are compared with the first of each group, so that the meaning does not drift along a chain.
    """
    cores = [core(attribute, language) for attribute in attributes]
    groups: list[list[int]] = []
    by_core: dict[Any, int] = {}
    # the rules that separate near vectors exist only for English
    vectors = encoder.encode(attributes) if encoder and attributes and language == "en" else None
    for place, attribute in enumerate(attributes):
        firsts = [group[0] for group in groups] if vectors is not None else []
        near = np.flatnonzero(vectors[firsts] @ vectors[place] >= ALIKE) if vectors is not None and firsts else ()
        same = [number for number in near if same_claim(attribute, attributes[groups[number][0]])]
        number = min([*same[:1], by_core.get(cores[place], len(groups))])
        if number == len(groups):
            groups.append([])
        groups[number].append(place)
        by_core.setdefault(cores[groups[number][0]], number)
    return groups
