import math

import numpy as np
import pytest
from scipy import stats

from catsofa.scoring.statistics.mean_variances import Mean, interval, mean_of


def drawn(rng: np.random.Generator, stereotypes: int, identities: int, spread: float) -> np.ndarray:
    """Returns variances of normal numbers whose true variances are log-normal with mean 1."""
    true = np.exp(spread * rng.standard_normal(stereotypes) - spread**2 / 2)
    return np.asarray(true * rng.chisquare(identities - 1, stereotypes) / (identities - 1))


def percent_held(stereotypes: int, identities: int, spread: float, sets: int, categories: int = 1) -> float:
    """Returns the percentage of simulated scores whose interval contains 1; an undefined interval counts as a hit."""
    rng, held = np.random.default_rng(3), 0
    for _ in range(sets):
        parts = [
            mean_of(drawn(rng, stereotypes, identities, spread), np.full(stereotypes, identities))
            for _ in range(categories)
        ]
        limits = interval(parts)
        held += 1 in limits or math.isnan(limits.low)
    return 100 * held / sets


def test_equal_variances_of_many_identities_have_students_interval_of_the_logarithm() -> None:
    """For 1, 1.1 and 1.2 the mean is 1.1, the error 0.1/√3, and the log limits are ± 4.3027 · 0.0577/1.1 = 0.2258."""
    score = interval([mean_of(np.array([1, 1.1, 1.2]), np.full(3, 40))])
    assert (score.low, score.high) == pytest.approx((1.1 * math.exp(-0.22584), 1.1 * math.exp(0.22584)), rel=1e-4)


def test_unequal_variances_count_as_a_lognormal_population() -> None:
    """Logarithms ±0.5, four each, have the variance 2/7 · (1 + 3/7) less trigamma(500); the error is that of a
    log-normal population with this variance."""
    variances = np.exp(np.repeat([-0.5, 0.5], 4))
    score = interval([mean_of(variances, np.full(8, 1001))])
    unequal = math.expm1(2 / 7 * (1 + 3 / 7) - 0.002002) * (1 + 2 / 1000)
    reach = stats.t.ppf(0.975, 7) * math.sqrt(unequal / 8)
    assert math.cosh(0.5) == pytest.approx(score.value)
    assert score.high / score.value == pytest.approx(math.exp(reach), rel=1e-4)


def test_an_interval_of_more_than_a_hundred_times_is_withheld() -> None:
    """For logarithms from 0 to 9 no interval is given, because it would span a factor of more than a hundred."""
    assert math.isnan(interval([mean_of(np.exp(np.arange(10.0)), np.full(10, 1001))]).low)


def test_several_categories_have_satterthwaites_degrees_of_freedom_and_limits_joined_by_mover() -> None:
    """Two means of 2 over 5 and 9 variances with errors of 0.2 have 10.67 degrees of freedom and limits 2·exp(±0.1·t)
    each."""
    score = interval([Mean(2, 5, 0.2 * math.sqrt(5)), Mean(2, 9, 0.2 * math.sqrt(9))])
    free = (2 * 0.04) ** 2 / (0.04**2 / 4 + 0.04**2 / 8)
    reach = stats.t.ppf(0.975, free) * 0.1
    assert free == pytest.approx(10.667, abs=1e-3)
    nearer, further = 2 - 2 * math.exp(-reach), 2 * math.exp(reach) - 2
    assert (score.low, score.high) == pytest.approx((2 - nearer * math.sqrt(2) / 2, 2 + further * math.sqrt(2) / 2))


def test_a_category_that_is_spread_more_than_the_others_keeps_its_own_spread() -> None:
    """With logarithms ±1.5 in one category and ±0.1 in five, the wide category keeps its own spread."""
    even, uneven = (mean_of(np.exp(np.repeat([-size, size], 10)), np.full(20, 1001)) for size in (0.1, 1.5))
    score = interval([*[even] * 5, uneven])
    alone = interval([uneven])
    assert score.high - score.value == pytest.approx((alone.high - alone.value) / 6, rel=0.05)


def test_one_variance_has_no_limits_and_none_has_no_value() -> None:
    """A single stereotype, or equal ones, have a value and NaN limits; without a stereotype the value is NaN too."""
    for variances in ([2.0], [2.0, 2.0], [2.0, math.nan]):
        score = interval([mean_of(np.array(variances), np.full(len(variances), 5))])
        assert (score.value, math.isnan(score.low)) == (2, True)
    assert math.isnan(interval([mean_of(np.array([math.nan]), np.array([0]))]).value)


def test_a_variance_of_zero_leaves_the_observed_spread() -> None:
    """A variance of zero, from identities with equal scores on one stereotype, has no logarithm; the observed spread is
    used."""
    score = interval([mean_of(np.array([0.0, 1.0, 2.0]), np.full(3, 5))])
    assert score.high == pytest.approx(math.exp(stats.t.ppf(0.975, 2) / math.sqrt(3)))


