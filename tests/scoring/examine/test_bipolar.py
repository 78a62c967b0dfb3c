"""Tests the two-parameter model, whose zero means "no preference"."""

import numpy as np
import pytest
from scipy import special

from catsofa.data.statistics import WIDE, Array
from catsofa.scoring.examine.bipolar import Bipolar, bipolar


def drawn(models: int, items: int, mean: float, seed: int) -> tuple[Array, Array, Array, Array]:
    """Returns preferences with the slopes, levels and places that produced them: slopes of mean 1, levels of mean 0."""
    rng = np.random.default_rng(seed)
    slope, level, theta = rng.normal(1, 0.5, items), rng.normal(0, 1, items), rng.normal(mean, 0.6, models)
    slope, level = slope + 1 - slope.mean(), level - level.mean()
    chance = special.expit(np.outer(slope, theta) + level[:, None])
    return (rng.random(chance.shape) < chance).astype(float), slope, level, theta


def fitted(values: Array) -> Bipolar | str:
    """Returns the fit; models and items are named by numbers."""
    return bipolar(values, list(map(str, range(values.shape[1]))), list(map(str, range(len(values)))))


def test_zero_is_no_preference_and_not_the_mean_of_the_models() -> None:
    """Zero means no preference, not the mean of the models. Models around 0.8 stay there; if the sides of each item are
    swapped, they are at −0.8."""
    values, *_ = drawn(30, 200, 0.8, seed=1)
    plain, swapped = fitted(values), fitted(1 - values)
    assert isinstance(plain, Bipolar)
    assert isinstance(swapped, Bipolar)
    assert plain.limits()[0] < 0.8 < plain.limits()[1]
    assert plain.limits()[0] > 0.3
    assert swapped.theta == pytest.approx(-plain.theta, abs=0.01)
    assert (plain.slope.mean(), plain.level.mean()) == pytest.approx((1, 0), abs=0.01)
    assert plain.sides()[0] > 15 > plain.sides()[1]


def test_what_identifies_no_scale_is_refused_with_the_reason() -> None:
    """The fit is refused with a reason for 19 models, for 99 items, and for scores that are not preferences."""
    values, *_ = drawn(20, 100, 0.0, seed=1)
    assert "fewer than 20 models" in str(fitted(values[:, 1:]))
    assert "fewer than 100 items" in str(fitted(values[1:]))
    assert "not preferences" in str(fitted(2 * values))


def test_items_that_point_to_both_sides_alike_measure_no_one_preference() -> None:
    """The fit is refused if every second item is reversed, because the mean slope may be 0 and no scale follows."""
    values, *_ = drawn(30, 200, 0.3, seed=1)
    values[::2] = 1 - values[::2]
    assert "no slope in common" in str(fitted(values))


def test_slopes_that_few_models_leave_unsure_have_wider_intervals() -> None:
    """With 100 models instead of 20, the mean error of a slope falls by more than a factor of 1.2."""
    few, many = (fitted(drawn(models, 200, 0.3, seed=3)[0]) for models in (20, 100))
    assert isinstance(few, Bipolar)
    assert isinstance(many, Bipolar)
    assert few.slope_error.mean() > 1.2 * many.slope_error.mean()


def test_agreement_and_missing_scores_leave_every_number_finite() -> None:
    """An item on which all models agree has a finite level and error. If 1 % of the cells are missing, the models move
    little."""
    values, *_ = drawn(30, 200, 0.3, seed=2)
    values[0] = 1
    full = fitted(values)
    values[np.random.default_rng(1).random(values.shape) < 0.01] = np.nan
    holes = fitted(values)
    assert isinstance(full, Bipolar)
    assert isinstance(holes, Bipolar)
    assert np.isfinite([full.level[0], full.level_error[0]]).all()
    assert holes.theta == pytest.approx(full.theta, abs=0.15)


def test_an_item_has_a_threshold_only_where_its_slope_has_a_sign() -> None:
    """b = −d / a; b is null if the slope's interval contains 0."""
    values, *_ = drawn(30, 200, 0.3, seed=2)
    fit = fitted(values)
    assert isinstance(fit, Bipolar)
    for item in fit.to_dict()["items"]:
        sure = abs(item["a"]) > WIDE * item["a_error"]
        assert (item["b"] == pytest.approx(-item["d"] / item["a"])) if sure else np.isnan(item["b"])


@pytest.mark.slow
@pytest.mark.parametrize(("models", "items"), [(20, 300), (40, 200)])
def test_known_places_are_found(models: int, items: int) -> None:
    """In forty simulations there is no bias, and 93 to 97 % of places, levels and slopes lie inside their 95 %
    intervals."""
    bias, inside = [], []
    for seed in range(40):
        values, slope, level, theta = drawn(models, items, 0.3, seed)
        fit = fitted(values)
        assert isinstance(fit, Bipolar)
        pairs = (
            (fit.theta, fit.theta_error, theta),
            (fit.level, fit.level_error, level),
            (fit.slope, fit.slope_error, slope),
        )
        bias.append([float(np.mean(one - true)) for one, _, true in pairs[:2]])
        inside.append([float(np.mean(np.abs(one - true) < WIDE * error)) for one, error, true in pairs])
    means, errors = np.mean(bias, axis=0), np.std(bias, axis=0) / np.sqrt(len(bias))
    assert (np.abs(means) < 2 * errors + 1e-12).all()
    assert np.mean(inside, axis=0) == pytest.approx([0.95] * 3, abs=0.02)


@pytest.mark.slow
def test_another_program_finds_the_same_items() -> None:
    """girth 0.8.0, whose θ has mean 0 and variance 1, gives the same levels and slopes on 400 models."""
    girth = pytest.importorskip("girth")
    values, *_ = drawn(400, 100, 0.3, seed=3)
    ours, theirs = fitted(values), girth.twopl_mml(values.astype(int))
    assert isinstance(ours, Bipolar)
    slopes, levels = theirs["Discrimination"], -theirs["Discrimination"] * theirs["Difficulty"]
    apart = np.abs(ours.level + ours.slope * ours.mean - levels)
    assert np.median(apart) < 0.05
    assert apart.max() < 0.5
    assert np.corrcoef(ours.slope * ours.spread, slopes)[0, 1] > 0.95
    assert np.mean(ours.slope * ours.spread) == pytest.approx(np.mean(slopes), abs=0.05)
