"""Run every benchmark at its default size, each in a process of its own: python -m benchmarks."""

import importlib.util
import subprocess
import sys

NAMES = ("bootstrap", "builders", "formats", "near_duplicates", "seat", "scoring", "growth", "gpu", "tables", "plan")


def main() -> None:
    failed = []
    for name in NAMES:
        print(f"== {name}", flush=True)
        small = ["--small"] if name == "gpu" and not has_gpu() else []
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *small], check=False).returncode:
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def has_gpu() -> bool:
    """Whether torch sees a GPU."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


if __name__ == "__main__":
    main()
