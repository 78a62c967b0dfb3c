"""Scores a data set by every applicable protocol, with one pass over each model."""

__all__ = ["multiverse"]

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat, Pair
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.dataset import open_data
from catsofa.scoring.evaluate import Cells, evaluate_all
from catsofa.scoring.executors.local import Local
from catsofa.scoring.measures import crows_pairs, stereoset
from catsofa.scoring.measures.registry import called, measure_of
from catsofa.scoring.models.given import network, refuse_loading
from catsofa.scoring.models.model import Model
from catsofa.scoring.multiverse import Multiverse
from catsofa.scoring.multiverse import multiverse as made_of
from catsofa.scoring.multiverse.choices import combinations
from catsofa.scoring.multiverse.dependence import Claim
from catsofa.scoring.multiverse.ways import is_choice
from catsofa.scoring.protocols import PRESETS, Protocol, named, sets_choice_of
from catsofa.scoring.run.manifest import MANIFEST
from catsofa.scoring.statistics.intervals import RESAMPLES
from catsofa.specifications.choosing import Asker, asked_in_ways, by_name_of, warnings_of


def multiverse(
    models: Any,
    data: str | Path | Iterable[Any],
    *,
    protocols: Sequence[str | Protocol] = (),
    vary: Sequence[str] = (),
    claims: Sequence[str] = (),
    out: str | Path | None = None,
    limit: int | None = None,
    nsp: str | Path | None = None,
    seed: int | None = None,
    resamples: int = RESAMPLES,
    progress: Progress = SILENT,
    server: Endpoint | None = None,
    **loading: Any,
) -> Multiverse:
    """Returns the scores of models on CATs or pairs by several protocols, and how the answer depends on the protocol.

    A model is a folder, a hub id, `(model, tokenizer)` of transformers, or a pipeline. Without `protocols`, these are
    the default protocol and all presets that set a choice of the measure. `vary` applies all combinations of the values
    of these options (`length`, `first_token=bos,skip`) to one protocol. `claims` (`ss > 50`) are counted over
    protocols. Each model runs once for all protocols. With `out`, each protocol has a run folder `out/PROTOCOL`
    (`out/MODEL/PROTOCOL` for several models), and an interrupted call resumes there. `loading` contains `batch_tokens`,
    and the arguments of `models.load`.

    The protocol `choice` queries chat models as `choose` does, in this process or on a `server`. Its options are those
    of `choose` (`templates`, `labels`, `neutral`, …). Each way of asking is a run of choices.
    """
    in_memory = isinstance(models, tuple) and any(hasattr(part, "parameters") for part in models)
    several = [models] if in_memory or isinstance(models, str) or not isinstance(models, Sequence) else models
    _refuse_twice(several)
    with ExitStack() as stack:
        held = [each if isinstance(each, str) else stack.enter_context(network(each)) for each in several]
        for each in held:
            refuse_loading(each, loading.keys() - {"batch_tokens"})
        named_models = by_name_of(held)
        if any(map(is_choice, protocols)):
            asker = Asker(named_models, data, protocols, vary, limit=limit, out=out, server=server, loading=loading)
            return asked_in_ways(asker, claims=claims, seed=seed or 0, resamples=resamples, progress=progress)
        how: dict[str, Any] = {"out": out, "limit": limit, "nsp": nsp, "progress": progress, **loading}
        return _by_protocols(named_models, data, protocols, vary, claims, seed, resamples, how)


def _refuse_twice(models: Sequence[Any]) -> None:
    """Refuse one network twice, alone or in a pipeline."""
    networks = [each[0] if isinstance(each, tuple) and each else getattr(each, "model", each) for each in models]
    counts = Counter(id(one) for one in networks if hasattr(one, "parameters"))
    if any(count > 1 for count in counts.values()):
        raise ValueError("found one network twice among the models; name each once")


def _by_protocols(
    models: Mapping[str, str | Model],
    data: str | Path | Iterable[Any],
    protocols: Sequence[str | Protocol],
    vary: Sequence[str],
    claims: Sequence[str],
    seed: int | None,
    resamples: int,
    how: Mapping[str, Any],
) -> Multiverse:
    """Returns the multiverse of protocols that score likelihoods; `how` goes to `evaluate_all`."""
    out = how["out"]
    dataset = open_data(data, how["limit"])
    if dataset.kind not in (Cat, Pair):
        raise BadInput(
            dataset.on or dataset.label, called(dataset.kind), "CATs or pairs, which several protocols score"
        )
    measure = measure_of(dataset.kind).name
    numbers = [*stereoset.MEASURES] if dataset.kind is Cat else [crows_pairs.METRIC.name]
    claimed = [Claim.read(claim, numbers) for claim in claims]
    fit = [preset.name for preset in PRESETS.values() if sets_choice_of(preset, measure)]
    applied = [named(each, seed=seed) if isinstance(each, str) else each for each in protocols or fit]
    if vary:
        if len(protocols) > 1:
            raise ValueError(f"found {len(protocols)} protocols to vary; expected one, or none for the default")
        applied = combinations(applied[0].name if protocols else "catsofa", vary, measure, seed=seed)
    by_name = {protocol.name: protocol for protocol in applied}
    if len(by_name) < len(applied):
        raise ValueError(f"found a protocol twice among {', '.join(each.name for each in applied)}; name each once")
    if len(applied) < 2:
        raise ValueError(f"found one protocol, {applied[0].name}; expected two or more, or none for all presets")
    if out and (Path(out) / MANIFEST).exists():
        raise BadInput(out, "a run of one protocol", "a folder for the runs of all protocols")
    executor, scored = Local(), dict[str, Cells]()
    for name, model in models.items():
        folder = out if out is None or len(models) == 1 else Path(out, name.replace("/", "--"))
        own = {**how, "executor": executor, "out": folder, "resamples": resamples}
        scored[name] = evaluate_all(model, data, applied, **own)
    scores = {name: cells.scores for name, cells in scored.items()}
    one = next(iter(scored[next(iter(models))].reports.values())).signature
    chosen = named("catsofa", seed=seed)
    result = made_of(list(dataset.records()), scores, by_name, resamples=resamples, seed=chosen.seed, claims=claimed)
    return replace(
        result,
        signatures={
            name: {p: report.signature for p, report in cells.reports.items()} for name, cells in scored.items()
        },
        unscored={name: {p: report.unscored for p, report in cells.reports.items()} for name, cells in scored.items()},
        refused={name: cells.refused for name, cells in scored.items() if cells.refused},
        others=() if protocols or vary else tuple(name for name in PRESETS if name not in fit),
        warnings=tuple(warnings_of({name: cells.reports for name, cells in scored.items()})),
        signature=replace(
            one,
            model=" ".join(next(iter(cells.reports.values())).signature.model for cells in scored.values()),
            protocol=" ".join(by_name),
            options="",
            seed=chosen.seed,
        ),
    )
