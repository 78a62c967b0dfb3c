"""The registry of measures: what each one asks a model, and what it makes of the scores."""

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
from catsofa.scoring.items import Item
from catsofa.scoring.items.texts import Query, Texts
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures import MODULES
from catsofa.scoring.measures.plugins import guard
from catsofa.scoring.protocols import Protocol, plugins
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import Measure as Metric


def why_unscored(score: Score | None) -> str:
    """Why a text has no score that counts; empty if it has one."""
    if score is None or score.score is None:
        return (score.reason if score else "") or "no score"
    return "" if isfinite(score.score) else f"the score is {score.score}, and must be a finite number"


def score_of(score: Score | None) -> float:
    """The number of a score; NaN where there is none."""
    return nan if score is None or score.score is None else score.score


def reasons(scores: Iterable[Score | None]) -> str:
    """Why some of the texts of an item have no score that counts, each reason once; empty if all have one."""
    return "; ".join(dict.fromkeys(filter(None, map(why_unscored, scores))))


class Results(Interface):
    """The numbers of one measure, as nested JSON and as flat rows."""

    def to_dict(self) -> Any:
        """The numbers as they stand in our JSON."""

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each set of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The scores of a model, with what a measure must know of them."""

    scores: Iterable[Score]
    unknown: Collection[str] | None = None
    """The items with unknown tokens; None where nobody counted, as in any file of scores."""
    error: float = 0.0
    """The error of a score, in nats; 0 in a file of others, whose scores may be probabilities."""

    def numbers(self) -> dict[str, float | None]:
        """The scores by their item; None is unscored."""
        return {score.item: score.score for score in self.scores}


@dataclass(frozen=True, slots=True)
class Rows(Tabular):
    """The numbers of a measure as flat rows, one for each set: the results of a measure that needs no more."""

    measure: str
    sets: Sequence[Mapping[str, Any]]
    """`name_low` and `name_high` are the limits of `name`; `coverage` is the share that it rests on."""

    def to_dict(self) -> dict[str, Any]:
        """The measure by name, and its rows."""
        return {"measure": self.measure, "rows": self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each set."""
        return [dict(row) for row in self.sets]


def _is_pair(part: Any) -> bool:
    """Whether this is a tuple of two str."""
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
"""Methods of a measure that are called where no other method of it is, and of what their lists are made."""


