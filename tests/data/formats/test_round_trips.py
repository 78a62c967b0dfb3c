import os
from typing import Any

import pytest
from helpers.strategies import RECORDS_OF
from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data.files import jsonl
from catsofa.data.formats import named
from catsofa.data.formats.losses import lost
from catsofa.data.records import RECORDS, AssociationTest

EXAMPLES = int(os.environ.get("CATSOFA_EXAMPLES", "20"))
"""Examples per test; a thousand take some minutes."""
MINE = ("stereoset", "predictions", "crows-pairs", "seat", "sofa", "bbq", "annotations")


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_jsonl_gives_back_every_record_as_it_was(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """JSONL preserves every record: odd characters, empty fields, infinities and nested extras."""
    drawn = data.draw(st.lists(RECORDS_OF[RECORDS[kind]], min_size=1, max_size=4))
    path = tmp_path_factory.getbasetemp() / "records.jsonl"
    assert jsonl.write(drawn, path) == len(drawn)
    assert list(jsonl.read(path, RECORDS[kind])) == drawn


@pytest.mark.parametrize("name", MINE)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_what_a_format_gives_back_differs_only_in_what_it_says_it_loses(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """For any records, a round trip loses only the fields that `loses` names."""
    chosen = named(name)
    drawn = data.draw(st.lists(RECORDS_OF[chosen.holds[0]], min_size=1, max_size=3))
    path = tmp_path_factory.mktemp("trip") / f"file{chosen.suffix}"
    assert chosen.write(iter(drawn), path) == len(drawn)
    back = list(chosen.read(path))
    assert len(back) == len(drawn)
    for record, again in zip(in_file_order(drawn), back, strict=True):
        assert set(lost(record, again)) == set(chosen.loses(record))


@pytest.mark.parametrize("name", MINE)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_what_came_out_of_a_format_goes_back_in_unchanged(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A second round trip changes nothing and reports no loss."""
    chosen = named(name)
    drawn = data.draw(st.lists(RECORDS_OF[chosen.holds[0]], min_size=1, max_size=3))
    folder = tmp_path_factory.mktemp("trips")
    chosen.write(iter(drawn), folder / f"once{chosen.suffix}")
    once = list(chosen.read(folder / f"once{chosen.suffix}"))
    assert [field for record in once for field in chosen.loses(record)] == []
    chosen.write(iter(once), folder / f"twice{chosen.suffix}")
    assert list(chosen.read(folder / f"twice{chosen.suffix}")) == once


def in_file_order(records: list[Any]) -> list[Any]:
    """Returns the records in file order: task by task, or tests by file name."""
    if isinstance(records[0], AssociationTest):
        return sorted(records, key=lambda test: f"{test.id}.jsonl")
    tasks = [getattr(record, "kind", getattr(record, "task", "")) for record in records]
    return sorted(records, key=lambda r: tasks.index(getattr(r, "kind", getattr(r, "task", ""))))
