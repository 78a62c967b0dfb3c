"""Tests combinations of choices and the effect of each choice on a number."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from catsofa.scoring.choosing.position import SHARE
from catsofa.scoring.multiverse.choices import combinations, effects
from catsofa.scoring.multiverse.dependence import Claim, _support
from catsofa.scoring.statistics.intervals import Interval

GRID = [{"a": a, "b": b, "c": "one"} for a, b in product("xy", "pqr")]
A, B = {"x": 0.0, "y": 4.0}, {"p": 0.0, "q": 1.0, "r": 3.0}
PLAIN = np.array([10 + A[of["a"]] + B[of["b"]] for of in GRID])


def of(here: Any, options: list[dict[str, str]], drawn: Any = None) -> dict[str, Any]:
    """Returns the effects, by default without any error."""
    rows = np.tile(here, (50, 1)) if drawn is None else drawn
    return effects(np.asarray(here, dtype=float), rows, options, 30, 1e12)


def test_without_interactions_the_choices_share_the_variation() -> None:
    """In a 2 × 3 grid, A moves 4 and B moves 3: sums of squares 24 and 28/3, so 72 % and 28 %. A choice with one value
    is left out."""
    by_option = of(PLAIN, GRID)
    assert {*by_option} == {"a", "b"}
    assert [by_option[o].moves.value for o in "ab"] == pytest.approx([4, 3])
    assert [by_option[o].share.value for o in "ab"] == pytest.approx([72, 28])
    assert by_option["b"].values == ("p", "q", "r")
    assert (by_option["a"].moves.low, by_option["a"].moves.high) == pytest.approx((4, 4), abs=1e-3)


def test_a_choice_that_changes_nothing_has_no_share() -> None:
    """If only A moves the number, A has the whole share; if nothing moves, every share is 0."""
    moved = of([10 + A[each["a"]] for each in GRID], GRID)
    assert (moved["a"].share.value, moved["b"].share.value, moved["b"].moves.value) == pytest.approx((100, 0, 0))
    assert [effect.share.value for effect in of(np.full(6, 7.0), GRID).values()] == [0, 0]


def test_the_share_of_a_choice_that_may_move_nothing_may_be_0() -> None:
    """For one sample of noise, shares far above 0 have lower limits of 0."""
    rng = np.random.default_rng(2)
    rows = 50 + rng.normal(scale=6, size=(40, 6))
    drawn = np.stack([rows[rng.integers(40, size=40)].mean(axis=0) for _ in range(200)])
    measured = of(rows.mean(axis=0), GRID, drawn).values()
    assert max(effect.share.value for effect in measured) > 20
    assert [(effect.moves.low, effect.share.low) for effect in measured] == [(0, 0), (0, 0)]


def test_choices_that_come_together_are_not_told_apart() -> None:
    """If every x goes with p, neither choice has an effect of its own; a third choice, crossed with both, has one."""
    together = [{"a": a, "b": {"x": "p", "y": "q"}[a], "c": c} for a, c in product("xy", "mn")]
    by_option = of([1, 2, 5, 6], together)
    assert (by_option["a"], by_option["b"]) == (None, None)
    assert by_option["c"].moves.value == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_the_shares_of_an_unbalanced_design_are_those_of_statsmodels(seed: int) -> None:
    """Shares equal statsmodels' type II sums of squares for random numbers in some cells of a 2 × 3 × 2 grid."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    grid = [dict(zip("abc", each, strict=True)) for each in product("xy", "pqr", "mn")]
    some = [grid[n] for n in rng.permutation(12)[:9]]
    outcomes = rng.normal(size=9)
    table = anova_lm(ols("y ~ C(a) + C(b) + C(c)", pd.DataFrame(some).assign(y=outcomes)).fit(), typ=2)["sum_sq"]
    total = ((outcomes - outcomes.mean()) ** 2).sum()
    by_option = of(outcomes, some)
    for option in "abc":
        assert by_option[option].share.value == pytest.approx(100 * table[f"C({option})"] / total)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [0.0, 4.0])
def test_the_interval_of_an_effect_holds_the_true_one(moves: float) -> None:
    """In 300 samples of 40 clusters, with A moving 0 or 4, 93 % or more of the intervals contain the effect and its
    share."""
    rng, held, shares, share = np.random.default_rng(5), 0, 0, 100 * 24 / (24 + 28 / 3) * bool(moves)
    truth = np.array([50 + (moves if each["a"] == "y" else 0) + B[each["b"]] for each in GRID])
    for _ in range(300):
        rows = truth + rng.normal(scale=10, size=(40, 1)) + rng.normal(scale=6, size=(40, 6))
        drawn = np.stack([rows[rng.integers(40, size=40)].mean(axis=0) for _ in range(400)])
        effect = effects(rows.mean(axis=0), drawn, GRID, 40, 4000)["a"]
        assert effect is not None
        held += effect.moves.low <= moves <= effect.moves.high
        shares += effect.share.low <= share <= effect.share.high
    assert held >= 0.93 * 300
    assert shares >= 0.93 * 300


def test_all_combinations_of_values_with_the_own_ones_first() -> None:
    """An option without a value stands for all its values. Numbers and non-default values are named; the base keeps its
    name."""
    names = [p.name for p in combinations("catsofa", ["length", "first_token=skip"], "stereoset")]
    assert names == ["catsofa", "catsofa,first_token=skip", "catsofa,length=sum", "catsofa,length=sum,first_token=skip"]
    rounded = combinations("crows-pairs", ["rounding=none,1"], "crows_pairs")
    assert [p.crows_pairs.rounding for p in rounded] == [3, None, 1]
    assert len({p.digest for p in rounded}) == 3


def test_a_claim_counts_protocols_and_those_whose_whole_interval_agrees() -> None:
    """Values 40, 52 and 60 with intervals of ± 5: two are above 50, one of them entirely; one is below, entirely."""
    values = {name: Interval(value, value - 5, value + 5) for name, value in zip("abc", (40, 52, 60), strict=True)}
    drawn = np.array([[40, 52, 60], [40, 48, 60]] * 20, dtype=float)
    claim = Claim.read(" ss> 50", ["lms", "ss"])
    above, below = (_support(side, claim.at, values, drawn, 20) for side in "><")
    assert (str(claim), above.holds, above.shown, below.holds, below.shown) == ("ss > 50", 2, 1, 1, 1)
    assert (above.share.value, above.share.low, above.share.high) == pytest.approx((200 / 3, 100 / 3, 200 / 3))


def test_a_value_that_rounding_alone_sets_apart_supports_no_claim() -> None:
    """3 of 4 is 0.7499999999999999 as a preference, which is neither above nor below 0.75."""
    exact = float(SHARE(np.array([3.0, 1, 0, 20, 20, 20, 20, 20])))
    assert exact != 0.75
    drawn = np.full((10, 1), exact)
    supports = [_support(side, 0.75, {"a": Interval(exact, exact, exact)}, drawn, 20) for side in "><"]
    assert [(support.holds, support.shown, support.share.high) for support in supports] == [(0, 0, 0)] * 2
