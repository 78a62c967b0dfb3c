"""StereoSet as a measure of scores of CATs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from catsofa.data.records import Cat
from catsofa.scoring.compare import ModelComparison, compare
from catsofa.scoring.measures import stereoset
from catsofa.scoring.measures.cat_outcomes import SCORED, TIE_SS, Outcomes, outcomes, values
from catsofa.scoring.measures.registry import Given, reasons, score_of
from catsofa.scoring.measures.stereoset import sanity
from catsofa.scoring.measures.stereoset.options import StereoSetOptions
from catsofa.scoring.measures.stereoset.questions import CatScores
from catsofa.scoring.measures.ties import preferred
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
        cat_outcomes, average = _outcomes(records, given, protocol), protocol.stereoset.average
        return stereoset.results(cat_outcomes, average=average, resamples=resamples, seed=protocol.seed)

    def terms(self, records: Iterable[Cat], given: Given, protocol: Protocol) -> list[dict[str, Any]]:
        """A row for each target term."""
        return [row.row() for row in stereoset.per_term(_outcomes(records, given, protocol))]

    def each(self, records: Iterable[Cat], made: Given, protocol: Protocol) -> Iterator[dict[str, Any]]:
        """A row for each CAT: the side that scores higher, the comparisons that the protocol counts, and its scores."""
        cats, scores = list(records), {score.item: score for score in made.scores}
        cat_outcomes = _outcomes(cats, replace(made, scores=scores.values()), protocol)
        sides = values(cats, {item: score.score for item, score in scores.items()})
        shares = np.where(np.isnan(sides[:, :2]).any(axis=1), nan, sides[:, 0] > sides[:, 1])
        for cat, share, tied, counts in zip(
            cats, shares, cat_outcomes.ties[:, TIE_SS], cat_outcomes.counts.tolist(), strict=True
        ):
            yield {
                "id": cat.id,
                "task": cat.kind,
                "domain": cat.bias_type,
                "term": cat.target,
                "outcome": preferred(share, tied),
                **dict(zip(("lms_won", "lms_of", "ss_won", "ss_of"), counts, strict=True)),
                **{f"score_{label}": score_of(scores.get(cat[label].id)) for label in SCORED},
                "reason": reasons(scores.get(cat[label].id) for label in SCORED),
            }

    def warnings(self, results: stereoset.Results, protocol: Protocol) -> tuple[str, ...]:
        """The warnings beside lms, ss and icat."""
        return sanity.of_cats(results, protocol.ties, protocol.stereoset.rule)

    def recognises(self, results: Any) -> bool:
        """Returns True for results of CATs: their part over all domains has an `lms`."""
        return isinstance(results, dict) and "lms" in results.get("overall", {})

    def compare(
        self, records: Sequence[Cat], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> ModelComparison:
        """Paired changes of lms, ss and icat."""
        by_model = {name: _outcomes(records, given, protocol) for name, given in models.items()}
        how = protocol.stereoset
        compared = compare(by_model, rule=how.rule, average=how.average, seed=protocol.seed)
        return replace(compared, signature=replace(signature, resamples=RESAMPLES))


MEASURE = StereoSet()


def _outcomes(cats: Iterable[Cat], given: Given, protocol: Protocol) -> Outcomes:
    """The outcome of each CAT under these scores."""
    how: dict[str, Any] = {"ties": protocol.ties, "rule": protocol.stereoset.rule}
    return outcomes(cats, given.numbers(), **how, unknown=given.unknown, error=given.error)
