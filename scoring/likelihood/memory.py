"""Free memory of a device, within the limit of a container."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

SYSTEM = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup")
LIMITS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
"""Files with the bytes that a container may use and uses, in both versions of control groups."""


def half_of_free(device: str) -> float:
    """Returns half of the free bytes on a device, as the system reports them; the other half is for other programs."""
    if device.startswith("cuda"):
        import torch

        return 0.5 * float(torch.cuda.mem_get_info(device)[0])
    lines = SYSTEM.read_text(encoding="ascii").splitlines() if SYSTEM.exists() else []
    free = 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return 0.5 * max(min([free, *_left_in_container()]), 0)


def _left_in_container() -> Iterator[int]:
    """Yields the bytes that a container may still use; nothing without a limit."""
    for most, used in LIMITS:
        with suppress(OSError, ValueError):  # `max` is no number
            yield int((CONTAINER / most).read_text()) - int((CONTAINER / used).read_text())
