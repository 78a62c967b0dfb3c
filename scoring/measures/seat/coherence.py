"""Checks the coherence of the tests of one model: tests of one association should agree (May et al. 2019, section 4).

A test of words should agree with its version in sentences, and test 7 (math, arts) with 8 (science, arts). Tests 3, 4
and 5 ask the same question about smaller and smaller sets. So a smaller set should not show what a larger does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

SHOWN, NOT_SHOWN = 0.01, 0.05
"""A p-value of at most the first shows an association; one above the second does not. Between them, no verdict."""
ALIKE = ("weat7", "weat8")
SMALLER = ("weat3", "weat4", "weat5")
"""Each test has smaller sets than the test before."""
SENTENCES = "sent-"


class Coherence(NamedTuple):
    """Two tests that should agree, and their p-values."""

    why: str
    tests: tuple[str, str]
    p_values: tuple[float, float]
    coherent: bool
    """False if one test shows an association and the other does not, in a contradictory way."""


def coherence(rows: Sequence[Mapping[str, Any]]) -> list[Coherence]:
    """Returns each pair of scored tests of a model that should agree."""
    p_values = {row["test"]: row["p_value"] for row in rows if row["p_value"] is not None}
    pairs = []
    for why, first, second in _expected(p_values):
        p, q = p_values[first], p_values[second]
        against = (q <= SHOWN and p > NOT_SHOWN) or (why != "smaller sets" and p <= SHOWN and q > NOT_SHOWN)
        pairs.append(Coherence(why, (first, second), (p, q), not against))
    return pairs


def _expected(tests: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Returns the reason and the two tests of each pair that should agree."""
    pairs = [("words and sentences", test, SENTENCES + test) for test in tests]
    for level in ("", SENTENCES):
        pairs.append(("like sets", level + ALIKE[0], level + ALIKE[1]))
        pairs += [("smaller sets", level + one, level + other) for one, other in pairwise(SMALLER)]
    return (pair for pair in pairs if {*pair[1:]} <= set(tests))
