"""Tests variance components against printed tables, another program, their definition, and simulations."""

from collections.abc import Mapping

import numpy as np
import pytest

from catsofa.data.statistics import Array
from catsofa.scoring.examine.items import _variance
from catsofa.scoring.examine.variance import (
    components,
    crossed_coefficient,
    needed,
    nested_coefficient,
    shares,
    term_sums,
)

JUDGES = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)
"""Shrout and Fleiss (1979), table 2: six targets, four judges."""
RIGHT = ("101000000000", "111001000000", "111110000000", "110110010000", "111110100000", "111011100000",
         "111111100000", "111101111100", "111111111110", "111111111111")  # fmt: skip
"""Brennan (2001), synthetic data set 1: ten persons (rows), twelve items."""
RATED = ("565553456733", "937775557752", "343353356516", "755331435335", "929777372753", "343533634512",
         "737775575554", "585775543211", "998866655811", "444335655711")  # fmt: skip
"""Brennan (2001), synthetic data set 4: ten persons (rows), three tasks with four raters each."""
TRUE = np.array([0.02, 0.02, 0.30, 0.02, 0.64])
"""Model, term, item, model × term, residual: about the components of StereoSet."""


def one_each(values: Array) -> Array:
    """Returns the sums if each item is its own term."""
    return term_sums(values, np.arange(len(values))).sum(axis=0)


def simulated(rng: np.random.Generator, models: int, terms: int) -> tuple[Array, Array]:
    """Returns scores with known components, in terms of 3 to 9 items."""
    groups = np.repeat(np.arange(terms), rng.integers(3, 10, size=terms))
    model, term, item, pair, rest = np.sqrt(TRUE)
    drawn = rng.normal(0, model, models) + rng.normal(0, term, terms)[groups][:, None]
    drawn = drawn + rng.normal(0, item, len(groups))[:, None] + rng.normal(0, pair, (terms, models))[groups]
    return drawn + rng.normal(0, rest, (len(groups), models)), groups


def test_a_printed_table_has_its_printed_coefficients() -> None:
    """With targets as models and judges as items, MS are 11.24, 32.49 and 1.02; ICC(3,4) = .91, ICC(2,1) = .29."""
    target, judge, rest = components(one_each(JUDGES.T))
    assert (4 * target + rest, 6 * judge + rest, rest) == pytest.approx((11.24, 32.49, 1.02), abs=0.005)
    assert crossed_coefficient(one_each(JUDGES.T)) == pytest.approx(0.91, abs=0.005)
    assert target / (target + judge + rest) == pytest.approx(0.29, abs=0.005)


def digits(rows: tuple[str, ...]) -> Array:
    """Returns the scores with persons as models and columns as items."""
    return np.array([[float(digit) for digit in row] for row in rows]).T


def test_a_textbook_p_x_i_design_has_its_printed_components() -> None:
    """The components are persons .0574, items .0754, rest .1269; the coefficient of the twelve items is .844."""
    sums = one_each(digits(RIGHT))
    assert components(sums) == pytest.approx((0.0574, 0.0754, 0.1269), abs=5e-5)
    assert crossed_coefficient(sums) == pytest.approx(0.844, abs=5e-4)


def test_a_textbook_design_of_items_in_terms_has_its_printed_components() -> None:
    """With raters nested in tasks, the components are persons .4731, tasks .3252, raters .6475, person × task .5596,
    rest 2.3802; the coefficient is .55."""
    sums = term_sums(digits(RATED), np.repeat(np.arange(3), 4)).sum(axis=0)
    assert components(sums, nested=True) == pytest.approx((0.4731, 0.3252, 0.6475, 0.5596, 2.3802), abs=5e-5)
    assert nested_coefficient(sums) == pytest.approx(0.55, abs=5e-3)


def test_the_coefficient_of_right_and_wrong_is_kr20() -> None:
    """The coefficient is k/(k−1) · (1 − Σpq/σ²), the formula of Kuder and Richardson, for five models and four
    items."""
    right = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 1], [1, 0, 1, 0, 0], [1, 1, 1, 1, 0]], dtype=float)
    p = right.mean(axis=1)
    expected = 4 / 3 * (1 - (p * (1 - p)).sum() / right.sum(axis=0).var())
    assert crossed_coefficient(one_each(right)) == pytest.approx(expected)


