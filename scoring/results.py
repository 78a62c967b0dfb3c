"""Results: measures with their signature, as JSON, as rows and as a table."""

__all__ = ["Report"]

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from catsofa.data.percentages import quantity
from catsofa.data.records import Score
from catsofa.data.tables import Tabular, frame
from catsofa.scoring.measures.plugins import guarded
from catsofa.scoring.measures.registry import Given, Measure, Results, called, measure_of, why_unscored
from catsofa.scoring.measures.returned import checked
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import RESAMPLES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Tabular):
    """What one model scores on one data set by one protocol."""

    protocol: str
    results: Results
    signature: Signature
    terms: Sequence[Mapping[str, Any]] = ()
    """A row for each target term, where asked."""
    unscored: Mapping[str, int] = field(default_factory=dict)
    """Reason to the number of texts without a score."""
    unit: str = "text"
    """What is unscored, for people."""
    unknown_ids: int = 0
    """Scores of texts that are not in the data."""
    precision: Mapping[str, Any] = field(default_factory=dict)
    """Of a model in half precision: its measured error, and how many preferences lie within it."""
    warnings: tuple[str, ...] = ()
    """Sentences that every reader of the numbers must see, whatever shows them."""
    each: Callable[[], Iterable[Mapping[str, Any]]] | None = field(default=None, compare=False, repr=False)
    """Reads the rows of `items`; None where only numbers were given."""

    def items(self) -> "pd.DataFrame":
        """A row for each item: its id, domain, term, scores and outcome, and the reason where it is unscored."""
        if self.each is None:
            raise ValueError("found a report without scores of single items; expected one of `evaluate`, or a run")
        return frame(self.each())

    def to_dict(self) -> dict[str, Any]:
        """The report as it stands in our JSON."""
        terms = {"terms": [dict(row) for row in self.terms]} if self.terms else {}
        counts = {"unscored": dict(self.unscored), "unknown_ids": self.unknown_ids}
        results = {"protocol": self.protocol, "results": self.results.to_dict()}
        precision = {"precision": dict(self.precision)} if self.precision else {}
        return {
            **results,
            **terms,
            **counts,
            **precision,
            "warnings": list(self.warnings),
            "signature": self.signature.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each set of items."""
        return self.results.rows()

    def heading(self) -> str:
        """The signature."""
        return str(self.signature)


def report(
    records: Sequence[Any],
    scores: Iterable[Score],
    protocol: Protocol,
    *,
    data: str,
    model: str,
    resamples: int = RESAMPLES,
    with_terms: bool = False,
    unknown: Collection[str] | None = None,
    error: float = 0.0,
) -> Report:
    """What these scores say of this data under a protocol; `data` and `model` are their names in the signature.

    `unknown` holds the ids of texts with tokens that the tokenizer does not know; None where nobody counted. Scores
    that differ by no more than `error` are ties.
    """
    kinds = {type(record) for record in records}
    if len(kinds) != 1:
        names = " and ".join(sorted(map(called, kinds))) or "none"
        raise ValueError(f"a report is of records of one kind; found {names}")
    measure, given = measure_of(kinds.pop(), protocol), Given(scores=list(scores), unknown=unknown, error=error)
    signature = protocol.signature(data, model, resamples=resamples)
    found = measured(measure, lambda: records, given, protocol, signature)
    found = replace(found, each=partial(measure.each, records, given, protocol))
    return found if with_terms else replace(found, terms=())


def measured(
    measure: Measure, records: Callable[[], Iterable[Any]], given: Given, protocol: Protocol, signature: Signature
) -> Report:
    """A report on scores of records; each reason for a text without a score is counted as the scores pass."""
    unscored, told = Counter[str](), list[str]()
    unknown_ids, terms = 0, list[dict[str, Any]]()
    if measure.streams:
        with guarded(measure, "results"):
            results = checked(
                measure, measure.results(records(), _passed(given, unscored), protocol, signature.resamples)
            )
    else:
        every, scores = list(records()), list(given.scores)
        tasks = defaultdict[str, set[str]](set)
        for item, task in (key for record in every for key in measure.keys(record)):
            tasks[item].add(task)
        unknown_ids = sum(score.item not in tasks for score in scores)
        own = list(_passed(replace(given, scores=(s for s in scores if s.item in tasks)), unscored).scores)
        if not own:
            found = f"{quantity(unknown_ids, 'score')}, none of a text of the {quantity(len(every), 'record')}"
            raise ValueError(f"found {found}; do the ids belong to this data?")
        known = replace(given, scores=own)
        with guarded(measure, "results"):
            results = checked(measure, measure.results(every, known, protocol, signature.resamples))
        with guarded(measure, "terms"):
            terms = measure.terms(every, known, protocol)
        told = [*([_about_unknown_ids(unknown_ids)] if unknown_ids else []), *_about_tasks(tasks, own)]
    with guarded(measure, "warnings"):
        told = [*measure.warnings(results, protocol), *told]
    return Report(
        protocol=protocol.name,
        results=results,
        terms=terms,
        unscored=dict(sorted(unscored.items(), key=lambda found: (-found[1], found[0]))),
        warnings=tuple(told),
        unknown_ids=unknown_ids,
        unit=measure.unit,
        signature=signature,
    )


def _passed(given: Given, unscored: Counter[str]) -> Given:
    """The same scores, which add to the reasons as they pass."""

    def scores() -> Iterator[Score]:
        for score in given.scores:
            if reason := why_unscored(score):
                unscored[reason] += 1
            yield score

    return replace(given, scores=scores())


def _about_unknown_ids(count: int) -> str:
    """Says how many scores are of other texts than those of the data."""
    return f"{quantity(count, 'score')} {'is' if count == 1 else 'are'} of texts that are not in the data"


def _about_tasks(tasks: Mapping[str, Collection[str]], scores: Iterable[Score]) -> Iterator[str]:
    """Says how many scores are filed under another task than that of their record; the data decides the task."""
    named = [score.task in tasks[score.item] for score in scores if score.task]
    if wrong := named.count(False):
        yield (
            f"{wrong:,} of {quantity(len(named), 'score')} are filed under another task than that of their record in "
            "the data, which decides: do the scores fit the data?"
        )
