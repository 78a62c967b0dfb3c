"""What half precision may have decided: how many preferences lie within its error, measured on a sample.

The error is that of the model itself in float32, so that a few records are scored once more; nothing is assumed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.data.records import Score
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.models import load
from catsofa.scoring.models.model import Model
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import shown_name

HALVES = ("bfloat16", "float16")
DIVIDED = "a quantised or divided model is not loaded a second time"
"""Why the error of a model is not measured."""
SAMPLE = 64
"""Records scored again, from all over the data."""
BYTES = 4
"""Of a weight in float32."""

Way = Callable[[Backend, Sequence[Any], Protocol], list[Score]]


def precision(
    measure: Measure,
    backend: Backend,
    records: Callable[[], Iterable[Any]],
    scores: Iterable[Score],
    protocol: Protocol,
    way: Way,
) -> dict[str, Any]:
    """For a model in half precision: the largest error in a sample, and how many preferences lie within it.

    The error is that of a difference which a preference is made of; a measure without preferences has that of a score.
    """
    model = backend.model
    if model.dtype not in HALVES:
        return {}
    if protocol.sofa.padding == "tokenizer" and model.pads_left:
        return {"dtype": model.dtype, "checked": 0, "reason": "scores depend on the whole call under this protocol"}
    exact = _in_full(model)
    if isinstance(exact, str):
        return {"dtype": model.dtype, "checked": 0, "reason": exact}
    sample = spread(records)
    alone = None if measure.compares else {item for record in sample for item in measure.ids(record)}
    # of millions of scores, only these
    found = {(of.item, of.task): of.score for of in scores if alone is None or of.item in alone}
    again = {(s.item, s.task): s.score for s in way(Backend(exact, None, backend.next_sentence), sample, protocol)}
    errors = [
        abs(one - other) for one, other in zip(measure.gaps(sample, found), measure.gaps(sample, again), strict=True)
    ]
    known = [error for error in errors if error == error]
    if not known:
        return {"dtype": model.dtype, "checked": 0, "reason": "nothing in the sample is scored"}
    measured = {"dtype": model.dtype, "checked": len(known), "error": max(known)}
    if not measure.compares:
        return measured
    every = [abs(gap) for gap in measure.gaps(records(), found) if gap == gap]
    return measured | {"preferences": len(every), "within": sum(gap <= max(known) for gap in every)}


def sentence(found: Mapping[str, Any]) -> str:
    """What half precision may have decided, in a sentence."""
    if not found["checked"]:
        return f"{found['dtype']}: its error was not measured: {found['reason']}"
    what = "differences" if "preferences" in found else "scores"
    said = f"{found['dtype']}: {what} are off by up to {found['error']:.4f} ({found['checked']} checked in float32)"
    if "preferences" not in found:
        return said
    return f"{said}; {found['within']:,} of {found['preferences']:,} preferences lie within that and could flip"


def spread(records: Callable[[], Iterable[Any]]) -> list[Any]:
    """`SAMPLE` records at equal distances, since a set may have one task or domain first and another last."""
    count = sum(1 for _ in records())
    wanted = {at * count // SAMPLE for at in range(SAMPLE)}
    return [record for at, record in enumerate(records()) if at in wanted]


def _in_full(model: Model) -> Model | str:
    """The same model in float32, or why it cannot be had."""
    if model.options.get("quantisation") or getattr(model.module, "hf_device_map", None):
        return DIVIDED
    needed = BYTES * sum(weight.numel() for weight in model.module.parameters())
    if needed > (free := _free_memory(model.device)):
        return f"the model in float32 needs {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB can be used"
    try:
        exact = load(model.name, device=model.device, trust_remote_code=bool(model.options.get("remote_code")))
    except ValueError as error:
        return str(error).replace(model.name, shown_name(model.name))
    return exact if exact.digest == model.digest else f"{shown_name(model.name)} has changed since it was loaded"


def _free_memory(device: str) -> float:
    """Bytes of free memory on a device, as far as the system says; half of them are left to others."""
    if device.startswith("cuda"):
        import torch

        return 0.5 * float(torch.cuda.mem_get_info(device)[0])
    table = Path("/proc/meminfo")
    lines = table.read_text(encoding="ascii").splitlines() if table.exists() else []
    return 0.5 * 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
