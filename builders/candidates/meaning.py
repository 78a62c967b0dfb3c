"""Which attributes of one group say the same, as the detector of near-duplicates has it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.near_duplicates import ALIKE
from catsofa.data.language.same_meaning import core, same_claim


def groups_alike(attributes: Sequence[str], language: str, encoder: Encoder | None) -> list[list[int]]:
    """The places of the attributes that say the same: equal cores, or near vectors and nothing that forbids it.

    The first of each group is the one that the others are compared with, so that meaning does not drift along a chain.
    """
    cores = [core(attribute, language) for attribute in attributes]
    groups: list[list[int]] = []
    by_core: dict[Any, int] = {}
    # what forbids that near vectors mean the same is known of English alone
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
