"""Tests of `catsofa verify` on incomplete and unfinished stores, and on folders that catsofa never wrote."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.stores import MANIFEST, release, replies, shards, verify
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.scoring.run.store import Run


def run(folder: Path) -> Path:
    """Writes a finished run and returns its report."""
    with Run.begin(folder / "run", MANIFEST | {"model": {}}, {"model": "m", "records": 1}) as store:
        store.add([Score(item="a", task="intrasentence", score=-1.0)], took=(1, 0.1))
        store.finish({"results": {}})
    return folder / "run" / "report.json"


def refusal(path: Path) -> BadInput:
    """Returns the error of `verify` on a path without a store."""
    error = CliRunner().invoke(app, ["verify", str(path)]).exception
    assert isinstance(error, BadInput)
    return error


@pytest.mark.parametrize(
    ("make", "kind", "files"),
    [(run, "run", 4), (replies, "run", 4), (release, "release", 4), (shards, "probe shards", 4)],
)
def test_each_part_that_is_always_written_is_missed(
    make: Callable[[Path], Path], kind: str, files: int, tmp_path: Path
) -> None:
    """A store without any one of its files is wrong: exit code 1, its kind, the file's name and the next step."""
    make(tmp_path / "made")
    (store,) = (tmp_path / "made").iterdir()
    names = sorted(file.relative_to(store) for file in store.rglob("*") if file.is_file())
    assert len(names) == files
    for name in names:
        shutil.copytree(store, tmp_path / "copy" / store.name, dirs_exist_ok=True)
        lost = tmp_path / "copy" / store.name / name
        lost.unlink()
        code, verdicts = verify(tmp_path / "copy")
        assert (code, verdicts[0]["kind"]) == (1, kind), name
        faults = {fault["file"]: fault["wrong"] for fault in verdicts[0]["faults"]}
        assert str(lost) in faults
        assert "no such file" in faults[str(lost)]
        assert "again" in faults[str(lost)] or "copy it back" in faults[str(lost)]


def test_an_emptied_folder_of_shards_names_each_shard(tmp_path: Path) -> None:
    """The manifest names two shards: both are missing, with and without the list beside it."""
    data = shards(tmp_path).parent
    names = sorted(str(file) for file in data.iterdir())
    shutil.rmtree(data)
    for listed in (True, False):
        if not listed:
            (data.parent / "SHA256SUMS").unlink()
        code, (verdict,) = verify(data.parent)
        assert (code, verdict["kind"]) == (1, "probe shards")
        assert set(names) <= {fault["file"] for fault in verdict["faults"]}


def test_shards_that_are_being_made_are_not_wrong(tmp_path: Path) -> None:
    """After a kill between the manifest's line and the first of two shards, no fault is reported, and `1
    of 2` is named.
    """
    file = shards(tmp_path)
    folder = file.parent.parent
    (folder / "SHA256SUMS").unlink()
    log = folder / "manifest.json"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))
    shutil.rmtree(file.parent)
    code, (verdict,) = verify(folder)
    assert (code, verdict["kind"], verdict["faults"]) == (0, "probe shards", [])
    assert "1 of 2" in verdict["unchecked"][0]


def test_a_run_that_goes_on_after_its_report_is_not_wrong(tmp_path: Path) -> None:
    """The report is about one of two records, and the run is open: exit code 0, and both numbers."""
    folder = run(tmp_path).parent
    with Run.begin(folder, MANIFEST | {"model": {}}, {"model": "m", "records": 3}) as store:
        store.add([Score(item="b", task="intrasentence", score=-1.0)], took=(1, 0.1))
    code, (verdict,) = verify(folder)
    assert (code, verdict["right"]) == (0, True)
    assert "2 of 3 records" in verdict["unchecked"][0]


def test_a_finished_run_whose_end_was_cut_out_is_wrong(tmp_path: Path) -> None:
    """No process leaves a report of all scores beside a run without its final seal."""
    folder = run(tmp_path).parent
    with Run.open(folder) as store:
        store._connection.execute("DELETE FROM seals WHERE name = 'finished'")
        store._connection.commit()
    code, (verdict,) = verify(folder)
    assert (code, verdict["faults"][0]["file"]) == (1, str(folder / "scores.sqlite"))


def test_a_run_that_was_killed_before_its_manifest_is_not_wrong(tmp_path: Path) -> None:
    """The database exists and is empty."""
    folder = run(tmp_path).parent
    with Run.begin(tmp_path / "new", {}, {}):
        pass
    shutil.rmtree(folder)
    (tmp_path / "new" / "manifest.json").unlink()
    (tmp_path / "new" / "journal.jsonl").unlink()
    assert verify(tmp_path / "new")[0] == 0


def test_what_catsofa_never_wrote_is_an_error(tmp_path: Path) -> None:
    """Foreign Parquet, another list, notes, an empty folder and an empty file give exit code 2, each by its name."""
    (tmp_path / "theirs" / "data").mkdir(parents=True)
    pq.write_table(pa.table({"zorbs": [1]}), tmp_path / "theirs" / "data" / "test-00000-of-00001.parquet")
    schema = pq.read_schema(release(tmp_path / "own")).with_metadata({"huggingface": "{}"})
    (tmp_path / "saved" / "data").mkdir(parents=True)
    pq.write_table(schema.empty_table(), tmp_path / "saved" / "data" / "test-00000-of-00001.parquet")
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "SHA256SUMS").write_text("0a *zorbs.iso\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "manifest.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "journal.jsonl").touch()
    for name, problem in {
        "theirs": "catsofa wrote nothing",
        "saved": "catsofa wrote nothing",
        "sums": "catsofa wrote nothing",
        "notes": "catsofa wrote nothing",
        "empty": "an empty folder",
        "journal.jsonl": "an empty file",
    }.items():
        error = refusal(tmp_path / name)
        assert (error.path, problem in error.found) == (tmp_path / name, True)


def test_parquet_of_records_without_card_and_list_is_a_release_that_lost_them(tmp_path: Path) -> None:
    """The columns are those of probes, which only catsofa writes: both missing files are named."""
    folder = release(tmp_path).parent.parent
    for name in ("README.md", "SHA256SUMS"):
        (folder / name).unlink()
    code, (verdict,) = verify(folder)
    assert (code, verdict["kind"]) == (1, "release")
    assert [Path(fault["file"]).name for fault in verdict["faults"]] == ["README.md", "SHA256SUMS"]
