"""SoFa as a measure of scores of probes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from catsofa.data.records import Probe
from catsofa.scoring.compare import refuse_nothing_shared, sides_of
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.sofa import rankings, sanity
from catsofa.scoring.measures.sofa.grid import disparities, grids, log_ppl_star, variances
from catsofa.scoring.measures.sofa.options import SofaOptions
from catsofa.scoring.measures.sofa.questions import ProbeScores
from catsofa.scoring.measures.sofa.rankings import Agreement
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature


class Sofa(ProbeScores):
    """The uneven treatment of identities in probes."""

    name = "sofa"
    about = "The variance of log PPL* over the identities that a stereotype is joined with."
    options = SofaOptions

    def results(self, records: Iterable[Probe], given: Given, protocol: Protocol, resamples: int) -> sofa.Results:
        """The SoFa score, of each category and normalisation."""
        return sofa.measured(records, given.scores, protocol.sofa, counts_unknown=given.unknown is not None)

    def each(self, records: Iterable[Probe], made: Given, protocol: Protocol) -> Iterator[dict[str, Any]]:
        """A row for each stereotype of a category: the variance over its identities, whose mean is the SoFa score."""
        how = protocol.sofa
        error = made.error / log(how.log_base)
        for grid in grids(records, made.scores):
            starred = log_ppl_star(grid.means, how.normalisation, log_base=how.log_base, digits=how.ppl_digits)
            spread, apart, names = variances(starred, how.ddof), disparities(starred), np.array(grid.identities)
            for stereotype, row, variance, dds in zip(grid.stereotypes, starred, spread, apart, strict=True):
                order = np.argsort(row)[: np.isfinite(row).sum()]  # NaN comes last
                defined = not np.isnan(variance)
                yield {
                    "id": f"{grid.category}: {stereotype}",
                    "domain": grid.category,
                    "term": stereotype,
                    "outcome": "unscored" if not defined else "tie" if dds <= error else "different",
                    "variance": float(variance),
                    "disparity": float(dds),
                    "lowest": str(names[order[0]]) if defined else "",
                    "highest": str(names[order[-1]]) if defined else "",
                    "identities": len(order),
                    "reason": "" if defined else f"{len(order)} of {len(row)} identities scored",
                }

    def warnings(self, results: sofa.Results, protocol: Protocol) -> tuple[str, ...]:
        """The warnings beside a SoFa score."""
        return sanity.of_probes(results)

    def recognises(self, results: Any) -> bool:
        """Returns True for results of probes: only these have `normalisations`."""
        return isinstance(results, dict) and "normalisations" in results

    def compare(
        self, records: Sequence[Probe], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> Agreement:
        """The agreement of models on the probes that all of them scored."""
        scores = {label: list(models[label].scores) for label in sides_of(models)}
        common = set.intersection(*({one.item for one in side if one.score is not None} for side in scores.values()))
        both = [probe for probe in records if probe.id in common]
        refuse_nothing_shared(len(both), len(records), "probes")
        measured = {label: sofa.measured(both, side, protocol.sofa) for label, side in scores.items()}
        warnings = sanity.of_rankings(measured)
        return Agreement(rankings.compare(measured), signature, probes=len(both), whole=len(records), warnings=warnings)


MEASURE = Sofa()
