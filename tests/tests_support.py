"""What tests of the command line share."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest


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


def need_ray() -> None:
    """Skip where Ray is not installed; it must not be imported before we have said where it may listen."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
