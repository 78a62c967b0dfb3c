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
from catsofa.data.records import SIDES, Cat, Pair, Score, kind_name
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
from catsofa.scoring.run.manifest import read_manifest
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
            names = " and ".join(dict.fromkeys((tasks[text], score.task)))
            raise BadInput(path, f"two scores of {score.item!r} (task {names})", "one score a text")
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
    data_path: str | Path,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    with_terms: bool = False,
) -> Report:
    """A report on data (a file, or a released set by name) from scores of a file or run, or from predictions."""
    predictions = Path(predictions)
    name, records = read_named(data_path)
    chosen, kind = named(protocol, seed=seed), type(records[0])
    measure = measure_of(kind, chosen, data_path)
    if measure.streams or measure.embeds:
        expected = "CATs, CrowS-Pairs or questions, which have measures made from scores"
        raise BadInput(sources.resolve(data_path), called(kind), expected)
    if measure.predicts and predictions.is_file() and isinstance(next(read(predictions)), kind):
        with guarded(measure, "predicted"):
            results, unknown_ids, notes = measure.predicted(records, read_as(predictions, kind), chosen, RESAMPLES)
            results = checked(measure, results)
        signature = chosen.signature(name, scored_by(predictions), resamples=RESAMPLES)
        return Report(
            protocol=chosen.name, results=results, signature=signature, unknown_ids=unknown_ids, warnings=notes
        )
    scored = given_in(predictions)
    refuse_other_ways(predictions, chosen)
    refuse_other_data(predictions, data_path, records)
    result = report(
        records,
        scored.scores,
        chosen,
        data=name,
        model=scored_by(predictions),
        with_terms=with_terms,
        unknown=scored.unknown,
        error=scored.error,
    )
    result = replace(result, warnings=(*skipped_rows(data_path), *result.warnings))
    return _with_origin(result, predictions) if predictions.is_dir() else result


def _with_origin(result: Report, run: Path) -> Report:
    """A report on a run, with the precision, self-check and warnings of the run added as the run printed them."""
    batching = self_check.signature(cautions.self_checks(run))
    signature = replace(result.signature, dtype=precision_of([run]), batching=batching)
    unused = cautions.unused(run)
    run_warnings = [*cautions.of_run(run)][len(unused) :]
    return replace(result, signature=signature, warnings=(*unused, *result.warnings, *run_warnings))


