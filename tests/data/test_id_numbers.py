"""Tests that ids stored by digest behave like the keys of a dict."""

import tracemalloc
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catsofa.data import id_numbers
from catsofa.data.id_numbers import IdNumbers

IDS = st.lists(st.text(st.characters(codec=None), max_size=3))


@given(IDS, IDS, st.sampled_from([2, id_numbers.IN_A_DICT]))
def test_an_id_keeps_the_number_it_was_first_given(given_ids: list[str], asked: list[str], in_a_dict: int) -> None:
    """For all ids, including lone surrogates and the empty id, the map answers like a dict; also as a table."""
    numbers, plain = IdNumbers(), dict[str, int]()
    with patch.object(id_numbers, "IN_A_DICT", in_a_dict):
        for number, item in enumerate(given_ids):
            assert numbers.setdefault(item, number) == plain.setdefault(item, number)
        assert len(numbers) == len(plain)
        assert [numbers.setdefault(item, 99) for item in asked] == [plain.setdefault(item, 99) for item in asked]


@pytest.mark.parametrize(("in_a_dict", "most"), [(5_000, 64), (id_numbers.IN_A_DICT, 200)])
def test_many_ids_are_found_again_in_little_memory(in_a_dict: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 ids take less than 200 bytes each in a dict, and less than 64 in a table, through all its resizes."""
    monkeypatch.setattr(id_numbers, "IN_A_DICT", in_a_dict)
    tracemalloc.start()
    numbers = IdNumbers()
    for number in range(20_000):
        numbers.setdefault(f"{number:032x}", number)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < most * 20_000
    assert all(numbers.setdefault(f"{number:032x}", 0) == number for number in range(20_000))
    assert numbers.setdefault("another", 7) == 7
