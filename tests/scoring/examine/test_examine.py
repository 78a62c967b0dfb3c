"""Tests the report on a matrix of items × models."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from catsofa.data.statistics import Array
from catsofa.scoring.examine import ItemMatrix, examine
from catsofa.scoring.examine.convergence import model_means
from catsofa.scoring.examine.limits import RELIABILITY, SHARE, estimate
from catsofa.scoring.statistics.rank_correlation import kendall


def matrix(values: Array, each: int = 3, tasks: int = 1) -> ItemMatrix:
    """Returns a matrix with this number of items per term, in tasks of equal size."""
    names = [f"i{number:03}" for number in range(len(values))]
    return ItemMatrix(
        values=values,
        models=tuple(f"m{number}" for number in range(values.shape[1])),
        items=np.array(names),
        tasks=np.array([f"task{number * tasks // len(values)}" for number in range(len(values))]),
        domains=np.array(["habits"] * len(values)),
        terms=np.array([f"t{number // each}" for number in range(len(values))]),
    )


def drawn(models: int = 8, items: int = 60, spread: float = 0.35, seed: int = 0) -> Array:
    """Returns preferences of models whose rates spread around a half by this much."""
    rng = np.random.default_rng(seed)
    return (rng.random((items, models)) < np.linspace(0.5 - spread, 0.5 + spread, models)).astype(float)


def test_items_that_order_the_models_differ_from_shuffled_ones() -> None:
    """Models from 15 to 85 % give a positive median correlation, fewer negative ones than by chance, and one
    dimension."""
    part = examine(matrix(drawn())).parts["task0"]
    rest = part.to_dict()["item_rest"]
    assert rest["median"] > 0.2 > abs(rest["null_median"])
    assert rest["negative"] < 0.3 < rest["null_negative"]
    assert rest["p_median"] == rest["p_negative"] == pytest.approx(1 / 201)
    assert part.value("kr20") > 0.8
    assert part.dimensions == 1


def test_items_that_order_nothing_are_those_of_chance() -> None:
    """Models of one rate give a coefficient whose interval contains 0 and no upper limit for the number of items."""
    part = examine(matrix(drawn(spread=0.0))).parts["task0"]
    result = part.to_dict()
    low, high = (result["intervals"]["kr20"][side] for side in ("low", "high"))
    assert low < 0.05 < high
    assert result["intervals"]["items_for.0.8"]["high"] is None
    assert result["item_rest"]["p_median"] > 0.05
    assert part.dimensions == 0


def test_a_negative_variance_is_0_and_named() -> None:
    """Four models differ on each item but not overall. The negative variance is counted as 0 with a warning, and no
    number of items is given."""
    values = np.array([[1.0, 0.0] * 2, [0.0, 1.0] * 2] * 6)
    part = examine(matrix(values)).parts["task0"]
    result = part.to_dict()
    assert result["variance"]["model"] == result["variance"]["item"] == 0
    assert result["variance"]["residual"] == 1
    assert result["items_for"] == {"0.8": None, "0.9": None}
    assert any(each.startswith("negative estimate of variance, counted as 0: model, item") for each in part.warnings)
    assert any("no number of such items" in each for each in part.warnings)


def test_numbers_that_few_models_cannot_give_are_refused_with_the_reason() -> None:
    """Three models give no coefficient, item–rest correlation, halves or dimensions; two models give no interval over
    models."""
    three = examine(matrix(drawn(3))).parts["task0"]
    assert set(three.undefined) == {"coefficient", "item_rest", "split_half", "dimensions", "bipolar"}
    assert np.isnan([three.value("kr20"), three.value("coefficient")]).all()
    assert three.to_dict()["items_for"] == {"0.8": None, "0.9": None}
    assert np.isfinite(three.numbers["variance.item"].models.low)
    two = examine(matrix(drawn(2))).parts["task0"]
    assert np.isnan(two.numbers["variance.item"].models.low)
    assert np.isfinite(two.numbers["variance.item"].terms.low)
    assert any(each.startswith("2 models: ") for each in two.warnings)


@pytest.mark.parametrize("models", [2, 3, 4])
def test_no_interval_of_few_models_is_a_point(models: int) -> None:
    """An interval over few models has two different limits or none, for each of 20 sets of random answers."""
    for seed in range(20):
        part = examine(matrix(drawn(models, 24, 0.0, seed)), resamples=50, seed=seed).parts["task0"]
        sides = [side for number in part.numbers.values() for side in (number.both, number.terms, number.models)]
        assert all(np.isnan(side.low) or side.low < side.high for side in sides)


@pytest.mark.parametrize(("models", "defined"), [(2, False), (3, False), (4, True)])
def test_the_order_of_few_models_converges_with_nothing(models: int, defined: bool) -> None:
    """Kendall's tau needs four models; below that, the reason is the number of models."""
    (pair,) = examine(matrix(drawn(models), tasks=2), resamples=2).convergence
    assert np.isfinite(pair.kendall.value.value) == defined
    assert pair.to_dict()["undefined"] == ("" if defined else "fewer than 4 models")


