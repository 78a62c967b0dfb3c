"""SEAT and WEAT as a measure of vectors."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any

from catsofa.data.progress import Progress
from catsofa.data.records import AssociationTest
from catsofa.scoring.measures import seat
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.measures.seat import sanity
from catsofa.scoring.measures.seat.options import SeatOptions
from catsofa.scoring.measures.seat.rows import Associations
from catsofa.scoring.protocols import Protocol


class Seat(Measure):
    """Associations of the vectors of words and sentences."""

    name = "seat"
    about = "How strongly the vectors of two sets of texts associate with two sets of attributes."
    records = AssociationTest
    options = SeatOptions
    embeds = True
    unit = "test"

    def embedded(
        self,
        records: Iterable[AssociationTest],
        encoder: Any,
        protocol: Protocol,
        resamples: int,
        progress: Progress,
    ) -> Associations:
        """The effect size and p of each test."""
        how: dict[str, Any] = {"method": protocol.seat.p_value, "exact_limit": protocol.seat.counted}
        report = seat.results(records, encoder, **how, resamples=resamples, seed=protocol.seed, progress=progress)
        return Associations(report["results"])

    def restored(self, made: Any) -> Associations:
        """The results that have these rows in a report."""
        return Associations(made)

    def each(
        self, records: Iterable[AssociationTest], made: Sequence[Mapping[str, Any]], protocol: Protocol
    ) -> Iterator[dict[str, Any]]:
        """A row for each target of each test: its association with the attributes A minus that with B."""
        rows = {row["test"]: row for row in made}
        for test in records:
            row = rows.get(test.id, {"reason": "no result"})
            for side, words in (("x", test.x), ("y", test.y)):
                associations = (row.get("associations") or {}).get(side) or [None] * len(words.items)
                for number, (target, association) in enumerate(zip(words.items, associations, strict=True)):
                    value = nan if association is None else association
                    nearer = test.a if value > 0 else test.b
                    yield {
                        "id": f"{test.id}:{side.upper()}{number}",
                        "domain": test.id,
                        "term": target,
                        "set": words.name,
                        "outcome": "unscored" if isnan(value) else nearer.name if value else "tie",
                        "association": value,
                        "reason": row.get("reason", "") or ("no vector" if isnan(value) else ""),
                    }

    def warnings(self, results: Associations, protocol: Protocol) -> tuple[str, ...]:
        """The warnings beside association tests."""
        return sanity.of_associations(results.tests)

    def unscored(self, results: Associations) -> dict[str, int]:
        """Reason to the number of tests without numbers."""
        return Counter(row["reason"] for row in results.tests if row["reason"])

    def recognises(self, results: Any) -> bool:
        """Returns True for results of association tests: only these are a list."""
        return isinstance(results, list)


MEASURE = Seat()
