"""Data and a baseline run for tests of the gate."""

from pathlib import Path

import pytest
from helpers.gate_runs import cats, even, planted

from catsofa.data.files import jsonl


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns 200 CATs of 20 terms in two domains."""
    jsonl.write(cats(), tmp_path / "cats.jsonl")
    return tmp_path / "cats.jsonl"


@pytest.fixture
def base(tmp_path: Path, data: Path) -> Path:
    """Returns a run with ss 50 and lms 100."""
    return planted(tmp_path / "base", data, even)
