"""Evaluates a model on a data set: scores each text once, stores scores as they arrive, and computes measures."""

__all__ = ["evaluate"]

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from importlib.metadata import version
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Score
from catsofa.scoring.dataset import Data, keep, open_data
from catsofa.scoring.executors import About, Embedding, Executor, Scorer
from catsofa.scoring.executors.kept import kept, kept_of_vectors
from catsofa.scoring.executors.local import SCORED_BY, Local, LocalScorer
from catsofa.scoring.executors.texts import Own, OwnModel
from catsofa.scoring.items import score as items
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.measures.plugins import guarded
from catsofa.scoring.measures.registry import Given, Measure, Results, measure_of
from catsofa.scoring.measures.returned import checked
from catsofa.scoring.measures.ties import BATCH_ERROR
from catsofa.scoring.models import load
from catsofa.scoring.models.files import find
from catsofa.scoring.models.given import UNHASHED, opened, refuse_loading
from catsofa.scoring.models.model import Model
from catsofa.scoring.models.plugged import is_plugged
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import Report, measured
from catsofa.scoring.run.manifest import UNKNOWN, UNUSED
from catsofa.scoring.run.reports import open_finished
from catsofa.scoring.run.session import score_all
from catsofa.scoring.run.shared import SharedRuns
from catsofa.scoring.run.store import Run
from catsofa.scoring.score_columns import Scores
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.intervals import RESAMPLES


def evaluate(
    model: str | Path | Model | OwnModel | tuple[Any, Any] | Callable[[str], float],
    data: str | Path | Iterable[Any],
    *,
    protocol: str | Protocol = "catsofa",
    executor: Executor | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    nsp: str | Path | None = None,
    with_terms: bool = False,
    resamples: int = RESAMPLES,
    progress: Progress = SILENT,
    **loading: Any,
) -> Report:
    """Scores a model on CATs, CrowS-Pairs, SoFa probes, BBQ questions or association tests, and returns the report.

    With `out`, each score is stored in that folder as soon as it is computed, and a stopped run resumes. The stored
    report always contains the target terms; the returned one only `with_terms`. The model of a finished run is not
    loaded. `nsp` is a trained head that scores next sentences, whatever method the protocol sets. `executor` says where
    the model runs: by default in this process. `loading` goes to the executor: `batch_tokens`, and the arguments of
    `models.load`.

    `model` is a folder, a hub id, `NAME:ARGUMENT` of a package, `(model, tokenizer)` of transformers, or a pipeline. It
    can also be a function that returns the natural log-probability of a text, or an object of your own class with a
    `name`, a `digest` and a method `loglikelihood`. A network returns to its state before the call: its training mode
    and its gradients.
    """
    _refuse_misspelt(loading, executor)
    chosen = named(protocol) if isinstance(protocol, str) else protocol
    dataset = open_data(data, limit)
    measure = measure_of(dataset.kind, chosen, dataset.on or dataset.label)
    if nsp is not None and not measure.embeds:
        chosen = chosen.changed(causal_pair="nsp", masked_pair="nsp")
    scorer: Scorer | Embedding
    with ExitStack() as stack:
        held = stack.enter_context(opened(model))
        refuse_loading(held, loading.keys() - {"batch_tokens"})
        runner = executor or default(held)
        if measure.embeds:
            if out and isinstance(held, str) and isinstance(runner, Local):
                before = kept_of_vectors(held, Path(out), dataset, chosen, resamples, loading)
                if before and (results := measure.restored(before["results"])):
                    return _of_kept(before, results, measure, dataset, chosen)
            scorer = runner.embed(held, chosen, loading)
        elif out and nsp is None and isinstance(held, str) and isinstance(runner, Local):
            finished = kept(held, Path(out), dataset, measure, chosen, SCORED_BY, loading)
            scorer = finished or stack.enter_context(runner.open(held, chosen, nsp, loading))
        else:
            scorer = stack.enter_context(runner.open(held, chosen, nsp, loading))
        identity = _identity(scorer.about, dataset, chosen, measure)
        if out and identity["model"].get("digest") == UNHASHED:
            raise ValueError(
                f"found the function {scorer.about.name} without a digest, and {out} could mix its scores with those "
                "of another; expected an attribute `digest` that changes with its numbers, or no folder"
            )
        with Run.begin(out, identity, _facts(scorer.about, dataset, chosen)) as run:
            keep(dataset, run.folder)
            if isinstance(scorer, Embedding):
                scorer.encoder.keep(run.folder)
                with progress.through(dataset.count), guarded(measure, "embedded"):
                    results = measure.embedded(dataset.records(), scorer.encoder, chosen, resamples, progress)
                    report = _of_vectors(scorer, measure, checked(measure, results), dataset, chosen, resamples)
                work = {}
            else:
                with progress.through(dataset.count):
                    failed = score_all(scorer, measure, dataset.records(), run, progress)
                report, work = _of_scores(scorer, measure, failed, dataset, chosen, run, resamples), scorer.work()
            run.finish(report.to_dict(), **work)
    return report if with_terms else replace(report, terms=())


