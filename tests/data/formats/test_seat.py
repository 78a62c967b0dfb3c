import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.samples import SEAT, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import seat
from catsofa.data.records import AssociationTest, WordSet


def test_a_file_is_a_test_of_its_name(tmp_path: Path) -> None:
    """Targets are x and y, attributes a and b. The object may fill one line or many."""
    path = write_sample(tmp_path, "seat")
    (test,) = seat.read(path)
    assert test == AssociationTest(
        id="teas",
        x=WordSet(name="Teas", items=("mint", "nettle")),
        y=WordSet(name="Soups", items=("leek", "pea")),
        a=WordSet(name="Pleasant", items=("joy", "peace")),
        b=WordSet(name="Unpleasant", items=("mud", "noise")),
    )
    path.write_text(json.dumps(SEAT))
    assert list(formats.read(path)) == [test]


def test_a_folder_of_files_is_read_by_name_and_written_as_a_folder(tmp_path: Path) -> None:
    """Further fields of the test and its sets go to extra. Other files in the folder are ignored."""
    folder = tmp_path / "in"
    folder.mkdir()
    second: dict[str, Any] = {**SEAT, "note": [1, {"deep": None}], "targ1": {**SEAT["targ1"], "language": "en"}}
    (folder / "b.json").write_text(json.dumps(second))
    (folder / "a.x.jsonl").write_text(json.dumps(SEAT))
    (folder / "README.md").write_text("teas and soups")
    tests = list(formats.read(folder))
    assert [test.id for test in tests] == ["a.x", "b"]
    assert (tests[1].extra, tests[1].x.extra) == ({"note": [1, {"deep": None}]}, {"language": "en"})
    assert formats.convert(folder, tmp_path / "out", target_format="seat").records == 2
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["a.x.jsonl", "b.jsonl"]
    assert json.loads((tmp_path / "out" / "b.jsonl").read_text()) == second
    assert list(formats.read(tmp_path / "out")) == tests


def test_a_folder_of_tests_is_replaced_and_any_other_is_not(tmp_path: Path) -> None:
    """A folder of tests is overwritten, but a folder with other files is refused unchanged."""
    test = next(seat.read(write_sample(tmp_path, "seat")))
    out = tmp_path / "out"
    seat.write([test, replace(test, id="old")], out)
    seat.write([test], out)
    assert [file.name for file in out.iterdir()] == ["teas.jsonl"]
    (out / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"notes\.txt"):
        seat.write([test], out)
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a\\b", "a\0b", "x" * 201])
def test_an_id_that_cannot_name_a_file_writes_nothing(name: str, tmp_path: Path) -> None:
    """An id that is a path or an invalid file name is refused, and no file is written."""
    test = next(seat.read(write_sample(tmp_path, "seat")))
    object.__setattr__(test, "id", name)
    with pytest.raises(ValueError, match="cannot name"):
        seat.write([test], tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["teas.jsonl"]


def test_tests_need_names_of_their_own_and_a_folder_to_write_to(tmp_path: Path) -> None:
    """Repeated ids, a file as the target, no tests and two files of one stem are refused."""
    test = next(seat.read(write_sample(tmp_path, "seat")))
    with pytest.raises(ValueError, match="'teas' cannot name"):
        seat.write([test, test], tmp_path / "out")
    with pytest.raises(ValueError, match="like a file"):
        seat.write([test], tmp_path / "out.jsonl")
    with pytest.raises(ValueError, match="no test to write"):
        seat.write([], tmp_path / "out")
    (tmp_path / "teas.json").write_text(json.dumps(SEAT))
    with pytest.raises(BadInput, match=r"same name.*teas\.json"):
        list(seat.read(tmp_path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attr2": None}, "null in attr2; expected an object"),
        ({"targ1": {"category": "Teas", "examples": []}}, "no examples in targ1"),
        ({"targ1": {"category": "Teas", "examples": "mint"}}, "a text in targ1.examples; expected a list"),
        ({"targ1": {"category": "Teas", "examples": ["mint", 3]}}, "the number 3 in targ1.examples[1]"),
        ({"targ1": {"category": 1, "examples": ["mint"]}}, "the number 1 in targ1.category"),
        ({"targ1": {"examples": ["mint"]}}, "no field 'category' in targ1"),
    ],
)
def test_what_is_wrong_with_a_test_is_said_with_its_place(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    """Wrong value types, missing fields and empty sets are refused with their place in the file."""
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(SEAT | change))
    with pytest.raises(BadInput) as caught:
        list(seat.read(path))
    assert said in str(caught.value)


def test_two_objects_in_a_file_are_one_too_many(tmp_path: Path) -> None:
    """A second object in a file is refused, because the file's name gives only one test id."""
    path = tmp_path / "two.jsonl"
    path.write_text(f"{json.dumps(SEAT)}\n{json.dumps(SEAT)}\n")
    with pytest.raises(BadInput, match=r"two\.jsonl:2: .*extra data"):
        list(seat.read(path))


def test_what_seat_cannot_hold_is_named_and_counted(tmp_path: Path) -> None:
    """Provenance and a field with the name of a word set are reported as lost."""
    test = next(seat.read(write_sample(tmp_path, "seat")))
    rich = replace(test, source={"templates": "bleached"}, extra={"attr1": 1}, x=replace(test.x, extra={"category": 2}))
    lost = {"source: templates", "extra: attr1", "x: extra: category"}
    assert set(seat.loses(rich)) == lost
    jsonl.write([rich], tmp_path / "tests.jsonl")
    assert formats.convert(tmp_path / "tests.jsonl", tmp_path / "out", target_format="seat").lost == Counter(lost)


def test_the_46_released_tests_come_back_as_they_were(shared: Path, tmp_path: Path) -> None:
    """The 46 tests give the same JSON in each file and equal records after a round trip; weat1 has 25 words per set."""
    source = shared / "data/seat"
    tests: list[AssociationTest] = list(formats.read(source))
    assert len(tests) == 46
    weat1 = next(test for test in tests if test.id == "weat1")
    assert [len(part.items) for part in (weat1.x, weat1.y, weat1.a, weat1.b)] == [25] * 4
    assert seat.write(iter(tests), tmp_path / "seat") == 46
    for file in (tmp_path / "seat").iterdir():
        assert json.loads(file.read_text()) == json.loads((source / file.name).read_text())
    assert list(formats.read(tmp_path / "seat")) == tests
    assert [next(formats.read(file)).id for file in sorted(source.iterdir())] == [test.id for test in tests]
