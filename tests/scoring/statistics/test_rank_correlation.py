"""Tests rank correlations over models: published values, and the limits of few models."""

import csv
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from catsofa.scoring.statistics.rank_correlation import kendall, spearman

PRINTED = Path(__file__).parents[1] / "published" / "stereoset_tables.csv"
RANKS = {
    "sofa": [1, 9, 7, 8, 4, 2, 10, 3, 6, 5],
    "stereoset": [6, 4, 5, 3, 8, 7, 10, 9, 2, 1],
    "crows": [5, 4, 6, 3, 7, 8, 10, 9, 2, 1],
}
"""Marchiori Manerba et al. 2024, Table 1: the ranks of ten models on three benchmarks."""


def ranked(name: str) -> dict[str, float]:
    """Returns ten models with their ranks."""
    return {f"model {number}": float(rank) for number, rank in enumerate(RANKS[name])}


@pytest.mark.parametrize(
    ("one", "other", "printed"),
    [("stereoset", "crows", 0.911), ("sofa", "stereoset", -0.022), ("sofa", "crows", -0.022)],
)
def test_benchmarks_agree_as_sofa_says(one: str, other: str, printed: float) -> None:
    """SoFa, Table 1: StereoSet and CrowS-Pairs rank ten models similarly; SoFa ranks them differently."""
    correlation = kendall(ranked(one), ranked(other))
    assert correlation.value.value == pytest.approx(printed, abs=0.0005)
    assert correlation.value.low < printed < correlation.value.high
    assert (correlation.p < 0.001) == (printed > 0.9)
    assert correlation.models == 10


def test_lms_and_ss_rise_together_as_stereoset_says() -> None:
    """Nadeem et al. 2021, Table 4 and its text: Spearman's rho of lms and ss over nine models is 0.87."""
    with PRINTED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if (row["paper"], row["table"]) == ("acl", "4")]
    rows = [row for row in rows if row["model"].split("-")[0] in ("BERT", "RoBERTa", "XLNet", "GPT2")]
    assert len(rows) == 9
    lms, ss = ({row["model"]: float(row[name]) for row in rows} for name in ("lms", "ss"))
    assert round(spearman(lms, ss).value.value, 2) == 0.87


@pytest.mark.parametrize("tied", [1, 3])
@pytest.mark.parametrize("models", [3, 4, 9, 33, 34, 60])
def test_kendall_is_scipys(models: int, tied: int) -> None:
    """Tau-b and its p are those of SciPy: for all orders, nearly equal orders, ties, few models and many."""
    rng = np.random.default_rng(models)
    one = np.arange(models) // tied
    swapped = np.r_[1, 0, 2:models] // tied
    for other in (one, one[::-1], swapped, *(rng.permutation(models) // tied for _ in range(5))):
        if len(set(one)) == 1 or len(set(other)) == 1:
            continue
        found = kendall(*({str(name): float(value) for name, value in enumerate(side)} for side in (one, other)))
        expected = stats.kendalltau(one, other)
        assert found.value.value == pytest.approx(expected.statistic, abs=1e-12)
        assert found.p == pytest.approx(expected.pvalue, rel=1e-6)


def test_few_models_or_one_order_have_no_limits() -> None:
    """Two models have no correlation, and identical orders have no limits; unscored models are ignored."""
    three = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert isnan(spearman(three, {"a": 1.0, "b": 2.0, "c": nan}).value.value)
    for measure in (spearman, kendall):
        correlation = measure(three, three)
        assert correlation.value.value == pytest.approx(1)
        assert isnan(correlation.value.low)
        assert correlation.models == 3


def test_the_p_of_few_models_counts_every_order() -> None:
    """Of the 120 orders of five models two have a rho of 1 or -1, so p = 2/120; of three models 2/6."""
    five = {name: float(rank) for rank, name in enumerate("abcde")}
    assert spearman(five, five).p == pytest.approx(2 / 120)
    assert spearman(five, {name: -value for name, value in five.items()}).p == pytest.approx(2 / 120)
    three = {name: five[name] for name in "abc"}
    assert spearman(three, three).p == pytest.approx(2 / 6)
