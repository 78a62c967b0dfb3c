import math

import numpy as np
import pytest

from catsofa.scoring.statistics.holm import holm


def test_holm() -> None:
    """Of 0.01, 0.04, 0.03 and 0.005, the adjusted values are 0.005·4, 0.01·3, 0.03·2, and 0.04·1 raised to the
    preceding 0.06."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_stops_at_one_and_passes_over_what_is_no_test() -> None:
    """NaN is not counted in the family; adjusted values are at most 1."""
    adjusted = holm([0.6, math.nan, 0.02])
    assert adjusted[0] == pytest.approx(0.6)
    assert math.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(0.04)
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


def test_holm_agrees_with_statsmodels() -> None:
    """Holm's p equals that of statsmodels on 20 random families."""
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.random(rng.integers(1, 12)) ** 3
        assert holm(list(p)) == pytest.approx(list(multipletests(p, method="holm")[1]))