class Measure:
    """One measure: the records it takes, what it asks of a model, and what it makes of the scores."""

    name: ClassVar[str]
    about: ClassVar[str]
    """What it measures, in a sentence."""
    limits: ClassVar[str] = ""
    """What it cannot show, for reports."""
    records: ClassVar[type[Any]]
    """The type of the records it takes."""
    options: ClassVar[type[Any] | None] = None
    """A frozen dataclass of the options of this measure alone; their names are unlike those of other measures."""
    scored_by: ClassVar[tuple[str, ...]] = ()
    """The options that the score of a text depends on: a run with others is another run."""
    streams: ClassVar[bool] = False
    """Whether records and scores are read once, as they come: there may be millions, each with more than a number."""
    embeds: ClassVar[bool] = False
    """Whether it is made of vectors of texts, not of scores."""
    compares: ClassVar[bool] = True
    """Whether its numbers come from differences between the scores of one record."""
    predicts: ClassVar[bool] = False
    """Whether predictions beside its records can be measured, as scores are."""
    of_perplexity: ClassVar[bool] = False
    """Whether signatures name the substitute for a text's perplexity."""
    unit: ClassVar[str] = "text"
    """What is counted where it has no score."""
    metric: ClassVar[Metric | None] = None
    """The number that `check` tests, made of the sums of `outcomes`, with its ideal value; None where it tests none."""

    def __init_subclass__(cls) -> None:
        """What a method of another package raises names the measure, wherever it is called."""
        super().__init_subclass__()
        for name, shape in ASKED.items():
            own = vars(cls).get(name)
            if isinstance(own, FunctionType) and not cls.__module__.startswith("catsofa."):
                setattr(cls, name, guard(own, name, shape))

    def keys(self, record: Any) -> list[tuple[str, str]]:
        """The item and the task of each score of a record."""
        return [(record.id, "")]

    def ids(self, record: Any) -> list[str]:
        """The items under which the scores of a record are kept."""
        return list(dict.fromkeys(item for item, _ in self.keys(record)))

    def items(self, backend: Backend, records: Sequence[Any], protocol: Protocol) -> list[Item | Score]:
        """What a model in this process is asked, and the scores of what it cannot be asked."""
        raise self._cannot("asks nothing of a model's likelihood", "items")

    def queries(self, record: Any, texts: Texts) -> list[Query]:
        """What a model is asked that gives the log-probabilities of texts: on a server, or one's own."""
        raise self._cannot("has no way to ask a model for the log-probabilities of texts", "queries")

    def scores(self, record: Any, texts: Texts) -> Iterator[Score]:
        """The scores of a record from the answers to its queries."""
        raise self._cannot("has no way to ask a model for the log-probabilities of texts", "scores")

    def results(self, records: Iterable[Any], given: Given, protocol: Protocol, resamples: int) -> Results:
        """The numbers that scores make of records."""
        raise self._cannot("is not made of scores", "results")

    def predicted(
        self, records: Sequence[Any], others: Iterable[Any], protocol: Protocol, resamples: int
    ) -> tuple[Results, int, tuple[str, ...]]:
        """The numbers of predictions beside records, how many are of no record of the data, and warnings."""
        raise self._cannot("takes scores, not predictions beside its records", "predicted")

    def embedded(
        self, records: Iterable[Any], encoder: Any, protocol: Protocol, resamples: int, progress: Progress
    ) -> Results:
        """The numbers that vectors make of records."""
        raise self._cannot("is not made of vectors", "embedded")

    def restored(self, made: Any) -> Results | None:
        """The results of vectors that look so in a report; None where only the vectors can tell."""
        return None

    def outcomes(self, records: Sequence[Any], given: Given, protocol: Protocol) -> Mapping[str, Sequence[float]]:
        """The row of each record in the columns of `metric`, by its id; a record that counts for nothing has none."""
        raise self._cannot("makes no outcomes of single records", "outcomes")

    def terms(self, records: Iterable[Any], given: Given, protocol: Protocol) -> list[dict[str, Any]]:
        """A row for each target term, where records have one."""
        return []

    def each(self, records: Iterable[Any], made: Any, protocol: Protocol) -> Iterator[dict[str, Any]]:
        """A row for each item. `made` are the scores (`Given`); of a measure of vectors, its results as JSON."""
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
        """Sentences beside numbers that rest on too little, or that cannot be what they seem."""
        return ()

    def unscored(self, results: Any) -> dict[str, int]:
        """Reasons why records of vectors have no number, and how many for each."""
        return {}

    def compare(
        self, records: Sequence[Any], models: Mapping[str, Given], protocol: Protocol, signature: Signature
    ) -> Any:
        """The models against one another on the same records, by this signature."""
        raise self._cannot("has no comparison of models; compare their intervals", "compare")

    def recognises(self, results: Any) -> bool:
        """Whether these results, as they stand in JSON, are of this measure."""
        return isinstance(results, Mapping) and results.get("measure") == self.name

    def gaps(self, records: Iterable[Any], scores: Mapping[tuple[str, str], float | None]) -> Iterator[float]:
        """The differences that its numbers come from, or the scores themselves; NaN if unscored."""
        for record in records:
            found = [scores.get(key) for key in self.keys(record)]
            if not self.compares:
                yield from (nan if score is None else score for score in found)
                continue
            for one, other in combinations(found, 2):
                yield nan if one is None or other is None else one - other

    def _cannot(self, why: str, method: str) -> ValueError:
        """The error for a thing that this measure has no way to do, and the method that would do it."""
        return ValueError(f"the measure {self.name!r} {why} (its class has no method `{method}`)")


@cache
def named(name: str) -> Measure:
    """The measure of this name, one of catsofa or of another package."""
    found: Measure
    if name in MODULES:
        found = import_module(MODULES[name], "catsofa.scoring.measures").MEASURE
    elif name in (own := plugins()).parts:
        found = own.parts[name]
    else:
        missing = f"no measure {name!r}; the measures are {', '.join([*MODULES, *own.parts])}"
        raise ValueError(own.broken.get(name, missing))
    return found


def measure_of(kind: type[Any], protocol: Protocol | None = None, place: Path | str = "the data") -> Measure:
    """The measure of records of this type: the one that a protocol asks for, or the only one that takes them."""
    if protocol and protocol.measure:
        found = named(protocol.measure)
        if found.records is not kind:
            raise BadInput(place, called(kind), f"{called(found.records)}, which {protocol.name} measures")
        return found
    if measure := next((measure for measure in _every() if measure.records is kind), None):
        return measure
    known = [called(measure.records) for measure in _every()]
    expected = f"records with a measure: {', '.join(dict.fromkeys(known))}{plugins().hint()}"
    raise BadInput(place, called(kind), expected)


def _every() -> Iterator[Measure]:
    """The measures of catsofa, then those of other packages, which are loaded when they are reached."""
    yield from map(named, MODULES)
    yield from map(named, plugins().parts)


def called(kind: type[Any]) -> str:
    """What a person calls records of this type."""
    return kind_name(kind) if kind in RECORDS.values() else kind.__name__


def recognised(results: Any) -> Measure:
    """The measure of these results, as they stand in JSON; a LookupError where none knows them."""
    for measure in _every():
        if measure.recognises(results):
            return measure
    raise LookupError("results of no measure that is installed")
