import io
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from helpers.commands import little_room
from helpers.samples import FILES
from helpers.servers.file_server import Files, serving
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import sources
from catsofa.data.files import BadInput
from catsofa.data.sources import released
from catsofa.data.sources.fetch import fetch

CATS = FILES["stereoset"][1].encode()
LEXICONS = {"age.csv": b"TERM,POS\nelder,n\n", "crafts.csv": b"TERM,POS\npotter,n\n"}
JUDGED = FILES["sbic"][1].encode()


def archive(**members: bytes) -> bytes:
    """Returns a gzipped tar archive; two underscores in a name are a folder separator."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name.replace("__", "/") + ".csv")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


SBIC = archive(sbic__other=b"no", sbic__trn=JUDGED)


def listed(name: str, content: bytes) -> str:
    """Returns a table entry of a file with its checksum and size."""
    return f'{{ path = "{name}", sha256 = "{digest(content)}", bytes = {len(content)} }}'


def entry(name: str, *lines: str) -> str:
    """Returns a table entry of a source."""
    facts = ('holds = "mild things"', f'folder = "{name}"', 'licence = "MIT"', 'citation = "Us"', 'paper = ""')
    return "\n".join([f'["{name}"]', *facts, *lines, ""])


def digest(content: bytes) -> str:
    """Returns the SHA-256 of some bytes."""
    return sha256(content).hexdigest()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """Yields a server in the place of the Hub and other hosts, and installs a table of sources on it."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("CATSOFA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving() as files:
        monkeypatch.setenv("HF_ENDPOINT", files.url)
        files.add("/cats.json", CATS)
        files.add("/SBIC.tgz", SBIC)
        for name, content in LEXICONS.items():
            files.add(f"/datasets/us/mild/resolve/abc/terms/{name}", content)
        cats, tgz = f'url = "{files.url}/cats.json"', f'url = "{files.url}/SBIC.tgz"'
        lexicons = ", ".join(listed(f"terms/{name}", content) for name, content in LEXICONS.items())
        sealed = f'archive = {{ sha256 = "{digest(SBIC)}" }}'
        member = f'members = [{{ path = "trn.csv", bytes = {len(JUDGED)} }}]'
        table = [
            entry("cats", 'format = "stereoset"', cats, f"files = [{listed('cats.json', CATS)}]"),
            entry("unknown", 'format = "stereoset"', cats, 'files = [{ path = "cats.json" }]'),
            entry("lexicons", 'format = "identities"', 'hub = "us/mild"', 'revision = "abc"', f"files = [{lexicons}]"),
            entry("judged", 'format = "sbic"', tgz, sealed, member),
        ]
        (tmp_path / "sources.toml").write_text("\n".join(table))
        monkeypatch.setattr(released, "TABLE", tmp_path / "sources.toml")
        released.table.cache_clear()
        yield files
    released.table.cache_clear()


def test_a_source_is_fetched_once(server: Files, tmp_path: Path) -> None:
    """The first fetch downloads and verifies; the second sends no request."""
    first, second = fetch("cats"), fetch("cats")
    assert first.path == second.path == tmp_path / "data/cats/cats.json"
    assert first.path.read_bytes() == CATS
    assert [(file.how, file.published) for file in (*first.files, *second.files)] == [
        ("downloaded", True),
        ("there", True),
    ]
    assert len(server.asked) == 1


def test_a_folder_is_fetched_from_the_hub(server: Files, tmp_path: Path) -> None:
    """Two files of a dataset revision are fetched, each with its progress, and read as one folder."""
    sizes: dict[str, int] = {}
    fetched = fetch("lexicons", progress=lambda name, done, total: sizes.update({name: done}))
    assert sizes == {name: len(content) for name, content in LEXICONS.items()}
    assert fetched.path == tmp_path / "data/lexicons"
    assert [term.term for term in sources.read("lexicons")] == ["elder", "potter"]


