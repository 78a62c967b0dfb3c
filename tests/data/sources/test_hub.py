"""Tests data sets on the Hub by address: one file, the only file, a release, and the cache of an earlier use."""

import time
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import pytest
from helpers.samples import CROWS, FILES
from helpers.servers.hub_server import Hub, serving

import catsofa
from catsofa.data import formats, sources
from catsofa.data.files import BadInput
from catsofa.data.sources import released

pytest.importorskip("huggingface_hub")
REPO, ADDRESS = "zorb/pairs", "hf://datasets/zorb/pairs"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Returns an empty Hub cache; the table of released sets is reloaded before and after."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    released.table.cache_clear()
    yield tmp_path / "cache"
    released.table.cache_clear()


def at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points the Hub library to a local server."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setenv("HF_ENDPOINT", url)


def filled(hub: Hub, files: dict[str, bytes]) -> None:
    """Puts files into the repository."""
    hub.files[REPO] = {"README.md": b"# Zorbs\n", ".gitattributes": b"", **files}


def test_the_only_file_with_data_is_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two data files, one must be named; the README is not data. A fetched file is read again without network."""
    with serving() as hub:
        at(hub.url, monkeypatch)
        filled(hub, {"pairs.csv": CROWS.encode()})
        records = list(catsofa.read(ADDRESS))
        assert [pair.id for pair in records] == ["0", "1"]
        filled(hub, {"pairs.csv": CROWS.encode(), "data/more.jsonl": FILES["jsonl"][1].encode()})
        with pytest.raises(BadInput, match=r"2 files.*data/more\.jsonl, pairs\.csv"):
            list(catsofa.read(ADDRESS))
        assert len(list(catsofa.read(f"{ADDRESS}/data/more.jsonl"))) == 2
        assert sources.resolve(f"{ADDRESS}@main/pairs.csv").name == "pairs.csv"
        with pytest.raises(BadInput, match=r"no such file.*pairs\.csv"):
            list(catsofa.read(f"{ADDRESS}/other.csv"))
    assert list(catsofa.read(f"{ADDRESS}/pairs.csv")) == records


def test_one_of_several_parquet_files_must_be_named(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository with a Parquet file for each configuration lists them, and each is read by its address."""
    pandas = pytest.importorskip("pandas")
    (tmp_path / "pairs.csv").write_text(CROWS)
    pandas.read_csv(tmp_path / "pairs.csv").to_parquet(tmp_path / "rows.parquet")
    rows = (tmp_path / "rows.parquet").read_bytes()
    with serving() as hub:
        at(hub.url, monkeypatch)
        filled(hub, {"one/validation.parquet": rows, "two/validation.parquet": rows})
        with pytest.raises(BadInput, match=r"2 files.*one/validation\.parquet, two/validation\.parquet.*name it"):
            list(catsofa.read(ADDRESS))
        assert list(catsofa.read(f"{ADDRESS}/two/validation.parquet")) == list(formats.read(tmp_path / "pairs.csv"))


def test_a_release_is_read_as_its_folder(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release uploaded to the Hub reads like its local folder."""
    (tmp_path / "pairs.csv").write_text(CROWS)
    formats.convert(tmp_path / "pairs.csv", tmp_path / "release")
    files = {str(p.relative_to(tmp_path / "release")): p.read_bytes() for p in (tmp_path / "release").rglob("*.*")}
    with serving() as hub:
        at(hub.url, monkeypatch)
        filled(hub, files | {"SHA256SUMS": (tmp_path / "release/SHA256SUMS").read_bytes()})
        assert list(catsofa.read(ADDRESS)) == list(formats.read(tmp_path / "pairs.csv"))


def test_without_a_network_the_folder_of_an_earlier_use_is_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline, a folder in the library's cache is read."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    cached = cache / "datasets--zorb--pairs"
    (cached / "snapshots/abc").mkdir(parents=True)
    (cached / "refs").mkdir()
    (cached / "refs/main").write_text("abc")
    (cached / "snapshots/abc/pairs.csv").write_text(CROWS)
    assert [pair.id for pair in catsofa.read(ADDRESS)] == ["0", "1"]
    with pytest.raises(BadInput, match=r"HF_HUB_OFFLINE.*connection"):
        list(catsofa.read("hf://datasets/zorb/others"))


def test_a_hub_that_gives_no_answer_is_one_sentence_within_five_seconds(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed port and a port that never answers both give one sentence within five seconds."""
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        for listen in (False, True):
            if listen:
                silent.listen()
            at(f"http://127.0.0.1:{silent.getsockname()[1]}", monkeypatch)
            began = time.monotonic()
            with pytest.raises(BadInput, match="gives no answer"):
                list(catsofa.read(ADDRESS))
            assert time.monotonic() - began < 5


def test_a_set_that_is_not_there_and_a_wrong_address_are_said(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing set gives the HTTP status, and a wrong address the expected form."""
    with serving() as hub:
        at(hub.url, monkeypatch)
        with pytest.raises(BadInput, match=r"answer 404.*zorb/pairs.*public"):
            list(catsofa.read(ADDRESS))
    with pytest.raises(BadInput, match=r"no address.*hf://datasets/OWNER/NAME"):
        list(catsofa.read("hf://models/zorb/pairs"))
