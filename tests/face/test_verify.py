"""Tests of `catsofa verify`: 0 if every store is unchanged, 1 if one is damaged, 2 if there is no store."""

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput
from catsofa.data.files.json_files import check_seal, sealed
from catsofa.data.records import Score
from catsofa.data.verify.verdicts import NotChecked
from catsofa.scoring.run.store import Run

IDENTITY = {"model": {"digest": "sha256:aa"}, "data": "records:11", "protocol": {}}


def a_run(folder: Path) -> Path:
    """Writes a run with two scores."""
    with Run.begin(folder, IDENTITY, {"model": "m"}) as run:
        run.add([Score(item=item, task="intrasentence", score=-1.0) for item in "ab"])
    return folder


def test_a_run_is_all_right_and_so_are_runs_below_a_folder(tmp_path: Path) -> None:
    """Two runs below one folder give two verdicts and exit code 0."""
    a_run(tmp_path / "runs" / "one")
    a_run(tmp_path / "runs" / "two")
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "runs"), "--json"])
    verdicts = json.loads(done.stdout)
    assert (done.exit_code, [verdict["right"] for verdict in verdicts]) == (0, [True, True])
    assert "2 scores" in verdicts[0]["checked"]


def test_a_damaged_store_is_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    """The damaged file is named, and the others are still checked."""
    a_run(tmp_path / "one")
    a_run(tmp_path / "two")
    (tmp_path / "one" / "scores.sqlite").write_bytes(b"no database" * 1000)
    done = CliRunner().invoke(app, ["verify", str(tmp_path)])
    assert done.exit_code == 1
    assert f"{tmp_path / 'one' / 'scores.sqlite'}: run, wrong: " in done.stdout
    assert f"{tmp_path / 'two'}: run, no fault" in done.stdout


@pytest.mark.parametrize("name", ["nowhere", "notes.txt", "empty"])
def test_what_cannot_be_checked_is_exit_code_2(name: str, tmp_path: Path) -> None:
    """A missing path, and a path without a store, give exit code 2."""
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(app, ["verify", str(tmp_path / name)])
    assert isinstance(done.exception, BadInput)
    assert done.exception.path == tmp_path / name


@pytest.mark.parametrize("damaged", [False, True])
def test_a_path_that_cannot_be_checked_stops_no_other(damaged: bool, tmp_path: Path) -> None:
    """The run after a missing path and an HTML report is still checked; the exit code is 1 for a fault, otherwise 2."""
    report, folder = tmp_path / "report.html", a_run(tmp_path / "one")
    report.write_text("<p>zorbs</p>")
    if damaged:
        (folder / "scores.sqlite").write_bytes(b"no database" * 1000)
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "nowhere"), str(report), str(folder)])
    assert f"{folder}{'/scores.sqlite' * damaged}: run" in done.stdout
    assert str(tmp_path / "nowhere") in done.stderr
    if damaged:
        assert done.exit_code == 1
        assert str(report) in done.stderr
    else:
        assert isinstance(done.exception, BadInput)
        assert done.exception.path == report


def test_a_deleted_score_is_one_sentence(tmp_path: Path) -> None:
    """One of two scores is deleted: the sentence says 1 and 2, and prints no checksums."""
    with Run.begin(tmp_path / "one", IDENTITY, {"model": "m"}) as run:
        run.add([Score(item=item, task="intrasentence", score=-1.0) for item in "ab"])
        run.finish({"results": {}})
    with sqlite3.connect(tmp_path / "one" / "scores.sqlite") as database:
        database.execute("DELETE FROM scores WHERE item = 'a'")
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "one")])
    assert done.exit_code == 1
    assert "1 scores where the run was finished with 2" in done.stdout
    assert not {"{", "}"} & set(done.stdout)


def test_a_sealed_document_is_as_it_was_whatever_its_keys_order() -> None:
    """A changed field, an added one and a lost one are refused."""
    document = sealed({"b": [1, 2.5, None], "a": {"c": "zorb"}})
    check_seal(dict(reversed(document.items())), "file", "a copy")
    assert document["checksum"] == json_digest({"a": {"c": "zorb"}, "b": [1, 2.5, None]})
    without = {name: value for name, value in document.items() if name != "b"}
    for changed in ({**document, "a": {"c": "quib"}}, {**document, "d": 1}, without):
        with pytest.raises(BadInput, match="checksum"):
            check_seal(changed, "file", "a copy")


def test_a_run_that_another_process_holds_cannot_be_checked(tmp_path: Path) -> None:
    """No fault is known, so the exit code is 2."""
    folder = a_run(tmp_path / "one")
    with Run.begin(folder, IDENTITY, {}):
        done = CliRunner().invoke(app, ["verify", str(folder)])
    assert isinstance(done.exception, NotChecked)
    assert "another process" in str(done.exception)


def test_what_could_not_be_checked_is_said(tmp_path: Path) -> None:
    """An unfinished run has no report."""
    done = CliRunner().invoke(app, ["verify", str(a_run(tmp_path / "one"))])
    assert done.exit_code == 0
    assert "no fault in what could be checked: manifest.json, 2 scores" in done.stdout
    assert "not checked: report.json: the run is not finished" in done.stdout
