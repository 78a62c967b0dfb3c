"""Short forms: items that tell the models' scores on all."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, ShortForm, examine
from catsofa.scoring.examine.short import short_form


def matrix(values: Array) -> ItemMatrix:
    """Items in terms of five; three quarters of the terms are of one domain."""
    count = len(values)
    return ItemMatrix(
        values=values,
        models=tuple(f"m{at}" for at in range(values.shape[1])),
        items=np.array([f"i{at:03}" for at in range(count)]),
        tasks=np.array(["habits"] * count),
        domains=np.array(["food" if at < count * 3 // 4 else "work" for at in range(count)]),
        terms=np.array([f"t{at // 5}" for at in range(count)]),
    )


def drawn(models: int = 30, items: int = 200, informative: float = 0.2, seed: int = 0) -> Array:
    """Preferences of models from −1 to 1 in log odds; this share of the items depends on the model."""
    rng = np.random.default_rng(seed)
    slope = np.where(rng.random(items) < informative, 4.0, 0.0)
    chance = special.expit(np.outer(slope, np.linspace(-1, 1, models)) + rng.normal(0, 0.5, (items, 1)))
    return (rng.random(chance.shape) < chance).astype(float)


def made(values: Array, length: int = 20) -> ShortForm:
    """The short form."""
    found = short_form(matrix(values), length, 0)
    assert isinstance(found, ShortForm)
    return found


def test_items_that_follow_the_score_beat_random_ones_on_models_left_out() -> None:
    """A fifth of the items tells the models apart: the choice finds them, and is judged on other models."""
    found = made(drawn())
    assert found.r.value > found.random_r.high
    assert found.r.low < found.r.value < found.r.high
    assert found.error.low < found.error.value < found.error.high <= found.largest
    assert found.largest < found.random_largest.high


def test_a_choice_among_noise_is_no_better_than_random_ones() -> None:
    """No item depends on the model: r on models left out lies where that of random short forms lies."""
    inside = []
    for seed in range(6):
        found = made(drawn(informative=0.0, seed=seed))
        inside.append(found.random_r.low <= found.r.value <= found.random_r.high)
    assert sum(inside) >= 4


def test_domains_keep_their_shares_and_terms_are_used_evenly() -> None:
    """20 of 200 items, 150 of food and 50 of work: 15 and 5; of 30 and 10 terms each gives one at most."""
    of = matrix(drawn())
    chosen = np.isin(of.items, made(of.values).items)
    assert Counter(of.domains[chosen].tolist()) == {"food": 15, "work": 5}
    assert max(Counter(of.terms[chosen].tolist()).values()) == 1


def test_scores_that_the_items_add_up_to_are_told_without_error() -> None:
    """Twenty items of which each stands ten times: twenty items tell the score on all to the last digit."""
    rng = np.random.default_rng(1)
    of = matrix(np.tile((rng.random((20, 12)) < np.linspace(0.2, 0.8, 12)).astype(float), (10, 1)))
    of = replace(of, terms=np.array([f"t{at % 20}" for at in range(200)]), domains=np.array(["food"] * 200))
    found = short_form(of, 20, 0)
    assert isinstance(found, ShortForm)
    assert found.largest == pytest.approx(0, abs=1e-9)
    assert (found.intercept, found.slope) == pytest.approx((0, 1), abs=1e-9)


def test_too_few_models_and_lengths_that_are_no_short_form_are_refused_with_the_reason() -> None:
    """9 models; 1 item; all items."""
    assert "fewer than 10 models" in str(short_form(matrix(drawn(9)), 20, 0))
    assert "1 of 200 items are no short form; expected 2 to 199" in str(short_form(matrix(drawn()), 1, 0))
    assert "200 of 200 items" in str(short_form(matrix(drawn()), 200, 0))
    part = examine(matrix(drawn(9)), short=20, resamples=2).parts["habits"]
    assert "fewer than 10 models" in part.undefined["short"]


def test_missing_scores_change_little() -> None:
    """A twentieth missing: every number is finite, r falls by less than a fifth."""
    values = drawn()
    full = made(values)
    values[np.random.default_rng(1).random(values.shape) < 0.05] = np.nan
    holes = made(values)
    assert holes.r.value > full.r.value - 0.2
    assert np.isfinite([holes.largest, holes.slope]).all()
