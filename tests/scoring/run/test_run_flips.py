"""A flipped bit in a run folder changes no number and causes no traceback."""

import json
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.run_folders import numbers_of, verdict

from catsofa.data.files import BadInput
from catsofa.data.verify.verdicts import Verdict
from catsofa.scoring.run.checks import check_history, check_run
from catsofa.scoring.run.store import Run

FLIPS = 100
"""Flipped bits for each file."""


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
@pytest.mark.parametrize("run", ["gpt2", "probes"])
def test_no_flipped_bit_changes_a_number_or_ends_in_a_traceback(
    made: Path, tmp_path: Path, name: str, run: str
) -> None:
    """One flipped bit, anywhere in a file, gives the same numbers or a ValueError."""
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
    """Verify exits with 1 wherever reading is refused, and never with a traceback."""
    shutil.copytree(made / "gpt2", tmp_path / "gpt2")
    draw = random.Random(5)
    for name in ("scores.sqlite", "report.json", "manifest.json"):
        path = tmp_path / "gpt2" / name
        whole = path.read_bytes()
        for _ in range(15):
            place = draw.randrange(len(whole))
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            code, output = verdict(tmp_path / "gpt2")
            try:
                list(numbers_of(tmp_path / "gpt2"))
            except ValueError:
                assert code == 1, f"{name} at {place}: {output}"
        path.write_bytes(whole)


def test_verify_finds_each_flipped_bit_of_a_history(made: Path, tmp_path: Path) -> None:
    """Any flipped bit of `journal.jsonl`, also in a newline, gives exit code 1 for the run and for the file alone."""
    path = shutil.copytree(made / "gpt2", tmp_path / "gpt2") / "journal.jsonl"
    whole = path.read_bytes()
    assert check_history(path) == Verdict(path=path, kind="history", checked=("2 lines",))
    draw = random.Random(6)
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    keys = [whole.index(b'"checksum"') + 1 + place for place in range(8)]
    for place in (*ends, *keys, *(draw.randrange(len(whole)) for _ in range(FLIPS))):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
        with pytest.raises(BadInput):
            check_history(path)
    for store in (path, path.parent):
        code, output = verdict(store)
        assert code == 1
        assert "journal.jsonl" in output


def test_the_history_of_another_run_is_found(made: Path, tmp_path: Path) -> None:
    """Each line is bound to the identity of its run; histories without checksums are read, and listed as unchecked."""
    path = shutil.copytree(made / "gpt2", tmp_path / "gpt2") / "journal.jsonl"
    own = [json.loads(line) for line in path.read_text().splitlines()]
    shutil.copy(made / "llama" / "journal.jsonl", path)
    assert verdict(path)[0] == verdict(path.parent)[0] == 1
    path.write_text("".join(json.dumps({**line, "checksum": None}) + "\n" for line in own))
    assert verdict(path)[0] == 1
    for line in own:
        del line["checksum"]
    path.write_text("".join(json.dumps(line) + "\n" for line in own))
    result = check_run(path.parent)
    assert result is not None
    assert result.right
    assert [part for part in result.unchecked if "journal.jsonl" in part and "2 lines" in part]


def test_a_run_that_begins_anew_begins_its_history_anew(tmp_path: Path) -> None:
    """A folder without scores accepts another identity, and drops the lines bound to the previous one."""
    for model in ("zorb", "blicket"):
        Run.begin(tmp_path / "run", {"model": {"digest": model}}, {}).close()
    result = check_history(tmp_path / "run" / "journal.jsonl")
    assert result is not None
    assert result.checked == ("1 line",)
