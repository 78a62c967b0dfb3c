"""Ids by digest must be told apart, and found, as a dict does it."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from catsofa.data.id_numbers import IdNumbers

IDS = st.lists(st.text(st.characters(codec=None), max_size=3))


@given(IDS, IDS)
def test_an_id_keeps_the_number_it_was_first_given(given_ids: list[str], asked: list[str]) -> None:
    """Whatever the ids, lone surrogates and the empty one among them, the answers are those of a dict."""
    numbers, plain = IdNumbers(), dict[str, int]()
    for number, item in enumerate(given_ids):
        assert numbers.setdefault(item, number) == plain.setdefault(item, number)
    assert len(numbers) == len(plain)
    assert [numbers.get(item) for item in asked] == [plain.get(item) for item in asked]


def test_many_ids_are_found_again_in_little_memory() -> None:
    """20,000 ids, through all widenings of the table, in less than 64 bytes each."""
    tracemalloc.start()
    numbers = IdNumbers()
    for number in range(20_000):
        numbers.setdefault(f"{number:032x}", number)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 64 * 20_000
    assert all(numbers.get(f"{number:032x}") == number for number in range(20_000))
    assert numbers.get("another") is None
