import os
from mmap import mmap
from pathlib import Path
from types import SimpleNamespace

import pytest

from catsofa.data.files import checksums
from catsofa.data.files.checksums import LARGE, checked_sha256_of, sha256_of


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a file that is large enough for the checksum cache, with an old change time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(checksums, "SETTLED", -1.0)
    path = tmp_path / "set.json"
    path.write_bytes(b"x" * LARGE)
    return path


def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Returns a list that collects the files hashed from now on."""
    hashed: list[Path] = []

    def noted(path: Path) -> str:
        hashed.append(path)
        return sha256_of(path)

    monkeypatch.setattr(checksums, "sha256_of", noted)
    return hashed


def test_a_large_file_is_hashed_once_for_each_version(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second use reads nothing. A change of one byte with the same size and mtime is still detected."""
    expected, hashed = sha256_of(large), reads(monkeypatch)
    assert [checked_sha256_of(large, expected) for _ in range(3)] == [expected] * 3
    assert hashed == [large]
    times = large.stat()
    with large.open("r+b") as file:
        file.write(b"y")
    os.utime(large, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert checked_sha256_of(large, expected) != expected
    assert len(hashed) > 1


def test_a_difference_is_confirmed_by_reading(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged or unwritable cache never changes the result of a check."""
    expected = sha256_of(large)
    checked_sha256_of(large, expected)
    cache_file = next((large.parent / "cache").rglob("*.json"))
    for damage in (b"", b"\xff", b"[]", cache_file.read_bytes().replace(expected[:8].encode(), b"00000000")):
        cache_file.write_bytes(damage)
        assert checked_sha256_of(large, expected) == expected
    assert checked_sha256_of(large, "0" * 64) == expected
    monkeypatch.setenv("XDG_CACHE_HOME", str(large))
    assert checked_sha256_of(large, expected) == expected


def test_a_file_that_has_just_changed_is_not_kept(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checksum of a file that has just changed is not cached, because two changes in one clock tick share a time
    stamp."""
    monkeypatch.setattr(checksums, "SETTLED", 3600.0)
    checked_sha256_of(large, sha256_of(large))
    assert not (large.parent / "cache").exists()


def test_a_file_system_that_stamps_whole_seconds_is_not_trusted(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the image of a container two versions of a file can have the same size and stamps."""
    assert checksums._shows_changes(large.stat())
    assert not checksums._shows_changes(SimpleNamespace(st_ctime_ns=3 * 10**9))
    monkeypatch.setattr(checksums, "_shows_changes", lambda _: False)
    expected, hashed = sha256_of(large), reads(monkeypatch)
    assert [checked_sha256_of(large, expected) for _ in range(2)] == [expected] * 2
    assert hashed == [large] * 2


def test_a_change_through_mapped_memory_is_seen(large: Path) -> None:
    """A process that maps the file writes a page twice; the second write changes the hash."""
    with large.open("r+b") as file, mmap(file.fileno(), 0) as mapped:
        mapped[0] = 1
        first = checksums.known_sha256_of(large)
        mapped[0] = 2
        assert checksums.known_sha256_of(large) == sha256_of(large) != first
