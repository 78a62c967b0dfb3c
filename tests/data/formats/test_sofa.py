import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.samples import SOFA, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import sofa
from catsofa.data.records import Probe


def test_a_row_becomes_a_probe_under_its_own_id(tmp_path: Path) -> None:
    """The probe's text is the file's text, even if it differs from identity plus stereotype."""
    path = write_sample(tmp_path, "sofa")
    one, two = sofa.read(path)
    assert one == Probe(
        id="1", category="profession", identity="Bakers", stereotype="get up early", text="bakers get up early"
    )
    assert two.id == "2"
    sofa.write([one, two], tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == SOFA


def test_further_columns_are_carried_even_when_they_come_late(tmp_path: Path) -> None:
    """Every row's further columns are written, also when they first appear in a late row."""
    probes = [
        Probe(id=str(number), category="c", identity="Bakers", stereotype=f"sing {number}", extra=extra)
        for number, extra in enumerate(({}, {"tone": "mild"}, {"tone": 'a\r\n"b"', "round": "2"}))
    ]
    sofa.write(probes, tmp_path / "probes.csv")
    header = (tmp_path / "probes.csv").read_text().split("\n", 1)[0]
    assert header == "ID,Category,Identity,Stereotype,Probe,tone,round"
    assert list(formats.read(tmp_path / "probes.csv")) == probes


def test_probes_are_read_one_at_a_time(tmp_path: Path) -> None:
    """The first probe is read before the rest, and 20,000 probes take no more memory than their ids."""
    path = tmp_path / "probes.csv"
    rows = "".join(f"{number},c,Bakers,sing song {number},Bakers sing song {number}\n" for number in range(20_000))
    path.write_text(f"ID,Category,Identity,Stereotype,Probe\n{rows}broken\n")
    probes = sofa.read(path)
    assert next(probes).id == "0"
    tracemalloc.start()
    with pytest.raises(BadInput, match=r":20002: .*1 cell.*5"):
        for _ in probes:
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Identity,", "", ":1: found no column 'Identity'"),
        (",Probe", ",Probe,Probe", ":1: found the column 'Probe' twice"),
        ("\n2,", "\n1,", ":3: found id '1' a second time (first on line 2)"),
        ("\n2,", "\n,", ":3: found nothing in the column 'ID'"),
        ("Painters", "  ", ":3: found nothing in the column 'Identity'"),
        ("painters get", "painters,get", ":3: found 6 cells; expected 5"),
    ],
)
def test_what_is_wrong_with_probes_is_said_with_the_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    """Missing, repeated and empty columns, a repeated id and an extra comma are refused with the line."""
    path = tmp_path / "probes.csv"
    path.write_text(SOFA.replace(old, new, 1))
    with pytest.raises(BadInput) as caught:
        list(sofa.read(path))
    assert said in str(caught.value)


def test_what_reading_would_refuse_is_not_written(tmp_path: Path) -> None:
    """A repeated id and a probe without a category are refused with the line they would have."""
    one, _ = sofa.read(write_sample(tmp_path, "sofa"))
    for probes, message in (
        ([one, one], ":3: found id '1' a second"),
        ([replace(one, category=" ")], ":2: found nothing"),
    ):
        with pytest.raises(BadInput, match=message):
            sofa.write(probes, tmp_path / "again.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["probes.csv"]


def test_what_sofa_cannot_hold_is_named_and_counted(tmp_path: Path) -> None:
    """Provenance is reported as lost, and numbers as kept as text."""
    one, two = sofa.read(write_sample(tmp_path, "sofa"))
    rich = replace(one, source={"statement": "st1"}, extra={"tokens": 4, "list": ["a"], "ID": "x"})
    lost = {"source: statement", "extra: tokens (kept as text)", "extra: list (kept as text)", "extra: ID"}
    assert set(sofa.loses(rich)) == lost
    jsonl.write([rich, two], tmp_path / "probes.jsonl")
    done = formats.convert(tmp_path / "probes.jsonl", tmp_path / "out.csv")
    assert (done.target, done.lost) == ("sofa", Counter(lost))
    assert next(sofa.read(tmp_path / "out.csv")).extra == {"tokens": "4", "list": "['a']"}
