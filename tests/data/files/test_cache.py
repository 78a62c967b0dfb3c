"""Tests that a cache never changes a result, whatever is wrong with it."""

import os
from pathlib import Path

import platformdirs
import pytest

from catsofa.data.files.cache import keep, kept


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a value that was kept in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    keep("kind", ["key", 1], {"a": [1.5, None]})
    return next(tmp_path.rglob("*.json"))


def test_a_value_is_found_under_its_key_alone(entry: Path) -> None:
    """Other kinds and keys have no value, and the file does not contain the key."""
    assert kept("kind", ["key", 1]) == {"a": [1.5, None]}
    assert kept("kind", ["key", 2]) is kept("other", ["key", 1]) is None
    assert b"key" not in entry.read_bytes()


@pytest.mark.parametrize("damage", [b"", b"\xff", b"5", b"[" * 200_000, b'{"value": 1, "checksum": "x"}'])
def test_a_damaged_entry_is_no_value(entry: Path, damage: bytes) -> None:
    """Also an entry of another key is none."""
    entry.write_bytes(damage)
    assert kept("kind", ["key", 1]) is None
    keep("kind", ["key", 1], 7)
    assert kept("kind", ["key", 1]) == 7
    keep("kind", "other", 8)
    other = next(file for file in entry.parent.iterdir() if file != entry)
    other.write_bytes(entry.read_bytes())
    assert kept("kind", "other") is None


def test_neither_a_pipe_nor_a_link_is_read_or_written(entry: Path, tmp_path: Path) -> None:
    """A pipe would wait for ever, and a link may lead to any file."""
    entry.unlink()
    os.mkfifo(entry)
    assert kept("kind", ["key", 1]) is None
    entry.unlink()
    (tmp_path / "mine").write_text("untouched")
    entry.symlink_to(tmp_path / "mine")
    keep("kind", ["key", 1], 7)
    assert kept("kind", ["key", 1]) is None
    assert (tmp_path / "mine").read_text() == "untouched"


def test_a_user_without_a_home_folder_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose user has no entry in the list of users."""

    def homeless(*_: object, **__: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(platformdirs, "user_cache_path", homeless)
    keep("kind", "key", 1)
    assert kept("kind", "key") is None
