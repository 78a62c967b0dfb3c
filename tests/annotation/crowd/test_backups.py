"""Copies of a study that people work at."""

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


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Thirty CATs for one person, with a question about them."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    made = create(tmp_path / "s", kind="validate-cats", items=bakers(30), overlap=1, contact="a@example.org")
    (made.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    return made


def test_a_copy_of_a_study_at_work_is_whole_and_goes_on(study: Study, tmp_path: Path) -> None:
    """What was acknowledged before is in it; a server that opens the copy knows the browser and the tasks done."""
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
    there = home.pull(copy).records
    with opened(copy) as again:
        ana.browser.base_url = again
        ana.browser.headers["Origin"] = again
        ana.work(judge)
    assert 10 <= there < home.pull(copy).records
    with home.open_store(copy) as store:
        assert store.do(home.missing) == 0
    assert not list(tmp_path.glob("*.part"))


def test_what_a_killed_copy_left_is_written_anew(study: Study, tmp_path: Path) -> None:
    """It never has the name of the copy."""
    (tmp_path / "copy.part").mkdir()
    (tmp_path / "copy.part" / "study.json").write_text("half")
    backups.backup(study, tmp_path / "copy")
    assert check_study(tmp_path / "copy").right  # type: ignore[union-attr]
    assert not (tmp_path / "copy.part").exists()


def test_copies_that_would_mix_or_lack_something_are_refused(study: Study, tmp_path: Path) -> None:
    """Over a folder, into the study itself, and of answers that lie in PostgreSQL."""
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="there already"):
        backups.backup(study, tmp_path / "there")
    with pytest.raises(ValueError, match="in the study"):
        backups.backup(study, study.folder / "copy")
    (study.folder / "store.url").write_text("postgresql://nobody@127.0.0.1/none")
    with pytest.raises(ValueError, match="pg_dump"):
        backups.backup(study, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
