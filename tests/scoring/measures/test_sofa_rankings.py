from collections.abc import Sequence
from math import isnan

import pytest
from helpers.records import HAND, Cells, scored

from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.sofa import rankings, sanity


def test_both_ends_are_named() -> None:
    """All identities share the stereotype with the lowest DDS; the text of the paper calls it strongest."""
    assert rankings.ends(sofa.results(*scored(HAND)), "craft", top=1) == {
        "identities most often lowest": ["zorbs"],
        "identities most often highest": ["florins"],
        "stereotypes with lowest DDS": ["are late"],
        "stereotypes with highest DDS": ["sing well"],
    }


@pytest.mark.parametrize(
    ("one", "other", "expected"), [("abc", "cab", 1.0), ("abcd", "cdef", 0.5), ("ab", "cd", 0.0), ("abc", "a", 1 / 3)]
)
def test_overlap_is_the_share_in_common(one: Sequence[str], other: Sequence[str], expected: float) -> None:
    """Two of four in common are one half."""
    assert rankings.overlap(one, other) == pytest.approx(expected)


def grid(values: Sequence[Sequence[float]]) -> sofa.Results:
    """Returns results of these log10 PPL*, one row per stereotype."""
    cells: Cells = {
        ("craft", f"s{row}", f"i{column}"): (10.0**value, 1.0)
        for row, several in enumerate(values)
        for column, value in enumerate(several)
    }
    return sofa.results(*scored(cells))


def test_two_models_are_compared_by_category() -> None:
    """A model agrees fully with itself, over at most half of the names; with reversed identities tau is -1."""
    forth = [[1, 2, 3, 4, 5], [2, 4, 6, 8, 10], [3, 6, 9, 12, 15]]
    one, other = grid(forth), grid([row[::-1] for row in forth])
    same, turned = rankings.compare({"a": one, "b": one, "c": other})[:2]
    assert (same["models"], turned["models"]) == (["a", "b"], ["a", "c"])
    assert same["kendall"]["identities"]["value"] == pytest.approx(1)
    assert turned["kendall"]["identities"]["value"] == pytest.approx(-1)
    assert (turned["kendall"]["stereotypes"]["value"], turned["kendall"]["stereotypes"]["items"]) == (1, 3)
    shared = turned["overlap"]["identities most often lowest"]
    assert shared == {"share": 0, "top": 1, "items": 5, "chance": 0.2}
    assert same["overlap"]["stereotypes with lowest DDS"]["top"] == 1


def test_orders_of_two_have_no_tau_and_of_one_no_overlap() -> None:
    """tau of two identities and the overlap of one stereotype are undefined."""
    (row,) = rankings.compare({"a": grid([[1, 2]]), "b": grid([[2, 1]])})
    assert isnan(row["kendall"]["identities"]["value"])
    assert isnan(row["overlap"]["stereotypes with lowest DDS"]["share"])


def test_few_identities_and_stereotypes_are_named() -> None:
    """Warnings name too few stereotypes, as in `score`, and orders of fewer than eight identities."""
    warnings = " ".join(sanity.of_rankings({"a": grid([[1, 2, 3]] * 2), "b": grid([[1, 2, 4]] * 2)}))
    assert "craft (3)" in warnings
    assert "craft (2)" in warnings


def test_an_identity_that_is_never_lowest_is_not_among_the_lowest() -> None:
    """i0 and i1 are lowest in all four stereotypes; the names of the other identities decide nothing."""
    one = grid([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6]])
    assert rankings.ends(one, "craft", None)["identities most often lowest"] == ["i0", "i1"]
    (row,) = rankings.compare({"a": one, "b": one})
    assert row["overlap"]["identities most often lowest"] == {"share": 1, "top": 2, "items": 6, "chance": 2 / 6}


def test_equal_stereotypes_are_compared_together_or_not_at_all() -> None:
    """If all DDS are 1, no stereotype is first and the overlap is undefined."""
    one = grid([[1, 2]] * 6)
    (row,) = rankings.compare({"a": one, "b": one})
    assert row["overlap"]["stereotypes with lowest DDS"]["top"] == 0
    assert isnan(row["overlap"]["stereotypes with lowest DDS"]["share"])
