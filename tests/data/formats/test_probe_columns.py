"""Large files of probes are read in columns, which gives the records of reading line by line, or is not done."""

import gzip
import json
import random
from collections import OrderedDict
from itertools import chain, product, repeat
from pathlib import Path

import pytest
from helpers.mutations import MUTATIONS

from catsofa.data import formats
from catsofa.data.content import content_at, content_of
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import probe_columns
from catsofa.data.formats.probe_columns import ProbeFile, Probes, probe_file
from catsofa.data.records import Probe

PROBES = [
    Probe(category=category, identity=identity, stereotype=f"{verb} {thing}", text=f"{identity} {verb} {thing}.")
    for category, identity, verb, thing in product(
        ("island", "gild"), ("zorbs", "Quibs der Çuib", "the 雪 people"), ("eat", "sell"), ('"jam"', "\\ and \x00", "é")
    )
]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads small files in columns too, a few lines at once."""
    monkeypatch.setattr(jsonl, "LARGE", 0)
    monkeypatch.setattr(probe_columns, "BLOCK", 700)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Returns a file of probes."""
    jsonl.write(PROBES, tmp_path / "probes.jsonl")
    return tmp_path / "probes.jsonl"


def line_by_line(path: Path) -> list[Probe] | None:
    """Returns the records that the reader of lines finds; None if it refuses the file."""
    try:
        return list(formats.read_as(path, Probe))
    except BadInput:
        return None


@pytest.mark.parametrize("ascii", [True, False], ids=["escaped", "UTF-8"])
@pytest.mark.parametrize("end", ["\n", ""], ids=["with a last newline", "without"])
def test_the_records_are_those_of_the_lines(file: Path, ascii: bool, end: str) -> None:
    """All records in order, with the content hash of the same records in memory."""
    lines = [json.dumps(json.loads(line), ensure_ascii=ascii) for line in file.read_text("utf-8").splitlines()]
    file.write_text("\n".join(lines) + end, "utf-8")
    read = probe_file(file)
    assert read is not None
    assert [*read] == PROBES == line_by_line(file)
    assert content_of(read) == content_of(PROBES) == content_at(file)


@pytest.mark.parametrize("limit", [1, 7, len(PROBES), len(PROBES) + 1])
def test_a_limit_takes_the_first_records(file: Path, limit: int) -> None:
    """The records, their chunks and their hash are those of the first lines."""
    read = probe_file(file, limit)
    assert read is not None
    assert [*read] == PROBES[:limit]
    assert [one for chunk in read.cut(repeat(5)) for one in chunk] == PROBES[:limit]
    assert content_at(file, limit) == content_of(PROBES[:limit])


def test_chunks_have_the_sizes_that_are_asked_for(file: Path) -> None:
    """Chunks cross the blocks of the file; without sizes there is one chunk."""
    read = probe_file(file)
    assert read is not None
    assert len([*read.blocks()]) > 3
    rest, last = divmod(len(PROBES) - 23, 3)
    sizes = [len(chunk) for chunk in read.cut(chain([1, 4, 16, 2], repeat(3)))]
    assert sizes == [1, 4, 16, 2, *[3] * rest, *[last] * bool(last)]
    (whole,) = read.cut(None)
    assert [*whole] == PROBES


def test_columns_are_a_sequence_of_records(file: Path) -> None:
    """Columns can be indexed, sliced, chosen from and joined as a list of records can."""
    columns = Probes.of(PROBES)
    assert columns[3] == PROBES[3]
    assert columns[-1] == PROBES[-1]
    assert [*columns[2:9]] == PROBES[2:9]
    for places in ([], [4], [5, 2]):
        assert [*columns.only(places)] == [PROBES[place] for place in places]
    assert [*Probes.joined([columns[:3], columns[3:]])] == PROBES
    assert len(Probes.joined([])) == 0


GOOD = json.dumps({"id": "a", "category": "c", "identity": "zorbs", "stereotype": "eat", "text": "zorbs eat"})


