"""A small source is read once and held; a changed one is read again."""

from collections import OrderedDict
from pathlib import Path

import pytest

from catsofa.data import content
from catsofa.data.files import BadInput, jsonl
from catsofa.data.files.faults import leaving_out
from catsofa.data.records import Pair

PAIRS = [Pair(more=f"Zorbs lose {n}.", less=f"Quibs lose {n}.", direction="stereo", bias_type="island") for n in "abc"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Returns a file of pairs."""
    jsonl.write(PAIRS, tmp_path / "pairs.jsonl")
    return tmp_path / "pairs.jsonl"


def test_a_small_source_is_read_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records come again without another look at the lines, all or the first ones."""
    assert [*content.records(file)] == PAIRS
    monkeypatch.setattr(jsonl, "read", None)
    assert [*content.records(file)] == PAIRS
    assert [*content.records(file, 2)] == PAIRS[:2]


def test_a_changed_file_is_read_again(file: Path) -> None:
    """A file that was written again, or replaced by another of the same size."""
    assert len([*content.records(file)]) == 3
    jsonl.write(PAIRS[:2], file)
    assert [*content.records(file)] == PAIRS[:2]
    other = file.with_name("other.jsonl")
    other.write_text(file.read_text().replace("Zorbs", "Lorbs"))
    other.replace(file)
    assert [one.more[:5] for one in content.records(file)] == ["Lorbs", "Lorbs"]


def test_a_large_source_is_not_held(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its records are read as a stream, and only as many as are asked for."""
    monkeypatch.setattr(content, "SMALL", 10)
    file.write_text(file.read_text() + "no record\n")
    assert [*content.records(file, 3)] == PAIRS
    with pytest.raises(BadInput):
        list(content.records(file))


def test_a_source_of_many_records_is_not_held(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small packed file may hold millions; all of them are read, as a stream."""
    monkeypatch.setattr(content, "MOST", 2)
    monkeypatch.setattr(content, "_held", OrderedDict())
    assert [*content.records(file)] == PAIRS
    assert [*content.records(file, 1)] == PAIRS[:1]
    assert not content._held


def test_lines_that_are_left_out_are_not_left_out_later(file: Path) -> None:
    """A reader that skips faulty lines does not hide them from the next one."""
    file.write_text(file.read_text() + "no record\n")
    with leaving_out() as faults:
        assert [*content.records(file)] == PAIRS
    assert len(faults) == 1
    with pytest.raises(BadInput):
        list(content.records(file))


def test_two_sources_are_held_at_most(file: Path) -> None:
    """The one that was used the longest ago is forgotten first."""
    places = [file, *(file.with_name(f"{n}.jsonl") for n in range(3))]
    for place in places[1:]:
        place.write_bytes(file.read_bytes())
    for place in (*places[:2], file, places[2]):
        list(content.records(place))
    assert [Path(name) for name, _ in content._held] == [file, places[2]]
