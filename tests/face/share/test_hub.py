"""Tests of pushing to the Hub: a local server that speaks its API, and its faults."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from helpers.records import bakers
from helpers.report_runs import cats, run
from helpers.servers.hub_server import READER, TOKEN, Hub, serving
from helpers.stores import shards
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Score
from catsofa.data.release import write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.scoring.run.store import Run
from catsofa.share.hub import NotPushed, push, uploads_of, without_places

QUICK = (0.01, 0.01, 0.01)


@pytest.fixture
def hub(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Starts an empty Hub and sets a token with write access; the cache of pieces is fresh."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_XET_CACHE", str(tmp_path_factory.mktemp("xet")))
    with serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def a_result(folder: Path, text: str = "{}") -> Path:
    """Writes a single result file."""
    (folder / "report.html").write_text(text)
    return folder / "report.html"


def a_run(folder: Path) -> Path:
    """Writes a finished run with one score, whose report names a local path."""
    with Run.begin(folder, {"a": 1}, {"model": "/home/zorb/models/m", "on": "/home/zorb/dev.json"}) as begun:
        begun.add([Score(item="x", task="intrasentence", score=-1.5)])
        begun.finish({"results": cats("d"), "signature": {"model": "encoder=/home/zorb/models/m layer=-1"}})
    return folder


def test_a_release_is_on_the_hub_as_it_lay_here_and_reads_back(hub: Hub, tmp_path: Path) -> None:
    """Card, Parquet (sent as a large file) and StereoSet JSON are at the root; the push is private, in one commit."""
    write_release({"test": bakers(3)}, tmp_path / "set", CardFacts(pretty_name="Bakers"))
    (tmp_path / "set" / "notes.txt").write_text("mine")
    done = run_catsofa("push-to-hub", str(tmp_path / "set"), "--repo", "me/bakers", "--json")
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout)["files"]) == [
        "README.md",
        "SHA256SUMS",
        "croissant.json",
        "data/test.parquet",
    ]
    assert json.loads(done.stdout)["left_out"] == [str(tmp_path / "set" / "notes.txt")]
    assert (hub.private["me/bakers"], len(hub.commits)) == (True, 1)
    for path, content in hub.files["me/bakers"].items():
        (tmp_path / "back" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "back" / path).write_bytes(content)
    assert list(formats.read(tmp_path / "back")) == list(formats.read(tmp_path / "set"))


def test_a_damaged_release_is_not_sent(hub: Hub, tmp_path: Path) -> None:
    """A file with a wrong checksum, or a missing listed file, is refused before any request."""
    write_release({"test": bakers(3)}, tmp_path / "set", CardFacts(pretty_name="Bakers"))
    file = tmp_path / "set" / "data" / "test.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:99] + bytes([content[99] ^ 1]) + content[100:])
    with pytest.raises(BadInput, match="SHA-256"):
        push([tmp_path / "set"], "me/bakers", public=True)
    file.rename(tmp_path / "set" / "data" / "dev.parquet")
    with pytest.raises(BadInput, match="no such file"):
        push([tmp_path / "set"], "me/bakers", public=True)
    assert not hub.commits


def test_probe_shards_go_like_a_release_and_read_back(hub: Hub, tmp_path: Path) -> None:
    """Card, manifest, list and both shards are sent; without a card, unfinished or damaged shards are refused first."""
    shard = shards(tmp_path)
    folder = shard.parent.parent
    with pytest.raises(BadInput, match="without a card"):
        push([folder], "me/probes")
    (folder / "README.md").write_text("Zorbs")
    listed = (folder / "SHA256SUMS").read_bytes()
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r"SHA256SUMS.*build probes"):
        push([folder], "me/probes")
    (folder / "SHA256SUMS").write_bytes(listed)
    whole = shard.read_bytes()
    for damage in (lambda: shard.write_bytes(whole[:-1]), shard.unlink):
        damage()
        with pytest.raises(ValueError, match=shard.name):
            push([folder], "me/probes")
    assert not hub.commits
    shard.write_bytes(whole)
    pushed = push([folder], "me/probes")
    names = ["README.md", "SHA256SUMS", *(f"data/test-{n:05}-of-00002.parquet" for n in (0, 1)), "manifest.json"]
    assert (sorted(pushed.files), pushed.left_out) == (names, ())
    for path, content in hub.files["me/probes"].items():
        (tmp_path / "back" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "back" / path).write_bytes(content)
    assert list(formats.read(tmp_path / "back")) == list(formats.read(folder))
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "back")]).exit_code == 0


def test_a_run_goes_without_its_manifest_and_without_places_of_this_machine(hub: Hub, tmp_path: Path) -> None:
    """The report and the scores are sent; neither names the path of the model or the data."""
    push([a_run(tmp_path / "gpt2")], "me/results", public=True)
    files = hub.files["me/results"]
    assert files.keys() == {"results/gpt2/report.json", "results/gpt2/scores.jsonl"}
    assert json.loads(files["results/gpt2/scores.jsonl"])["score"] == -1.5
    assert json.loads(files["results/gpt2/report.json"])["signature"]["model"] == "encoder=m layer=-1"
    assert not [path for path, content in files.items() if b"/home" in content]
    assert hub.private["me/results"] is False


def test_only_what_changed_is_committed_again(hub: Hub, tmp_path: Path) -> None:
    """The same push twice is one commit; a changed file is a second."""
    push([a_result(tmp_path)], "me/results")
    push([a_result(tmp_path)], "me/results")
    assert len(hub.commits) == 1
    push([a_result(tmp_path, "new")], "me/results", message="The new one")
    assert (hub.commits[1], hub.files["me/results"]["results/report.html"]) == ("The new one", b"new")


@pytest.mark.parametrize("where", ["repos/create", "validate-yaml", "preupload", "objects/batch", "/lfs/", "/commit/"])
def test_a_fault_that_passes_is_tried_again(hub: Hub, where: str, tmp_path: Path) -> None:
    """502 and 503 at any step still end in one commit."""
    write_release({"test": bakers(1)}, tmp_path / "set", CardFacts(pretty_name="Bakers"))
    hub.faults = [(where, 503)] if where in ("preupload", "objects/batch", "/lfs/") else [(where, 502), (where, 503)]
    push([tmp_path / "set"], "me/results", waits=QUICK)
    assert (hub.faults, len(hub.commits)) == ([], 1)


@pytest.mark.parametrize("where", ["", "xet-write-token", "/v1/xorbs/", "/v1/shards"])
def test_a_large_file_goes_by_xet_where_the_hub_has_it(hub: Hub, where: str, tmp_path: Path) -> None:
    """Pieces come first, then their index, then the commit that names the file by its hash; 503 at any
    step is retried.
    """
    pytest.importorskip("hf_xet")
    write_release({"test": bakers(1)}, tmp_path / "set", CardFacts(pretty_name="Bakers"))
    hub.xet, hub.faults = True, [(where, 503)] if where else []
    push([tmp_path / "set"], "me/results", waits=QUICK, quiet=True)
    assert (hub.faults, len(hub.commits), len(hub.xorbs), hub.shards, hub.objects) == ([], 1, 1, 1, {})
    parquet = (tmp_path / "set" / "data" / "test.parquet").read_bytes()
    assert hub.files["me/results"]["data/test.parquet"].decode() == sha256(parquet).hexdigest()


def test_a_commit_whose_answer_was_lost_is_not_made_twice(hub: Hub, tmp_path: Path) -> None:
    """The second try finds the files on the Hub and commits nothing."""
    hub.faults = [("/commit/", 0)]
    pushed = push([a_result(tmp_path)], "me/results", waits=QUICK)
    assert len(hub.commits) == 1
    assert hub.files["me/results"]["results/report.html"] == b"{}"
    assert "/datasets/me/results/commit/" in pushed.url


@pytest.mark.slow
def test_a_push_killed_at_any_instant_is_whole_or_not_there(hub: Hub, tmp_path: Path) -> None:
    """With SIGKILL later and later the Hub has all or nothing, and the last push completes it."""
    write_release({"test": bakers(1)}, tmp_path / "set", CardFacts(pretty_name="Bakers"))
    program = [str(Path(sys.executable).with_name("catsofa")), "push-to-hub", "set", "--repo", "me/results"]
    whole = {str(f.relative_to(tmp_path / "set")) for f in (tmp_path / "set").rglob("*") if f.is_file()}
    kills = 0
    for requests in range(1, 40):
        before = len(hub.asked)
        process = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(hub.asked) - before < requests:
            time.sleep(0.001)
        process.kill()
        names = {name for name in hub.files.get("me/results", {}) if name != ".gitattributes"}
        assert names in (set(), whole)
        if process.wait() == 0:
            break
        kills += 1
    assert kills >= 3
    push([tmp_path / "set"], "me/results", waits=QUICK)
    assert {name for name in hub.files["me/results"] if name != ".gitattributes"} == whole
    assert len(hub.commits) == 1


def test_what_lasts_is_one_sentence_without_the_token(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No token, an unknown or read-only token, and a Hub that stays down each give one error with the next step."""
    paths = [a_result(tmp_path)]
    monkeypatch.setenv("HF_TOKEN", READER)
    with pytest.raises(NotPushed, match=r"not write.*me/results"):
        push(paths, "me/results", waits=QUICK)
    monkeypatch.setenv("HF_TOKEN", "hf_nobody")
    with pytest.raises(NotPushed, match=r"not know.*token"):
        push(paths, "me/results", waits=QUICK)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.faults = [("repos/create", 503)] * 4
    with pytest.raises(NotPushed, match="answered 503") as raised:
        push(paths, "me/results", waits=QUICK)
    assert TOKEN not in str(raised.value)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(NotPushed, match="set HF_TOKEN"):
        push(paths, "me/results")
    assert not hub.commits