def robustness_on(
    original_scores: Sequence[Path | str],
    paraphrase_scores: Sequence[Path | str],
    data_paths: Sequence[str | Path] = (),
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> RobustnessReport:
    """Compare scores of originals with scores of paraphrases, from files or runs.

    `data_paths` lists the CATs of the originals, then those of each paraphrase; these may be omitted if they have the
    ids of the originals. Runs know their data. Each model has as many paraphrases, in the order of the originals.
    """
    originals, paraphrases = list(map(Path, original_scores)), list(map(Path, paraphrase_scores))
    each, rest = divmod(len(paraphrases), max(1, len(originals)))
    if not each or rest:
        raise ValueError(f"each original needs as many paraphrases; found {len(originals)} and {len(paraphrases)}")
    places = list(data_paths) or [data_of(originals[0]), *map(data_of, paraphrases[:each])]
    if len(places) not in (1, 1 + each):
        raise ValueError(
            f"name the data of the originals, and that of each paraphrase or of none; found {len(data_paths)}"
        )
    sets = [_named_cats(place) for place in places]
    cats, *reworded = [listed for _, listed in sets]
    chosen, compared, names = named(protocol, seed=seed), [], labels(originals)
    for number, path in enumerate(progress.each(paraphrases)):
        original = originals[number // each]
        refuse_other_ways(original, chosen)
        refuse_other_data(original, places[0], cats)
        if reworded:
            refuse_other_data(path, places[1 + number % each], reworded[number % each])
        comparison = rephrased(cats, original, reworded[number % each] if reworded else cats, path, chosen)
        name = names[number // each]
        reread = name if original.is_dir() and path.is_dir() else scored_by(path)
        texts = sets[0][0], sets[1 + number % each if reworded else 0][0]
        compared.append(Compared(name, reread, number % each, comparison, texts))
    dtype = precision_of([*originals, *paraphrases])
    subsets = map(subset_in, [*originals, *paraphrases])
    data = " ".join(name for name, _ in sets)
    result = robustness_report(compared, chosen, data=data, dtype=dtype, subsets=subsets)
    return replace(result, warnings=(*result.warnings, *cautions.of_runs([*originals, *paraphrases])))


def rephrased(
    cats: Sequence[Cat], original: Path, paraphrases: Sequence[Cat], paraphrase: Path, protocol: Protocol
) -> Comparison:
    """Compare the scores of originals and paraphrases, from runs or files, over the CATs that both cover.

    If a run scored only the first CATs, the comparison covers only these; paraphrases of other CATs are ignored.
    """
    refuse_other_models(original, paraphrase)
    first, one, other = first_of(subset_in(original)), given_in(original), given_in(paraphrase)
    covered = {cat.id for cat in cats[:first]}
    reworded = [cat for cat in paraphrases[: first_of(subset_in(paraphrase))] if first is None or cat.id in covered]
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
    data_path: str | Path | None = None,
    *,
    protocol: str | Protocol = "catsofa",
    seed: int | None = None,
) -> Models:
    """The scores of several models from files or runs on the same data; runs by other scoring options are refused."""
    models = list(map(Path, scores))
    places = [data_path] if data_path is not None else list(map(data_of, models))
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
    data_path: str | Path | None = None,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    domains: bool = False,
) -> Any:
    """Compare models by score files, or by runs, which know their data; all must be on the same data.

    CATs and pairs: by paired changes, with `domains` also within each domain. Probes: by the identities and
    stereotypes at both ends of their orders, which are always given per category.
    """
    models = models_on(scores, data_path, protocol=protocol, seed=seed)
    result = models.measure.compare(models.records, models.given, models.protocol, models.signature)
    notes = list[str]()
    paths = zip(models.given, map(Path, scores), strict=True)
    manifests = {name: read_manifest(path) for name, path in paths if path.is_dir()}
    dtypes = [str(one.get("about", {}).get("precision", "")) for one in manifests.values()]
    apart = (
        *cautions.of_precisions(dtypes),
        *(cautions.of_masked(manifests) if models.measure.records is Pair else ()),
    )
    if domains and isinstance(result, ModelComparison):
        parts, notes = _by_domain(models)
        result = joined(result, parts)
    subset = joint_subset(map(subset_in, scores), [result.items])
    return replace(
        result,
        signature=replace(result.signature, subset=subset),
        warnings=(*result.warnings, *notes, *apart, *models.warnings),
    )


def _by_domain(models: Models) -> tuple[dict[str, ModelComparison], list[str]]:
    """Domain to its comparison, empty with a single domain; and warnings, also for domains that are not compared."""
    by_domain, notes = dict[str, ModelComparison](), list[str]()
    names = sorted({str(record.bias_type) for record in models.records})
    for name in names if len(names) > 1 else ():
        records = [record for record in models.records if record.bias_type == name]
        try:
            by_domain[name] = models.measure.compare(records, models.given, models.protocol, models.signature)
            notes += [f"{name}: {warning}" for warning in by_domain[name].warnings]
        except ValueError as error:
            notes.append(f"{name} is not compared: {error}")
    return by_domain, notes


def cats_on(data_path: str | Path) -> Iterator[Cat]:
    """The CATs of a file, or of a released set by name."""
    yield from cats_in(sources.read(data_path), data_path)


def _named_cats(data_path: str | Path) -> tuple[str, list[Cat]]:
    """The CATs of a file or released set, and its name in a signature."""
    name, records = read_named(data_path)
    return name, list(cats_in(records, data_path, "CATs: `robustness` joins StereoSet's CATs with their paraphrases"))


def cats_in(records: Iterable[Any], data_path: str | Path, expected: str = "CATs") -> Iterator[Cat]:
    """The records, which must be CATs."""
    for record in records:
        if not isinstance(record, Cat):
            raise BadInput(data_path, kind_name(type(record)), expected)
        yield record
