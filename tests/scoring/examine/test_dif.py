"""Items that a group of models answers otherwise at an equal rest score."""

from math import comb, inf

import numpy as np
import pytest
from scipy import special

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, examine
from catsofa.scoring.examine.dif import GroupDifference, exact, group_difference, odds_ratio


def drawn(models: int, effect: float, seed: int) -> Array:
    """A hundred items; the second half of the models stands higher, and answers the first item otherwise."""
    rng, group = np.random.default_rng(seed), np.arange(models) < models // 2
    theta = rng.normal(0, 0.6, models) + 0.6 * group
    height = np.outer(rng.normal(1, 0.4, 100), theta) + rng.normal(0, 1, 100)[:, None]
    if effect:
        height[0] = theta + effect * (group - 0.5)
    return (rng.random(height.shape) < special.expit(height)).astype(float)


def different(values: Array) -> GroupDifference:
    """The first half of the models against the others."""
    models = values.shape[1]
    return group_difference(values, [str(at) for at in range(len(values))], np.arange(models) < models // 2)


def test_one_stratum_is_fishers_exact_test() -> None:
    """3 of 3 against 0 of 3: two of the twenty tables are as unlikely."""
    assert exact(np.array([[[3, 0], [0, 3]]])) == pytest.approx((2 / comb(6, 3), 2 / comb(6, 3)))
    assert odds_ratio(np.array([[[3, 0], [0, 3]]])) == inf


def test_strata_are_added_up() -> None:
    """Two strata of 1 against 1, each with the group's model as the one that says yes: a quarter at each end."""
    table = np.array([[[1, 0], [0, 1]]] * 2)
    assert exact(table) == pytest.approx((0.5, 0.5))
    assert odds_ratio(np.array([[[2, 1], [1, 2]], [[2, 1], [1, 2]]])) == pytest.approx(4)


def test_the_item_is_named_with_its_direction() -> None:
    """Log odds four apart: the first item alone, on the group's side; an item on which all agree is not tested."""
    found = different(drawn(40, 4.0, seed=0))
    assert [one.item for one in found.items] == ["0"]
    assert found.items[0].odds > 1
    assert found.to_dict()["items"][0]["holm"] <= 0.05
    assert (found.inside, found.outside, found.tested) == (20, 20, 99)


def test_too_few_models_are_refused_with_the_reason() -> None:
    """Three against three cannot reach Holm's p of 0.05 over a hundred items; neither can a tie on all."""
    assert "too few models" in different(drawn(6, 0.0, seed=0)).refused
    assert "too few models" in different(np.full((5, 40), 0.5)).refused


@pytest.mark.slow
def test_the_test_keeps_its_size_and_finds_a_large_effect() -> None:
    """A group that stands one standard deviation higher: named wrongly in 5 % of sets at most; four apart is found."""
    wrong = [bool(different(drawn(40, 0.0, seed)).items) for seed in range(100)]
    right = ["0" in {one.item for one in different(drawn(40, 4.0, seed)).items} for seed in range(40)]
    assert np.mean(wrong) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean(right) > 0.7


def test_an_item_that_a_group_answers_otherwise_is_one_to_look_at() -> None:
    """Log odds four apart between forty models and forty others: rule E3 names the group and the item."""
    values = drawn(80, 4.0, 1)
    names = np.array([f"i{at}" for at in range(len(values))])
    models = tuple(f"{'one' if at < 40 else 'other'}{at}" for at in range(80))
    of = ItemMatrix(values=values, models=models, items=names, tasks=names[:1].repeat(100), domains=names, terms=names)
    flags = [one for one in examine(of, resamples=2, groups=["one"]).flags if one.rule == "E3"]
    assert flags[0].item == "i0"
    assert flags[0].message.startswith("answered otherwise by one, odds ratio ")
