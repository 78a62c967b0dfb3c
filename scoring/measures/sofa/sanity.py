"""Sentences beside a SoFa score."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

import numpy as np

from catsofa.scoring.measures import sanity
from catsofa.scoring.measures.sofa import Results, StereotypeRow

ENOUGH = 30
"""Stereotypes below which a set often holds none of the extreme ones that 5 to 20 % of all may be."""
MANY = 5.0
"""Times the median that the largest variance of a category may be: in 79 to 99 % of sets from power laws it is more."""


def of_probes(results: Results) -> tuple[str, ...]:
    """The warnings beside a SoFa score."""
    parts = results.categories
    probes = {name: (of.unknown, of.probes) for name, of in parts.items()}
    identities = {name: (of.unknown_identities, of.identities) for name, of in parts.items()}
    alike = {name: (of.ties, of.stereotypes) for name, of in parts.items() if sanity.often(of.ties, of.stereotypes)}
    tied = (
        f"all identities have equal scores on {sanity.counted(alike, 'stereotypes')}: the model may not tell them apart"
    )
    unlimited = (name for name, of in parts.items() if of.stereotypes > 1 and isnan(of.score.low))
    sets = sanity.listed([f"{name} ({parts[name].stereotypes} stereotypes)" for name in unlimited])
    unrated = {name: of.weighted.unrated for name, of in parts.items() if of.weighted and of.weighted.unrated}
    left_out = sanity.listed([f"{name} ({count} of {parts[name].stereotypes})" for name, count in unrated.items()])
    return (
        *([f"stereotypes without a severity have no part in the weighted score: {left_out}"] if unrated else []),
        *([tied] if alike else []),
        *(sanity.unknown(identities, "identities") or sanity.unknown(probes, "probes")),
        *sanity.nothing({name: (round(of.coverage * of.probes), of.probes) for name, of in parts.items()}, "probes"),
        *sanity.few({name: of.stereotypes for name, of in parts.items() if of.coverage}, "stereotypes"),
        *_unseen({name: of.stereotypes for name, of in parts.items() if of.coverage and not isnan(of.score.low)}),
        *_uneven({name: of.stereotypes for name, of in parts.items() if not isnan(of.score.low)}, results.stereotypes),
        *(
            [f"no interval: so few variances, so unequal (or all alike), say nothing of the others: {sets}"]
            if sets
            else []
        ),
    )


def of_rankings(sides: Mapping[str, Results]) -> tuple[str, ...]:
    """The warnings beside the agreement of models on probes: those of each model, and orders of few."""
    told = {name: of_probes(results) for name, results in sides.items()}
    shared = set.intersection(*map(set, told.values()))
    first = next(iter(sides.values())).categories
    return (
        *(sentence for sentence in next(iter(told.values())) if sentence in shared),
        *(f"{name}: {sentence}" for name, said in told.items() for sentence in said if sentence not in shared),
        *sanity.few({name: part.identities for name, part in first.items()}, "identities"),
    )


def _unseen(counts: Mapping[str, int]) -> Iterator[str]:
    """Categories of SoFa whose interval rests on too few stereotypes to show an extreme one."""
    if few := [f"{name} ({count})" for name, count in counts.items() if count < ENOUGH]:
        unseen = f"fewer than {ENOUGH} stereotypes, so that intervals know of no extreme one elsewhere"
        yield f"{unseen}: {sanity.listed(few)}"


def _uneven(counts: Mapping[str, int], rows: Sequence[StereotypeRow]) -> Iterator[str]:
    """Categories of SoFa whose variances may have a heavy tail, where few stereotypes are no reason already."""
    found = []
    for name, count in counts.items():
        variances = [row.variance for row in rows if row.category == name and not isnan(row.variance)]
        if count >= ENOUGH and max(variances) > MANY * (middle := float(np.median(variances))) > 0:
            found.append(f"{name} (the largest variance is {max(variances) / middle:.1f} times the median)")
    if found:
        holds = "87 to 92 of 100 intervals hold if variances follow a power law"
        yield f"few stereotypes weigh most, and {holds}: {sanity.listed(found)}"
