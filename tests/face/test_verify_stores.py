"""Tests of `catsofa verify` on releases, probe shards, released sets, replies and journals: valid, damaged, and old."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from helpers.stores import release, replies, shards, verify
from typer.testing import CliRunner

from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import rows
from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.similarity import Similarity
from catsofa.builders.similarity.filter import Scores
from catsofa.cli import app
from catsofa.data import sources
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of, write_list
from catsofa.data.sources import released


def manifest(folder: Path) -> Path:
    """Returns the manifest of a folder of shards."""
    return shards(folder).parent.parent / "manifest.json"


def journal(folder: Path) -> Path:
    """Writes a journal of paraphrases with two replies."""
    with Journal(folder / "out" / "journal.jsonl") as log:
        log.answered("key", {"choices": [], "said": "Zorbs rise early."})
        log.answered("other", {"choices": [], "said": "Zorbs rise late."})
    return folder / "out" / "journal.jsonl"


def similarity(folder: Path) -> Path:
    """Writes scores of similarity."""
    with Scores(folder / "out" / "similarity.jsonl") as scores:
        scores.add(["one", "two"], [Similarity(mean=0.7, least=0.6, chrf=50.0)] * 2)
    return folder / "out" / "similarity.jsonl"


def answers(folder: Path) -> Path:
    """Writes the answers of a study, in two pulls."""
    folder = folder / "study"
    folder.mkdir()
    for number in range(2):
        row = Raw(annotation=f"ls-{number}", updated="u", token="zorb", annotator="ls-1", at="t", result=[number])
        rows.append([row], folder / "raw.jsonl")
    return folder / "raw.jsonl"


@pytest.mark.parametrize("make", [release, shards, manifest, journal, similarity, replies, answers])
def test_a_store_is_right_until_a_byte_of_it_changes(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """The exit code is 0 with the checked parts; after one changed byte 1 with the file, also for the folder above."""
    file = make(tmp_path)
    code, right = verify(tmp_path)
    assert (code, {one["right"] for one in right}) == (0, {True})
    assert any(one["checked"] for one in right)
    assert not any(one["unchecked"] for one in right if make is not replies)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    code, wrong = verify(tmp_path)
    assert code == 1
    assert str(file) in [fault["file"] for one in wrong for fault in one["faults"]]


def test_verify_changes_nothing(tmp_path: Path) -> None:
    """A line cut by a kill is left unchanged, and no file is created."""
    path = journal(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    code, (verdict,) = verify(tmp_path)
    assert (code, verdict["checked"]) == (0, ["1 line"])
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_a_listed_file_that_is_gone_is_a_fault(tmp_path: Path) -> None:
    """The missing file is named, and so is a list that does not agree with the manifest."""
    file = shards(tmp_path)
    file.unlink()
    code, (verdict,) = verify(tmp_path / "shards")
    assert (code, [fault["file"] for fault in verdict["faults"]]) == (1, [str(file)])
    sums = tmp_path / "shards" / "SHA256SUMS"
    sums.write_text("".join(line for line in sums.read_text().splitlines(keepends=True) if file.name not in line))
    assert verify(tmp_path / "shards")[0] == 1


@pytest.mark.parametrize("listed", [True, False])
def test_a_swapped_shard_is_refused_by_readers_and_by_verify(tmp_path: Path, listed: bool) -> None:
    """The manifest keeps the SHA-256 of each shard, whether the list was swapped too or is missing."""
    file = shards(tmp_path)
    folder = tmp_path / "shards"
    pq.write_table(pq.read_table(file).slice(1), file)
    (folder / "SHA256SUMS").unlink()
    if listed:
        write_list(folder, {file.relative_to(folder).as_posix(): sha256_of(file)})
    with pytest.raises(BadInput, match=r"manifest\.json|SHA256SUMS"):
        list(sources.read(folder))
    assert verify(folder)[0] == 1


@pytest.mark.parametrize("make", [shards, journal, answers])
def test_a_store_without_checksums_is_said_to_be_unchecked(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Stores of earlier versions are neither valid nor damaged: the verdict says what was not checked."""
    file = make(tmp_path)
    for log in tmp_path.rglob("*.json*"):
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        stripped = [{name: value for name, value in line.items() if name != "checksum"} for line in lines]
        log.write_text("".join(json.dumps(line) + "\n" for line in stripped if "shard" not in line))
    for sums in tmp_path.rglob("SHA256SUMS"):
        sums.unlink()
    code, (verdict,) = verify(tmp_path)
    assert (code, verdict["checked"], verdict["right"]) == (0, [], True)
    assert verdict["unchecked"]
    assert "no fault:" not in CliRunner().invoke(app, ["verify", str(tmp_path)]).stdout
    assert file.exists()


def test_a_released_set_is_held_to_its_published_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file and the data folder are valid with the published bytes, and wrong with others."""
    file = tmp_path / "data" / "zorbs" / "zorbs.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    source = released.Source(
        name="zorbs",
        holds="zorbs",
        format="stereoset",
        folder="zorbs",
        origin="",
        revision="",
        licence="",
        citation="",
        paper="",
        files=(released.SourceFile(path="zorbs.json", url="", sha256=sha256(b"{}").hexdigest()),),
    )
    monkeypatch.setattr(released, "table", lambda: {"zorbs": source})
    monkeypatch.setenv("CATSOFA_DATA", str(tmp_path / "data"))
    for path in (file, tmp_path / "data"):
        code, (verdict,) = verify(path)
        assert (code, verdict["kind"], verdict["checked"]) == (0, "released set zorbs", ["1 file"])
    file.write_text("[]")
    code, (verdict,) = verify(tmp_path / "data")
    assert (code, [fault["file"] for fault in verdict["faults"]]) == (1, [str(file)])