def test_balanced_terms_have_the_mean_squares_of_the_nested_design() -> None:
    """For three models and two terms of two items, each mean square is computed by hand from the means."""
    y = np.array([[5, 3, 1], [4, 4, 2], [2, 6, 3], [1, 5, 5]], dtype=float)
    by_term = y.reshape(2, 2, 3).mean(axis=1)
    whole, models, terms, items = y.mean(), y.mean(axis=0), by_term.mean(axis=1), y.mean(axis=1)
    term_of_item = np.repeat(terms, 2)
    ms_term = 6 * ((terms - whole) ** 2).sum()
    ms_item = 3 * ((items - term_of_item) ** 2).sum() / 2
    ms_pair = 2 * ((by_term - models - terms[:, None] + whole) ** 2).sum() / 2
    ms_model = 4 * ((models - whole) ** 2).sum() / 2
    rest = y - np.repeat(by_term, 2, axis=0) - items[:, None] + term_of_item[:, None]
    ms_rest = (rest**2).sum() / 4
    expected = [
        (ms_model - ms_pair) / 4,
        (ms_term - ms_item - ms_pair + ms_rest) / 6,
        (ms_item - ms_rest) / 3,
        (ms_pair - ms_rest) / 2,
        ms_rest,
    ]
    assert components(term_sums(y, np.array([0, 0, 1, 1])).sum(axis=0), nested=True) == pytest.approx(expected)


def test_missing_cells_have_hendersons_equations() -> None:
    """Each sum of squares equals its expectation, computed cell by cell: Σ of (cells of both)² over cells of the
    level."""
    rng = np.random.default_rng(4)
    y = rng.normal(size=(12, 4))
    y[rng.random(y.shape) < 0.2] = np.nan
    groups = np.repeat(np.arange(4), 3)
    item, model = np.nonzero(np.isfinite(y))
    cell = np.arange(len(item))
    factors: Mapping[str, Array] = {
        "mean": 0 * cell, "model": model, "term": groups[item], "item": item,
        "pair": groups[item] * 4 + model, "cell": cell,
    }  # fmt: skip
    values = y[item, model]

    def square(level: str) -> float:
        return sum(
            values[factors[level] == k].sum() ** 2 / (factors[level] == k).sum() for k in np.unique(factors[level])
        )

    def expected(level: str, effect: str) -> float:
        return sum(
            ((factors[level] == k) & (factors[effect] == j)).sum() ** 2 / (factors[level] == k).sum()
            for k in np.unique(factors[level])
            for j in np.unique(factors[effect])
        )

    equations = [[expected(level, effect) for effect in factors] for level in factors]
    by_hand = np.linalg.solve(equations, [square(level) for level in factors])[1:]
    assert components(term_sums(y, groups).sum(axis=0), nested=True) == pytest.approx(by_hand)
    crossed = [name for name in factors if name not in ("term", "pair")]
    equations = [[expected(level, effect) for effect in crossed] for level in crossed]
    by_hand = np.linalg.solve(equations, [square(level) for level in crossed])[1:]
    assert components(term_sums(y, groups).sum(axis=0)) == pytest.approx(by_hand)


def test_balanced_components_are_those_of_restricted_likelihood() -> None:
    """Components equal those of statsmodels' MixedLM with four crossed and nested variances, none at 0, over 6 models
    and 6 terms of 3 items."""
    import pandas as pd
    from statsmodels.regression.mixed_linear_model import MixedLM

    rng, (models, terms, each) = np.random.default_rng(3), (6, 6, 3)
    groups = np.repeat(np.arange(terms), each)
    y = rng.normal(0, 1, models) + rng.normal(0, 1, terms)[groups][:, None] + rng.normal(0, 1, len(groups))[:, None]
    y = y + rng.normal(0, 1, (terms, models))[groups] + rng.normal(0, 0.7, (len(groups), models))
    item, model = (one.ravel() for one in np.indices(y.shape))
    frame = pd.DataFrame({"y": y.ravel(), "model": model, "item": item, "term": groups[item]})
    frame["pair"], frame["all"] = frame["term"] * models + frame["model"], 0
    formula = {name: f"0 + C({name})" for name in ("model", "term", "item", "pair")}
    fitted = MixedLM.from_formula("y ~ 1", groups="all", vc_formula=formula, data=frame).fit(reml=True)
    named = dict(zip(fitted.model.exog_vc.names, fitted.vcomp, strict=True))
    estimates = components(term_sums(y, groups).sum(axis=0), nested=True)
    assert estimates == pytest.approx([*(named[name] for name in formula), fitted.scale], rel=2e-3)