@pytest.mark.parametrize(
    "line",
    [
        GOOD.replace('"a"', '"b", "id": "c"'),
        GOOD.replace('"a"', '"b", "\\u0069d": "c"'),
        GOOD.replace('"a"', "7"),
        GOOD.replace('"a"', '""'),
        GOOD.replace('"a"', "null"),
        GOOD.replace('"zorbs eat"', '""'),
        GOOD.replace('"zorbs eat"', "[]"),
        GOOD.replace('"zorbs eat"', '"\\ud800"'),
        GOOD.replace('"zorbs eat"', '"zorbs\teat"'),
        GOOD.replace('"a"', '"b"').replace("}", ', "source": {}}'),
        GOOD.replace('"a"', '"b"').replace("}", ', "unknown": "x"}'),
        GOOD.replace('"a"', '"b"').replace("}", ",}"),
        GOOD.replace('"a"', '"b"').replace("{", "{\n"),
        GOOD.replace('"a"', '"b"') + GOOD.replace('"a"', '"c"'),
        GOOD.replace('"a"', '"b"') + GOOD.replace('"a"', '"c"').replace('"category"', '\n"category"'),
        GOOD.replace('"a"', '"b"') + " ",
        " " + GOOD.replace('"a"', '"b"'),
        GOOD.replace('"a"', '"b"') + "\r",
        GOOD.replace('"a"', '"b"').replace('"c"', '"overall"'),
        GOOD,
        "",
        "{}",
        "[]",
        "//",
    ],
)
@pytest.mark.parametrize("before", [0, 40])
def test_any_other_line_is_read_by_the_reader_of_lines(tmp_path: Path, line: str, before: int) -> None:
    """A repeated or unknown field, an empty one, another type, a repeated id, or another layout of the lines."""
    path = tmp_path / "probes.jsonl"
    first = [GOOD, *(GOOD.replace('"a"', f'"{number}"') for number in range(before))]
    path.write_bytes("\n".join([*first, line, GOOD.replace('"a"', '"z"'), ""]).encode("utf-8", "surrogatepass"))
    assert probe_file(path) is None


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_read_in_columns_is_what_the_lines_say(file: Path, seed: int) -> None:
    """Of 400 mutated files, some can still be read in columns; each of these has the records of its lines."""
    rng, raw, count = random.Random(seed), file.read_bytes(), 0
    for number in range(400):
        path = file.with_name(f"{number}.jsonl")
        path.write_bytes(rng.choice(MUTATIONS)(raw, rng) or b"\n")
        if (read := probe_file(path)) is not None:
            count += 1
            assert [*read] == line_by_line(path), f"seed {seed}, file {number}"
    assert 0 < count < 400


def test_other_files_are_not_read_in_columns(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed file, a file of another kind, a missing one, and a small one."""
    packed = file.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    pairs = file.with_name("pairs.jsonl")
    pairs.write_text('{"more": "a", "less": "b", "direction": "stereo", "bias_type": "c"}\n')
    for path in (packed, pairs, file.with_name("none.jsonl"), file.parent):
        assert probe_file(path) is None
    monkeypatch.setattr(jsonl, "LARGE", 1 << 20)
    assert probe_file(file) is None


def test_a_line_that_is_too_long_is_not_held(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than any record ends the reading in columns, whatever follows."""
    monkeypatch.setattr(probe_columns, "MAX_LINE", 2000)
    assert probe_file(file) is not None
    long = GOOD.replace('"a"', '"b"').replace("eat", "eat " * 3000)
    file.write_text(f"{GOOD}\n{long}\n")
    assert probe_file(file) is None
    monkeypatch.setattr(probe_columns, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(probe_columns, "_in_columns", OrderedDict())
    assert probe_file(file) is not None


def test_a_file_that_changes_while_it_is_read_is_refused(file: Path) -> None:
    """What was read in columns before is not mixed with lines of another form."""
    read = probe_file(file)
    assert read is not None
    blocks = read.blocks()
    next(blocks)
    file.write_bytes(file.read_bytes().replace(b"Quibs", b"Quabs"))
    with pytest.raises(BadInput, match="changed while it was read"):
        next(blocks)
    few = ProbeFile(file, read._version, 2)
    with pytest.raises(BadInput, match="changed while it was read"):
        list(few)
    again = probe_file(file)
    assert again is not None
    assert [*again] == line_by_line(file) != PROBES
    file.write_bytes(file.read_bytes().replace(b'"text"', b'"test"'))
    with pytest.raises(BadInput, match="changed while it was read"):
        list(again.blocks())
    assert probe_file(file) is None
