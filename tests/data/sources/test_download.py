import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path

import pytest
from helpers.servers.file_server import Files, serving

from catsofa.data.files import BadInput
from catsofa.data.sources.download import Unreachable, download

CONTENT = bytes(range(256)) * 400
"""102,400 bytes, none of their tails the same."""
DIGEST = sha256(CONTENT).hexdigest()
OTHER = sha256(b"another file").hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """A server that holds one file."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as files:
        files.add("/file.bin", CONTENT)
        yield files


class Pauses:
    """Notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        """One pause."""
        self.seconds.append(seconds)


def test_a_file_is_downloaded_verified_and_alone(server: Files, tmp_path: Path) -> None:
    """The bytes, their checksum, the progress up to the last byte, and nothing beside the file."""
    seen: list[tuple[int, int | None]] = []
    found = download(
        f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, progress=lambda *at: seen.append(at)
    )
    assert found == DIGEST
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert list(tmp_path.iterdir()) == [tmp_path / "file.bin"]


@pytest.mark.parametrize("digest", [DIGEST, ""])
def test_a_cut_download_goes_on_where_it_was_cut(digest: str, server: Files, tmp_path: Path) -> None:
    """Cut after 30,000 and again after 20,000 bytes: three requests, for 0-, 30000- and 50000-, and the right bytes."""
    server.cut_after = [30_000, 20_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=digest, wait=Pauses()) == DIGEST
    assert [asked.range for asked in server.asked] == [None, "bytes=30000-", "bytes=50000-"]
    assert server.asked[1].if_range == f'"{DIGEST[:16]}"'


def test_a_server_without_ranges_is_asked_again_for_the_whole(server: Files, tmp_path: Path) -> None:
    """It answers 200 to a request for the rest: what came before is not put in front of the whole."""
    server.ranges, server.cut_after = False, [30_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=Pauses()) == DIGEST
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_begun_again(server: Files, tmp_path: Path) -> None:
    """If-Range: half of the old file and half of the new one are never put together."""
    server.cut_after = [30_000]
    new = CONTENT[::-1]

    def change(seconds: float) -> None:
        server.add("/file.bin", new)

    found = download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=change)
    assert found == sha256(new).hexdigest()
    assert server.asked[1].range == "bytes=30000-"


def test_without_version_or_checksum_a_cut_file_is_begun_again(server: Files, tmp_path: Path) -> None:
    """Nothing says that the rest is of the same file, so the rest is not asked for."""
    server.etag, server.cut_after = "", [30_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=Pauses()) == DIGEST
    assert [asked.range for asked in server.asked] == [None, None]


def test_a_weak_version_is_no_version(server: Files, tmp_path: Path) -> None:
    """A weak ETag promises only that the two mean the same, not that they have the same bytes."""
    server.etag, server.cut_after = 'W/"{}"', [30_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=Pauses()) == DIGEST
    assert [asked.range for asked in server.asked] == [None, None]


def test_a_wrong_file_is_refused_and_not_kept(server: Files, tmp_path: Path) -> None:
    """Another checksum than expected: both are named, and neither the file nor a part of it stays."""
    with pytest.raises(ValueError, match=f"{DIGEST}.*{OTHER}"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=OTHER)
    assert list(tmp_path.iterdir()) == []
    assert len(server.asked) == 1


def test_a_wrong_beginning_is_thrown_away(server: Files, tmp_path: Path) -> None:
    """What an earlier run left may be damaged; then the file is brought once more from its first byte."""
    (tmp_path / ".file.bin.partial").write_bytes(b"\0" * 30_000)
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST) == DIGEST
    assert [asked.range for asked in server.asked] == ["bytes=30000-", None]


def test_a_beginning_that_is_whole_already_needs_no_more_bytes(server: Files, tmp_path: Path) -> None:
    """Killed between the last byte and the move: the server says 416, and the file is complete."""
    (tmp_path / ".file.bin.partial").write_bytes(CONTENT)
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST) == DIGEST
    assert len(server.asked) == 1


def test_a_beginning_longer_than_the_file_is_thrown_away(server: Files, tmp_path: Path) -> None:
    """The server says 416 with a smaller size: begin again."""
    (tmp_path / ".file.bin.partial").write_bytes(CONTENT + b"more")
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, wait=Pauses()) == DIGEST


def test_the_pause_a_server_asks_for_is_kept(server: Files, tmp_path: Path) -> None:
    """429 asks for 7 seconds, 503 for a date 20 seconds ahead; the third failure asks for nothing: two seconds."""
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.answers = [(429, {"Retry-After": "7"}), (503, {"Retry-After": soon}), (502, {})]
    pauses = Pauses()
    download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=pauses)
    assert pauses.seconds[0] == 7
    assert 15 < pauses.seconds[1] <= 20
    assert pauses.seconds[2:] == [2.0]


