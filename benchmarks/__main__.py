"""Run every benchmark at its default size, each in a process of its own: python -m benchmarks."""

import subprocess
import sys
from pathlib import Path

HELPERS = ("__init__", "__main__", "machine", "shapes", "texts", "loops", "peer")
"""Files that are no benchmark."""


def main() -> None:
    failed = []
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem not in HELPERS:
            print(f"== {file.stem}", flush=True)
            small = ["--small"] if file.stem == "gpu" and not has_gpu() else []
            if subprocess.run([sys.executable, "-m", f"benchmarks.{file.stem}", *small], check=False).returncode:
                failed.append(file.stem)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def has_gpu() -> bool:
    """Whether torch sees a GPU."""
    import torch

    return bool(torch.cuda.is_available())


if __name__ == "__main__":
    main()
