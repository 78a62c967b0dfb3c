"""Tests the correlation of human agreement with the items' results."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, examine
from catsofa.scoring.examine.order import deviations, item_rest


def matrix(values: Array, people: Array) -> ItemMatrix:
    """Returns a matrix with three items per term."""
    names = np.array([f"i{number:03}" for number in range(len(values))])
    models = tuple(f"m{number}" for number in range(values.shape[1]))
    terms = np.array([f"t{number // 3}" for number in range(len(values))])
    tasks = np.array(["habits"] * len(values))
    return ItemMatrix(values=values, models=models, items=names, tasks=tasks, domains=tasks, terms=terms, people=people)


def drawn(seed: int = 0) -> tuple[Array, Array]:
    """Returns sixty items for eight models, and shares of five judges."""
    rng = np.random.default_rng(seed)
    return (rng.random((60, 8)) < np.linspace(0.2, 0.8, 8)).astype(float), rng.integers(2, 6, 60) / 5


def test_both_correlations_are_spearmans() -> None:
    """Both correlations, with the share of models that prefer the stereotype and with the item–rest correlation, equal
    scipy's Spearman's rho."""
    values, people = drawn()
    part = examine(matrix(values, people), resamples=50).parts["habits"]
    rests = item_rest(*deviations(values))[:, 0]
    defined = np.isfinite(rests)
    assert part.value("people.preference") == pytest.approx(stats.spearmanr(values.mean(axis=1), people).statistic)
    assert part.value("people.item_rest") == pytest.approx(stats.spearmanr(rests[defined], people[defined]).statistic)
    limits = part.numbers["people.preference"]
    assert limits.both.low <= limits.terms.low < limits.terms.high <= limits.both.high


def test_agreement_that_follows_the_models_is_found() -> None:
    """If people confirm what most models prefer, rho is 1."""
    values, _ = drawn()
    part = examine(matrix(values, values.mean(axis=1)), resamples=20).parts["habits"]
    assert part.to_dict()["people"]["preference"] == pytest.approx(1)


def test_items_that_nobody_judged_count_nothing() -> None:
    """Items without judgements are ignored. Nine judged items are too few; without any, the number is not reported."""
    values, people = drawn()
    some = np.where(np.arange(60) < 30, people, np.nan)
    part = examine(matrix(values, some), resamples=20).parts["habits"]
    assert part.value("people.preference") == pytest.approx(
        stats.spearmanr(values.mean(axis=1)[:30], people[:30]).statistic
    )
    few = examine(matrix(values, np.where(np.arange(60) < 9, people, np.nan)), resamples=20).parts["habits"]
    assert "fewer than 10 items" in few.undefined["people"]
    none = examine(replace(matrix(values, people), people=np.empty(0)), resamples=20).parts["habits"]
    assert "people" not in none.to_dict()
    assert "people" not in none.undefined
