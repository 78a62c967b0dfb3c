"""Tests that the numbers of probes are found by their ids, whatever the hashes of the ids are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catsofa.scoring import probe_numbers as numbers
from catsofa.scoring.probe_numbers import NONE, ProbeNumbers

IDS = st.lists(st.text(st.characters(codec=None), max_size=3), unique=True)


@given(IDS, IDS, st.integers(0, 9))
def test_ids_are_found_as_in_a_dict(ids: list[str], asked: list[str], cut: int) -> None:
    """For all ids, including lone surrogates and the empty id, added at once or in two parts."""
    held = ProbeNumbers()
    held.add(ids[:cut])
    held.add(ids[cut:])
    plain = {item: number for number, item in enumerate(ids)}
    assert held.repeated == NONE
    assert held.find(asked).tolist() == [plain.get(item, NONE) for item in asked]


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=9))
def test_a_repeated_id_is_found(ids: list[str]) -> None:
    """The second one of the first repeated id is named."""
    held = ProbeNumbers()
    held.add(ids)
    seen = [number for number, item in enumerate(ids) if item in ids[:number]]
    assert held.repeated == seen[0]


def test_ids_with_one_hash_are_told_apart_by_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids whose first hashes are equal are all found, and none stands for an unknown one."""
    words = ["a", "b", "c", "d", "e"]
    alike = {word: (7 if word in "bcd" else ord(word), ord(word)) for word in words}

    def hashes(ids: list[str]) -> tuple[numbers.Numbers, numbers.Numbers]:
        first, second = np.array([alike[word] for word in ids], dtype=np.int64).reshape(-1, 2).T
        return first, second

    monkeypatch.setattr(numbers, "_hashes", hashes)
    held = ProbeNumbers()
    held.add(["a", "d", "b"])
    assert held.repeated == NONE
    assert held.find(words).tolist() == [0, 2, NONE, 1, NONE]
