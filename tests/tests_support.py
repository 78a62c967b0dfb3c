"""What tests of the command line share."""

import os
import subprocess
import sys
from pathlib import Path


def run_catsofa(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed `catsofa` as a person would, in a process of its own."""
    program = Path(sys.executable).with_name("catsofa")
    return subprocess.run(
        [str(program), *arguments],
        cwd=cwd,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100"} | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