def test_a_hub_that_is_not_there_is_one_sentence(hub: Hub, tmp_path: Path) -> None:
    """A closed port and offline mode each give one error."""
    closed = run_catsofa("push-to-hub", str(a_result(tmp_path)), "--repo", "me/x", HF_HUB_OFFLINE="1")
    assert (closed.returncode, "HF_HUB_OFFLINE" in closed.stderr, closed.stderr.count("\n")) == (2, True, 1)
    with pytest.raises(NotPushed, match="cannot be reached"):
        push([a_result(tmp_path)], "me/x", endpoint="http://127.0.0.1:9", waits=QUICK)
    assert not hub.asked


def test_what_names_people_or_is_not_whole_is_refused_before_anything_is_sent(hub: Hub, tmp_path: Path) -> None:
    """A study, an unfinished run, an unknown folder and two files of one name are refused."""
    for name in ("study.json", "manifest.json", "x.txt"):
        (tmp_path / name[:3]).mkdir()
        (tmp_path / name[:3] / name).write_text('{"identity": {}, "about": {}}')
        with pytest.raises(BadInput, match=r"study|not finished|something else"):
            push([tmp_path / name[:3]], "me/x")
    (tmp_path / "again").mkdir()
    with pytest.raises(ValueError, match=r"two.*results/report\.html"):
        push([a_result(tmp_path), a_result(tmp_path / "again")], "me/x")
    with pytest.raises(ValueError, match="OWNER/NAME"):
        push([a_result(tmp_path)], "x")
    assert not hub.asked


