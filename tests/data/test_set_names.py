"""Tests names of sets of items."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.choice_runs import pairs, probes, questions
from helpers.gate_runs import cats

from catsofa.data import formats
from catsofa.data.files import BadInput


@pytest.mark.parametrize(
    ("record", "field"),
    [(pairs()[0], "bias_type"), (probes()[0], "category"), (questions()[0], "category"), (cats()[0], "bias_type")],
)
@pytest.mark.parametrize("name", ["overall", "all", "antistereo"])
def test_a_set_that_is_called_as_other_items_is_refused(record: object, field: str, name: str) -> None:
    """A set name that results already use for all items or a direction is refused."""
    with pytest.raises(ValueError, match=f"'{name}'.*other items"):
        replace(record, **{field: name})  # type: ignore[type-var]


def test_a_file_with_such_a_set_is_refused_with_its_line(tmp_path: Path) -> None:
    """A file with a reserved set name is refused with the line (the second record)."""
    place = tmp_path / "pairs.jsonl"
    formats.named("jsonl").write(pairs(2), place)
    first, second = place.read_text("utf-8").splitlines(keepends=True)
    place.write_text(first + second.replace('"bias_type":"x"', '"bias_type":"overall"'), "utf-8")
    with pytest.raises(BadInput, match=r"pairs\.jsonl:2.*'overall'"):
        list(formats.read(place))


def test_a_released_file_with_such_a_set_is_refused_by_name(tmp_path: Path) -> None:
    """A CrowS-Pairs CSV with a direction's name as a bias type is refused."""
    place = tmp_path / "pairs.csv"
    formats.named("crows-pairs").write(pairs(1), place)
    place.write_text(place.read_text("utf-8").replace(",x,", ",stereo,"), "utf-8")
    with pytest.raises(BadInput, match=r"pairs\.csv: .*called 'stereo'"):
        list(formats.read(place))
