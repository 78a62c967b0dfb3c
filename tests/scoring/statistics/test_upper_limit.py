import numpy as np
import pytest

from catsofa.scoring.statistics.intervals import upper_limit_of_lesser

DRAWN = np.random.default_rng(3).standard_normal(200_000)
TAIL = 0.025


def test_far_from_the_kink_the_lesser_alone_decides() -> None:
    """For 50 beside 90, with one standard error each, the lesser's own upper limit of 50 + 1.96 is unchanged."""
    resampled = np.stack([50 + DRAWN, 90 - DRAWN], axis=1)
    highest = float(np.quantile(resampled[:, 0], 1 - TAIL))
    assert (
        upper_limit_of_lesser(np.array([50.0, 90.0]), resampled, TAIL, highest)
        == highest
        == pytest.approx(51.96, abs=0.02)
    )


def test_near_the_kink_the_limit_is_that_of_a_folded_normal() -> None:
    """For 100 - |x| with x = 2.5 standard errors, the upper limit is at t = 0.852.

    All t with P(|x| > 2.5) < 5 % are refused. By hand: 1 - Phi(2.5 - 0.852) + Phi(-2.5 - 0.852) = 0.0497 + 0.0004. The
    percentiles give t = 2.5 - 1.96 = 0.54.
    """
    values, resampled = np.array([97.5, 102.5]), np.stack([97.5 + DRAWN, 102.5 - DRAWN], axis=1)
    limit = upper_limit_of_lesser(values, resampled, TAIL, 97.5 + 1.96)
    assert limit == pytest.approx(100 - 0.852, abs=0.02)
    assert upper_limit_of_lesser(values[::-1], resampled[:, ::-1], TAIL, 97.5 + 1.96) == limit


def test_a_number_that_does_not_vary_keeps_its_limit() -> None:
    """A number without variation keeps its limit; a resample with a missing number is ignored."""
    values, resampled = np.array([60.0, 80.0]), np.tile([60.0, 80.0], (9, 1))
    resampled[0] = np.nan
    assert upper_limit_of_lesser(values, resampled, TAIL, 61.0) == 61