def test_a_file_that_names_the_users_own_folder_is_refused(hub: Hub, tmp_path: Path) -> None:
    """A path inside a page cannot be removed without harm, so the page is not pushed."""
    with pytest.raises(NotPushed, match="working folder"):
        push([a_result(tmp_path, f"model:{Path.home()}/models/m")], "me/x")
    assert not hub.asked


def test_places_are_cut_and_addresses_and_data_are_not() -> None:
    """`/a/b/m` becomes `m`; a web address, a fraction and a hub id do not change."""
    texts = ["model=/a/b/m@1f", "data:d@2 | model:/a/b/m@1f | protocol:p", r"C:\models\m x", "./runs/m"]
    assert without_places(texts) == ["model=m@1f", "data:d@2 | model:m@1f | protocol:p", "m x", "./runs/m"]
    unchanged = ["https://example.org/a/b", "https://huggingface.co", "3/4 of 5/6", "owner/name", "and/or/not", "a | b"]
    assert without_places(unchanged) == unchanged


def test_the_report_of_a_run_is_found_whatever_it_is_called(tmp_path: Path) -> None:
    """A run's folder gives its name to its results."""
    run(tmp_path / "a b", cats("d"))
    jsonl.write([Score(item="x", score=1.0)], tmp_path / "s.jsonl")
    assert next(uploads_of(tmp_path / "a b")).path == "results/a b/report.json"
    assert [upload.path for upload in uploads_of(tmp_path / "s.jsonl")] == ["results/s.jsonl"]