def _refuse_misspelt(loading: Iterable[str], executor: Executor | None) -> None:
    """Raises TypeError for an argument with nearly the name of a right one; an executor may have others of its own."""
    right = [*signature(evaluate).parameters, *(signature(load).parameters if executor is None else ())]
    for wrong in {*loading} - {*right, "batch_tokens"}:
        if close := get_close_matches(wrong, right, n=1, cutoff=0.75):
            raise TypeError(f"evaluate() has no argument {wrong!r}; do you mean {close[0]!r}?")


class Cells(NamedTuple):
    """Results of one model under several protocols."""

    reports: dict[str, Report]
    """Protocol name to the report that a run of this protocol alone would give, with its signature."""
    scores: dict[str, Given]
    """Protocol name to the scores behind its report."""
    refused: dict[str, str]
    """Protocol name to the reason why the model cannot be scored with it."""


def evaluate_all(
    model: str | Model,
    data: str | Path | Iterable[Any],
    protocols: Sequence[Protocol],
    *,
    executor: Local | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    nsp: str | Path | None = None,
    resamples: int = RESAMPLES,
    progress: Progress = SILENT,
    **loading: Any,
) -> Cells:
    """Scores a model under each of these protocols in one pass; questions that several protocols share are asked once.

    With `out`, each protocol has its own run in a subfolder with its name. A finished run is not scored again.
    """
    dataset = open_data(data, limit)
    measure = measure_of(dataset.kind, protocols[0], dataset.on or dataset.label)
    chosen = {each.name: each.changed(causal_pair="nsp", masked_pair="nsp") if nsp else each for each in protocols}
    samples = {tuple(task for _, task in measure.keys(record)): record for record in dataset.records()}
    cells, runs = Cells({}, {}, {}), dict[str, Run]()
    with (executor or Local()).open(model, protocols[0], nsp, loading) as one, ExitStack() as opened:
        for name, each in chosen.items():
            try:
                items.items(one.backend, list(samples.values()), each)
            except ValueError as error:
                cells.refused[name] = str(error)
                continue
            identity = _identity(one.about, dataset, each, measure)
            begun = Run.begin(Path(out, name) if out else None, identity, _facts(one.about, dataset, each))
            runs[name] = opened.enter_context(begun)
            keep(dataset, begun.folder)
        if not runs:
            raise ValueError("; ".join(f"{name}: {why}" for name, why in cells.refused.items()))
        ids = {item: None for record in dataset.records() for item in measure.ids(record)}
        unfinished = [
            name for name, run in runs.items() if run.finished_with() is None or len(run.done(list(ids))) < len(ids)
        ]
        with progress.through(dataset.count):
            if unfinished:
                scorer = LocalScorer(one.backend, *(chosen[name] for name in unfinished), about=one.about)
                score_all(scorer, measure, dataset.records(), SharedRuns([runs[name] for name in unfinished]), progress)
        for name, run in runs.items():
            self_check.restore(one.self_checks, run.self_checks())
            scorer = LocalScorer(one.backend, chosen[name], about=one.about)
            report = _of_scores(scorer, measure, (), dataset, chosen[name], run, resamples)
            run.finish(report.to_dict(), **(scorer.work() if name in unfinished else {}))
            scores = [score for score in run.scores() if score.item in ids]
            cells.scores[name] = Given(scores=scores, unknown=run.unknown(), error=BATCH_ERROR)
            cells.reports[name] = replace(report, terms=())
    return cells


def default(model: str | Model | OwnModel) -> Executor:
    """Returns the default executor of a model: `Local` for a name or a loaded model, else `Own`."""
    return Local() if isinstance(model, str | Model) else Own()


def planned(
    models: Sequence[str], sets: Sequence[str], out: str | Path | None = None, revision: str | None = None
) -> list[tuple[str, str, Path | None]]:
    """Returns each model with each data set and its folder; several runs have folders `model/data` in `out`.

    Raises ValueError if two runs have the same folder, and checks that each of several models can be found.
    """
    pairs = [(model, data) for model in models for data in sets]
    folders = [out and (Path(out) if len(pairs) == 1 else Path(out, _folder(m), _folder(d))) for m, d in pairs]
    if out and len(set(folders)) < len(folders):
        twice = next(f for f in folders if folders.count(f) > 1)
        same = " and ".join(f"{m} on {d}" for (m, d), f in zip(pairs, folders, strict=True) if f == twice)
        raise ValueError(f"the runs of {same} have the same name {twice}; score each in a call with another --out")
    embeds = [measure_of(open_data(data).kind).embeds for data in sets]
    if len(models) > 1 and not any(embeds):
        for model in models:
            if not is_plugged(model):
                find(model, revision)  # fail on a wrong model name before any model is scored
    return [(model, data, folder or None) for (model, data), folder in zip(pairs, folders, strict=True)]


