"""The registry of measures: the queries of each measure to a model, and its results from the scores."""

__all__ = ["Measure", "Rows"]

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import combinations
from math import isfinite, nan
from numbers import Real
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar
from typing import Protocol as Interface

from catsofa.data.files import BadInput
from catsofa.data.progress import Progress
from catsofa.data.records import RECORDS, Score, kind_name
from catsofa.data.tables import Tabular
from catsofa.scoring.items import Columns, Item
from catsofa.scoring.items.texts import Query, Texts
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures import MODULES
from catsofa.scoring.measures.plugins import guard
from catsofa.scoring.protocols import Protocol, plugins
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import Measure as Metric


def why_unscored(score: Score | None) -> str:
    """Returns the reason why a text has no finite score; empty if it has one."""
    if score is None or score.score is None:
        return (score.reason if score else "") or "no score"
    return "" if isfinite(score.score) else f"the score is {score.score}, and must be a finite number"


def score_of(score: Score | None) -> float:
    """Returns the value of a score; NaN if it is missing."""
    return nan if score is None or score.score is None else score.score


def reasons(scores: Iterable[Score | None]) -> str:
    """Returns the distinct reasons why texts of an item have no finite score; empty if all have one."""
    return "; ".join(dict.fromkeys(filter(None, map(why_unscored, scores))))


class Results(Interface):
    """The results of one measure, as nested JSON and as flat rows."""

    def to_dict(self) -> Any:
        """Returns the results as in catsofa's JSON."""

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each set of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The scores of a model, with the facts about them that a measure needs."""

    scores: Iterable[Score]
    unknown: Collection[str] | None = None
    """The items with unknown tokens; None if they were not counted, as in any score file."""
    error: float = 0.0
    """The error of a score in nats; 0 for files of other programs, whose scores may be probabilities."""

    def numbers(self) -> dict[str, float | None]:
        """Returns the score of each item; None if unscored."""
        return {score.item: score.score for score in self.scores}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the scores as columns, which takes a fourth of the time of pickled records."""
        rows = [(one.item, one.score, one.tokens, one.task, one.reason, one.extra or None) for one in self.scores]
        return _unpickled, ([*zip(*rows, strict=True)], self.unknown, self.error)


def _unpickled(columns: Sequence[Sequence[Any]], unknown: Collection[str] | None, error: float) -> Given:
    """The scores from the columns of a pickle."""
    scores = [
        Score(item=item, score=score, tokens=tokens, task=task, reason=reason, extra=extra or {})
        for item, score, tokens, task, reason, extra in zip(*columns, strict=True)
    ]
    return Given(scores=scores, unknown=unknown, error=error)


