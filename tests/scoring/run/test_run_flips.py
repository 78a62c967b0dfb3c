"""A flipped bit in a run folder changes no number and ends in no traceback."""

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.run_folders import numbers_of, verdict

FLIPS = 100
"""Flipped bits for each file."""


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
@pytest.mark.parametrize("run", ["gpt2", "probes"])
def test_no_flipped_bit_changes_a_number_or_ends_in_a_traceback(
    made: Path, tmp_path: Path, name: str, run: str
) -> None:
    """One bit at a time, anywhere in a file: the same numbers as before, or a sentence."""
    shutil.copytree(made / run, tmp_path / run)
    path = tmp_path / run / name
    whole, before = path.read_bytes(), [*numbers_of(made / run)]
    draw = random.Random(f"{name} {run}")
    for _ in range(FLIPS):
        place, bit = draw.randrange(len(whole)), 1 << draw.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with suppress(ValueError):
            assert [*numbers_of(tmp_path / run)] == before, f"flip at {place} by {bit}"


def test_verify_finds_each_flip_that_a_reader_refuses(made: Path, tmp_path: Path) -> None:
    """Exit code 1 wherever reading is refused; never a traceback."""
    shutil.copytree(made / "gpt2", tmp_path / "gpt2")
    draw = random.Random(5)
    for name in ("scores.sqlite", "report.json", "manifest.json"):
        path = tmp_path / "gpt2" / name
        whole = path.read_bytes()
        for _ in range(15):
            place = draw.randrange(len(whole))
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            code, said = verdict(tmp_path / "gpt2")
            try:
                list(numbers_of(tmp_path / "gpt2"))
            except ValueError:
                assert code == 1, f"{name} at {place}: {said}"
        path.write_bytes(whole)