def test_a_member_is_unpacked_from_a_verified_archive(server: Files, tmp_path: Path) -> None:
    """The archive is downloaded once and kept; only the requested member is written."""
    fetched = fetch("judged")
    assert fetched.path == tmp_path / "data/judged/trn.csv"
    assert fetched.path.read_bytes() == JUDGED
    assert [file.how for file in fetched.files] == ["unpacked"]
    fetched.path.unlink()
    assert fetch("judged").path.read_bytes() == JUDGED
    assert len(server.asked) == 1
    assert not list(tmp_path.rglob("*other*"))


def test_an_archive_writes_nowhere_but_where_its_member_belongs(server: Files, tmp_path: Path) -> None:
    """A member with a path outside the folder is written to its own place, and a link is ignored."""
    with io.BytesIO() as raw:
        with tarfile.open(fileobj=raw, mode="w:gz") as tar:
            link = tarfile.TarInfo("trn.csv")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
            member = tarfile.TarInfo("../../../trn.csv")
            member.size = len(JUDGED)
            tar.addfile(member, io.BytesIO(JUDGED))
        content = raw.getvalue()
    server.add("/SBIC.tgz", content)
    table = released.TABLE.read_text()
    released.TABLE.write_text(table.replace(digest(SBIC), digest(content)))
    released.table.cache_clear()
    assert fetch("judged").path.read_bytes() == JUDGED
    assert [file.relative_to(tmp_path) for file in tmp_path.rglob("*trn.csv")] == [Path("data/judged/trn.csv")]
    assert not (tmp_path / "data/judged/trn.csv").is_symlink()


def test_a_wrong_or_damaged_archive_is_refused(server: Files, tmp_path: Path) -> None:
    """An archive with other bytes is refused. An archive without the member is refused even with the right checksum."""
    server.add("/SBIC.tgz", SBIC[:-20])
    with pytest.raises(ValueError, match="not the released file"):
        fetch("judged")
    for content, complaint in [(archive(other=b"no"), "an archive without it"), (SBIC[:60], "a damaged archive")]:
        server.add("/SBIC.tgz", content)
        table = released.TABLE.read_text()
        released.TABLE.write_text(table.replace(digest(SBIC), digest(content)))
        released.table.cache_clear()
        with pytest.raises(BadInput, match=complaint):
            fetch("judged")
        released.TABLE.write_text(table)
        shutil.rmtree(tmp_path / "data")


@pytest.mark.parametrize("name", ["cats", "lexicons", "judged"])
def test_a_local_copy_is_as_good_as_the_net(name: str, server: Files, tmp_path: Path) -> None:
    """With `--from` a file, a folder or the archive, the released bytes are copied, and nothing is downloaded."""
    local = tmp_path / "given"
    local.mkdir()
    for file, content in {"cats.json": CATS, "SBIC.tgz": SBIC, **LEXICONS}.items():
        (local / file).write_bytes(content)
    fetched = fetch(name, local)
    assert all(file.how in ("copied", "unpacked") and file.published for file in fetched.files)
    assert server.asked == []
    assert list(sources.read(name))


def test_single_files_are_given_by_themselves(server: Files, tmp_path: Path) -> None:
    """A file under another name and an already unpacked archive member are accepted."""
    (tmp_path / "my cats.json").write_bytes(CATS)
    assert fetch("cats", tmp_path / "my cats.json").files[0].published
    (tmp_path / "trn.csv").write_bytes(JUDGED)
    member = fetch("judged", tmp_path / "trn.csv").files[0]
    assert (member.how, member.published, member.sha256) == ("copied", False, digest(JUDGED))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("cats", CATS + b" ", f"found {len(CATS) + 1:,} bytes with SHA-256 .*; expected the released cats.json"),
        ("judged", JUDGED[1:], rf"expected the released trn.csv \({len(JUDGED)} bytes\)"),
        ("cats", b"", "an empty file"),
    ],
)
def test_other_bytes_are_refused_from_a_file_too(
    name: str, content: bytes, complaint: str, server: Files, tmp_path: Path
) -> None:
    """Local bytes must be the released file; other bytes are not copied."""
    (tmp_path / "given").write_bytes(content)
    with pytest.raises(BadInput, match=complaint):
        fetch(name, tmp_path / "given")
    assert released.find(released.named(name)) is None


