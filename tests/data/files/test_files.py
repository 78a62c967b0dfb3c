import os
from pathlib import Path

import pytest
from helpers.commands import little_room

from catsofa.data.files import BadInput, atomic_write, existing_file, lines, read_text


def left_in(folder: Path) -> list[str]:
    """Returns the names of everything in a folder, hidden or not."""
    return sorted(path.name for path in folder.iterdir())


def test_lines_are_numbered_from_one_and_blank_ones_passed_over(tmp_path: Path) -> None:
    """A byte-order mark and carriage returns are dropped. A Unicode line separator inside a text ends no line."""
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\n\n  \ntwo\u2028half\x85\nthree".encode())
    assert list(lines(path, "lines")) == [(1, "one"), (4, "two\u2028half\x85"), (5, "three")]


def test_a_line_without_end_takes_bounded_memory(tmp_path: Path) -> None:
    """Only the start of an overlong line is read; the test uses a sparse file of 1 GB."""
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": 1}\n')
        file.truncate(1024**3)
    numbered = lines(path, "records", max_line=1000)
    assert next(numbered) == (1, '{"id": 1}')
    with pytest.raises(BadInput, match=r"long\.jsonl:2: .*1,000 bytes.*records"):
        next(numbered)


def test_the_byte_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    """A Latin-1 byte is refused with its value and line."""
    path = tmp_path / "latin.txt"
    path.write_bytes("tea\ncafé\n".encode("latin-1"))
    with pytest.raises(BadInput, match=r"latin\.txt:2: .*0xe9.*UTF-8.*notes"):
        list(lines(path, "notes"))
    with pytest.raises(BadInput, match=r"latin\.txt:2: .*0xe9"):
        read_text(path, "notes")


def test_what_stands_in_place_of_a_file_is_said(tmp_path: Path) -> None:
    """A missing path, a folder, an empty file, a file as a folder, a circular link, an invalid name and a pipe are
    refused."""
    (tmp_path / "empty").touch()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for name, message in {
        "missing": "no such file",
        ".": "a folder",
        "empty": "an empty file",
        "empty/below": "no such file",
        "loop": "a path that cannot be read",
        "x" * 300: "a path that cannot be read",
        "pipe": "a pipe or device",
    }.items():
        with pytest.raises(BadInput, match=message):
            existing_file(tmp_path / name, "records")


def test_a_failed_writing_leaves_what_was_there(tmp_path: Path) -> None:
    """A failed write leaves no partial file, no change, and no new folders."""
    old = tmp_path / "old.txt"
    old.write_text("before")

    def write_half(target: Path) -> None:
        with atomic_write(target) as file:
            file.write(b"half")
            raise ZeroDivisionError

    for target in (old, tmp_path / "new" / "folder" / "a.txt"):
        with pytest.raises(ZeroDivisionError):
            write_half(target)
    assert old.read_text() == "before"
    assert left_in(tmp_path) == ["old.txt"]


def test_a_writing_that_ends_is_whole_and_public(tmp_path: Path) -> None:
    """Missing folders are created, and the file has the default permissions."""
    target = tmp_path / "new" / "a.txt"
    with atomic_write(target) as file:
        file.write(b"whole")
        assert not target.exists()
    (tmp_path / "plain").touch()
    assert target.read_text() == "whole"
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert left_in(target.parent) == ["a.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """A link's target is written; the link is not replaced."""
    (tmp_path / "real.txt").write_text("before")
    (tmp_path / "link").symlink_to("real.txt")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "after"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (".", "a folder; expected the name of a file"),
        ("pipe", "a pipe or device"),
        ("file/below", "a place that cannot be written"),
        ("x" * 300, "a place that cannot be written"),
    ],
)
def test_a_place_that_cannot_be_written_is_said(target: str, said: str, tmp_path: Path) -> None:
    """A folder, a pipe (as /dev/stdout may be one), a file as a folder and an invalid name are refused as targets."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=said), atomic_write(tmp_path / target) as file:
        file.write(b"x")
    assert left_in(tmp_path) == ["file", "pipe"]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    """A full disk gives one sentence and leaves no partial file."""
    expected_error = r"no room for it \(File too large\)"
    with little_room(10_000), pytest.raises(BadInput, match=expected_error), atomic_write(tmp_path / "a") as file:
        file.write(b"x" * 100_000)
    assert left_in(tmp_path) == []
