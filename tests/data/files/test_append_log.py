"""Tests append-only logs: each line has a checksum, and a changed or swapped line is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from catsofa.data.files import BadInput
from catsofa.data.files.append_log import AppendLog, LogReader

LINES = [{"key": f"zorb {n}", "score": n / 7, "said": {"text": "Blickets früh", "none": None}} for n in range(4)]


def write(path: Path, *values: dict[str, Any], bound_to: str = "") -> Path:
    """Writes a log with these lines and returns its path."""
    with AppendLog(path, "a log", bound_to=bound_to) as log:
        assert log.append(*values) == list(values)
    return path


def read(path: Path, bound_to: str = "") -> list[dict[str, Any]]:
    """Returns the lines of a log as the next run reads them."""
    with AppendLog(path, "a log", bound_to=bound_to) as log:
        return list(log.read("key"))


def test_no_flipped_bit_changes_a_line(tmp_path: Path) -> None:
    """After a flip of each seventh bit alone, the log is refused or reads as written.

    A line without its end is dropped like one that a kill cut. A lone field of the first line may stay unchecked.
    """
    values = LINES[:2]
    content = write(tmp_path / "log.jsonl", *values).read_bytes()
    damaged = tmp_path / "damaged.jsonl"
    refused = 0
    for bit in range(0, 8 * len(content), 7):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(flipped)
        try:
            lines = read(damaged)
        except BadInput:
            refused += 1
            continue
        fields = [{name: value for name, value in line.items() if name in LINES[0]} for line in lines]
        assert fields in (values, values[:-1]), bit
    assert refused > 0.9 * 8 * len(content) / 7


def test_an_edited_line_is_named_with_what_to_do(tmp_path: Path) -> None:
    """The error names the file, the line number and the remedy. Without the edited line, the rest is read."""
    path = write(tmp_path / "log.jsonl", *LINES)
    path.write_text(path.read_text().replace("zorb 2", "zorb 7"))
    with pytest.raises(BadInput, match=r"log\.jsonl:3: .*checksum.*delete") as refused:
        read(path)
    assert refused.value.line == 3
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "zorb 7" not in line))
    assert read(path) == [LINES[0], LINES[1], LINES[3]]


def test_lines_of_another_run_are_refused(tmp_path: Path) -> None:
    """A log bound to one server is refused for another, and for a run bound to none."""
    path = write(tmp_path / "log.jsonl", *LINES, bound_to="here")
    assert read(path, bound_to="here") == LINES
    for other in ("there", ""):
        with pytest.raises(BadInput, match="of another run"):
            read(path, bound_to=other)


def test_a_chained_log_refuses_a_lost_doubled_or_moved_line(tmp_path: Path) -> None:
    """A log with a lost, doubled or moved line before the last is refused; the intact log is read."""
    path = tmp_path / "log.jsonl"
    for values in (LINES[:2], LINES[2:3], LINES[3:]):
        with AppendLog(path, "a log", chained=True) as log:
            log.append(*values)
    assert list(LogReader(path, "a log", chained=True).read("key")) == LINES
    lines = path.read_text().splitlines(keepends=True)
    for n in range(3):
        for changed in (
            lines[:n] + lines[n + 1 :],
            [*lines[: n + 1], *lines[n:]],
            [*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]],
        ):
            path.write_text("".join(changed))
            with pytest.raises(BadInput, match="from a copy"):
                list(LogReader(path, "a log", chained=True).read("key"))


def test_a_log_that_was_begun_without_a_chain_gets_one_from_there_on(tmp_path: Path) -> None:
    """Lines of an earlier version are read unchanged; lines added to them are chained."""
    path = write(tmp_path / "log.jsonl", *LINES[:2])
    with AppendLog(path, "a log", chained=True) as log:
        log.append(*LINES[2:])
    assert list(LogReader(path, "a log", chained=True).read("key")) == LINES
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], lines[3]]))
    with pytest.raises(BadInput, match=r"log\.jsonl:3: .*lost.*moved"):
        list(LogReader(path, "a log", chained=True).read("key"))


def test_a_line_cut_by_a_kill_is_dropped_and_the_rest_is_checked(tmp_path: Path) -> None:
    """At each byte of a cut, every whole line before the cut is read."""
    content = write(tmp_path / "log.jsonl", *LINES).read_bytes()
    ends = [n + 1 for n, byte in enumerate(content) if byte == ord("\n")]
    for length in range(0, len(content), 7):
        (tmp_path / "cut.jsonl").write_bytes(content[:length])
        assert read(tmp_path / "cut.jsonl") == LINES[: sum(end <= length for end in ends)]


def test_lines_of_earlier_versions_are_counted_and_only_come_first(tmp_path: Path) -> None:
    """Lines without checksums are read, counted, and skipped on request. After a line with a checksum they are
    refused."""
    path = tmp_path / "log.jsonl"
    old = "".join(json.dumps(line) + "\n" for line in LINES[:2])
    path.write_text(old)
    write(path, *LINES[2:])
    with AppendLog(path, "a log") as log:
        for _ in range(2):
            assert list(log.read("key")) == LINES
            assert (log.checked, log.unchecked) == (2, 2)
        assert list(log.read("key", unchecked=False)) == LINES[2:]
    path.write_text(path.read_text() + old)
    with pytest.raises(BadInput) as refused:
        read(path)
    assert refused.value.line == 5
