"""CrowS-Pairs as a measure of scores of pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from catsofa.data.records import SIDES, Pair
from catsofa.scoring.compare import ModelComparison, compare_pairs
from catsofa.scoring.measures import crows_pairs
from catsofa.scoring.measures.crows_pairs import sanity
from catsofa.scoring.measures.crows_pairs.options import CrowsPairsOptions
from catsofa.scoring.measures.crows_pairs.questions import PairScores
from catsofa.scoring.measures.registry import Given, reasons, score_of
from catsofa.scoring.measures.ties import preferred
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import RESAMPLES


class CrowsPairs(PairScores):
    """The preference for the more stereotyping sentence of pairs."""

    name = "crows_pairs"
    about = "The percentage of pairs whose more stereotyping sentence a model prefers."
    options = CrowsPairsOptions

    def results(self, records: Iterable[Pair], given: Given, protocol: Protocol, resamples: int) -> crows_pairs.Results:
        """The preference over all pairs, of each type and direction; the released code drops ties of directions."""
        preferences, in_directions = _preferences(records, given, protocol), protocol.ties != "against"
        return crows_pairs.results(
            preferences, neutral_in_directions=in_directions, resamples=resamples, seed=protocol.seed
        )

    def each(self, records: Iterable[Pair], made: Given, protocol: Protocol) -> Iterator[dict[str, Any]]:
        """A row for each pair: the sentence that scores higher, what the protocol counts, and both scores."""
        pairs, scores = list(records), {(score.item, score.task): score for score in made.scores}
        preferences = _preferences(pairs, replace(made, scores=scores.values()), protocol)
        for pair, won, scored, near, decided in zip(
            pairs, preferences.won, preferences.scored, preferences.near, preferences.decided.tolist(), strict=True
        ):
            sides = [scores.get((pair.id, side)) for side in SIDES]
            more, less = map(score_of, sides)
            yield {
                "id": pair.id,
                "domain": pair.bias_type,
                "direction": pair.direction,
                "outcome": preferred(float(more > less) if scored else nan, near),
                "won": float(won) if decided else nan,
                "score_more": more,
                "score_less": less,
                "reason": reasons(sides),
            }

    def warnings(self, results: crows_pairs.Results, protocol: Protocol) -> tuple[str, ...]:
        """The warnings beside the preference."""
        return sanity.of_pairs(results, protocol.ties)

    def recognises(self, results: Any) -> bool:
        """Returns True for results of pairs: only these have `types`."""
        return isinstance(results, dict) and "types" in results

    def compare(
        self, records: Sequence[Pair], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> ModelComparison:
        """Paired changes of the preference."""
        by_model = {name: _preferences(records, given, protocol) for name, given in models.items()}
        return replace(compare_pairs(by_model, seed=protocol.seed), signature=replace(signature, resamples=RESAMPLES))


MEASURE = CrowsPairs()


def _preferences(pairs: Iterable[Pair], given: Given, protocol: Protocol) -> crows_pairs.Preferences:
    """Returns the preference in each pair."""
    how: dict[str, Any] = {"ties": protocol.ties, "rounding": protocol.crows_pairs.rounding}
    sides = crows_pairs.by_pair(given.scores)
    return crows_pairs.preferences(pairs, sides, **how, unknown=given.unknown, error=given.error)
