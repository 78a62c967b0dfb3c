"""Contamination: has a model seen a data set? Four tests: order of items, wording, completion, canary."""

__all__ = ["contamination"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.files import BadInput, short
from catsofa.data.percentages import quantity
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat, kind_name
from catsofa.data.release import canary_of
from catsofa.data.samples import stratified
from catsofa.data.statistics import Array
from catsofa.scoring.contamination import completion, wording
from catsofa.scoring.contamination.canary import canary_test
from catsofa.scoring.contamination.completion import reproduced
from catsofa.scoring.contamination.order import order_test
from catsofa.scoring.contamination.references import against
from catsofa.scoring.contamination.result import Contamination, Test, adjusted
from catsofa.scoring.contamination.texts import PROTOCOL, TAKES, ItemText, text_of
from catsofa.scoring.contamination.wording import preferences
from catsofa.scoring.dataset import open_data
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.self_check import Batching
from catsofa.scoring.measures.robustness import join
from catsofa.scoring.models import load
from catsofa.scoring.models.given import network, refuse_loading
from catsofa.scoring.models.model import Ability, Kind, Model
from catsofa.scoring.signature import model_label
from catsofa.scoring.statistics.intervals import RESAMPLES

MOST = 2000
"""Largest sample for wording and completion, stratified by domain and target."""
ABILITIES: dict[Kind, Ability] = {
    "causal": "left-to-right",
    "permutation": "left-to-right",
    "masked": "masked",
    "sequence-to-sequence": "infilling",
    "encoder": "left-to-right",
}
"""Ability by which a kind of model gives the likelihood of a text."""
CAUSAL_ONLY = {
    "order": "the order of items needs a causal model, which reads a shard from left to right in one forward",
    "completion": "completion needs a causal model, which writes from left to right",
}
"""Reason why other models are refused, by test."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Items on which wording and completion are measured."""

    items: Sequence[ItemText]
    reworded: Sequence[tuple[Cat, Sequence[Cat]]]
    """CATs with their paraphrases; empty without paraphrases."""
    given: int
    """Number of paraphrases in all sets."""
    refused: int
    """Number of paraphrases that belong to no CAT of the data."""
    unchanged: int
    """Number of paraphrases with the same text as their CAT."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Results of one model on a sample, and its facts for a signature; the model itself is released."""

    wording: Array | None
    completion: Array | None
    """`wording` and `completion` are None if their test does not apply."""
    kind: Kind
    digest: str
    label: str
    precision: str
    unused: str
    batching: Batching


def contamination(
    model: str | Path | Model | tuple[Any, Any],
    on: str | Path | Iterable[Any],
    *,
    paraphrases: Sequence[str | Path | Iterable[Any]] = (),
    references: Sequence[str | Path | Model | tuple[Any, Any]] = (),
    seed: int = 0,
    progress: Progress = SILENT,
    **loading: Any,
) -> Contamination:
    """Tests whether a model has seen a data set, by order of items, wording, completion and canary.

    `paraphrases` are sets of paraphrased CATs. `references` are models that have not seen the data; with fewer than
    three, wording and completion are described only. `loading` holds the arguments of `models.load`, and
    `batch_tokens`.
    """
    data = open_data(on)
    records = list(data.records())
    if len(kinds := {type(record) for record in records}) > 1:
        raise ValueError(f"found {' and '.join(sorted(map(kind_name, kinds)))}; expected records of one kind")
    for part, given in {"paraphrases": paraphrases, "references": references}.items():
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ValueError(f"found {short(given)} as {part}; expected a list, with one of them or more")
    items = [text_of(record) for record in records]
    if not items:
        raise BadInput(data.on or data.label, "no records", TAKES)
    sample = _sample(records, items, paraphrases, seed)
    release = canary_of(sources.resolve(on)) if isinstance(on, str | Path) else None

    with _opened(model, loading) as backend:
        if backend.model.kind == "causal":
            in_order = order_test(backend, items, seed, progress)
        else:
            in_order = Test(name="order", reason=CAUSAL_ONLY["order"])
        rank = canary_test(backend, release, seed)
        own = _measured(backend, sample)
    del backend  # two large models do not fit on one device
    models = {self_check.MODEL: own}
    for number, reference in enumerate(references, 1):
        with _opened(reference, loading) as backend:
            other = _measured(backend, sample)
        del backend
        if other.digest in (one.digest for one in models.values()):
            raise ValueError(f"found {other.label} twice; expected references that are other models, each named once")
        if other.kind != own.kind:
            mismatch = f"found a {own.kind} model with a {other.kind} reference"
            raise ValueError(f"{mismatch}; expected models of one kind, whose likelihoods are the same quantity")
        models[f"reference {number}"] = other
    checks = {part: one.batching for part, one in models.items()}
    signature = replace(PROTOCOL, seed=seed).signature(
        data.name,
        " against ".join(one.label for one in models.values()),
        dtype=" against ".join(dict.fromkeys(one.precision for one in models.values())),
        way="pseudo-likelihood" if own.kind == "masked" else "",
        batching=self_check.signature(checks),
        resamples=RESAMPLES,
    )
    return Contamination(
        tests=adjusted([in_order, *_compared(sample, list(models.values()), len(items), seed), rank]),
        signature=signature,
        warnings=(*(one.unused for one in models.values() if one.unused), *data.warnings, *self_check.warnings(checks)),
    )


@contextmanager
def _opened(model: Any, loading: Mapping[str, Any]) -> Iterator[Backend]:
    """Loads a model, and checks that it can give the likelihood of texts."""
    how = dict(loading)
    batch_tokens = how.pop("batch_tokens", None)
    with network(model) as held:
        refuse_loading(held, how)
        loaded = load(held, **how) if isinstance(held, str) else held.as_it_is()
        loaded.need(ABILITIES[loaded.kind], "A test of contamination")
        yield Backend(loaded, batch_tokens)


def _sample(
    records: Sequence[Any], items: Sequence[ItemText], paraphrases: Iterable[str | Path | Iterable[Any]], seed: int
) -> Sample:
    """Returns at most `MOST` items, the paraphrases of each, and how many belong to none."""
    sampled = {item.id for item in stratified(items, MOST, lambda item: (item.labels["domain"], item.cluster), seed)}
    reworded: dict[str, list[Cat]] = {}
    cats = {record.id: record for record in records if isinstance(record, Cat)}
    count = refused = unchanged = 0
    for source in paraphrases:
        if not cats:
            raise ValueError(f"found {kind_name(type(records[0]))} with paraphrases; expected CATs, which have them")
        rewordings = list(sources.read(source))
        if wrong := next((each for each in rewordings if not isinstance(each, Cat)), None):
            raise ValueError(f"found {kind_name(type(wrong))} as paraphrases; expected CATs with the ids of the data")
        joined = join(cats.values(), rewordings)
        count += len(rewordings)
        refused += len(joined.refused)
        for cat, other in joined.pairs:
            if text_of(cat).text == text_of(other).text:
                unchanged += 1
            elif cat.id in sampled:
                reworded.setdefault(cat.id, []).append(other)
    return Sample(
        [item for item in items if item.id in sampled],
        [(cats[name], tuple(rewordings)) for name, rewordings in reworded.items()],
        count,
        refused,
        unchanged,
    )


def _measured(backend: Backend, sample: Sample) -> Measured:
    """Measures a model on the items of a sample."""
    model = backend.model
    causal = model.kind == "causal"
    return Measured(
        preferences(backend, sample.reworded) if sample.reworded else None,
        reproduced(backend, [item.text for item in sample.items]) if causal else None,
        model.kind,
        model.digest,
        model_label(model.name, model.digest),
        model.precision,
        model.unused,
        backend.batching,
    )


def _compared(sample: Sample, models: Sequence[Measured], items: int, seed: int) -> Iterator[Test]:
    """Yields the tests that need references."""
    own = models[0]
    if own.wording is None:
        why = {"of other ids than the data": sample.refused, "with the text of their CAT": sample.unchanged}
        left_out = [f"{quantity(count, 'paraphrase')} {cause}" for cause, count in why.items() if count]
        missing = f"found {' and '.join(left_out)}; expected others" if left_out else "no paraphrases"
        yield Test(name="wording", unit=wording.UNIT, reason=f"{missing}; name them with --paraphrases")
    else:
        clusters = [cat.target for cat, _ in sample.reworded]
        sides = [one.wording for one in models[1:] if one.wording is not None]
        counts = {"items": items, "sampled": len(clusters), "given": sample.given}
        counts |= {"paraphrases": sum(len(rewordings) for _, rewordings in sample.reworded), "refused": sample.refused}
        yield against("wording", wording.UNIT, clusters, own.wording, sides, counts, share=False, seed=seed)
    if own.completion is None:
        yield Test(name="completion", unit=completion.UNIT, reason=CAUSAL_ONLY["completion"])
    else:
        clusters = [item.cluster for item in sample.items]
        counts = {"items": items, "sampled": len(clusters)}
        sides = [one.completion for one in models[1:] if one.completion is not None]
        yield against("completion", completion.UNIT, clusters, own.completion, sides, counts, share=True, seed=seed)
