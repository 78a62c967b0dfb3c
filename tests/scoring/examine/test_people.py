"""What people agree on, and what the items do."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, examine
from catsofa.scoring.examine.order import deviations, item_rest


def matrix(values: Array, people: Array) -> ItemMatrix:
    """Items in terms of three."""
    names = np.array([f"i{at:03}" for at in range(len(values))])
    models = tuple(f"m{at}" for at in range(values.shape[1]))
    terms = np.array([f"t{at // 3}" for at in range(len(values))])
    tasks = np.array(["habits"] * len(values))
    return ItemMatrix(values=values, models=models, items=names, tasks=tasks, domains=tasks, terms=terms, people=people)


def drawn(seed: int = 0) -> tuple[Array, Array]:
    """Sixty items and eight models, and shares of five judges."""
    rng = np.random.default_rng(seed)
    return (rng.random((60, 8)) < np.linspace(0.2, 0.8, 8)).astype(float), rng.integers(2, 6, 60) / 5


def test_both_correlations_are_spearmans() -> None:
    """With the share of models that prefer the stereotype, and with the item–rest correlation, as scipy has them."""
    values, people = drawn()
    found = examine(matrix(values, people), resamples=50).parts["habits"]
    rests = item_rest(*deviations(values))[:, 0]
    known = np.isfinite(rests)
    assert found.value("people.preference") == pytest.approx(stats.spearmanr(values.mean(axis=1), people).statistic)
    assert found.value("people.item_rest") == pytest.approx(stats.spearmanr(rests[known], people[known]).statistic)
    limits = found.numbers["people.preference"]
    assert limits.both.low <= limits.terms.low < limits.terms.high <= limits.both.high


def test_agreement_that_follows_the_models_is_found() -> None:
    """People confirm what most models prefer: rho 1."""
    values, _ = drawn()
    found = examine(matrix(values, values.mean(axis=1)), resamples=20).parts["habits"]
    assert found.to_dict()["people"]["preference"] == pytest.approx(1)


def test_items_that_nobody_judged_count_nothing() -> None:
    """Half of the items without judgements: rho of the others; nine with them are too few; none: no such number."""
    values, people = drawn()
    some = np.where(np.arange(60) < 30, people, np.nan)
    found = examine(matrix(values, some), resamples=20).parts["habits"]
    assert found.value("people.preference") == pytest.approx(
        stats.spearmanr(values.mean(axis=1)[:30], people[:30]).statistic
    )
    few = examine(matrix(values, np.where(np.arange(60) < 9, people, np.nan)), resamples=20).parts["habits"]
    assert "fewer than 10 items" in few.undefined["people"]
    none = examine(replace(matrix(values, people), people=np.empty(0)), resamples=20).parts["habits"]
    assert "people" not in none.to_dict()
    assert "people" not in none.undefined
