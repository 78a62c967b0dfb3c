"""Tests the coherence of association tests, by the p-values that May et al. (2019, section 4) discuss."""

from typing import Any

import pytest

from catsofa.scoring.measures.seat.coherence import coherence
from catsofa.scoring.measures.seat.sanity import of_associations


def rows(p_values: dict[str, float | None]) -> list[dict[str, Any]]:
    """Returns rows with only the required fields."""
    nothing = {"intervals": {"effect_size": {"low": float("nan")}}, "sizes": {"x": 8, "y": 8}, "unknown": None}
    return [{"test": test, "p_value": p, **nothing} for test, p in p_values.items()]


@pytest.mark.parametrize(
    ("p_values", "incoherent"),
    [
        ({"weat7": 0.016, "weat8": 1e-2}, []),  # CBoW, words
        ({"sent-weat7": 1e-5, "sent-weat8": 1e-5}, []),  # CBoW, sentences
        ({"sent-weat7": 1e-5, "sent-weat8": 0.14}, [("sent-weat7", "sent-weat8")]),  # BERT
        ({"sent-weat7": 0.12, "sent-weat8": 1e-3}, [("sent-weat7", "sent-weat8")]),  # GenSen
        ({"sent-weat7": 0.89, "sent-weat8": 1e-4}, [("sent-weat7", "sent-weat8")]),  # GPT
        ({"weat3": 1e-5, "weat4": 1e-5, "weat5": 1e-2}, []),  # CBoW
        ({"sent-weat3": 1.0, "sent-weat4": 0.97, "sent-weat5": 1e-4}, [("sent-weat4", "sent-weat5")]),  # ELMo
        ({"weat3": 1e-5, "weat4": 0.2, "weat5": 0.4}, []),
        ({"weat6": 1e-4, "sent-weat6": 0.3}, [("weat6", "sent-weat6")]),
        ({"weat6": 1e-4, "sent-weat6": None, "weat7": None, "weat8": 0.5}, []),
    ],
)
def test_two_tests_are_incoherent_if_one_shows_what_the_other_does_not(
    p_values: dict[str, float | None], incoherent: list[tuple[str, str]]
) -> None:
    """The cases that the paper calls counterintuitive are incoherent, and the other cases are not."""
    assert [pair.tests for pair in coherence(rows(p_values)) if not pair.coherent] == incoherent


def test_only_incoherent_tests_are_named_beside_the_numbers() -> None:
    """A warning names only incoherent tests, with their p-values."""
    warnings = of_associations(rows({"sent-weat7": 1e-5, "sent-weat8": 0.14, "weat6": 0.01, "sent-weat6": 0.02}))
    assert len(warnings) == 1
    assert "sent-weat7 (p 1e-05) and sent-weat8 (p 0.14)" in warnings[0]
