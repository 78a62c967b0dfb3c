"""Reports: measures with their signature, as JSON, as rows and as a table."""

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
from catsofa.scoring.score_columns import ScoreColumns, Scores, parts_of
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import RESAMPLES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Tabular):
    """Results of one model on one data set under one protocol."""

    protocol: str
    results: Results
    signature: Signature
    terms: Sequence[Mapping[str, Any]] = ()
    """One row per target term; empty unless requested."""
    unscored: Mapping[str, int] = field(default_factory=dict)
    """Reason to the number of texts without a score."""
    unit: str = "text"
    """Noun for the things that can be unscored, for messages."""
    unknown_ids: int = 0
    """Number of scores of texts that are not in the data."""
    precision: Mapping[str, Any] = field(default_factory=dict)
    """For a model in half precision: its measured error, and how many preferences lie within that error."""
    warnings: tuple[str, ...] = ()
    """Warnings that every output of the results must show."""
    each: Callable[[], Iterable[Mapping[str, Any]]] | None = field(default=None, compare=False, repr=False)
    """Reads the rows of `items`; None if the report was built without single scores."""

    def items(self) -> "pd.DataFrame":
        """Returns one row per item: its id, domain, term, scores and outcome, and the reason if it is unscored."""
        if self.each is None:
            raise ValueError("found a report without scores of single items; expected one of `evaluate`, or a run")
        return frame(self.each())

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as JSON data."""
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
        """Returns a flat row for each set of items."""
        return self.results.rows()

    def heading(self) -> str:
        """Returns the signature as one line, after the error of half precision."""
        if not self.precision:
            return str(self.signature)
        from catsofa.scoring.likelihood.half_precision import sentence

        return f"{sentence(self.precision)}. {self.signature}"


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
    """Computes the report on these scores; `data` and `model` are their names in the signature.

    `unknown` holds the ids of texts with tokens that the tokenizer does not know; None if they were not counted. Scores
    that differ by no more than `error` are ties.
    """
    kinds = {type(record) for record in records}
    if len(kinds) != 1:
        names = " and ".join(sorted(map(called, kinds))) or "none"
        raise ValueError(f"a report is of records of one kind; found {names}")
    measure, inputs = measure_of(kinds.pop(), protocol), Given(scores=list(scores), unknown=unknown, error=error)
    signature = protocol.signature(data, model, resamples=resamples)
    computed = measured(measure, lambda: records, inputs, protocol, signature)
    computed = replace(computed, each=partial(measure.each, records, inputs, protocol))
    return computed if with_terms else replace(computed, terms=())


def measured(
    measure: Measure, records: Callable[[], Iterable[Any]], inputs: Given, protocol: Protocol, signature: Signature
) -> Report:
    """Computes the report on scores of records; counts the reasons for missing scores while the scores pass."""
    unscored, notes = Counter[str](), list[str]()
    unknown_ids, terms = 0, list[dict[str, Any]]()
    if measure.streams:
        with guarded(measure, "results"):
            results = checked(
                measure, measure.results(records(), _passed(inputs, unscored), protocol, signature.resamples)
            )
    else:
        every, scores = list(records()), list(inputs.scores)
        tasks = defaultdict[str, set[str]](set)
        for item, task in (key for record in every for key in measure.keys(record)):
            tasks[item].add(task)
        unknown_ids = sum(score.item not in tasks for score in scores)
        own = list(_passed(replace(inputs, scores=(s for s in scores if s.item in tasks)), unscored).scores)
        if not own:
            counts = f"{quantity(unknown_ids, 'score')}, none of a text of the {quantity(len(every), 'record')}"
            raise ValueError(f"found {counts}; do the ids belong to this data?")
        matched = replace(inputs, scores=own)
        with guarded(measure, "results"):
            results = checked(measure, measure.results(every, matched, protocol, signature.resamples))
        with guarded(measure, "terms"):
            terms = measure.terms(every, matched, protocol)
        notes = [*([_about_unknown_ids(unknown_ids)] if unknown_ids else []), *_about_tasks(tasks, own)]
    with guarded(measure, "warnings"):
        notes = [*measure.warnings(results, protocol), *notes]
    return Report(
        protocol=protocol.name,
        results=results,
        terms=terms,
        unscored=dict(sorted(unscored.items(), key=lambda pair: (-pair[1], pair[0]))),
        warnings=tuple(notes),
        unknown_ids=unknown_ids,
        unit=measure.unit,
        signature=signature,
    )


def _passed(inputs: Given, unscored: Counter[str]) -> Given:
    """Returns the same scores; reading them counts the reason of each text without a score."""

    counted = False

    def parts() -> Iterator[Sequence[Score]]:
        nonlocal counted
        again, counted = counted, True
        for part in parts_of(inputs.scores):
            if not (again or isinstance(part, ScoreColumns)):  # these are all scored
                unscored.update(filter(None, map(why_unscored, part)))
            yield part

    return replace(inputs, scores=Scores(parts))


def _about_unknown_ids(count: int) -> str:
    """Returns a warning about scores of texts that are not in the data."""
    return f"{quantity(count, 'score')} {'is' if count == 1 else 'are'} of texts that are not in the data"


def _about_tasks(tasks: Mapping[str, Collection[str]], scores: Iterable[Score]) -> Iterator[str]:
    """Yields a warning if scores have another task than their record; the data decides the task."""
    named = [score.task in tasks[score.item] for score in scores if score.task]
    if wrong := named.count(False):
        yield (
            f"{wrong:,} of {quantity(len(named), 'score')} are filed under another task than that of their record in "
            "the data, which decides: do the scores fit the data?"
        )
