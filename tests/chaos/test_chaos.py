import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent


@pytest.mark.slow
def test_building_paraphrasing_and_choosing_end_the_same_however_often_they_are_killed() -> None:
    """A small share of `make chaos` with a fixed seed ends like an undisturbed run."""
    only = [word for name in ("building", "paraphrasing", "choosing") for word in ("--only", name)]
    done = subprocess.run(
        [sys.executable, "-m", "chaos", "--seed", "7", "--kills", "12", *only],
        cwd=TESTS,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every end is that of an undisturbed run" in done.stdout
