"""Tests differential item functioning: items that a group of models answers differently at an equal rest score."""

from math import comb, inf

import numpy as np
import pytest
from scipy import special

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, examine
from catsofa.scoring.examine.dif import GroupDifference, exact, group_difference, odds_ratio


def drawn(models: int, effect: float, seed: int) -> Array:
    """Returns a hundred items; the second half of the models is higher and answers the first item differently."""
    rng, group = np.random.default_rng(seed), np.arange(models) < models // 2
    theta = rng.normal(0, 0.6, models) + 0.6 * group
    height = np.outer(rng.normal(1, 0.4, 100), theta) + rng.normal(0, 1, 100)[:, None]
    if effect:
        height[0] = theta + effect * (group - 0.5)
    return (rng.random(height.shape) < special.expit(height)).astype(float)


def different(values: Array) -> GroupDifference:
    """Compares the first half of the models with the second half."""
    models = values.shape[1]
    return group_difference(values, [str(number) for number in range(len(values))], np.arange(models) < models // 2)


def test_one_stratum_is_fishers_exact_test() -> None:
    """One stratum gives Fisher's exact test: for 3 of 3 against 0 of 3, two of the twenty tables are as unlikely."""
    assert exact(np.array([[[3, 0], [0, 3]]])) == pytest.approx((2 / comb(6, 3), 2 / comb(6, 3)))
    assert odds_ratio(np.array([[[3, 0], [0, 3]]])) == inf


def test_strata_are_added_up() -> None:
    """Strata are summed: two strata of 1 against 1, in which only the group's model says yes, give a quarter at each
    end."""
    table = np.array([[[1, 0], [0, 1]]] * 2)
    assert exact(table) == pytest.approx((0.5, 0.5))
    assert odds_ratio(np.array([[[2, 1], [1, 2]], [[2, 1], [1, 2]]])) == pytest.approx(4)


def test_the_item_is_named_with_its_direction() -> None:
    """Log odds four apart: only the first item is flagged, with its direction. An item on which all models agree is not
    tested."""
    result = different(drawn(40, 4.0, seed=0))
    assert [one.item for one in result.items] == ["0"]
    assert result.items[0].odds > 1
    assert result.to_dict()["items"][0]["holm"] <= 0.05
    assert (result.inside, result.outside, result.tested) == (20, 20, 99)


def test_too_few_models_are_refused_with_the_reason() -> None:
    """Too few models are refused. Three against three cannot reach Holm's p of 0.05 over a hundred items, and neither
    can a tie on all items."""
    assert "too few models" in different(drawn(6, 0.0, seed=0)).refused
    assert "too few models" in different(np.full((5, 40), 0.5)).refused


@pytest.mark.slow
def test_the_test_keeps_its_size_and_finds_a_large_effect() -> None:
    """A group one standard deviation higher is flagged wrongly in at most 5 % of sets; log odds four apart are
    detected."""
    wrong = [bool(different(drawn(40, 0.0, seed)).items) for seed in range(100)]
    right = ["0" in {one.item for one in different(drawn(40, 4.0, seed)).items} for seed in range(40)]
    assert np.mean(wrong) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean(right) > 0.7


def test_an_item_that_a_group_answers_otherwise_is_one_to_look_at() -> None:
    """Rule E3 names the group and the item for log odds four apart between forty models and forty others."""
    values = drawn(80, 4.0, 1)
    names = np.array([f"i{number}" for number in range(len(values))])
    models = tuple(f"{'one' if number < 40 else 'other'}{number}" for number in range(80))
    of = ItemMatrix(values=values, models=models, items=names, tasks=names[:1].repeat(100), domains=names, terms=names)
    flags = [one for one in examine(of, resamples=2, groups=["one"]).flags if one.rule == "E3"]
    assert flags[0].item == "i0"
    assert flags[0].message.startswith("answered otherwise by one, odds ratio ")