def test_estimates_of_known_components_are_not_biased() -> None:
    """In 200 simulations with a tenth of the cells missing, each mean lies within 3.5 standard errors of the truth."""
    rng, estimates = np.random.default_rng(0), []
    for _ in range(200):
        y, groups = simulated(rng, 9, 30)
        y[rng.random(y.shape) < 0.1] = np.nan
        estimates.append(components(term_sums(y, groups).sum(axis=0), nested=True))
    errors = (np.mean(estimates, axis=0) - TRUE) / (np.std(estimates, axis=0) / np.sqrt(len(estimates)))
    assert np.abs(errors).max() < 3.5


def test_draws_of_terms_are_terms_of_their_own() -> None:
    """A term drawn twice counts as two terms: the weighted sums equal those of the copied items."""
    y, groups = simulated(np.random.default_rng(1), 5, 4)
    counted = np.array([2, 1, 0, 1]) @ term_sums(y - y.mean(), groups)
    rows = np.concatenate([np.flatnonzero(groups == term) for term in (0, 0, 1, 3)])
    copies = np.repeat(np.arange(4), [(groups == term).sum() for term in (0, 0, 1, 3)])
    expected = components(term_sums(y[rows], copies).sum(axis=0), nested=True)
    assert components(counted, nested=True) == pytest.approx(expected)


def test_a_negative_component_counts_as_0_in_the_total() -> None:
    """−1, 3 and 1 have the shares −1/4, 3/4 and 1/4; a total of 0 has no shares."""
    assert shares(np.array([-1.0, 3.0, 1.0])).tolist() == [-0.25, 0.75, 0.25]
    assert np.isnan(shares(np.zeros(3))).all()


def test_equations_without_a_solution_have_no_components() -> None:
    """Terms of one item each have no components, because terms and items cannot be told apart."""
    assert np.isnan(components(one_each(JUDGES.T), nested=True)).all()


def test_terms_that_the_models_take_differently_lower_the_coefficient() -> None:
    """A model × term variance lowers the coefficient: other terms would order the models less alike than other items of
    the same terms."""
    y, groups = simulated(np.random.default_rng(2), 12, 20)
    sums = term_sums(y + np.random.default_rng(5).normal(size=(20, 12))[groups], groups).sum(axis=0)
    assert nested_coefficient(sums) < crossed_coefficient(sums)


def test_needed_items_follow_spearman_and_brown() -> None:
    """.5 with 10 items needs 40 items for .8 and 90 for .9. A coefficient of 0 or less, or none, gives no number."""
    assert [needed(0.5, 10, wanted) for wanted in (0.8, 0.9)] == [40, 90]
    assert [needed(coefficient, 10, 0.8) for coefficient in (0.0, -1.0, float("nan"))] == [None] * 3


@pytest.mark.slow
@pytest.mark.parametrize("models", [9, 20])
def test_intervals_hold_the_components_of_other_terms_and_models(models: int) -> None:
    """The intervals cover the truth in at least 92 % of 400 simulations; intervals over terms and models are
    conservative."""
    rng, held = np.random.default_rng(100 + models), dict[str, list[bool]]()
    names = ("model", "term", "item", "model_term", "residual")
    truth = {f"terms.{name}": share for name, share in zip(names, TRUE / TRUE.sum(), strict=True)}
    for _ in range(400):
        y, groups = simulated(rng, models, 40)
        left_out = [np.delete(y, model, axis=1) for model in range(models)]
        numbers, _ = _variance(y, groups, left_out, resamples=200, seed=0)
        sizes = np.bincount(groups)
        error = TRUE[3] * (sizes**2).sum() / sizes.sum() ** 2 + TRUE[4] / sizes.sum()
        for name, value in {**truth, "coefficient": TRUE[0] / (TRUE[0] + error)}.items():
            held.setdefault(name, []).append(value in numbers[name].both)
    assert min(np.mean(each) for each in held.values()) >= 0.92
