"""Describes the machine of a figure, measures its matmul peak and CPU seconds, and stores results."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(os.environ.get("CATSOFA_RESULTS", Path(__file__).parent / "results"))
"""The folder of results; another machine needs its own folder."""
KINDS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Instructions that determine the speed of a matrix product."""
SIDE = 2048


def facts() -> dict[str, Any]:
    """Returns the processor by name and instructions, and the library versions; without paths and host name."""
    import torch
    import transformers

    fields: dict[str, str] = {}
    if (place := Path("/proc/cpuinfo")).exists():
        lines = (line.partition(":") for line in place.read_text(encoding="utf-8").splitlines())
        fields = {key.strip(): value.strip() for key, _, value in lines}
    flags = fields.get("flags", "").split()
    return {
        "processor": fields.get("model name") or platform.processor() or platform.machine(),
        "family and model": f"{fields.get('cpu family', '?')}/{fields.get('model', '?')}",
        "instructions": [kind for kind in KINDS if kind in flags],
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def peak_mib(status: str) -> float:
    """Returns the peak memory in a process's /proc/PID/status."""
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


Clock = Callable[[], float]


def cpu_seconds(work: Callable[[], Any], clock: Clock = time.process_time) -> float:
    """Returns the CPU seconds of one call, which other processes disturb least, or the seconds of another clock."""
    begun = clock()
    work()
    return clock() - begun


def median_seconds(work: Callable[[], Any], repeats: int, clock: Clock = time.process_time) -> float:
    """Returns the median seconds of `repeats` calls."""
    return statistics.median(cpu_seconds(work, clock) for _ in range(repeats))


def peak(dtype: str, repeats: int = 5, clock: Clock = time.process_time) -> dict[str, float]:
    """Returns the GFLOP/s of a square matrix product by torch, and by oneDNN with packed weights if available."""
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


def save(name: str, part: str, figures: dict[str, Any]) -> None:
    """Stores one part of a result in its file, beside the parts of other runs."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.json"
    whole = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    whole[part] = figures
    file.write_text(json.dumps(rounded(whole), indent=1) + "\n", encoding="utf-8")


def rounded(value: Any) -> Any:
    """Returns the value with four significant digits for every float, since more digits are noise."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
