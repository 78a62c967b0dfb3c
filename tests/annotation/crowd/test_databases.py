"""Tests of the databases of a store: URLs without a password, restarts of the database server, and separate studies."""

import os
import threading
import time
from pathlib import Path

import pytest
from helpers.records import bakers
from helpers.servers import postgres_server
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from helpers.servers.postgres_server import Cluster
from typer.testing import CliRunner

from catsofa.annotation.crowd import databases, home, store
from catsofa.annotation.crowd.databases import Unwritten, checked_url
from catsofa.annotation.crowd.http import site
from catsofa.annotation.crowd.people.forgetting import forget
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app

URL = "postgresql://study@db.example.org:5433/studies?sslmode=require"


def made(folder: Path, overlap: int = 2) -> Study:
    """Returns a study of four CATs."""
    study = create(folder, kind="validate-cats", items=bakers(4), overlap=overlap, contact="a@example.org")
    (study.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C1" }\n')
    return study


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises the rate limits for fast test visitors."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (1000.0, 1000.0))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://study:hunter2@db.example.org/studies",
        "postgresql://study:hun/ter2@db.example.org/studies",
        "postgresql://db.example.org/studies?password=hunter2",
        "postgresql://db.example.org/studies?PassWord=hunter2",
        "host=db.example.org password=hunter2",
        "mysql://hunter2@db.example.org/studies",
    ],
)
def test_a_password_in_a_url_is_refused_and_not_repeated(url: str, tmp_path: Path) -> None:
    """The error says where the password belongs; no file contains the password."""
    study = made(tmp_path / "s")
    result = CliRunner().invoke(app, ["annotate", "open", str(study.folder), "--store", url])
    assert isinstance(result.exception, ValueError)
    assert "PGPASSWORD" in str(result.exception)
    assert not any("hunter2" in text for text in (str(result.exception), result.output))
    assert not any(b"hunter2" in path.read_bytes() for path in study.folder.rglob("*") if path.is_file())
    assert not databases.has_store(study.folder)


@pytest.mark.parametrize(
    "url", [URL, "postgres://db/x", "postgresql:///x?host=/run/postgresql", "postgresql://[::1]:9/x"]
)
def test_a_url_without_a_password_is_taken(url: str) -> None:
    """The URL may contain user, host, port, database and parameters."""
    assert checked_url(url) == url


def test_readers_and_the_writer_of_a_file_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """While a job writes, others read the earlier rows: the file is in WAL mode."""
    identity = store.identity("s")
    with store.Store(tmp_path, identity) as opened_store:

        def job(rows: store.Rows) -> list[store.Row]:
            rows.put("about", {"name": "a", "value": "b"})
            with store.reading(tmp_path, identity) as others:
                return others.all("SELECT * FROM about")

        assert opened_store.do(job) == []
        with store.reading(tmp_path, identity) as others:
            assert others.first("PRAGMA journal_mode") == {"journal_mode": "wal"}
            assert [row["name"] for row in others.all("SELECT name FROM about")] == ["a"]


def test_a_store_does_not_move_by_itself(tmp_path: Path) -> None:
    """A study with answers in its folder accepts no URL, and a study with a URL accepts no other."""
    study = made(tmp_path / "s")
    with opened(study):
        pass
    with pytest.raises(ValueError, match=r"study\.db"):
        databases.choose(study.folder, "ab" * 16, URL)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "store.url").write_text(f"{URL}\n")
    databases.choose(tmp_path / "t", "ab" * 16, URL)
    with pytest.raises(ValueError, match=r"--store.*edit"):
        databases.choose(tmp_path / "t", "ab" * 16, "postgresql://elsewhere/x")


@pytest.mark.slow
def test_the_database_is_killed_while_people_work_and_the_study_goes_on(tmp_path: Path) -> None:
    """Answers are refused with an error and 503, no acknowledged answer is lost, and all tasks get done afterwards."""
    pytest.importorskip("psycopg", reason="no psycopg: pip install 'catsofa[postgres]'")
    if postgres_server.programs() is None:
        pytest.skip("no PostgreSQL: make programs installs it with apt")
    study = made(tmp_path / "s", overlap=5)
    with postgres_server.running() as cluster, pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGPASSWORD", postgres_server.PASSWORD)
        with opened(study, store=cluster.url) as address:
            people = [Visitor(address, f"PID{n}") for n in range(5)]
            for visitor in people:
                visitor.come()
            works = [threading.Thread(target=visitor.work, args=(shown_truth(study),)) for visitor in people]
            for work in works[1:]:
                work.start()
            time.sleep(0.3)
            cluster.stop()
            answer = people[0].browser.post("/next", json={})
            assert answer.status_code == 503
            assert "nothing is lost" in answer.json()["error"]
            with pytest.raises(Unwritten, match="start the server"):
                home.pull(study)
            cluster.start()
            works[0].start()
            for work in works:
                work.join(120)
            assert not any(work.is_alive() for work in works)
        assert home.pull(study).records == 4 * 5 * 3
        with home.reading(study.folder, store.identity(study.settings.secret)) as rows:
            stored = {row["nonce"] for row in rows.all("SELECT nonce FROM answer")}
        assert {nonce for visitor in people for nonce in visitor.acknowledged} <= stored
        verdict = check_study(study.folder)
        assert verdict
        assert verdict.right
        cluster.stop()
        result = CliRunner().invoke(app, ["annotate", "open", str(study.folder)])
        assert isinstance(result.exception, Unwritten)
        assert "start the server" in str(result.exception)
        cluster.start()
    secret = postgres_server.PASSWORD.encode()
    assert not any(secret in path.read_bytes() for path in study.folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_two_studies_in_one_database_are_apart_and_a_person_is_forgotten(tmp_path: Path, cluster: Cluster) -> None:
    """Each study has its own tables; no byte of a forgotten person remains in the files of the tables or
    of the study.
    """
    one, other = made(tmp_path / "one"), made(tmp_path / "other")
    for study, person in ((one, "ANA"), (other, "BEN")):
        with opened(study, store=cluster.url) as address:
            visitor = Visitor(address, person)
            visitor.come()
            visitor.work(shown_truth(study))
        assert home.pull(open_study(study.folder)).records == 12
    assert not (one.folder / "study.db").exists()
    (name,) = {answer["name"] for answer in _people(one)}
    assert name not in {answer["name"] for answer in _people(other)}
    erased = forget(open_study(one.folder), "ANA")
    assert erased is not None
    assert (erased.answers, erased.left) == (4, ())
    assert [answer["name"] for answer in _people(one)] == ["forgotten-1"]
    folders = [Path(root) for root, _, _ in os.walk(cluster.folder / "data" / "base")]
    files = [path for folder in folders for path in folder.iterdir() if path.is_file()]
    assert not any(name.encode() in path.read_bytes() for path in files)
    for study in (one, other):
        verdict = check_study(study.folder)
        assert verdict
        assert verdict.right


def _people(study: Study) -> list[store.Row]:
    """Returns the people in a store."""
    with home.reading(study.folder, store.identity(study.settings.secret)) as rows:
        return rows.all("SELECT name FROM person")
