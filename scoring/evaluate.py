"""A model on a data set by a protocol: every text scored once, kept as it goes, and the measures made of it."""

__all__ = ["evaluate"]

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data.records import AssociationTest, Probe
from catsofa.data.runs.ray_cluster import Cluster
from catsofa.scoring import next_sentence, vectors
from catsofa.scoring.dataset import Data, Watched, data
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.half_precision import precision
from catsofa.scoring.measures import sanity, seat, sofa
from catsofa.scoring.measures.seat.rows import Associations
from catsofa.scoring.models import Kind, Model, load
from catsofa.scoring.models.files import digest_of, find
from catsofa.scoring.next_sentence import NextSentence
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import Report, report
from catsofa.scoring.run.chunks import WAYS, score_all
from catsofa.scoring.run.manifest import UNKNOWN
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import model_label, place_of
from catsofa.scoring.statistics.intervals import RESAMPLES

SCORED_BY = (
    "masked", "pieces", "masks", "pseudo", "blank", "first_token", "length", "causal_pair", "masked_pair", "crows",
    "padding",
)  # fmt: skip
"""The options that a text's score depends on; the others only say what is made of the scores."""
PERPLEXITIES: dict[Kind, str] = {
    "masked": "pseudo-perplexity",
    "sequence-to-sequence": "perplexity of a gap that is the whole text",
}
"""What stands for a text's perplexity in models that do not read it from left to right."""
LOADING = ("device", "dtype", "revision", "trust_remote_code", "allow_pickle", "device_map", "quantisation")
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy")

Watch = Callable[[Iterable[Any]], Iterable[Any]]


def evaluate(
    model: str | Model,
    on: str | Path | Iterable[Any],
    *,
    protocol: str | Protocol = "catsofa",
    out: str | Path | None = None,
    limit: int | None = None,
    nsp: str | Path | None = None,
    batch_tokens: int | None = None,
    with_terms: bool = False,
    resamples: int = RESAMPLES,
    watch: Watch = iter,
    **loading: Any,
) -> Report:
    """What a model scores on CATs, CrowS-Pairs, SoFa probes or association tests.

    With `out`, every score is kept in that folder as it is made, and a run that was stopped goes on; the report there
    always names the target terms, the one returned only `with_terms`. `nsp` is a trained head that says what follows
    a context, whatever the protocol would do. `watch` is given the records as they are done and passes them on;
    `loading` goes to `models.load`.
    """
    chosen = named(protocol) if isinstance(protocol, str) else protocol
    of = data(on, limit)
    if of.kind is AssociationTest:
        return _associations(model, of, chosen, out, loading, watch)
    loaded = load(model, **loading) if isinstance(model, str) else model
    head = None if nsp is None else next_sentence.load(nsp, device=loaded.device)
    if head:
        _same_model(head, loaded)
        chosen = replace(chosen, causal_pair="nsp", masked_pair="nsp")
    backend = Backend(loaded, batch_tokens, head)
    _settle_memory()
    with Run.begin(out, _identity(loaded.identity(), of, chosen, nsp), _about(loaded, of, chosen, nsp)) as run:
        for _ in watch(Watched(score_all(backend, of.records(), chosen, run), of)):
            pass
        found = _report(of, chosen, backend, run, resamples, nsp)
        run.finish(found.to_dict(), work=asdict(backend.tally))
    return found if with_terms else replace(found, terms=())


def _same_model(head: NextSentence, model: Model) -> None:
    """Refuse a head that was trained on another model, whose numbers would pass for this one's."""
    base = head.about.get("settings", {}).get("model")
    if base not in (None, model.digest):
        raise ValueError(f"the head was trained on {head.about.get('base')}, and {model.name} is another model")


def _settle_memory() -> None:
    """Collect what the imports left behind, and look at the rest no more.

    A finaliser of that rubbish that runs just when Ctrl-C comes would swallow it.
    """
    gc.collect()
    gc.freeze()


def evaluate_all(
    models: Sequence[str],
    sets: Sequence[str],
    *,
    out: str | Path | None = None,
    cluster: Cluster | None = None,
    **options: Any,
) -> Iterator[Report]:
    """Each model on each set, here or on a cluster; several of them have folders `model/data` of their own in `out`."""
    from catsofa.scoring.run import ray_workers as spread

    loading = {key: options.pop(key) for key in LOADING if key in options}
    folders = [
        out and (Path(out) if len(models) * len(sets) == 1 else Path(out, _folder(model), _folder(on)))
        for model in models
        for on in sets
    ]
    if out and len(set(folders)) < len(folders):
        raise ValueError("two of the models or data sets have the same name; score them in calls of their own")
    kinds = {data(on).kind for on in sets}
    if len(models) > 1 and AssociationTest not in kinds:
        for model in models:
            find(model, loading.get("revision"))  # a slip in the last name must not cost the work on the first
    for at, model in enumerate(models):
        loaded: Model | None = None
        for number, on in enumerate(sets):
            folder = folders[at * len(sets) + number]
            if data(on).kind is AssociationTest:
                yield evaluate(model, on, out=folder, **options, **loading)
                continue
            if cluster:
                yield spread.evaluate(model, on, cluster, out=folder, **options, **loading)
                continue
            loaded = loaded or load(model, **loading)
            yield evaluate(loaded, on, out=folder, **options)


