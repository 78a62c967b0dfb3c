"""Fixtures: CATs in a file, and finished runs on them."""

from pathlib import Path

import pytest
from helpers.gate_runs import BEFORE, cats, even, more, planted

from catsofa.data.files import jsonl


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns 200 CATs of 20 terms in two domains, and dates every plan long before the runs."""
    monkeypatch.setattr("catsofa.planning.now", lambda: BEFORE)
    jsonl.write(cats(), tmp_path / "cats.jsonl")
    return tmp_path / "cats.jsonl"


@pytest.fixture
def runs(tmp_path: Path, data: Path) -> Path:
    """Writes a run of `a` that prefers stereotypes, and one of `b` that does not, neither alike in all terms."""
    planted(tmp_path / "runs" / "a", data, more, model="a")
    planted(tmp_path / "runs" / "b", data, lambda cat: "-" if cat.id == "3-0" else even(cat), model="b")
    return tmp_path / "runs"