def test_an_unpublished_checksum_is_kept_when_first_seen(server: Files, tmp_path: Path) -> None:
    """The checksum of the first download is stored beside the file, and a different later download is refused."""
    first = fetch("unknown").files[0]
    assert (first.published, first.sha256) == (False, digest(CATS))
    note = tmp_path / "data/unknown/cats.json.sha256"
    assert note.read_text() == f"{digest(CATS)}  cats.json\n"
    first.path.unlink()
    server.add("/cats.json", CATS + b" ")
    with pytest.raises(ValueError, match=f"not {digest(CATS)}"):
        fetch("unknown")
    assert not first.path.exists()


def wrong(tmp_path: Path, file: str = "cats/cats.json", content: bytes = CATS + b" ") -> Path:
    """Writes other bytes in the place of a released file and returns its path."""
    place = tmp_path / "data" / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def test_a_wrong_file_at_a_released_place_is_refused_by_name(server: Files, tmp_path: Path) -> None:
    """Each use by name fails with the file and both checksums. The file stays, and its path can still be read."""
    mine = wrong(tmp_path)
    for use in (sources.resolve, sources.path, lambda name: list(sources.read(name)), fetch):
        with pytest.raises(ValueError, match="'catsofa data fetch cats'") as refused:
            use("cats")
        assert {str(mine), digest(CATS), digest(CATS + b" ")} <= set(re.split(r"[ ,;]+", str(refused.value)))
    assert mine.read_bytes() == CATS + b" "
    assert len(list(sources.read(str(mine)))) == len(list(sources.read(mine))) == 2


def test_one_wrong_file_of_several_is_enough(server: Files, tmp_path: Path) -> None:
    """A folder is a released set only if every file has its checksum."""
    fetch("lexicons")
    assert sources.resolve("lexicons")
    wrong(tmp_path, "lexicons/crafts.csv", LEXICONS["crafts.csv"].replace(b"potter", b"zorber"))
    with pytest.raises(ValueError, match=r"crafts\.csv.*SHA-256"):
        sources.resolve("lexicons")


def test_a_first_download_is_held_to_its_checksum(server: Files, tmp_path: Path) -> None:
    """Without a published checksum, a file must equal its first download. A file placed by hand is unchecked."""
    fetch("unknown")
    wrong(tmp_path, "unknown/cats.json")
    with pytest.raises(ValueError, match="fetched first"):
        sources.resolve("unknown")
    (tmp_path / "data/unknown/cats.json.sha256").unlink()
    assert sources.resolve("unknown").exists()
    assert {s["name"]: s["checksum"] for s in json.loads(run("list", "--json")[1])}["unknown"] == (
        "no published checksum"
    )


def test_list_and_show_report_a_wrong_checksum(server: Files, tmp_path: Path) -> None:
    """`data list` and `data show` report a wrong checksum, and `show` gives the file's own."""
    fetch("lexicons")
    mine = wrong(tmp_path)
    states = {s["name"]: s["checksum"] for s in json.loads(run("list", "--json")[1])}
    assert states == {"cats": "wrong checksum", "unknown": None, "lexicons": "verified", "judged": None}
    assert re.search(r"^cats .* wrong checksum *$", run("list")[1], re.M)
    assert digest(mine.read_bytes()) in run("show", "cats")[1]


