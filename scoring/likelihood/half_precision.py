"""Effect of half precision: how many preferences lie within its error, measured on a sample.

The error is measured against the same model in float32, so a few records are scored once more; nothing is assumed.
The scores in float32 are kept in the user's cache for later runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data.content import content_of
from catsofa.data.digests import hex_digest, json_digest
from catsofa.data.files import cache, stamp
from catsofa.data.records import Score
from catsofa.scoring.likelihood import memory
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.self_check import ROWS, Batching
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.models.in_float32 import in_float32
from catsofa.scoring.models.model import Model
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import shown_name

HALVES = ("bfloat16", "float16")
DIVIDED = "a quantised or divided model is not loaded a second time"
"""Reason why the error of a model is not measured."""
SAMPLE = 64
"""Records scored again, spread over the data."""
RANDOM = 8
"""Short texts drawn at random for the self-check of the sample."""
BYTES = 4
"""Bytes of a weight in float32."""

KIND = "precision"
"""The name of the cache of scores in float32."""
PROGRAM = "catsofa"

Exact = dict[tuple[str, str], float | None]
"""The score of each item and task in float32."""
Way = Callable[[Backend, Sequence[Any], Protocol], list[Score]]


def precision(
    measure: Measure,
    backend: Backend,
    records: Callable[[], Iterable[Any]],
    scores: Iterable[Score],
    protocol: Protocol,
    way: Way,
) -> dict[str, Any]:
    """Returns, for a model in half precision, the largest error in a sample and how many preferences lie within it.

    The error is that of the difference behind a preference; for a measure without preferences, that of a score. The
    result is empty for other precisions.
    """
    model = backend.model
    if model.dtype not in HALVES:
        return {}
    if protocol.sofa.padding == "tokenizer" and model.pads_left:
        return {"dtype": model.dtype, "checked": 0, "reason": "scores depend on the whole call under this protocol"}
    sample = spread(records)
    again = _exact(measure, backend, sample, protocol, way)
    if isinstance(again, str):
        return {"dtype": model.dtype, "checked": 0, "reason": again}
    alone = None if measure.compares else {item for record in sample for item in measure.ids(record)}
    # keep only these of millions of scores
    before = {(row.item, row.task): row.score for row in scores if alone is None or row.item in alone}
    errors = [
        abs(one - other) for one, other in zip(measure.gaps(sample, before), measure.gaps(sample, again), strict=True)
    ]
    defined = [error for error in errors if error == error]
    if not defined:
        return {"dtype": model.dtype, "checked": 0, "reason": "nothing in the sample is scored"}
    measured = {"dtype": model.dtype, "checked": len(defined), "error": max(defined)}
    if not measure.compares:
        return measured
    every = [abs(gap) for gap in measure.gaps(records(), before) if gap == gap]
    return measured | {"preferences": len(every), "within": sum(gap <= max(defined) for gap in every)}


def sentence(result: Mapping[str, Any]) -> str:
    """Returns a sentence about the preferences that half precision could flip."""
    if not result["checked"]:
        return f"{result['dtype']}: its error was not measured: {result['reason']}"
    unit = "differences" if "preferences" in result else "scores"
    text = f"{result['dtype']}: {unit} are off by up to {result['error']:.4f} ({result['checked']} checked in float32)"
    if "preferences" not in result:
        return text
    return f"{text}; {result['within']:,} of {result['preferences']:,} preferences are within that and could flip"


def spread(records: Callable[[], Iterable[Any]]) -> list[Any]:
    """Returns `SAMPLE` records at equal distances, because a data set may be sorted by task or domain."""
    count = sum(1 for _ in records())
    wanted = {index * count // SAMPLE for index in range(SAMPLE)}
    return [record for index, record in enumerate(records()) if index in wanted]


def _exact(measure: Measure, backend: Backend, sample: Sequence[Any], protocol: Protocol, way: Way) -> Exact | str:
    """Returns the scores of the sample in float32, or the reason why there are none.

    The scores of an earlier run are used again if model, sample, protocol, program and libraries are the same.
    """
    if backend.model.options.get("quantisation") or getattr(backend.model.module, "hf_device_map", None):
        return DIVIDED
    key = _key(measure, backend, sample, protocol)
    found = cache.kept(KIND, key) if key else None
    if found is not None and {(item, task) for item, task, _ in found} == {
        names for record in sample for names in measure.keys(record)
    }:
        return {(item, task): score for item, task, score in found}
    exact = _in_full(backend.model)
    if isinstance(exact, str):
        return exact
    again = {(s.item, s.task): s.score for s in way(_beside(backend, exact), sample, protocol)}
    if key:
        cache.keep(KIND, key, [[*names, score] for names, score in again.items()])
    return again


def _key(measure: Measure, backend: Backend, sample: Sequence[Any], protocol: Protocol) -> list[Any]:
    """Returns what the scores in float32 depend on.

    The result is empty if they also depend on a head, on another package, or on code that may read anything.
    """
    import torch

    model = backend.model
    from_elsewhere = not type(measure).__module__.startswith(f"{PROGRAM}.") or model.options.get("remote_code")
    if backend.next_sentence is not None or from_elsewhere:
        return []
    identity = model.identity() | {"model": "", "dtype": "float32", "device": model.device}
    tokenizer = hex_digest(model.tokenizer.backend_tokenizer.to_str() + str(model.tokenizer.special_tokens_map))
    libraries = [version(name) for name in (PROGRAM, "torch", "transformers", "tokenizers")]
    # a developer's changes have the same version
    source = json_digest([stamp(file) for file in sorted(Path(__file__).parents[1].rglob("*.py"))])
    how = [sorted(backend.batching.left_out), torch.get_float32_matmul_precision()]
    return [measure.name, content_of(sample).digest, protocol.digest, identity, tokenizer, how, libraries, source]


def _in_full(model: Model) -> Model | str:
    """Returns the same model in float32, or the reason why it cannot be loaded."""
    needed = BYTES * sum(weight.numel() for weight in model.module.parameters())
    if needed > (free := memory.half_of_free(model.device)):
        return f"the model in float32 needs {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB can be used"
    try:
        exact = in_float32(model)
    except ValueError as error:
        return str(error).replace(model.name, shown_name(model.name))
    return exact if exact.digest == model.digest else f"{shown_name(model.name)} has changed since it was loaded"


def _beside(backend: Backend, exact: Model) -> Backend:
    """Returns a backend of the exact model that leaves out the parts of the engine that the run left out.

    The self-check tests the most strained texts again, in full precision, but draws fewer texts at random.
    """
    full = Backend(exact, backend.budget, backend.next_sentence)
    full.packs, full.head_is_trained = backend.packs, backend.head_is_trained
    left_out, random = dict(backend.batching.left_out), RANDOM * (full.budget // ROWS)
    full.batching = Batching(left_out=left_out, allowance=random, accepted=1)
    return full
