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
    """Yields a server with one file."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as files:
        files.add("/file.bin", CONTENT)
        yield files


class Pauses:
    """Records requested pauses without waiting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        """Records one pause."""
        self.seconds.append(seconds)


def test_a_file_is_downloaded_verified_and_alone(server: Files, tmp_path: Path) -> None:
    """The file and its checksum are right, the progress reaches the last byte, and no other file is left."""
    steps: list[tuple[int, int | None]] = []
    digest = download(
        f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, progress=lambda *at: steps.append(at)
    )
    assert digest == DIGEST
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert list(tmp_path.iterdir()) == [tmp_path / "file.bin"]


@pytest.mark.parametrize("digest", [DIGEST, ""])
def test_a_cut_download_goes_on_where_it_was_cut(digest: str, server: Files, tmp_path: Path) -> None:
    """After cuts at 30,000 and 20,000 more bytes, three requests (0-, 30000- and 50000-) give the right bytes."""
    server.cut_after = [30_000, 20_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=digest, wait=Pauses()) == DIGEST
    assert [request.range for request in server.asked] == [None, "bytes=30000-", "bytes=50000-"]
    assert server.asked[1].if_range == f'"{DIGEST[:16]}"'


def test_a_server_without_ranges_is_asked_again_for_the_whole(server: Files, tmp_path: Path) -> None:
    """A server that answers 200 to a range request gives a fresh start; earlier bytes are not prepended."""
    server.ranges, server.cut_after = False, [30_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=Pauses()) == DIGEST
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_begun_again(server: Files, tmp_path: Path) -> None:
    """If-Range prevents a mixture of the old and the new file."""
    server.cut_after = [30_000]
    new = CONTENT[::-1]

    def change(seconds: float) -> None:
        server.add("/file.bin", new)

    digest = download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=change)
    assert digest == sha256(new).hexdigest()
    assert server.asked[1].range == "bytes=30000-"


def test_without_version_or_checksum_a_cut_file_is_begun_again(server: Files, tmp_path: Path) -> None:
    """Without a version or checksum, the rest may belong to another file, so the download starts again."""
    server.etag, server.cut_after = "", [30_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=Pauses()) == DIGEST
    assert [request.range for request in server.asked] == [None, None]


def test_a_weak_version_is_no_version(server: Files, tmp_path: Path) -> None:
    """A weak ETag does not guarantee the same bytes, so the download starts again."""
    server.etag, server.cut_after = 'W/"{}"', [30_000]
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=Pauses()) == DIGEST
    assert [request.range for request in server.asked] == [None, None]


def test_a_wrong_file_is_refused_and_not_kept(server: Files, tmp_path: Path) -> None:
    """A wrong checksum is refused with both digests, and neither the file nor a part stays."""
    with pytest.raises(ValueError, match=f"{DIGEST}.*{OTHER}"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=OTHER)
    assert list(tmp_path.iterdir()) == []
    assert len(server.asked) == 1


def test_a_wrong_beginning_is_thrown_away(server: Files, tmp_path: Path) -> None:
    """A damaged partial file of an earlier run causes one more download from the first byte."""
    (tmp_path / ".file.bin.partial").write_bytes(b"\0" * 30_000)
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST) == DIGEST
    assert [request.range for request in server.asked] == ["bytes=30000-", None]


def test_a_beginning_that_is_whole_already_needs_no_more_bytes(server: Files, tmp_path: Path) -> None:
    """If the last run was killed between the last byte and the move, the server answers 416, and the file is
    complete."""
    (tmp_path / ".file.bin.partial").write_bytes(CONTENT)
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST) == DIGEST
    assert len(server.asked) == 1


def test_a_beginning_longer_than_the_file_is_thrown_away(server: Files, tmp_path: Path) -> None:
    """If the server answers 416 with a smaller size, the download starts again."""
    (tmp_path / ".file.bin.partial").write_bytes(CONTENT + b"more")
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, wait=Pauses()) == DIGEST


def test_the_pause_a_server_asks_for_is_kept(server: Files, tmp_path: Path) -> None:
    """429 requests 7 seconds and 503 a date 20 seconds ahead; the third failure gives no time, so the pause is two
    seconds."""
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.answers = [(429, {"Retry-After": "7"}), (503, {"Retry-After": soon}), (502, {})]
    pauses = Pauses()
    download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=pauses)
    assert pauses.seconds[0] == 7
    assert 15 < pauses.seconds[1] <= 20
    assert pauses.seconds[2:] == [2.0]


def test_a_pause_too_long_is_said_and_not_waited_for(server: Files, tmp_path: Path) -> None:
    """A Retry-After of an hour is an error, and the received bytes are kept."""
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
    """Makes the server answer that it is overloaded."""
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
    """A missing file, a restricted file and an odd status give one request, one sentence and no file."""
    server.answers = [(status, {})]
    with pytest.raises(ValueError, match=complaint):
        download(f"{server.url}/file.bin", tmp_path / "file.bin")
    assert len(server.asked) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_size_is_refused_before_it_is_downloaded(server: Files, tmp_path: Path) -> None:
    """A file of the wrong size is refused before the download of its content."""
    with pytest.raises(ValueError, match=r"102,400 bytes.*102,401"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", size=102_401)
    assert list(tmp_path.iterdir()) == []


def test_five_failures_in_a_row_are_enough(server: Files, tmp_path: Path) -> None:
    """After HTTP 500 five times, with four pauses that double, the download fails."""
    server.answers = [(500, {})] * 9
    pauses = Pauses()
    with pytest.raises(ValueError, match=r"HTTP 500.*kept.*later"):
        download(f"{server.url}/file.bin", tmp_path / "file.bin", wait=pauses)
    assert pauses.seconds == [0.5, 1, 2, 4]


def test_a_slow_but_steady_trickle_is_not_given_up(server: Files, tmp_path: Path) -> None:
    """Ten cuts, each after 10,000 more bytes, do not end the download, because bytes came each time."""
    server.cut_after = [10_000] * 10
    assert download(f"{server.url}/file.bin", tmp_path / "file.bin", sha256=DIGEST, wait=Pauses()) == DIGEST
    assert len(server.asked) == 11


def test_where_nobody_listens_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection and an unknown host fail at once."""
    monkeypatch.setenv("no_proxy", "*")
    with serving() as gone:
        url = gone.url
    for address in (f"{url}/file.bin", "http://nowhere.invalid/file.bin"):
        with pytest.raises(Unreachable, match="cannot be reached"):
            download(address, tmp_path / "file.bin")


def test_only_the_web_is_downloaded_from(tmp_path: Path) -> None:
    """A file: address is refused, because it would read local files."""
    with pytest.raises(ValueError, match="http or https"):
        download("file:///etc/hostname", tmp_path / "file.bin")


def test_a_place_that_cannot_be_written_is_said(server: Files, tmp_path: Path) -> None:
    """A file in the place of a folder is reported."""
    (tmp_path / "here").write_text("a file")
    with pytest.raises(BadInput, match="cannot be written"):
        download(f"{server.url}/file.bin", tmp_path / "here" / "file.bin")


def test_a_killed_download_goes_on_in_the_next_run(server: Files, tmp_path: Path) -> None:
    """After SIGKILL, a partial file is left, and the next run requests only the rest."""
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