@dataclass(frozen=True, slots=True)
class Rows(Tabular):
    """The results of a simple measure as flat rows, one for each set of items."""

    measure: str
    sets: Sequence[Mapping[str, Any]]
    """`name_low` and `name_high` are the limits of `name`; `coverage` is the share of items behind the values."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the name of the measure, and its rows."""
        return {"measure": self.measure, "rows": self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each set."""
        return [dict(row) for row in self.sets]


def _is_pair(part: Any) -> bool:
    """Returns True if `part` is a tuple of two strings."""
    return isinstance(part, tuple) and len(part) == 2 and all(isinstance(text, str) for text in part)


ASKED: Mapping[str, tuple[str, Callable[[Any], bool]] | None] = {
    "keys": ("pairs of str, the item and the task", _is_pair),
    "ids": ("str", lambda part: isinstance(part, str)),
    "items": ("Item or Score", lambda part: isinstance(part, Item | Score)),
    "queries": ("pairs of str, the context and the text", _is_pair),
    "scores": ("Score", lambda part: isinstance(part, Score)),
    "each": ("mappings", lambda part: isinstance(part, Mapping)),
    "recognises": None,
    "compare": None,
    "outcomes": None,
    "gaps": ("numbers", lambda part: isinstance(part, Real)),
}
"""Methods of other packages' measures that the base class guards, and the required type of the parts they return."""


class Measure:
    """One measure: the type of its records, its queries to a model, and its results from scores."""

    name: ClassVar[str]
    about: ClassVar[str]
    """A sentence about what the measure measures."""
    limits: ClassVar[str] = ""
    """What the measure cannot show, for reports."""
    records: ClassVar[type[Any]]
    """The type of the records that the measure takes."""
    options: ClassVar[type[Any] | None] = None
    """A frozen dataclass of the options of this measure alone; no other measure may have the same option names."""
    scored_by: ClassVar[tuple[str, ...]] = ()
    """The options that change the score of a text; another value makes a different run."""
    streams: ClassVar[bool] = False
    """True if records and scores are read once as a stream: there may be millions, each with more than a number."""
    embeds: ClassVar[bool] = False
    """True if the results come from vectors of texts instead of scores."""
    compares: ClassVar[bool] = True
    """True if the results come from differences between the scores of one record."""
    predicts: ClassVar[bool] = False
    """True if the measure can use predictions for its records instead of scores."""
    of_perplexity: ClassVar[bool] = False
    """True if signatures name the substitute for the perplexity of a text."""
    unit: ClassVar[str] = "text"
    """The name of the units that are counted as unscored."""
    metric: ClassVar[Metric | None] = None
    """The metric that `check` tests, computed from sums of `outcomes`, with its ideal value; None if not testable."""

    def __init_subclass__(cls) -> None:
        """Guards the methods of other packages, so that their errors name the measure wherever they are called."""
        super().__init_subclass__()
        for name, shape in ASKED.items():
            own = vars(cls).get(name)
            if isinstance(own, FunctionType) and not cls.__module__.startswith("catsofa."):
                setattr(cls, name, guard(own, name, shape))

    def keys(self, record: Any) -> list[tuple[str, str]]:
        """Returns the item and the task of each score of a record."""
        return [(record.id, "")]

    def ids(self, record: Any) -> list[str]:
        """Returns the items under which the scores of a record are stored."""
        return list(dict.fromkeys(item for item, _ in self.keys(record)))

    def ids_of(self, records: Sequence[Any]) -> list[str]:
        """Returns the items under which the scores of records are stored."""
        return [item for record in records for item in self.ids(record)]

    def items(self, backend: Backend, records: Sequence[Any], protocol: Protocol) -> list[Item | Score]:
        """Returns the items for a model in this process, and unscored results for texts that the model cannot take."""
        raise self._cannot("asks nothing of a model's likelihood", "items")

    def columns(
        self, backend: Backend, records: Sequence[Any], protocol: Protocol
    ) -> tuple[Columns | None, Sequence[Any]]:
        """Returns the items of some records in columns, and the records for `items`; by default all of them."""
        return None, records

    def queries(self, record: Any, texts: Texts) -> list[Query]:
        """Returns the queries of a record to a model that gives log-probabilities: a server or the user's own."""
        raise self._cannot("has no way to ask a model for the log-probabilities of texts", "queries")

    def scores(self, record: Any, texts: Texts) -> Iterator[Score]:
        """Yields the scores of a record from the answers to its queries."""
        raise self._cannot("has no way to ask a model for the log-probabilities of texts", "scores")

    def results(self, records: Iterable[Any], given: Given, protocol: Protocol, resamples: int) -> Results:
        """Returns the results for records from their scores."""
        raise self._cannot("is not made of scores", "results")

    def predicted(
        self, records: Sequence[Any], others: Iterable[Any], protocol: Protocol, resamples: int
    ) -> tuple[Results, int, tuple[str, ...]]:
        """Returns the results of predictions for records, the number of predictions with unknown ids, and warnings."""
        raise self._cannot("takes scores, not predictions beside its records", "predicted")

    def embedded(
        self, records: Iterable[Any], encoder: Any, protocol: Protocol, resamples: int, progress: Progress
    ) -> Results:
        """Returns the results for records from vectors of an encoder."""
        raise self._cannot("is not made of vectors", "embedded")

    def restored(self, made: Any) -> Results | None:
        """Returns the results of a measure of vectors, restored from report JSON; None if this needs the vectors."""
        return None

    def outcomes(self, records: Sequence[Any], given: Given, protocol: Protocol) -> Mapping[str, Sequence[float]]:
        """Maps a record id to its row in the columns of `metric`; records that do not count are missing."""
        raise self._cannot("makes no outcomes of single records", "outcomes")

    def terms(self, records: Iterable[Any], given: Given, protocol: Protocol) -> list[dict[str, Any]]:
        """Returns a row for each target term; empty if records have none."""
        return []

    def each(self, records: Iterable[Any], made: Any, protocol: Protocol) -> Iterator[dict[str, Any]]:
        """Yields a row for each item. `made` is the scores (`Given`), or for measures of vectors the JSON results."""
        scores = {(score.item, score.task): score for score in made.scores}
        for record in records:
            texts = [(item, task, scores.get((item, task))) for item, task in self.keys(record)]
            several = len({task for _, task, _ in texts}) < len(texts)
            domain = next((getattr(record, n) for n in ("bias_type", "category") if hasattr(record, n)), "")
            yield {
                "id": record.id,
                "domain": domain,
                **{
                    f"score_{place if several else task or 'text'}": score_of(score)
                    for place, (_, task, score) in enumerate(texts)
                },
                "reason": reasons(score for _, _, score in texts),
            }

    def warnings(self, results: Any, protocol: Protocol) -> tuple[str, ...]:
        """Returns warnings about results that have too little data or may be misleading."""
        return ()

    def unscored(self, results: Any) -> dict[str, int]:
        """Returns for measures of vectors the number of records without a result, by reason."""
        return {}

    def compare(
        self, records: Sequence[Any], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> Any:
        """Returns the comparison of models on the same records, with this signature."""
        raise self._cannot("has no comparison of models; compare their intervals", "compare")

    def recognises(self, results: Any) -> bool:
        """Returns True if these JSON results come from this measure."""
        return isinstance(results, Mapping) and results.get("measure") == self.name

    def gaps(self, records: Iterable[Any], scores: Mapping[tuple[str, str], float | None]) -> Iterator[float]:
        """Yields the score differences behind the results, or the scores if `compares` is false; NaN if unscored."""
        for record in records:
            values = [scores.get(key) for key in self.keys(record)]
            if not self.compares:
                yield from (nan if score is None else score for score in values)
                continue
            for one, other in combinations(values, 2):
                yield nan if one is None or other is None else one - other

    def _cannot(self, why: str, method: str) -> ValueError:
        """Returns the error for an unsupported operation, which names the missing method."""
        return ValueError(f"the measure {self.name!r} {why} (its class has no method `{method}`)")


@cache
def named(name: str) -> Measure:
    """Returns the measure of this name, from catsofa or another package."""
    result: Measure
    if name in MODULES:
        result = import_module(MODULES[name], "catsofa.scoring.measures").MEASURE
    elif name in (own := plugins()).parts:
        result = own.parts[name]
    else:
        missing = f"no measure {name!r}; the measures are {', '.join([*MODULES, *own.parts])}"
        raise ValueError(own.broken.get(name, missing))
    return result


def measure_of(kind: type[Any], protocol: Protocol | None = None, place: Path | str = "the data") -> Measure:
    """Returns the measure for records of this type: that of the protocol, or the first one that takes such records."""
    if protocol and protocol.measure:
        chosen = named(protocol.measure)
        if chosen.records is not kind:
            raise BadInput(place, called(kind), f"{called(chosen.records)}, which {protocol.name} measures")
        return chosen
    if measure := next((measure for measure in _every() if measure.records is kind), None):
        return measure
    kinds = [called(measure.records) for measure in _every()]
    expected = f"records with a measure: {', '.join(dict.fromkeys(kinds))}{plugins().hint()}"
    raise BadInput(place, called(kind), expected)


def _every() -> Iterator[Measure]:
    """Yields the measures of catsofa, then those of other packages; each is loaded when it is reached."""
    yield from map(named, MODULES)
    yield from map(named, plugins().parts)


def called(kind: type[Any]) -> str:
    """Returns the name of records of this type for users."""
    return kind_name(kind) if kind in RECORDS.values() else kind.__name__


def recognised(results: Any) -> Measure:
    """Returns the measure of these JSON results; raises LookupError if no measure recognises them."""
    for measure in _every():
        if measure.recognises(results):
            return measure
    raise LookupError("results of no measure that is installed")