def test_a_pause_too_long_is_said_and_not_waited_for(server: Files, tmp_path: Path) -> None:
    """Retry-After of an hour: the user is told; what came is kept."""
    server.cut_after, server.answers = [30_000], []
    with pytest.raises(ValueError, match=r"failed.*kept.*later"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, wait=lambda seconds: _close(server))
    assert (tmp_path / ".file.bin.partial").stat().st_size == 30_000
    server.answers = [(429, {"Retry-After": "3600"})]
    with pytest.raises(ValueError, match="3600 seconds"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST)
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST) == DIGEST
    assert server.asked[-1].range == "bytes=30000-"


def _close(server: Files) -> None:
    """Let the server answer that it is overloaded from now on."""
    server.answers = [(503, {})]


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (404, r"does not exist \(HTTP 404\)"),
        (410, r"does not exist \(HTTP 410\)"),
        (401, "is not open to everybody"),
        (403, "is not open to everybody"),
        (418, "answered HTTP 418"),
    ],
)
def test_an_answer_that_no_waiting_betters_is_said_at_once(
    status: int, complaint: str, server: Files, tmp_path: Path
) -> None:
    """No such file, not for everybody, anything odd: one request, one sentence, nothing on the disk."""
    server.answers = [(status, {})]
    with pytest.raises(ValueError, match=complaint):
        download(f"{server.url}/file.bin", tmp_path / "file.bin")
    assert len(server.asked) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_size_is_refused_before_it_is_downloaded(server: Files, tmp_path: Path) -> None:
    """168 MB need not be brought to see that they are not the released 102,401 bytes."""
    with pytest.raises(ValueError, match=r"102,400 bytes.*102,401"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", size=102_401)
    assert list(tmp_path.iterdir()) == []


def test_five_failures_in_a_row_are_enough(server: Files, tmp_path: Path) -> None:
    """500 five times: four pauses, each twice the last, and a sentence."""
    server.answers = [(500, {})] * 9
    pauses = Pauses()
    with pytest.raises(ValueError, match=r"HTTP 500.*kept.*later"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=pauses)
    assert pauses.seconds == [0.5, 1, 2, 4]


def test_a_slow_but_steady_trickle_is_not_given_up(server: Files, tmp_path: Path) -> None:
    """Ten cuts in a row, each after 10,000 bytes more: bytes came each time, so it goes on."""
    server.cut_after = [10_000] * 10
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, wait=Pauses()) == DIGEST
    assert len(server.asked) == 11


def test_where_nobody_listens_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection and a name that is not known are no reason to wait."""
    monkeypatch.setenv("no_proxy", "*")
    with serving() as gone:
        url = gone.url
    for address in (f"{url}/file.bin", "http://nowhere.invalid/file.bin"):
        with pytest.raises(Unreachable, match="cannot be reached"):
            download(address, tmp_path / "file.bin")


def test_only_the_web_is_downloaded_from(tmp_path: Path) -> None:
    """A file: address would read this machine's files."""
    with pytest.raises(ValueError, match="http or https"):
        download("file:///etc/hostname", tmp_path / "file.bin")


def test_a_place_that_cannot_be_written_is_said(server: Files, tmp_path: Path) -> None:
    """A file where a folder must stand."""
    (tmp_path / "here").write_text("a file")
    with pytest.raises(BadInput, match="cannot be written"):
        download(f"{server.url}/file.bin", tmp_path / "here" / "file.bin")


def test_a_killed_download_goes_on_in_the_next_run(server: Files, tmp_path: Path) -> None:
    """SIGKILL in the middle: no file, a part of it; the next run asks for the rest alone."""
    server.slow = 0.05
    code = "import sys; from catsofa.data.sources.download import download; download(sys.argv[1], sys.argv[2])"
    target = tmp_path / "file.bin"
    running = subprocess.Popen([sys.executable, "-c", code, f"{server.url}/file.bin", str(target)])
    partial = tmp_path / ".file.bin.partial"
    until = time.monotonic() + 60
    while not (partial.exists() and partial.stat().st_size >= 20_000) and time.monotonic() < until:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    came = partial.stat().st_size
    assert not target.exists()
    assert 20_000 <= came < len(CONTENT)
    server.slow = 0
    assert download(f"{server.url}/file.bin", target) == DIGEST
    assert server.asked[-1].range == f"bytes={came}-"
    assert list(tmp_path.iterdir()) == [target]
