"""Which attributes of one group say the same, as the detector of near-duplicates has it."""

from collections.abc import Sequence

from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.near_duplicates import ALIKE
from catsofa.data.language.same_meaning import core, same_claim


def groups_alike(attributes: Sequence[str], language: str, encoder: Encoder | None) -> list[list[int]]:
    """The places of the attributes that say the same: equal cores, or near vectors and nothing that forbids it.

    The first of each group is the one that the others are compared with, so that meaning does not drift along a chain.
    """
    groups: list[list[int]] = []
    # what forbids that near vectors mean the same is known of English alone
    vectors = encoder.encode(attributes) if encoder and attributes and language == "en" else None
    for place, attribute in enumerate(attributes):
        for group in groups:
            first = attributes[group[0]]
            near = vectors is not None and float(vectors[place] @ vectors[group[0]]) >= ALIKE
            if core(attribute, language) == core(first, language) or (near and same_claim(attribute, first)):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups
