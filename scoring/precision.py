"""What half precision may have decided: how many preferences lie within its error, measured on a sample.

The error is that of the model itself in float32, so that a few records are scored once more; nothing is assumed.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any

from catsofa.data.records import Cat, Pair, Score
from catsofa.scoring.backend import Backend
from catsofa.scoring.models import Model, load
from catsofa.scoring.protocols import Protocol

HALVES = ("bfloat16", "float16")
SAMPLE = 64
"""Records scored again."""
BYTES = 4
"""Of a weight in float32."""

Score_ = Callable[[Backend, Sequence[Any], Protocol], list[Score]]
Scores = Mapping[tuple[str, str], float | None]


def precision(
    model: Model, records: Callable[[], Iterable[Any]], scores: Iterable[Score], protocol: Protocol, way: Score_
) -> dict[str, Any]:
    """For a model in half precision: the largest error of a difference in the sample, and how many lie within it."""
    if model.dtype not in HALVES:
        return {}
    exact = _in_full(model)
    if isinstance(exact, str):
        return {"dtype": model.dtype, "checked": 0, "reason": exact}
    found = {(score.item, score.task): score.score for score in scores}
    sample = list(islice(records(), SAMPLE))
    again = {(s.item, s.task): s.score for s in way(Backend(exact), sample, protocol)}
    errors = [abs(one - other) for one, other in zip(gaps(sample, found), gaps(sample, again), strict=True)]
    error = max((error for error in errors if error == error), default=0.0)
    every = [abs(gap) for gap in gaps(records(), found) if gap == gap]
    within = sum(gap <= error for gap in every)
    return {"dtype": model.dtype, "checked": len(errors), "error": error, "preferences": len(every), "within": within}


def gaps(records: Iterable[Any], scores: Scores) -> Iterator[float]:
    """The differences that preferences are made of: between candidates, or the sides of a pair; NaN if unscored."""
    for record in records:
        keys: list[tuple[str, str]]
        if isinstance(record, Cat):
            keys = [(candidate.id, record.kind) for candidate in record.candidates]
        elif isinstance(record, Pair):
            keys = [(record.id, "more"), (record.id, "less")]
        else:
            return
        for one, other in combinations([scores.get(key) for key in keys], 2):
            yield float("nan") if one is None or other is None else one - other


def _in_full(model: Model) -> Model | str:
    """The same model in float32, or why it cannot be had."""
    if model.options.get("quantisation") or getattr(model.module, "hf_device_map", None):
        return "a quantised or divided model is not loaded a second time"
    needed = BYTES * sum(weight.numel() for weight in model.module.parameters())
    if needed > _free_memory():
        return f"the model in float32 needs {needed / 1e9:.0f} GB of memory beside the one at work"
    try:
        exact = load(model.name, device=model.device, trust_remote_code=bool(model.options.get("remote_code")))
    except ValueError as error:
        return str(error)
    return exact if exact.digest == model.digest else f"{model.name} has changed since it was loaded"


def _free_memory() -> float:
    """Bytes of memory that are free, as far as this system says; half of them are left to others."""
    names = getattr(os, "sysconf_names", {})
    if "SC_AVPHYS_PAGES" not in names:
        return 0.0
    return 0.5 * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