def test_one_model_or_one_item_is_refused() -> None:
    """One model or one item is refused, because nothing can be compared."""
    for values in (drawn(1), drawn(5, 1)):
        with pytest.raises(ValueError, match=r"two items.*two models"):
            examine(matrix(values))


def test_resamples_too_few_for_an_interval_are_refused() -> None:
    """Fewer than 2 resamples (0, 1, a negative number) are refused; the error gives the number and the minimum."""
    for count in (0, 1, -3):
        with pytest.raises(ValueError, match=f"{count} resamples.*2 or more"):
            examine(matrix(drawn()), resamples=count)


def test_a_task_with_the_name_of_a_key_of_the_report_is_refused() -> None:
    """A task named "convergence" is refused, because `results.convergence` would be ambiguous."""
    data = matrix(drawn())
    with pytest.raises(ValueError, match=r"task.*'convergence'"):
        examine(replace(data, tasks=np.array(["convergence"] * 60)))


def test_a_task_that_one_model_scores_is_left_out_and_named() -> None:
    """A task scored by one model is left out with a warning. The other task is examined, and no convergence is
    computed."""
    values = drawn()
    values[30:, 1:] = np.nan
    report = examine(matrix(values, tasks=2))
    assert list(report.parts) == ["task0"]
    assert report.warnings == ("task1 is left out, found 30 items scored by 1 model",)
    assert not report.convergence


def test_a_model_without_scores_is_left_out_and_named() -> None:
    """A model without scores is left out with a warning, and the numbers are those of the other eight."""
    values = drawn()
    empty = np.concatenate([values, np.full((60, 1), np.nan)], axis=1)
    part, plain = (examine(matrix(one)).parts["task0"] for one in (empty, values))
    assert part.numbers == plain.numbers
    assert part.coverage == pytest.approx(8 / 9)
    assert "left out, since they score no item: m8" in part.warnings