@pytest.mark.parametrize("spread", [0.0, 1.6])
def test_intervals_hold_the_truth_however_unequal_the_variances_are(spread: float) -> None:
    """With ten stereotypes and 12 identities, 93 to 97 % of 1,500 intervals cover the truth (percentiles of resamples:
    68 % at a log sd of 1.6)."""
    assert 93 <= percent_held(10, 12, spread, 1500) <= 97


WORLDS = [
    *((stereotypes, 12, spread) for stereotypes in (3, 5, 10, 30, 100) for spread in (0.0, 0.3, 0.5, 0.8, 1.1)),
    *((stereotypes, 12, 1.6) for stereotypes in (3, 5, 10, 30)),
    *((stereotypes, 4, spread) for stereotypes in (5, 10, 30, 100) for spread in (0.0, 0.5)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("stereotypes", "identities", "spread"), WORLDS)
def test_intervals_hold_the_truth_as_often_as_they_say(stereotypes: int, identities: int, spread: float) -> None:
    """Of 5,000 simulated intervals, 93 to 97 % cover the truth, within the simulation's error of 0.3."""
    assert 92.5 <= percent_held(stereotypes, identities, spread, 5000) <= 97.3


@pytest.mark.slow
@pytest.mark.parametrize(("stereotypes", "spread"), [(5, 0.0), (5, 0.8), (10, 1.1), (30, 0.5)])
def test_intervals_over_categories_hold_the_truth(stereotypes: int, spread: float) -> None:
    """With four categories, 93 to 98 % of 4,000 simulated intervals cover the truth."""
    assert 92.5 <= percent_held(stereotypes, 12, spread, 4000, categories=4) <= 98


def test_means_of_the_same_names_are_one_mean() -> None:
    """Two categories with the same variances of the same stereotypes have the interval of one, and otherwise less."""
    variances, counts = np.array([0.5, 1.0, 2.0, 4.0]), np.full(4, 20)
    one, apart, half = (mean_of(variances, counts, names) for names in ("abcd", "efgh", "abef"))
    limits = [interval(parts) for parts in ([one], [one, one], [one, half], [one, apart], [one, one, apart])]
    widths = [each.high - each.low for each in limits]
    assert interval([mean_of(variances, counts)] * 2).limits() == limits[3].limits()
    assert limits[1].limits() == pytest.approx(limits[0].limits())
    assert widths[3] < widths[4] < widths[1]
    assert widths[3] < widths[2] < widths[1]


@pytest.mark.parametrize("categories", [2, 6])
def test_intervals_over_categories_that_share_stereotypes_hold_the_truth(categories: int) -> None:
    """Of 500 simulated intervals, 93 to 99 % cover the truth; of independent categories they would be too narrow."""
    rng, names, held = np.random.default_rng(3), [*map(str, range(25))], 0
    for _ in range(500):
        common = rng.standard_normal(25)
        true = [np.exp(0.8 * (0.99 * common + 0.14 * rng.standard_normal(25)) - 0.32) for _ in range(categories)]
        parts = [mean_of(each * rng.chisquare(9, 25) / 9, np.full(25, 10), names) for each in true]
        held += 1 in interval(parts)
    assert 465 <= held <= 495


UNEVEN = [
    ([40] * 3, (0.2, 0.2, 1.5)),
    ([40] * 6, (0.2,) * 5 + (1.5,)),
    ([20] * 8, (0.2,) * 7 + (1.5,)),
    ([60] * 4, (0.3, 0.6, 0.9, 1.2)),
    ([10, 20, 40, 80], (1.2, 0.3, 0.8, 0.5)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("counts", "spreads"), UNEVEN)
def test_intervals_over_categories_of_unequal_spread_hold_the_truth(
    counts: list[int], spreads: tuple[float, ...]
) -> None:
    """Of 2,000 simulated intervals, 93 to 98 % cover the truth (76 to 86 % if all categories share one spread)."""
    rng, held = np.random.default_rng(11), 0
    for _ in range(2000):
        drawn_parts = zip(counts, spreads, strict=True)
        limits = interval([mean_of(drawn(rng, count, 12, spread), np.full(count, 12)) for count, spread in drawn_parts])
        held += 1 in limits or math.isnan(limits.low)
    assert 92.5 <= held / 20 <= 98.3


@pytest.mark.slow
@pytest.mark.parametrize(("stereotypes", "identities"), [(3, 4), (5, 4), (10, 4), (100, 12)])
def test_where_intervals_are_off_a_little(stereotypes: int, identities: int) -> None:
    """With four identities and a log sd of 1.1, 90 % or more cover the truth; with a hundred stereotypes and 1.6, up to
    99 %."""
    spread = 1.6 if stereotypes == 100 else 1.1
    assert 90 <= percent_held(stereotypes, identities, spread, 4000) <= 99
