"""Warnings beside the preference of CrowS-Pairs."""

from collections.abc import Mapping

from catsofa.scoring.choices import Ties
from catsofa.scoring.measures import sanity
from catsofa.scoring.measures.crows_pairs import Preferences, Results


def of_pairs(results: Results, ties: Ties) -> tuple[str, ...]:
    """The warnings beside the preference of CrowS-Pairs."""
    whole, types = results.overall, results.types
    neutral = (whole.neutral, whole.pairs)
    tied = f"both sentences have equal scores in {sanity.counted({'': neutral}, 'pairs')}; {sanity.TREATED[ties]}"
    return (
        *([tied] if sanity.often(*neutral) else []),
        *sanity.unknown({"": (whole.unknown, whole.pairs)}, "pairs"),
        *sanity.nothing(
            {name: (round(part.coverage * part.pairs) + part.neutral, part.pairs) for name, part in types.items()},
            "pairs",
        ),
        *sanity.few({name: part.pairs for name, part in types.items() if part.coverage}, "pairs"),
    )


def of_pair_preferences(sides: Mapping[str, Preferences]) -> tuple[str, ...]:
    """The warnings beside comparisons of models on pairs that all of them scored."""
    ties = {name: (int(pairs.near.sum()), len(pairs.near)) for name, pairs in sides.items()}
    many = {name: counts for name, counts in ties.items() if sanity.often(*counts)}
    tied = f"both sentences have equal scores in {sanity.counted(many, 'pairs')}: no preference to compare"
    unknown = {name: (sanity.known(pairs.unknown), len(pairs.unknown)) for name, pairs in sides.items()}
    few = sanity.few({sanity.COMPARED: min(len(pairs.tied) for pairs in sides.values())}, "pairs")
    return (*([tied] if many else []), *sanity.unknown(unknown, "pairs"), *few)
