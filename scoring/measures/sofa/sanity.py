"""Warnings beside a SoFa score."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from math import isnan

import numpy as np

from catsofa.scoring.measures import sanity
from catsofa.scoring.measures.sofa import Results, StereotypeRow

ENOUGH = 30
"""A set with fewer stereotypes often has none of the extreme stereotypes, which may be 5 to 20 % of all."""
MANY = 5.0
"""The largest variance may be this multiple of the median; it is more in 79 to 99 % of sets from power laws."""


def of_probes(results: Results) -> tuple[str, ...]:
    """The warnings beside a SoFa score."""
    parts = results.categories
    probes = {name: (part.unknown, part.probes) for name, part in parts.items()}
    identities = {name: (part.unknown_identities, part.identities) for name, part in parts.items()}
    alike = {
        name: (part.ties, part.stereotypes) for name, part in parts.items() if sanity.often(part.ties, part.stereotypes)
    }
    tied = (
        f"all identities have equal scores on {sanity.counted(alike, 'stereotypes')}: the model may not tell them apart"
    )
    unlimited = (name for name, part in parts.items() if part.stereotypes > 1 and isnan(part.score.low))
    sets = sanity.listed([f"{name} ({parts[name].stereotypes} stereotypes)" for name in unlimited])
    unrated = {name: part.weighted.unrated for name, part in parts.items() if part.weighted and part.weighted.unrated}
    left_out = sanity.listed([f"{name} ({count} of {parts[name].stereotypes})" for name, count in unrated.items()])
    return (
        *([f"stereotypes without a severity have no part in the weighted score: {left_out}"] if unrated else []),
        *([tied] if alike else []),
        *(sanity.unknown(identities, "identities") or sanity.unknown(probes, "probes")),
        *sanity.nothing(
            {name: (round(part.coverage * part.probes), part.probes) for name, part in parts.items()}, "probes"
        ),
        *sanity.few({name: part.stereotypes for name, part in parts.items() if part.coverage}, "stereotypes"),
        *_unseen(
            {name: part.stereotypes for name, part in parts.items() if part.coverage and not isnan(part.score.low)}
        ),
        *_reordered(results),
        *_other_lowest(results),
        *_uneven(
            {name: part.stereotypes for name, part in parts.items() if not isnan(part.score.low)}, results.stereotypes
        ),
        *(
            [f"no interval: so few variances, so unequal (or all alike), say nothing of the others: {sets}"]
            if sets
            else []
        ),
    )


def of_rankings(sides: Mapping[str, Results]) -> tuple[str, ...]:
    """The warnings beside the agreement of models on probes: those of each model, and one about few identities."""
    by_model = {name: of_probes(results) for name, results in sides.items()}
    shared = set.intersection(*map(set, by_model.values()))
    first = next(iter(sides.values())).categories
    return (
        *(sentence for sentence in next(iter(by_model.values())) if sentence in shared),
        *(
            f"{name}: {sentence}"
            for name, sentences in by_model.items()
            for sentence in sentences
            if sentence not in shared
        ),
        *sanity.few({name: part.identities for name, part in first.items()}, "identities"),
    )


def _unseen(counts: Mapping[str, int]) -> Iterator[str]:
    """Warns of categories whose interval has too few stereotypes to include an extreme one."""
    if few := [f"{name} ({count})" for name, count in counts.items() if count < ENOUGH]:
        unseen = f"fewer than {ENOUGH} stereotypes, so the intervals may be too short if others are extreme"
        yield f"{unseen}: {sanity.listed(few)}"


def _reordered(results: Results) -> Iterator[str]:
    """Warns of categories that another normalisation puts in the opposite order, with intervals apart in both."""
    chosen = results.normalisation
    for way in results.normalisations:
        turned = [
            f"{one} is above {other}"
            for (one, first), (other, second) in permutations(results.categories.items(), 2)
            if first.normalisations[chosen].low > second.normalisations[chosen].high
            and first.normalisations[way].high < second.normalisations[way].low
        ]
        if turned:
            yield (
                f"the order of categories depends on the normalisation: by {chosen} {sanity.listed(turned)}; "
                f"by {way} it is below, also with intervals apart"
            )


def _other_lowest(results: Results) -> Iterator[str]:
    """Warns of categories in which another normalisation names another identity as most often lowest."""
    for way in results.normalisations:
        pairs = {name: part.other_lowest[way] for name, part in results.categories.items() if way in part.other_lowest}
        if turned := [f"{name} ({here}; {there})" for name, (here, there) in pairs.items()]:
            yield (
                f"the identity most often lowest depends on the normalisation, {results.normalisation} or {way}: "
                f"{sanity.listed(turned)}"
            )


def _uneven(counts: Mapping[str, int], rows: Sequence[StereotypeRow]) -> Iterator[str]:
    """Warns of categories whose variances may have a heavy tail, unless few stereotypes already cause a warning."""
    uneven = []
    for name, count in counts.items():
        variances = [row.variance for row in rows if row.category == name and not isnan(row.variance)]
        if count >= ENOUGH and max(variances) > MANY * (middle := float(np.median(variances))) > 0:
            uneven.append(f"{name} (the largest variance is {max(variances) / middle:.1f} times the median)")
    if uneven:
        holds = "87 to 92 of 100 intervals hold if variances follow a power law"
        yield f"few stereotypes weigh most, and {holds}: {sanity.listed(uneven)}"
