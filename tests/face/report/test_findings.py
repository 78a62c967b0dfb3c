"""Tests of the findings: which sentences are made from the numbers of models and of their pairs."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pytest
from scipy import special

from catsofa.report.elements import Number
from catsofa.report.summary import Standing
from catsofa.report.summary.pairs import Pair
from catsofa.report.summary.sentences import findings
from catsofa.report.summary.standings import SHOWN, beyond
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import Interval

LMS, SS, ICAT = SHOWN["stereoset"]


def standing(values: Mapping[str, float | None], sides: Mapping[str, int] | None = None, **more: Any) -> Standing:
    """Returns a standing on ss with these values."""
    numbers = {model: Number(value, value - 2, value + 2) for model, value in values.items() if value is not None}
    missing = tuple(model for model in values if model not in numbers)
    return Standing(
        kind="stereoset", about="", **{"of": SS, "values": numbers, "sides": sides, "missing": missing, **more}
    )


def paired(values: Mapping[str, float], apart: float = 1.0, nearer: float = 1.0, **own: float) -> dict[Any, Pair]:
    """Returns every pair of models with p of equal values (`A_B=0.01` of A and B) and of equal distances from 50."""
    return {
        (one, other): Pair(
            difference=values[one] - values[other], decided=1.0, apart=own.get(f"{one}_{other}", apart),
            nearer=nearer, lead=abs(values[other] - 50) - abs(values[one] - 50),
        )
        for one, other in combinations(values, 2)
    }  # fmt: skip


def said(*of: Standing) -> list[str]:
    """Returns the sentences of one benchmark."""
    return [sentence for finding in findings(of) for sentence in finding.sentences]


def test_a_difference_has_the_decimals_of_the_less_precise_value() -> None:
    """0.0373 less 0.0006778 is 0.0366, although the second value has seven decimals."""
    values = {"A": Number(0.0373, 0.03, 0.05, digits=4), "B": Number(0.0006778, 0.00066, 0.00069, digits=7)}
    tested = {("A", "B"): Pair(difference=0.0366222, decided=1, apart=0.01, nearer=0.01, lead=0.0366222)}
    (sentence, _) = said(replace(standing({}, pairs=tested), of=SHOWN["sofa"][0], values=values))
    assert re.findall(r"\d+\.\d+", sentence) == ["0.0366"]


FOUR = {"A": 60.0, "B": 58.0, "C": 57.0, "D": 50.0}


TEN = {name: 50.0 + place for place, name in enumerate("ABCDEFGHIJ")}


@pytest.mark.parametrize(
    ("values", "sides", "sentence"),
    [
        ({"A": 60.0}, {"A": 1}, "A prefers the stereotype beyond chance: ss 60.0 [58.0, 62.0]."),
        ({"A": 40.0}, {"A": -1}, "A prefers the anti-stereotype beyond chance: ss 40.0 [38.0, 42.0]."),
        ({"A": 51.0}, {}, "A: no preference beyond chance is shown, ss 51.0 [49.0, 53.0]."),
        (FOUR, {}, "No preference beyond chance is shown for any of 4 models on ss."),
        ({"A": 60.0, "B": 55.0}, {"A": 1, "B": 1}, "Both models prefer the stereotype beyond chance on ss."),
        (FOUR, dict.fromkeys("ABCD", 1), "All 4 models prefer the stereotype beyond chance on ss."),
        (FOUR, dict.fromkeys("ABC", 1),
         "Of 4 models, 3 prefer the stereotype (A, B and C) beyond chance on ss; for 1 neither is shown (D)."),
        (FOUR, {"A": 1, "B": 1, "D": -1},
         "Of 4 models, 2 prefer the stereotype (A and B) and 1 prefers the anti-stereotype (D) beyond chance on ss; "
         "for 1 neither is shown (C)."),
        (TEN, dict.fromkeys("CDEFGHIJ", 1),
         "Of 10 models, 8 prefer the stereotype beyond chance on ss; for 2 neither is shown (A and B)."),
        ({"A": 60.0, "B": None}, {"A": 1}, "A prefers the stereotype beyond chance: ss 60.0 [58.0, 62.0]."),
    ],
)  # fmt: skip
def test_a_preference_is_claimed_of_the_models_that_are_shown_to_have_it(
    values: Mapping[str, float | None], sides: Mapping[str, int], sentence: str
) -> None:
    """Counts and names are those of the models beyond chance; more than four are counted and not named."""
    assert said(standing(values, sides))[0] == sentence


@pytest.mark.parametrize(
    ("values", "apart", "own", "sentence"),
    [
        ({"A": 60.0, "B": 55.0}, 0.04, {}, "A has a higher ss than B, by 5.0."),
        ({"A": 55.0, "B": 60.0}, 0.04, {}, "B has a higher ss than A, by 5.0."),
        ({"A": 60.0, "B": 55.0}, 0.06, {}, "A and B cannot be told apart on ss."),
        (FOUR, 0.001, {}, "Every two of 4 models are told apart on ss."),
        (FOUR, 0.051, {}, "No two of 4 models can be told apart on ss."),
        (FOUR, 0.001, {"B_C": 0.3}, "On ss, B and C cannot be told apart; every other two can."),
        (
            FOUR,
            0.001,
            {"B_C": 0.3, "A_B": 0.9},
            "On ss, every two models are told apart, except within the groups A and B; B and C.",
        ),
        (
            FOUR,
            0.001,
            {"B_C": 0.3, "A_B": 0.9, "A_C": 0.2},
            "On ss, A, B and C cannot be told apart; every other two can.",
        ),
        (
            FOUR,
            0.001,
            {"B_C": 0.3, "A_B": 0.9, "A_C": 0.2, "C_D": 0.2},
            "On ss, every two models are told apart, except within the groups A, B and C; C and D.",
        ),
        (TEN, 0.9, {"A_J": 0.01}, "On ss, A and J are told apart; no other two are."),
        (TEN, 0.9, {f"A_{other}": 0.01 for other in "CDEFGHIJ"}, "On ss, 8 of 45 pairs of models are told apart."),
        (FOUR, 0.001, {"B_C": nan}, "1 of 6 pairs cannot be tested on ss."),
        (FOUR, 0.001, {"B_C": nan}, "On ss, 5 of 5 tested pairs of models are told apart."),
    ],
)
def test_models_are_told_apart_by_the_corrected_p_of_their_pair(
    values: Mapping[str, float], apart: float, own: Mapping[str, float], sentence: str
) -> None:
    """p at most 0.05 distinguishes two models; a pair without a p is counted as not tested."""
    assert sentence in said(standing(values, pairs=paired(values, apart, **own)))


def test_no_sentence_speaks_of_every_two_models_where_a_pair_decides_no_item_in_common() -> None:
    """Two pairs of three models differ, and A and B share no item: two of two tested pairs, and one untested pair."""
    pairs = paired({"A": 90.0, "B": 10.0, "C": 50.0}, 0.001)
    del pairs["A", "B"]
    sentences = said(standing({"A": 90.0, "B": 10.0, "C": 50.0}, pairs=pairs))
    assert sentences == ["On ss, 2 of 2 tested pairs of models are told apart.", "1 of 3 pairs cannot be tested on ss."]


def test_the_best_model_is_nearest_to_the_ideal_and_told_apart_from_every_other() -> None:
    """Among 60, 58, 57 and 50 the best is 50; if one of its pairs is undecided, no best model is named."""
    pairs = paired(FOUR, nearer=0.01)
    assert standing(FOUR, pairs=pairs).best == "D"
    assert "D is nearer than every other model to the ideal ss of 50." in said(standing(FOUR, pairs=pairs))
    pairs["C", "D"] = replace(pairs["C", "D"], nearer=0.06)
    assert standing(FOUR, pairs=pairs).best == ""
    assert not [sentence for sentence in said(standing(FOUR, pairs=pairs)) if "nearer" in sentence]


def test_a_model_without_a_value_and_one_of_few_items_are_named() -> None:
    """An ss undefined by ties is not tested; a model with 61 % of the items has a note."""
    result = standing({"A": 60.0, "B": None, "C": 55.0}, coverage={"A": 1.0, "C": 0.61})
    assert said(result) == ["B has no ss.", "Coverage is below 90 % for 1 of 2 models (C 61 %)."]


def test_nothing_is_said_of_lms_or_of_what_nobody_tested() -> None:
    """Values without tests give no sentence."""
    assert findings([standing(FOUR, of=LMS), standing(FOUR, of=ICAT)]) == []


@pytest.mark.parametrize("seed", range(20))
def test_models_beyond_chance_are_those_of_holms_p(seed: int) -> None:
    """For normal values of known error, these are the models whose two-sided Holm-corrected p is at most 0.05."""
    values = np.random.default_rng(seed).normal(50, 3, size=6)

    def limits(value: float) -> Any:
        return lambda level: Interval(
            value, value - special.ndtri((1 + level) / 2), value + special.ndtri((1 + level) / 2)
        )

    adjusted = holm([2 * float(special.ndtr(-abs(value - 50))) for value in values])
    shown = {
        str(index): 1 if value > 50 else -1
        for index, (value, p) in enumerate(zip(values, adjusted, strict=True))
        if p <= 0.05
    }
    assert beyond({str(index): limits(float(value)) for index, value in enumerate(values)}, 50) == shown
