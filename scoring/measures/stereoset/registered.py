"""StereoSet as a measure: what the scores of CATs say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from catsofa.data.records import Cat
from catsofa.scoring.compare import ModelComparison, compare
from catsofa.scoring.measures import stereoset
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.stereoset import sanity
from catsofa.scoring.measures.stereoset.options import StereoSetOptions
from catsofa.scoring.measures.stereoset.questions import CatScores
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import RESAMPLES


class StereoSet(CatScores):
    """lms, ss and icat of CATs."""

    name = "stereoset"
    about = "lms, ss and icat of CATs: meaningful against unrelated, stereotype against anti-stereotype."
    options = StereoSetOptions

    def results(self, records: Iterable[Cat], given: Given, protocol: Protocol, resamples: int) -> stereoset.Results:
        """lms, ss and icat of each task and domain."""
        of, average = _outcomes(records, given, protocol), protocol.stereoset.average
        return stereoset.results(of, average=average, resamples=resamples, seed=protocol.seed)

    def terms(self, records: Iterable[Cat], given: Given, protocol: Protocol) -> list[dict[str, Any]]:
        """A row for each target term."""
        return [row.row() for row in stereoset.per_term(_outcomes(records, given, protocol))]

    def warnings(self, results: stereoset.Results, protocol: Protocol) -> tuple[str, ...]:
        """The warnings beside lms, ss and icat."""
        return sanity.of_cats(results, protocol.ties, protocol.stereoset.rule)

    def recognises(self, results: Any) -> bool:
        """Results of all domains together have an lms."""
        return isinstance(results, dict) and "lms" in results.get("overall", {})

    def compare(
        self, records: Sequence[Cat], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> ModelComparison:
        """Paired changes of lms, ss and icat."""
        found = {name: _outcomes(records, given, protocol) for name, given in models.items()}
        how = protocol.stereoset
        compared = compare(found, rule=how.rule, average=how.average, seed=protocol.seed)
        return replace(compared, signature=replace(signature, resamples=RESAMPLES))


MEASURE = StereoSet()


def _outcomes(cats: Iterable[Cat], given: Given, protocol: Protocol) -> Outcomes:
    """What the scores make of each CAT."""
    how: dict[str, Any] = {"ties": protocol.ties, "rule": protocol.stereoset.rule}
    return outcomes(cats, given.numbers(), **how, unknown=given.unknown, error=given.error)
