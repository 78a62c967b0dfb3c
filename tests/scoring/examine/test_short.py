"""Tests short forms: items that predict the models' scores on all items."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, ShortForm, examine
from catsofa.scoring.examine.short import short_form


def matrix(values: Array) -> ItemMatrix:
    """Returns a matrix with five items per term; three quarters of the terms are in one domain."""
    count = len(values)
    return ItemMatrix(
        values=values,
        models=tuple(f"m{number}" for number in range(values.shape[1])),
        items=np.array([f"i{number:03}" for number in range(count)]),
        tasks=np.array(["habits"] * count),
        domains=np.array(["food" if number < count * 3 // 4 else "work" for number in range(count)]),
        terms=np.array([f"t{number // 5}" for number in range(count)]),
    )


def drawn(models: int = 30, items: int = 200, informative: float = 0.2, seed: int = 0) -> Array:
    """Returns preferences of models from −1 to 1 in log odds; this share of the items depends on the model."""
    rng = np.random.default_rng(seed)
    slope = np.where(rng.random(items) < informative, 4.0, 0.0)
    chance = special.expit(np.outer(slope, np.linspace(-1, 1, models)) + rng.normal(0, 0.5, (items, 1)))
    return (rng.random(chance.shape) < chance).astype(float)


def made(values: Array, length: int = 20) -> ShortForm:
    """Returns the short form."""
    form = short_form(matrix(values), length, 0)
    assert isinstance(form, ShortForm)
    return form


def test_items_that_follow_the_score_beat_random_ones_on_models_left_out() -> None:
    """If a fifth of the items tells the models apart, the chosen items beat random ones on models left out."""
    form = made(drawn())
    assert form.r.value > form.random_r.high
    assert form.r.low < form.r.value < form.r.high
    assert form.error.low < form.error.value < form.error.high <= form.largest
    assert form.largest < form.random_largest.high


def test_a_choice_among_noise_is_no_better_than_random_ones() -> None:
    """If no item depends on the model, r on models left out lies in the interval of random short forms."""
    inside = []
    for seed in range(6):
        form = made(drawn(informative=0.0, seed=seed))
        inside.append(form.random_r.low <= form.r.value <= form.random_r.high)
    assert sum(inside) >= 4


def test_domains_keep_their_shares_and_terms_are_used_evenly() -> None:
    """20 of 200 items, 150 of food and 50 of work, are 15 and 5. Each of the 40 terms gives at most one."""
    data = matrix(drawn())
    chosen = np.isin(data.items, made(data.values).items)
    assert Counter(data.domains[chosen].tolist()) == {"food": 15, "work": 5}
    assert max(Counter(data.terms[chosen].tolist()).values()) == 1


def test_scores_that_the_items_add_up_to_are_told_without_error() -> None:
    """Twenty items, each repeated ten times, predict the score on all items exactly."""
    rng = np.random.default_rng(1)
    data = matrix(np.tile((rng.random((20, 12)) < np.linspace(0.2, 0.8, 12)).astype(float), (10, 1)))
    data = replace(data, terms=np.array([f"t{number % 20}" for number in range(200)]), domains=np.array(["food"] * 200))
    form = short_form(data, 20, 0)
    assert isinstance(form, ShortForm)
    assert form.largest == pytest.approx(0, abs=1e-9)
    assert (form.intercept, form.slope) == pytest.approx((0, 1), abs=1e-9)


def test_too_few_models_and_lengths_that_are_no_short_form_are_refused_with_the_reason() -> None:
    """9 models, 1 item, and all items are refused with a reason."""
    assert "fewer than 10 models" in str(short_form(matrix(drawn(9)), 20, 0))
    assert "1 of 200 items are no short form; expected 2 to 199" in str(short_form(matrix(drawn()), 1, 0))
    assert "200 of 200 items" in str(short_form(matrix(drawn()), 200, 0))
    part = examine(matrix(drawn(9)), short=20, resamples=2).parts["habits"]
    assert "fewer than 10 models" in part.undefined["short"]


def test_missing_scores_change_little() -> None:
    """With 5 % of the scores missing, every number is finite and r falls by less than 0.2."""
    values = drawn()
    full = made(values)
    values[np.random.default_rng(1).random(values.shape) < 0.05] = np.nan
    holes = made(values)
    assert holes.r.value > full.r.value - 0.2
    assert np.isfinite([holes.largest, holes.slope]).all()
