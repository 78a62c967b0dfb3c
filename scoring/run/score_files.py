"""Reads per-item scores from files and runs, and makes reports from them."""

__all__ = ["read_scores"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.files import BadInput
from catsofa.data.formats import read, read_as
from catsofa.data.progress import SILENT, Progress
from catsofa.data.questions import PLACES
from catsofa.data.records import SIDES, Cat, Score, kind_name
from catsofa.scoring.compare import ModelComparison, joined
from catsofa.scoring.dataset import read_named, skipped_rows
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.measures.plugins import guarded
from catsofa.scoring.measures.registry import Given, Measure, called, measure_of
from catsofa.scoring.measures.returned import checked
from catsofa.scoring.measures.robustness import Comparison, robustness
from catsofa.scoring.measures.robustness.report import Compared, RobustnessReport, robustness_report
from catsofa.scoring.measures.ties import BATCH_ERROR
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import Report, report
from catsofa.scoring.run import cautions
from catsofa.scoring.run.origins import (
    data_of,
    labels,
    precision_of,
    refuse_other_data,
    refuse_other_measures,
    refuse_other_models,
    refuse_other_ways,
    scored_by,
)
from catsofa.scoring.run.reports import open_finished, read_report, read_with, subset_in
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import Signature, first_of, hashes_in, joint_subset
from catsofa.scoring.statistics.intervals import RESAMPLES

PARTS = (*SIDES, *PLACES)
"""Tasks whose scores have the id of their record, so that several scores share an id."""


def read_scores(path: Path | str) -> list[Score]:
    """The scores of a file or run; a file with two scores of one text is refused as ambiguous."""
    if Path(path).is_dir():
        with open_finished(path) as run:
            return list(run.scores())
    scores = list(read_as(path, Score))
    tasks: dict[tuple[str, str], str] = {}
    for score in scores:
        text = score.item, score.task if score.task in PARTS else ""
        if text in tasks:
            found = " and ".join(dict.fromkeys((tasks[text], score.task)))
            raise BadInput(path, f"two scores of {score.item!r} (task {found})", "one score a text")
        tasks[text] = score.task
    return scores


def scores_of(path: Path | str) -> dict[str, float | None]:
    """Candidate id to score; None for an unscored candidate."""
    if Path(path).is_dir():
        with open_finished(path) as run:
            return run.numbers()
    return {score.item: score.score for score in read_scores(path)}


def given_in(path: Path | str) -> Given:
    """The scores of a file or run, as records.

    A file with token counts and a score below 0 holds logarithms from catsofa; these have a batching error.
    """
    if Path(path).is_dir():
        with open_finished(path) as run:
            return given_of(run)
    scores = read_scores(path)
    ours = any(score.tokens for score in scores) and any((score.score or 0) < 0 for score in scores)
    return Given(scores=scores, error=BATCH_ERROR if ours else 0.0)


def given_of(run: Run) -> Given:
    """The scores of a run in the form that measures expect."""
    return Given(scores=list(run.scores()), unknown=run.unknown(), error=BATCH_ERROR)


def read_run(folder: Path | str, *, scores: bool) -> tuple[dict[str, Any], Given | None]:
    """The report of a finished run, checked as in `read_report`, and with `scores` also its scores."""
    return read_with(folder, given_of) if scores else (read_report(folder), None)


def report_on(
    predictions: Path | str,
    on: str | Path,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    with_terms: bool = False,
) -> Report:
    """A report on data (a file, or a released set by name) from scores of a file or run, or from predictions."""
    predictions = Path(predictions)
    name, records = read_named(on)
    chosen, kind = named(protocol, seed=seed), type(records[0])
    measure = measure_of(kind, chosen, on)
    if measure.streams or measure.embeds:
        expected = "CATs, CrowS-Pairs or questions, which have measures made from scores"
        raise BadInput(sources.resolve(on), called(kind), expected)
    if measure.predicts and predictions.is_file() and isinstance(next(read(predictions)), kind):
        with guarded(measure, "predicted"):
            found, unknown_ids, told = measure.predicted(records, read_as(predictions, kind), chosen, RESAMPLES)
            found = checked(measure, found)
        signature = chosen.signature(name, scored_by(predictions), resamples=RESAMPLES)
        return Report(protocol=chosen.name, results=found, signature=signature, unknown_ids=unknown_ids, warnings=told)
    given = given_in(predictions)
    refuse_other_ways(predictions, chosen)
    refuse_other_data(predictions, on, records)
    made = report(
        records,
        given.scores,
        chosen,
        data=name,
        model=scored_by(predictions),
        with_terms=with_terms,
        unknown=given.unknown,
        error=given.error,
    )
    made = replace(made, warnings=(*skipped_rows(on), *made.warnings))
    return _with_origin(made, predictions) if predictions.is_dir() else made


def _with_origin(made: Report, run: Path) -> Report:
    """A report on a run, with the precision, self-check and warnings of the run added as the run printed them."""
    batching = self_check.signature(cautions.self_checks(run))
    signature = replace(made.signature, dtype=precision_of([run]), batching=batching)
    unused = cautions.unused(run)
    told = [*cautions.of_run(run)][len(unused) :]
    return replace(made, signature=signature, warnings=(*unused, *made.warnings, *told))


def robustness_on(
    original_scores: Sequence[Path | str],
    paraphrase_scores: Sequence[Path | str],
    on: Sequence[str | Path] = (),
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> RobustnessReport:
    """Compare scores of originals with scores of paraphrases, from files or runs.

    `on` lists the CATs of the originals, then those of each paraphrase; these may be omitted if they have the ids of
    the originals. Runs know their data. Each model has as many paraphrases, in the order of the originals.
    """
    originals, paraphrases = list(map(Path, original_scores)), list(map(Path, paraphrase_scores))
    each, rest = divmod(len(paraphrases), max(1, len(originals)))
    if not each or rest:
        raise ValueError(f"each original needs as many paraphrases; found {len(originals)} and {len(paraphrases)}")
    places = list(on) or [data_of(originals[0]), *map(data_of, paraphrases[:each])]
    if len(places) not in (1, 1 + each):
        raise ValueError(f"name the data of the originals, and that of each paraphrase or of none; found {len(on)}")
    sets = [_named_cats(place) for place in places]
    cats, *others = [found for _, found in sets]
    chosen, compared, names = named(protocol, seed=seed), [], labels(originals)
    for number, path in enumerate(progress.each(paraphrases)):
        original = originals[number // each]
        refuse_other_ways(original, chosen)
        refuse_other_data(original, places[0], cats)
        if others:
            refuse_other_data(path, places[1 + number % each], others[number % each])
        comparison = rephrased(cats, original, others[number % each] if others else cats, path, chosen)
        name = names[number // each]
        reread = name if original.is_dir() and path.is_dir() else scored_by(path)
        texts = sets[0][0], sets[1 + number % each if others else 0][0]
        compared.append(Compared(name, reread, number % each, comparison, texts))
    dtype = precision_of([*originals, *paraphrases])
    subsets = map(subset_in, [*originals, *paraphrases])
    data = " ".join(name for name, _ in sets)
    found = robustness_report(compared, chosen, data=data, dtype=dtype, subsets=subsets)
    return replace(found, warnings=(*found.warnings, *cautions.of_runs([*originals, *paraphrases])))


def rephrased(
    cats: Sequence[Cat], original: Path, paraphrases: Sequence[Cat], paraphrase: Path, protocol: Protocol
) -> Comparison:
    """Compare the scores of originals and paraphrases, from runs or files, over the CATs that both cover.

    If a run scored only the first CATs, the comparison covers only these; paraphrases of other CATs are ignored.
    """
    refuse_other_models(original, paraphrase)
    first, one, other = first_of(subset_in(original)), given_in(original), given_in(paraphrase)
    kept = {cat.id for cat in cats[:first]}
    reworded = [cat for cat in paraphrases[: first_of(subset_in(paraphrase))] if first is None or cat.id in kept]
    return robustness(
        cats[:first],
        one.numbers(),
        reworded,
        other.numbers(),
        unknown=one.unknown,
        paraphrase_unknown=other.unknown,
        errors=(one.error, other.error),
        ties=protocol.ties,
        rule=protocol.stereoset.rule,
        average=protocol.stereoset.average,
        seed=protocol.seed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The scores of several models on the same records, with the signature and warnings of every derived result."""

    records: Sequence[Any]
    given: Mapping[str, Given]
    """The scores by model."""
    measure: Measure
    protocol: Protocol
    signature: Signature
    warnings: tuple[str, ...]


def models_on(
    scores: Sequence[Path | str],
    on: str | Path | None = None,
    *,
    protocol: str | Protocol = "catsofa",
    seed: int | None = None,
) -> Models:
    """The scores of several models from files or runs on the same data; runs by other scoring options are refused."""
    models = list(map(Path, scores))
    places = [on] if on is not None else list(map(data_of, models))
    name, records = read_named(places[0])
    names = {name, *(read_named(place)[0] for place in set(places[1:]) - {places[0]})}
    if len(set(map(hashes_in, names))) > 1:
        raise ValueError(f"only models on the same data can be compared; found {' and '.join(sorted(names))}")
    chosen = named(protocol, seed=seed) if isinstance(protocol, str) else protocol
    measure = measure_of(type(records[0]), chosen, places[0])
    for path in models:
        refuse_other_measures(path, measure, chosen)
        refuse_other_ways(path, chosen)
        refuse_other_data(path, places[0], records)
    called = labels(models)
    return Models(
        records=records,
        given=dict(zip(called, map(given_in, models), strict=True)),
        measure=measure,
        protocol=chosen,
        signature=chosen.signature(name, " ".join(called), dtype=precision_of(models)),
        warnings=(*skipped_rows(places[0]), *cautions.of_runs(models)),
    )


def compare_on(
    scores: Sequence[Path | str],
    on: str | Path | None = None,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    domains: bool = False,
) -> Any:
    """Compare models by score files, or by runs, which know their data; all must be on the same data.

    CATs and pairs: by paired changes, with `domains` also within each domain. Probes: by the identities and
    stereotypes at both ends of their orders, which are always given per category.
    """
    of = models_on(scores, on, protocol=protocol, seed=seed)
    found = of.measure.compare(of.records, of.given, of.protocol, of.signature)
    told = list[str]()
    if domains and isinstance(found, ModelComparison):
        parts, told = _by_domain(of)
        found = joined(found, parts)
    subset = joint_subset(map(subset_in, scores), [found.items])
    return replace(
        found,
        signature=replace(found.signature, subset=subset),
        warnings=(*found.warnings, *told, *of.warnings),
    )


def _by_domain(of: Models) -> tuple[dict[str, ModelComparison], list[str]]:
    """Domain to its comparison, empty with a single domain; and warnings, also for domains that are not compared."""
    found, told = dict[str, ModelComparison](), list[str]()
    names = sorted({str(record.bias_type) for record in of.records})
    for name in names if len(names) > 1 else ():
        records = [record for record in of.records if record.bias_type == name]
        try:
            found[name] = of.measure.compare(records, of.given, of.protocol, of.signature)
            told += [f"{name}: {warning}" for warning in found[name].warnings]
        except ValueError as error:
            told.append(f"{name} is not compared: {error}")
    return found, told


def cats_on(on: str | Path) -> Iterator[Cat]:
    """The CATs of a file, or of a released set by name."""
    yield from cats_in(sources.read(on), on)


def _named_cats(on: str | Path) -> tuple[str, list[Cat]]:
    """The CATs of a file or released set, and its name in a signature."""
    name, records = read_named(on)
    return name, list(cats_in(records, on, "CATs: `robustness` joins StereoSet's CATs with their paraphrases"))


def cats_in(records: Iterable[Any], on: str | Path, expected: str = "CATs") -> Iterator[Cat]:
    """The records, which must be CATs."""
    for record in records:
        if not isinstance(record, Cat):
            raise BadInput(on, kind_name(type(record)), expected)
        yield record