def test_missing_scores_are_counted_and_change_little() -> None:
    """With a tenth missing at random, the coverage is right, agreement is counted over complete items, and the other
    numbers change little."""
    values = drawn(items=300)
    holes = values.copy()
    holes[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan
    part, plain = (examine(matrix(one)).parts["task0"] for one in (holes, values))
    assert part.coverage == pytest.approx(np.isfinite(holes).mean())
    assert part.complete == np.isfinite(holes).all(axis=1).sum()
    for name in ("variance.model", "variance.item", "kr20", "coefficient", "item_rest.median", "split_half"):
        assert part.value(name) == pytest.approx(plain.value(name), abs=0.06)
    assert any("of the cells are scored" in each for each in part.warnings)


def test_items_on_which_all_models_agree_are_listed_beside_those_of_chance() -> None:
    """Three models that prefer the stereotype on 3, 2 and 4 of six items agree on 6 · (3·2·4) / 6³ items by chance. The
    expectation is the mean over shuffles of each model's items."""
    values = np.array([[1.0, 1, 1], [1, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]])
    none, every = examine(matrix(values)).parts["task0"].to_dict()["agreed"]
    assert every == {"value": 1.0, "count": 2, "by_chance": pytest.approx(24 / 36), "items": ["i000", "i001"]}
    assert none == {"value": 0.0, "count": 2, "by_chance": pytest.approx(24 / 36), "items": ["i004", "i005"]}
    rng = np.random.default_rng(0)
    counts = [np.all([rng.permutation(column) for column in values.T], axis=0).sum() for _ in range(4_000)]
    assert np.mean(counts) == pytest.approx(every["by_chance"], abs=0.05)


def test_items_to_look_at_are_named_with_the_reason() -> None:
    """An item on which all models agree is flagged E1; one that reverses the order of 60 others is flagged E2."""
    against = np.array([[1.0, 1, 1, 1, 0, 0, 0, 0], [1.0] * 8])
    flags = {flag.item: flag for flag in examine(matrix(np.concatenate([drawn(), against]))).flags}
    assert flags["i060"].rule == "E2"
    assert flags["i061"].rule == "E1"
    assert "all 8 models score 1" in flags["i061"].message


def test_the_order_of_items_and_models_changes_no_estimate() -> None:
    """Reversing items and models changes no number, except those of random halves and shuffles."""
    one = matrix(drawn())
    turned = replace(
        one.take(np.arange(60)[::-1] >= 0),
        values=one.values[::-1, ::-1],
        **{name: getattr(one, name)[::-1] for name in ("items", "tasks", "domains", "terms", "models")},
    )
    plain, reversed_part = examine(one).parts["task0"], examine(turned).parts["task0"]
    for name in plain.numbers.keys() - {"split_half"}:
        assert reversed_part.value(name) == pytest.approx(plain.value(name), abs=1e-9)
    assert plain.value("split_half") == pytest.approx(reversed_part.value("split_half"), abs=0.02)


def test_tasks_converge_by_the_rank_correlation_of_their_means() -> None:
    """The convergence of two tasks is Kendall's tau of the models' means, with r divided by the root of both
    coefficients."""
    data = matrix(drawn(items=120), tasks=2)
    report = examine(data)
    one, other = (model_means(part.values) for part in data.parts().values())
    tau = kendall(dict(enumerate(one.tolist())), dict(enumerate(other.tolist())))  # type: ignore[arg-type]
    pair = report.convergence[0]
    assert (pair.parts, pair.kendall.value.value) == (("task0", "task1"), tau.value.value)
    kr20 = [part.value("kr20") for part in report.parts.values()]
    assert pair.disattenuated == pytest.approx(pair.pearson.value / np.sqrt(np.prod(kr20)))


def test_models_of_equal_sums_are_ties() -> None:
    """Kendall's tau of the means equals that of the counts of preferences, so that rounding breaks no tie."""
    rng = np.random.default_rng(0)
    for models in range(4, 12):
        values = rng.integers(0, 2, (24, models)).astype(float)
        (pair,) = examine(matrix(values, tasks=2), resamples=2).convergence
        counted = stats.kendalltau(values[:12].sum(axis=0), values[12:].sum(axis=0))
        assert pair.kendall.value.value == pytest.approx(counted.statistic, abs=1e-12)


def test_no_share_of_negative_correlations_comes_from_rounding() -> None:
    """The share of negative correlations follows the sign of each item's covariance with the rest in whole numbers; 0
    is not negative."""
    rng = np.random.default_rng(1)
    zeros = 0
    for models in range(4, 14):
        values = rng.integers(0, 2, (30, models)).astype(float)
        rest = values.sum(axis=0) - values
        covariances = models * (values * rest).sum(axis=1) - values.sum(axis=1) * rest.sum(axis=1)
        varies = (np.ptp(values, axis=1) > 0) & (np.ptp(rest, axis=1) > 0)
        zeros += int((covariances[varies] == 0).sum())
        part = examine(matrix(values), resamples=2).parts["task0"]
        assert part.value("item_rest.negative") == pytest.approx((covariances[varies] < 0).mean(), abs=1e-12)
    assert zeros > 5


def test_models_of_one_mean_have_no_correlation() -> None:
    """If each model prefers half of the stereotypes, the means differ by rounding at most, and no correlation is
    defined."""
    rng = np.random.default_rng(2)
    halves = rng.permuted(np.tile(np.arange(14) % 2 * 1.0, (2, 7, 1)), axis=2).transpose(0, 2, 1)
    (pair,) = examine(matrix(halves.reshape(28, 7), tasks=2), resamples=2).convergence
    assert np.isnan([pair.kendall.value.value, pair.pearson.value]).all()


def test_one_item_that_varies_is_no_dimension() -> None:
    """A single item that varies is not a dimension, because shuffled models have the same eigenvalue."""
    values = np.ones((12, 9))
    values[0, :4] = 0
    assert examine(matrix(values), resamples=2).parts["task0"].dimensions == 0


def test_a_model_that_is_given_twice_is_named() -> None:
    """Two models with the same scores on every item are named in a warning."""
    values = drawn()
    (warning,) = (w for w in examine(matrix(np.c_[values, values[:, 2]])).parts["task0"].warnings if "alike" in w)
    assert warning.startswith("m2, m8 score every item alike")
    assert not any("alike" in warning for warning in examine(matrix(values)).parts["task0"].warnings)


def test_terms_of_one_item_have_no_nested_design() -> None:
    """If each term has one item, the nested design is refused with a reason; the other numbers are given."""
    part = examine(matrix(drawn(), each=1)).parts["task0"]
    assert part.undefined["terms"] == "one item a term"
    assert "terms" not in part.to_dict()


def test_a_jackknife_of_a_mean_is_its_standard_error() -> None:
    """The jackknife interval of a mean of 0.2, 0.4, 0.6, 0.8 has nearly the half width t · s/√n, on the log-odds
    scale."""
    values = np.array([0.2, 0.4, 0.6, 0.8])
    without = (values.sum() - values) / 3
    limits = estimate(0.5, np.empty(0), 0, without, SHARE).models
    reach = 3.182 * values.std(ddof=1) / 2
    assert (limits.low, limits.high) == pytest.approx((0.5 - reach, 0.5 + reach), abs=0.08)


def test_limits_stay_on_the_scale_of_their_number() -> None:
    """A coefficient is at most 1. A share of 0 in each draw has Wilson's limits over the terms."""
    assert estimate(0.99, np.array([0.9, 0.999]), 20, np.empty(0), RELIABILITY).terms.high < 1
    none = estimate(0.0, np.zeros(50), 20, np.empty(0), SHARE).terms
    assert (none.low, none.high) == pytest.approx((0, 0.161), abs=0.001)
