"""Fixtures: a file of pairs."""

from pathlib import Path

import pytest
from helpers.servers.chat_choices import pairs

from catsofa.data.files import jsonl


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a file of twenty pairs."""
    jsonl.write(pairs(20), tmp_path / "pairs.jsonl")
    return tmp_path / "pairs.jsonl"
