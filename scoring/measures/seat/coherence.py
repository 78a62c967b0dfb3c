"""Whether the tests of one model fit together, as tests of one association should (May et al. 2019, section 4).

A test of words and the same one of sentences should agree, and so should 7 (math, arts) and 8 (science, arts). Tests 3,
4 and 5 ask one thing of ever smaller sets, so that a smaller one should not show what a larger one does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

SHOWN, NOT_SHOWN = 0.01, 0.05
"""A p-value of at most the first shows an association; one above the second does not. Between them nothing is said."""
ALIKE = ("weat7", "weat8")
SMALLER = ("weat3", "weat4", "weat5")
"""Each has smaller sets than the one before."""
SENTENCES = "sent-"


class Coherence(NamedTuple):
    """Two tests that should agree, and their p-values."""

    why: str
    tests: tuple[str, str]
    p_values: tuple[float, float]
    coherent: bool
    """False if one shows an association and the other does not, where that speaks against them."""


def coherence(rows: Sequence[Mapping[str, Any]]) -> list[Coherence]:
    """Each two of the scored tests of a model that should agree."""
    p_values = {row["test"]: row["p_value"] for row in rows if row["p_value"] is not None}
    found = []
    for why, first, second in _expected(p_values):
        p, q = p_values[first], p_values[second]
        against = (q <= SHOWN and p > NOT_SHOWN) or (why != "smaller sets" and p <= SHOWN and q > NOT_SHOWN)
        found.append(Coherence(why, (first, second), (p, q), not against))
    return found


def _expected(tests: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The two tests, and why they should agree."""
    pairs = [("words and sentences", test, SENTENCES + test) for test in tests]
    for level in ("", SENTENCES):
        pairs.append(("like sets", level + ALIKE[0], level + ALIKE[1]))
        pairs += [("smaller sets", level + one, level + other) for one, other in pairwise(SMALLER)]
    return (pair for pair in pairs if {*pair[1:]} <= set(tests))