def test_two_at_a_time_download_once(server: Files) -> None:
    """Four simultaneous fetches of one source send one request, and all return the file."""
    server.slow = 0.05
    with ThreadPoolExecutor(4) as pool:
        fetched = list(pool.map(lambda _: fetch("cats"), range(4)))
    assert len(server.asked) == 1
    assert sorted(file.how for one in fetched for file in one.files) == ["downloaded", "there", "there", "there"]


def test_what_is_missing_is_fetched_when_it_is_read(server: Files) -> None:
    """`resolve` and `read` accept names like paths, and fetch a missing set."""
    assert {cat.target for cat in sources.read("cats")} == {"islander", "baker"}
    assert sources.resolve("cats").read_bytes() == CATS


def test_without_a_network_the_user_is_told_what_to_put_where(
    server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HF_HUB_OFFLINE, no request is sent. The error, as for an unreachable host, says which file to put where."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ValueError, match=rf"HF_HUB_OFFLINE.*/cats\.json.*{digest(CATS)}.*put"):
        sources.resolve("cats")
    assert server.asked == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    released.TABLE.write_text(released.TABLE.read_text().replace("127.0.0.1", "nowhere.invalid"))
    monkeypatch.setenv("no_proxy", "*")
    released.table.cache_clear()
    with pytest.raises(ValueError, match=r"nowhere\.invalid.*reached.*put"):
        fetch("cats")


def test_a_folder_that_cannot_be_written_is_said(server: Files, tmp_path: Path) -> None:
    """The error names CATSOFA_DATA if it is a file."""
    (tmp_path / "data").write_text("a file")
    with pytest.raises(BadInput, match=r"CATSOFA_DATA.*another"):
        fetch("cats")


def test_a_disk_without_room_is_said_and_the_next_fetch_goes_on(server: Files, tmp_path: Path) -> None:
    """A full disk is reported, and the next fetch does not use the partial file."""
    with little_room(4), pytest.raises(BadInput, match="room"):
        fetch("cats")
    assert fetch("cats").path.exists()


def run(*arguments: str) -> tuple[int, str]:
    """Returns the exit code of a command and its output."""
    done = CliRunner().invoke(app, ["data", *arguments], env={"COLUMNS": "80"})
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def test_the_commands_list_show_fetch_and_find(server: Files, tmp_path: Path) -> None:
    """The list fits 80 columns, `path` prints only the path, and `list` shows where each set is."""
    _, listed = run("list")
    assert "cats" in listed
    assert max(map(len, listed.splitlines())) <= 80
    with pytest.raises(ValueError, match="'catsofa data fetch cats'"):
        run("path", "cats")
    assert run("fetch", "cats", "lexicons")[0] == 0
    assert run("path", "cats") == (0, f"{tmp_path / 'data/cats/cats.json'}\n")
    assert digest(CATS) in run("show", "cats")[1]
    places = {source["name"]: source["here"] for source in json.loads(run("list", "--json")[1])}
    assert places == {
        "cats": str(tmp_path / "data/cats/cats.json"),
        "unknown": None,
        "lexicons": str(tmp_path / "data/lexicons"),
        "judged": None,
    }


def test_fetch_prints_a_checksum_that_nobody_published(server: Files) -> None:
    """The checksum is printed, so that users can publish or compare it."""
    assert digest(CATS) in run("fetch", "unknown")[1]
    assert json.loads(run("fetch", "unknown", "--json")[1])[0]["files"][0]["published"] is False
    assert run("fetch", "cats", "--quiet")[1] == ""


def test_fetch_takes_one_local_file_for_one_set(server: Files, tmp_path: Path) -> None:
    """--from with two sets is refused. An unknown name is reported before anything is fetched."""
    with pytest.raises(ValueError, match="name one"):
        run("fetch", "cats", "judged", "--from", str(tmp_path))
    with pytest.raises(ValueError, match=r"'cat' \(cats\?\)"):
        run("fetch", "cats", "cat")
    assert server.asked == []
