"""Tests of copies of a study while people work on it."""

import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd import backups, home
from catsofa.annotation.crowd.http import site
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data.files import BadInput


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Returns a study of thirty CATs for one person, with Prolific settings."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    study_ = create(tmp_path / "s", kind="validate-cats", items=bakers(30), overlap=1, contact="a@example.org")
    (study_.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    return study_


def test_a_copy_of_a_study_at_work_is_whole_and_goes_on(study: Study, tmp_path: Path) -> None:
    """The copy contains everything acknowledged before; a server that opens the copy recognises the browser and the
    finished tasks.
    """
    judge = shown_truth(study)
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        ana.work(judge, at_most=10)
        at_work = threading.Thread(target=ana.work, args=(judge,), kwargs={"at_most": 10})
        at_work.start()
        done = CliRunner().invoke(app, ["annotate", "backup", str(study.folder), "--out", str(tmp_path / "copy")])
        at_work.join()
    assert done.exit_code == 0, done.output
    copy = open_study(tmp_path / "copy")
    assert check_study(copy.folder).right  # type: ignore[union-attr]
    assert (copy.folder / "study.db").stat().st_mode & 0o077 == 0
    copied = home.pull(copy).records
    with opened(copy) as again:
        ana.browser.base_url = again
        ana.browser.headers["Origin"] = again
        ana.work(judge)
    assert 10 <= copied < home.pull(copy).records
    with home.open_store(copy) as store:
        assert store.do(home.missing) == 0
    assert {each.name for each in tmp_path.iterdir()} == {"s", "copy"}


def test_what_a_killed_copy_left_goes_with_the_next(study: Study, tmp_path: Path) -> None:
    """The incomplete copy of a killed command never has the name of the copy, and the next copy removes it."""
    code = (
        "import os, shutil, sys; from pathlib import Path; from catsofa.annotation.crowd import backups; "
        "from catsofa.annotation.study import open_study; shutil.copytree = lambda *_, **__: os.kill(os.getpid(), 9); "
        "backups.backup(open_study(sys.argv[1]), Path(sys.argv[2]))"
    )
    copy = tmp_path / "copy"
    assert subprocess.run([sys.executable, "-c", code, study.folder, copy], check=False).returncode == -9
    assert not copy.exists()
    backups.backup(study, copy)
    assert check_study(copy).right  # type: ignore[union-attr]
    assert {each.name for each in tmp_path.iterdir()} == {"s", "copy"}


def test_no_folder_is_deleted_for_a_copy(study: Study, tmp_path: Path) -> None:
    """A copy deletes no folder, whatever the study and the folders beside the copy are called."""
    study.folder.rename(tmp_path / "copy.part")
    backups.backup(open_study(tmp_path / "copy.part"), tmp_path / "copy")
    assert check_study(tmp_path / "copy.part").right  # type: ignore[union-attr]


def test_a_copy_that_fails_leaves_nothing_and_says_why(study: Study, tmp_path: Path) -> None:
    """A full disk and a damaged database end with an error and leave no copy."""
    home.open_store(study).close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(BadInput, match="cannot be written"):
            backups.backup(study, tmp_path / "copy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    (study.folder / "study.db").write_bytes(b"no database" * 1000)
    with pytest.raises(BadInput, match="damaged database"):
        backups.backup(study, tmp_path / "copy")
    assert {each.name for each in tmp_path.iterdir()} == {"s"}


def test_copies_that_would_mix_or_lack_something_are_refused(study: Study, tmp_path: Path) -> None:
    """A copy is refused over an existing folder, inside the study itself, and for answers in PostgreSQL."""
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="there already"):
        backups.backup(study, tmp_path / "there")
    with pytest.raises(ValueError, match="inside the study"):
        backups.backup(study, study.folder / "copy")
    (study.folder / "store.url").write_text("postgresql://nobody@127.0.0.1/none")
    with pytest.raises(ValueError, match="pg_dump"):
        backups.backup(study, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
