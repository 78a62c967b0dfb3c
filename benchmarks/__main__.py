"""Run every benchmark at its default size, each in a process of its own: python -m benchmarks."""

import subprocess
import sys
from pathlib import Path


def main() -> None:
    failed = []
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.name not in ("__main__.py", "__init__.py"):
            print(f"== {file.stem}", flush=True)
            if subprocess.run([sys.executable, "-m", f"benchmarks.{file.stem}"], check=False).returncode:
                failed.append(file.stem)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