def _folder(name: str) -> str:
    """The last part of a path or hub id; of a file without its ending, which a model's version is not."""
    return Path(name).stem if Path(name).is_file() else Path(name).name


def _identity(model: Mapping[str, Any], of: Data, protocol: Protocol, nsp: str | Path | None = None) -> dict[str, Any]:
    """What a text's score depends on: in a run, none of it may change."""
    weights = {key: value for key, value in model.items() if key not in ("model", "encoder")}
    options = {option: value for option, value in protocol.options().items() if option in SCORED_BY}
    head = {"nsp": digest_of(Path(nsp))} if nsp else {}
    return {"catsofa": version("catsofa"), "model": weights, "data": of.digest, "protocol": options, **head}


def _label(model: Model, nsp: str | Path | None) -> str:
    """The model in a signature, with the head that it was used with."""
    head = [f"with {model_label(str(nsp), digest_of(Path(nsp)))}"] if nsp else []
    return model_label(model.name, model.digest, *head)


def _about(model: Model, of: Data, protocol: Protocol, nsp: str | Path | None = None) -> dict[str, Any]:
    """Facts for a reader of the folder that no score depends on."""
    return {
        "model": model.name,
        "label": _label(model, nsp),
        "place": place_of(model.name),
        "data": of.name,
        "on": of.on,
        "records": of.count,
        "protocol": protocol.name,
        "device": model.device,
        "dtype": model.dtype,
        "precision": model.precision,
        **UNKNOWN,
        "python": sys.version.split()[0],
        **{library: version(library) for library in LIBRARIES},
    }


def _report(of: Data, protocol: Protocol, backend: Backend, run: Run, resamples: int, nsp: str | Path | None) -> Report:
    """The measures of what is scored, with a row for each target term."""
    model = backend.model
    name = _label(model, nsp)
    batching = self_check.signature(backend.self_checks)
    how = {"subset": of.subset, "dtype": model.precision, "batching": batching}
    signature = protocol.signature(of.name, name, resamples=resamples, **how)
    if of.kind is Probe:
        signature = replace(signature, way=PERPLEXITIES.get(model.kind, ""))
        results = sofa.measured(of.records(), run.scores(), protocol, counts_unknown=run.counts_unknown)
        found = Report(
            protocol=protocol.name,
            results=results,
            warnings=sanity.of_probes(results),
            signature=signature,
            unscored=run.reasons(),
        )
    else:
        scores = list(run.scores())
        found = report(
            list(of.records()),
            scores,
            protocol,
            data=of.name,
            model=name,
            resamples=resamples,
            with_terms=True,
            unknown=run.unknown(),
        )
    return replace(
        found,
        signature=signature,
        warnings=(*of.skipped, *found.warnings, *self_check.warnings(backend.self_checks)),
        precision=precision(backend, of.records, run.scores(), protocol, WAYS[of.kind]),
    )


def _associations(
    model: str | Model,
    of: Data,
    protocol: Protocol,
    out: str | Path | None,
    loading: Mapping[str, Any],
    watch: Watch,
) -> Report:
    """SEAT and WEAT, by the vectors of a model; the key of its encoder names it."""
    how = {option: getattr(protocol, option) for option in ("pooling", "layer", "unit_length", "special_tokens")}
    encoder = vectors.load(model, **how, **loading) if isinstance(model, str) else vectors.of_model(model, **how)
    key = {part: value for part, value in encoder.key.items() if part not in ("encoder", "model", "digest")}
    options = (f"{part}={value}" for part, value in key.items() if value not in (None, "", False))
    called = str(encoder.key["encoder"])
    name = model_label(called, str(encoder.key["digest"]), *options)
    about: dict[str, Any] = {"model": called, "label": name, "place": place_of(called)}
    about |= {"data": of.name, "on": of.on, "records": of.count, "protocol": protocol.name}
    with Run.begin(out, _identity(encoder.key, of, protocol), about) as run:
        rows = seat.evaluate(
            of.records(),
            encoder,
            method=protocol.p_value,
            exact_limit=protocol.counted,
            seed=protocol.seed,
            watch=watch,
        )["results"]
        found = Report(
            protocol=protocol.name,
            results=Associations(rows),
            signature=protocol.signature(
                of.name,
                name,
                subset=of.subset,
                dtype=str(encoder.key.get("dtype", "")),
                batching=self_check.signature({self_check.MODEL: encoder.batching}),
                resamples=RESAMPLES,
            ),
            warnings=(*self_check.warnings({self_check.MODEL: encoder.batching}), *sanity.of_associations(rows)),
            unscored=Counter(row["reason"] for row in rows if row["reason"]),
        )
        run.finish(found.to_dict())
    return found
