from collections.abc import Sequence

import pytest
from helpers.records import HAND, scored

from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.sofa import rankings


def test_both_ends_are_named() -> None:
    """The stereotype with the lowest DDS is the one all identities share; the text of the paper calls it strongest."""
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


def test_two_models_are_compared_by_category() -> None:
    """A model and itself agree fully; a model in which the identities change places has them in reversed order."""
    exchanged = {(c, s, {"zorbs": "florins", "florins": "zorbs"}[i]): cell for (c, s, i), cell in HAND.items()}
    one, other = sofa.results(*scored(HAND)), sofa.results(*scored(exchanged))
    same, turned = rankings.compare({"a": one, "b": one, "c": other}, top=1)[:2]
    assert (same["models"], turned["models"]) == (["a", "b"], ["a", "c"])
    assert same["kendall"] == {"identities": 1.0, "stereotypes": 1.0}
    assert turned["kendall"] == {"identities": -1.0, "stereotypes": 1.0}
    assert turned["overlap"]["identities most often lowest"] == 0
    assert turned["overlap"]["stereotypes with lowest DDS"] == 1
