"""Tests that ids stored by digest behave like the keys of a dict."""

import tracemalloc
from collections import deque
from unittest.mock import patch

import pytest
from helpers.commands import little_room
from hypothesis import given
from hypothesis import strategies as st

from catsofa.data import id_numbers
from catsofa.data.id_numbers import IdNumbers

IDS = st.lists(st.text(st.characters(codec=None), max_size=3))


@given(IDS, IDS, st.sampled_from([2, id_numbers.IN_MEMORY]))
def test_an_id_keeps_the_number_it_was_first_given(given_ids: list[str], asked: list[str], in_memory: int) -> None:
    """For all ids, including lone surrogates and the empty id, the table in memory or on disk answers like a dict."""
    numbers, plain = IdNumbers(), dict[str, int]()
    with patch.object(id_numbers, "IN_MEMORY", in_memory):
        for number, item in enumerate(given_ids):
            assert numbers.setdefault(item, number) == plain.setdefault(item, number)
        assert len(numbers) == len(plain)
        assert [numbers.get(item) for item in asked] == [plain.get(item) for item in asked]


@pytest.mark.parametrize(("in_memory", "most"), [(5_000, 64), (id_numbers.IN_MEMORY, 200)])
def test_many_ids_are_found_again_in_little_memory(in_memory: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 ids take less than 200 bytes each in memory, and less than 64 where most of them are in a file."""
    monkeypatch.setattr(id_numbers, "IN_MEMORY", in_memory)
    tracemalloc.start()
    numbers = IdNumbers()
    for number in range(20_000):
        numbers.setdefault(f"{number:032x}", number)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < most * 20_000
    assert all(numbers.get(f"{number:032x}") == number for number in range(20_000))
    assert numbers.get("another") is None


def test_a_disk_without_room_for_the_file_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk gives one sentence that names TMPDIR."""
    monkeypatch.setattr(id_numbers, "IN_MEMORY", 100)
    monkeypatch.setattr(id_numbers, "CACHE", 1)
    numbers = IdNumbers()
    with little_room(20_000), pytest.raises(ValueError, match="TMPDIR"):
        deque((numbers.setdefault(str(number), number) for number in range(50_000)), maxlen=0)
