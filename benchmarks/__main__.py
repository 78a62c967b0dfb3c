"""Run every benchmark at its default size, each in its own process.

The figures are printed, and written to a temporary folder. `--write` writes them to benchmarks/results (or to the
folder that CATSOFA_RESULTS names), over those of earlier runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HELPERS = ("__init__", "__main__", "machine", "shapes", "texts", "loops", "peer", "works")
"""Files that are not benchmarks."""
NAMES = [file.stem for file in sorted(Path(__file__).parent.glob("*.py")) if file.stem not in HELPERS]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"benchmarks to run (default: all): {', '.join(NAMES)}"
    )
    parser.add_argument("--write", action="store_true", help="Overwrite the results of earlier runs.")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; the benchmarks are {', '.join(NAMES)}")
    environment = dict(os.environ)
    if not options.write:
        environment["CATSOFA_RESULTS"] = tempfile.mkdtemp(prefix="catsofa-benchmarks-")
        print(f"results go to {environment['CATSOFA_RESULTS']}; --write keeps them in benchmarks/results", flush=True)
    failed = []
    for name in options.names or NAMES:
        print(f"== {name}", flush=True)
        small = ["--small"] if name == "gpu" and not has_gpu() else []
        command = [sys.executable, "-m", f"benchmarks.{name}", *small]
        if subprocess.run(command, env=environment, check=False).returncode:
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def has_gpu() -> bool:
    """Returns True if torch sees a GPU."""
    import torch

    return bool(torch.cuda.is_available())


if __name__ == "__main__":
    main()
