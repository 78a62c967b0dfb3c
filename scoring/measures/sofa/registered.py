"""SoFa as a measure: what the scores of probes say."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from catsofa.data.records import Probe
from catsofa.scoring.compare import refuse_nothing_shared, sides_of
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.sofa import rankings, sanity
from catsofa.scoring.measures.sofa.options import SofaOptions
from catsofa.scoring.measures.sofa.questions import ProbeScores
from catsofa.scoring.measures.sofa.rankings import Agreement
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature


class Sofa(ProbeScores):
    """How unevenly identities of probes are treated."""

    name = "sofa"
    about = "The variance of log PPL* over the identities of which the same is said."
    options = SofaOptions

    def results(self, records: Iterable[Probe], given: Given, protocol: Protocol, resamples: int) -> sofa.Results:
        """The SoFa score, of each category and normalisation."""
        return sofa.measured(records, given.scores, protocol.sofa, counts_unknown=given.unknown is not None)

    def warnings(self, results: sofa.Results, protocol: Protocol) -> tuple[str, ...]:
        """The warnings beside a SoFa score."""
        return sanity.of_probes(results)

    def recognises(self, results: Any) -> bool:
        """Only results of probes have normalisations."""
        return isinstance(results, dict) and "normalisations" in results

    def compare(
        self, records: Sequence[Probe], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> Agreement:
        """How far models agree on the probes that all of them scored."""
        scores = {label: list(models[label].scores) for label in sides_of(models)}
        common = set.intersection(*({one.item for one in side if one.score is not None} for side in scores.values()))
        both = [probe for probe in records if probe.id in common]
        refuse_nothing_shared(len(both), len(records), "probes")
        measured = {label: sofa.measured(both, side, protocol.sofa) for label, side in scores.items()}
        told = sanity.of_rankings(measured)
        return Agreement(rankings.compare(measured), signature, probes=len(both), whole=len(records), warnings=told)


MEASURE = Sofa()