def _folder(name: str) -> str:
    """Returns the last part of a path or hub id; drops only a file's suffix, because a hub id can end in a version."""
    return Path(name).stem if Path(name).is_file() else Path(name).name


def _identity(about: About, dataset: Data, protocol: Protocol, measure: Measure) -> dict[str, Any]:
    """Returns everything that a text's score depends on; none of it may change within a run."""
    every = protocol.options()
    options = {option: every[option] for option in (*about.scored_by, *measure.scored_by) if option in every}
    weights = dict(about.identity)
    return {"catsofa": version("catsofa"), "model": weights, "data": dataset.digest, "protocol": options, **about.head}


def _facts(about: About, dataset: Data, protocol: Protocol) -> dict[str, Any]:
    """Returns facts for readers of the run's folder; no score depends on them."""
    named = {"model": about.name, "label": about.label}
    source = {"data": dataset.name, "on": dataset.on, "records": dataset.count, "protocol": protocol.name}
    unused = {UNUSED: about.unused} if about.unused else {}
    return {**named, **source, **about.facts, **unused, **(UNKNOWN if about.counts_unknown else {})}


def _signature(
    scorer: Scorer | Embedding, measure: Measure, dataset: Data, protocol: Protocol, resamples: int
) -> Signature:
    """Returns the signature of the results of this model on this data."""
    about = scorer.about
    return protocol.signature(
        dataset.name,
        about.label,
        way=about.perplexity if measure.of_perplexity else "",
        subset=dataset.subset,
        dtype=about.dtype,
        batching=self_check.signature(scorer.self_checks),
        resamples=resamples,
    )


def _warnings(scorer: Scorer | Embedding, dataset: Data, of_measure: Sequence[str]) -> tuple[str, ...]:
    """Returns the warnings about the weights, the data, the measure and the batches."""
    unused = (scorer.about.unused,) if scorer.about.unused else ()
    return (*unused, *dataset.warnings, *of_measure, *self_check.warnings(scorer.self_checks))


def _of_scores(
    scorer: Scorer,
    measure: Measure,
    failed: Sequence[Score],
    dataset: Data,
    protocol: Protocol,
    run: Run,
    resamples: int,
) -> Report:
    """Returns the report on the scores in the run, and on texts that failed, whose scores the run does not store."""
    scores: Iterable[Score] = Scores(lambda: chain(run.scores().parts(), [failed]))
    unknown: set[str] | None = None
    if scorer.about.counts_unknown and run.counts_unknown:
        unknown = set() if measure.streams else run.unknown()
    if not measure.streams:  # the run may contain scores of records beyond the limit
        ids = {item for record in dataset.records() for item in measure.ids(record)}
        scores = (score for score in scores if score.item in ids)
    signature = _signature(scorer, measure, dataset, protocol, resamples)
    inputs = Given(scores=scores, unknown=unknown, error=BATCH_ERROR)
    report = measured(measure, dataset.records, inputs, protocol, signature)
    precision = scorer.precision(dataset.records, run.scores())

    def each() -> Iterator[dict[str, Any]]:
        with open_finished(run.folder) if run.folder else nullcontext(run) as finished:
            complete = replace(inputs, scores=[*finished.scores(), *failed])
        yield from measure.each(dataset.records(), complete, protocol)

    rows = each if run.folder else partial(tuple, tuple(each()))  # a run in memory is lost when it is closed
    return replace(report, warnings=_warnings(scorer, dataset, report.warnings), precision=precision, each=rows)


def _of_kept(
    before: Mapping[str, Any], results: Results, measure: Measure, dataset: Data, protocol: Protocol
) -> Report:
    """Returns the stored report of a finished run of vectors."""
    return Report(
        protocol=protocol.name,
        results=results,
        signature=Signature.of(before["signature"]),
        warnings=tuple(before["warnings"]),
        unscored=before["unscored"],
        unit=measure.unit,
        each=lambda: measure.each(dataset.records(), before["results"], protocol),
    )


def _of_vectors(
    model: Embedding, measure: Measure, results: Results, dataset: Data, protocol: Protocol, resamples: int
) -> Report:
    """Returns the report on the measures of vectors."""
    return Report(
        protocol=protocol.name,
        results=results,
        signature=_signature(model, measure, dataset, protocol, resamples),
        warnings=_warnings(model, dataset, measure.warnings(results, protocol)),
        unscored=measure.unscored(results),
        unit=measure.unit,
        each=lambda: measure.each(dataset.records(), results.to_dict(), protocol),
    )
