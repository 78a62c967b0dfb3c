"""What a figure was measured on: the machine's facts, its packed matmul peak, CPU seconds, and where results go."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(os.environ.get("CATSOFA_RESULTS", Path(__file__).parent / "results"))
"""Those of another machine go into a folder of its own."""
KINDS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Instructions that decide how fast a product is."""
SIDE = 2048


def facts() -> dict[str, Any]:
    """The processor by name and instructions, its memory, and the libraries; no path and no host."""
    import torch
    import transformers

    told: dict[str, str] = {}
    if (place := Path("/proc/cpuinfo")).exists():
        lines = (line.partition(":") for line in place.read_text(encoding="utf-8").splitlines())
        told = {key.strip(): value.strip() for key, _, value in lines}
    flags = told.get("flags", "").split()
    return {
        "processor": told.get("model name") or platform.processor() or platform.machine(),
        "family and model": f"{told.get('cpu family', '?')}/{told.get('model', '?')}",
        "instructions": [kind for kind in KINDS if kind in flags],
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


Clock = Callable[[], float]


def cpu_seconds(work: Callable[[], Any], clock: Clock = time.process_time) -> float:
    """CPU seconds of one call of this process, what neighbours on the machine count least in; or another clock's."""
    begun = clock()
    work()
    return clock() - begun


def median_seconds(work: Callable[[], Any], repeats: int, clock: Clock = time.process_time) -> float:
    """The median of so many calls."""
    return statistics.median(cpu_seconds(work, clock) for _ in range(repeats))


def peak(dtype: str, repeats: int = 5, clock: Clock = time.process_time) -> dict[str, float]:
    """GFLOP/s of a square product by torch's own way and by oneDNN's packed one, which is None where there is none."""
    import torch

    from catsofa.scoring.likelihood import cpu_kernels

    values = torch.randn(SIDE, SIDE, dtype=getattr(torch, dtype))
    weight = torch.randn(SIDE, SIDE, dtype=getattr(torch, dtype))
    ways: dict[str, Callable[[], Any]] = {"plain": lambda: torch.nn.functional.linear(values, weight)}
    with torch.inference_mode():
        try:
            product = cpu_kernels.packed(weight, None)
            product(values)
            ways["packed"] = lambda: product(values)
        except (RuntimeError, AttributeError, NotImplementedError):
            pass
        for way in ways.values():
            way()
        return {name: 2 * SIDE**3 / median_seconds(way, repeats, clock) / 1e9 for name, way in ways.items()}


def save(name: str, part: str, found: dict[str, Any]) -> None:
    """Put one part of a result into its file, beside the parts that other runs put there."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.json"
    whole = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    whole[part] = found
    file.write_text(json.dumps(rounded(whole), indent=1) + "\n", encoding="utf-8")


def rounded(value: Any) -> Any:
    """The same with four digits of every fraction: more would be noise."""
    if isinstance(value, dict):
        return {key: rounded(of) for key, of in value.items()}
    if isinstance(value, list):
        return [rounded(of) for of in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
