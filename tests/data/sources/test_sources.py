import re
from collections import Counter
from pathlib import Path

import pytest
from helpers.samples import write_sample

from catsofa.data import formats, sources
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of
from catsofa.data.sources import released

BY_HAND = {
    "stereoset:test": "bias-bench publishes no checksum",
    **dict.fromkeys(
        (
            "indibias",
            "bhed:caste",
            "bhed:religion",
            "bhed:gender",
            "redditbias:race",
            "redditbias:orientation",
            "winobias",
        ),
        "the authors publish none, and the bytes were not at hand",
    ),
    **{f"sbic:{part}": "a member of an archive whose checksum is known" for part in ("trn", "dev", "tst")},
    **{f"sbic:agg:{part}": "a member of an archive whose checksum is known" for part in ("trn", "dev", "tst")},
}
"""Sources with files that have no published checksum of their own, and the reason."""


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the home of a machine without data."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CATSOFA_DATA", raising=False)
    return tmp_path


def test_every_source_is_complete() -> None:
    """Every source has a known format, a licence, a citation, a fixed revision or archive, and checksums unless BY_HAND
    says why not."""
    for source in released.table().values():
        assert source.format in formats.MODULES
        assert source.licence
        assert re.search(r"\b20\d\d: ", source.citation)
        assert source.paper.startswith("https://")
        assert re.fullmatch(r"[0-9a-f]{40}", source.revision) or (source.archive and source.archive.sha256)
        for file in source.downloads:
            assert file.url.startswith("https://")
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256) or source.name in BY_HAND
        if source.name not in BY_HAND:
            assert all(file.sha256 for file in source.files)


def test_no_two_sources_lie_in_one_place() -> None:
    """No source overwrites another's file."""
    places = Counter(source.folder + "/" + file.name for source in released.table().values() for file in source.files)
    assert max(places.values()) == 1


def test_checksums_are_those_of_the_released_files(shared: Path) -> None:
    """Each of the 66 files in the shared folder has the checksum and size of the table."""
    held = {sha256_of(path): path for path in (shared / "data").rglob("*") if path.is_file()}
    listed = [file for source in released.table().values() for file in source.files if file.sha256 in held]
    for file in listed:
        assert held[file.sha256].stat().st_size == file.bytes
    names = {source.name for source in released.table().values() if all(f.sha256 in held for f in source.files)}
    assert names == {
        *("crows-pairs", "crows-pairs:revised", "seat", "identities", "holisticbias:1.0", "holisticbias:1.1"),
        *("biasasker", "biasasker:antonyms", "biasasker:groups", "crows-pairs:en", "crows-pairs:fr", "crows-pairs:nl"),
        *("bbq:religion", "bbq:disability-status", "bbq:physical-appearance"),
    }
    assert len(listed) == 2 + 46 + 7 + 2 + 3 + 3 + 3


def test_addresses_are_spelled_out() -> None:
    """URLs have the commit, odd characters are quoted, and a Hub mirror is possible."""
    revised, probes = released.named("crows-pairs:revised").files[0], released.named("sofa").files[0]
    assert revised.url == (
        "https://raw.githubusercontent.com/elidek-themis/datasets/a2e635422e1bfdcc8242b247a7d598c4f7b37f78/"
        "llms/crows_pairs/data/crows_pairs_EN_revised%2B210_corrections.csv"
    )
    assert probes.url == (
        "https://huggingface.co/datasets/copenlu/sofa/resolve/1d87182b9a087563ea3001330c11dd809fcdbe40/SoFa.csv"
    )


def test_the_folder_that_is_named_wins_over_the_cache(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CATSOFA_DATA precedes the cache. A set of many files is found only if all are present."""
    seat, dev = released.named("seat"), released.named("stereoset:dev")
    cached = empty_home / "cache/catsofa/data"
    assert released.home() == cached
    assert released.find(dev) is None
    for root in (cached, empty_home / "mine"):
        (root / "stereoset").mkdir(parents=True)
        (root / "stereoset/dev.json").write_text("{}")
        (root / "seat").mkdir()
    assert released.find(dev) == cached / "stereoset/dev.json"
    monkeypatch.setenv("CATSOFA_DATA", str(empty_home / "mine"))
    assert released.find(dev) == empty_home / "mine/stereoset/dev.json"
    for file in seat.files[1:]:
        (cached / "seat" / file.name).write_text("{}")
    assert released.find(seat) is None
    (cached / "seat" / seat.files[0].name).write_text("{}")
    assert released.find(seat) == cached / "seat"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "stereoset:dev",
            ["run 'catsofa data fetch stereoset:dev'", "data/dev.json", "73a0f31b", "stereoset/dev.json"],
        ),
        ("stereoset:test", ["no SHA-256 is published", "stereoset/test.json"]),
        ("seat", ["the 46 files of https://github.com/W4ngatang/sent-bias", "put them into", "data/seat"]),
        ("sbic:trn", ["SBIC.v2.tgz", "07cabae1", "catsofa data fetch sbic:trn --from SBIC.v2.tgz"]),
    ],
)
def test_what_is_missing_says_what_to_put_where(name: str, parts: list[str], empty_home: Path) -> None:
    """The error has the command, the address, the checksum and the place."""
    with pytest.raises(ValueError, match="not on this machine") as error:
        sources.path(name)
    assert [part for part in parts if part not in str(error.value)] == []


def test_a_local_path_always_wins(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local file with the name of a source takes precedence."""
    path = write_sample(empty_home, "stereoset")
    (empty_home / "sofa").write_bytes(path.read_bytes())
    monkeypatch.chdir(empty_home)
    assert sources.resolve("sofa") == Path("sofa")
    assert [cat.id for cat in sources.read("sofa")] == [cat.id for cat in formats.read(path)]
    assert sources.resolve(Path("nowhere")) == Path("nowhere")


def test_a_slip_of_the_pen_is_answered_with_the_nearest_name(empty_home: Path) -> None:
    """The error for a misspelt name suggests the nearest one."""
    with pytest.raises(BadInput, match=r"no such file.*stereoset:dev\?"):
        sources.resolve("stereoset:dve")
    with pytest.raises(ValueError, match=r"'seet' \(seat\?\).*'catsofa data list'"):
        released.named("seet")
