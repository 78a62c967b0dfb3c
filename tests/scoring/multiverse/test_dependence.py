"""Tests how far the answer depends on the protocol: ranges, sides and orders that can be computed by hand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.records import cat

from catsofa.data.records import Score
from catsofa.scoring.choosing.position import SHARE
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.multiverse import Multiverse, multiverse
from catsofa.scoring.multiverse.cells import Cell
from catsofa.scoring.multiverse.dependence import dependence, orders
from catsofa.scoring.protocols import named
from catsofa.scoring.statistics.intervals import Interval, Measure, ratio

CATS = [cat(f"{term}{n}", target=term) for term in ("florin", "zorb", "glimmer") for n in range(4)]
PLAIN, LOST, LONG = "catsofa", "catsofa,ties=against", "catsofa,length=sum"


def given(prefers: Mapping[str, float | None]) -> Given:
    """Returns scores by which a CAT prefers its stereotype by this much. The unrelated candidate is far below; None is
    unscored."""
    scores = []
    for one in CATS:
        gap = prefers.get(one.id, -1.0)
        for label, score in zip(("stereotype", "anti-stereotype", "unrelated"), (gap, 0.0, -9.0), strict=True):
            value = None if score is None else score - 20
            scores.append(Score(item=one[label].id, task="intrasentence", score=value, tokens=1))
    return Given(scores=scores)


def of(**models: Mapping[str, Mapping[str, float | None]]) -> Multiverse:
    """Returns the multiverse of models, given the preferences of each model by protocol."""
    scores = {model: {name: given(prefers) for name, prefers in runs.items()} for model, runs in models.items()}
    protocols = {name: named(name) for runs in models.values() for name in runs}
    return multiverse(CATS, scores, protocols, resamples=500, seed=0)


def up(*names: str) -> dict[str, float | None]:
    """Returns preferences for the stereotypes of these CATs."""
    return dict.fromkeys(names, 1.0)


def test_the_range_is_the_highest_less_the_lowest_protocol() -> None:
    """One protocol prefers three of twelve CATs, the other nine: ss is 25 and 75, a range of 50, with one on each
    side."""
    few, many = up("florin0", "zorb0", "glimmer0"), up(*(one.id for one in CATS if not one.id.endswith("0")))
    result = of(m={PLAIN: few, LONG: many}).dependence["intrasentence"]["m"]
    ss = result.spreads["ss"]
    assert (ss.range.value, ss.median, ss.ends) == (50, 50, (PLAIN, LONG))
    assert (ss.above.holds, ss.below.holds, ss.above.shown, ss.below.shown) == (1, 1, 0, 0)
    assert ss.above.share.value == 50
    assert "sides" not in result.to_dict()["measures"]["icat"]


def test_protocols_with_the_same_scores_and_outcomes_are_one() -> None:
    """Two presets with the same scores are counted once; if ties count differently, they are two."""
    apart = of(m={PLAIN: up("zorb1"), LOST: up("zorb1")}).dependence["intrasentence"]["m"]
    assert apart.refused.startswith("1 protocol with numbers")
    tied = {**up("zorb1"), "zorb2": 0.0}
    result = of(m={PLAIN: tied, LONG: tied, LOST: tied})
    cells = {row["protocol"]: row["same_as"] for row in result.to_dict()["results"]["intrasentence"]["cells"]}
    assert cells == {PLAIN: None, LONG: PLAIN, LOST: None}
    assert list(result.dependence["intrasentence"]["m"].spreads["ss"].values) == [PLAIN, LOST]


def test_protocols_are_compared_on_the_items_that_all_of_them_scored() -> None:
    """Protocols are compared on common items: without zorb0, which one protocol leaves unscored, both agree and the
    range is 0."""
    result = of(m={PLAIN: up("zorb0", "zorb1"), LONG: {"zorb0": None, "zorb1": 1.0}})
    part = result.dependence["intrasentence"]["m"]
    assert part.items == 11
    assert part.spreads["ss"].range.value == 0
    rows = {row["protocol"]: row for row in result.to_dict()["results"]["intrasentence"]["cells"]}
    assert [rows[name]["coverage_differs"] for name in (PLAIN, LONG)] == [False, True]
    assert [rows[name]["scored"] for name in (PLAIN, LONG)] == [12, 11]


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ({PLAIN: up("zorb0"), LONG: dict.fromkeys((one.id for one in CATS), None)}, "1 protocol with numbers"),
        (
            {
                PLAIN: dict.fromkeys((one.id for one in CATS[:6]), None),
                LONG: dict.fromkeys((one.id for one in CATS[6:]), None),
            },
            "no item is scored by every protocol",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(by: Any, why: str) -> None:
    """A single number, or protocols without a common item, give no range, with the reason."""
    part = of(m=by).dependence["intrasentence"]["m"]
    assert why in part.refused
    assert not part.spreads


def test_models_are_ordered_by_each_protocol() -> None:
    """If a is above b by one protocol and below by the other, tau is -1. No pair of models then has the same order in
    all protocols."""
    one, two, three = up("zorb0"), up("zorb0", "florin0"), up("zorb0", "florin0", "glimmer0")
    turned = of(a={PLAIN: two, LONG: one}, b={PLAIN: one, LONG: two}).orders["intrasentence"]["ss"]
    assert (turned.pairs, turned.kept, turned.tau.value) == ({("a", "b"): (1, 1)}, 0, -1)
    ordered = of(a={PLAIN: three, LONG: two}, b={PLAIN: two, LONG: one}).orders["intrasentence"]["ss"]
    assert (ordered.pairs, ordered.kept, ordered.tau.value) == ({("a", "b"): (2, 0)}, 1, 1)


def test_models_that_rounding_alone_sets_apart_are_tied() -> None:
    """A share of 3 in 4 computed as two different floats is a tie: no protocol puts one model above the other."""

    def model(columns: list[float]) -> dict[str, Cell]:
        pairs = _cells(np.ones((4, 2), dtype=bool)).items()
        share = {"measures": {"score": SHARE}, "columns": lambda rows: np.tile(columns, (4, 1))}
        return {name: replace(cell, **share) for name, cell in pairs}

    one, other = [0.15, 0.05, 0, 1, 1, 1, 1, 1], [0.75, 0.25, 0, 1, 1, 1, 1, 1]
    assert SHARE(np.array(one)) != SHARE(np.array(other))
    order = orders({"a": model(one), "b": model(other)}, resamples=20, seed=0)["score"]
    assert (order.pairs, order.kept, order.tau.value) == ({("a", "b"): (0, 0)}, 0, 0)


def test_the_interval_of_the_range_holds_the_true_range() -> None:
    """The true shares of three protocols are 50, 50 and 60. At least 95 % of the intervals cover the range, and at most
    5 % exclude a true 0."""
    rng, held, zero = np.random.default_rng(3), 0, 0
    for _ in range(200):
        same = rng.random((60, 3)) < 0.5
        apart = rng.random((60, 3)) < [0.5, 0.5, 0.6]
        for won, truth in ((same, 0.0), (apart, 10.0)):
            interval = dependence(_cells(won), resamples=200, seed=0).spreads["score"].range
            held += interval.low <= truth <= interval.high
            zero += truth == 0 and interval.low > 0
    assert held / 400 >= 0.95
    assert zero / 200 <= 0.05


@pytest.mark.parametrize(("pairs", "turn"), [(20, 0.02), (20, 0.1), (100, 0.01), (100, 0.05)])
def test_protocols_that_seldom_disagree_have_no_range_of_zero(pairs: int, turn: float) -> None:
    """If so few pairs change that most samples hold none or one, the interval still covers the true range in at least
    95 %."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(200):
        won = rng.random(pairs) < 0.5
        cells = _cells(np.column_stack([won, won | (rng.random(pairs) < 2 * turn)]))
        options = {"0": {"a": "x"}, "1": {"a": "y"}}
        spread = dependence(cells, resamples=100, seed=0, options=options).spreads["score"]
        effect = spread.effects["a"]
        assert effect
        assert effect.moves.value == pytest.approx(spread.range.value)
        held += max(spread.range.low, effect.moves.low) <= 100 * turn <= min(spread.range.high, effect.moves.high)
    assert held >= 0.95 * 200


def test_rounding_alone_is_no_range() -> None:
    """Two protocols with the same score for every pair have a range of 0 with a lower limit of 0, and no shown
    effect."""
    won = np.random.default_rng(0).random((100, 1)) < 0.61
    result = dependence(_cells(np.tile(won, 2)), resamples=50, seed=0, options={"0": {"a": "x"}, "1": {"a": "y"}})
    spread = result.spreads["score"]
    effect = spread.effects["a"]
    assert effect
    assert (spread.range.value, spread.range.low, effect.moves.value, effect.moves.low) == (0, 0, 0, 0)
    assert 3 < effect.moves.high < 4


def _cells(won: Any) -> dict[str, Cell]:
    """Returns a cell for each column of preferences over pairs."""
    measure = Measure(name="score", pieces=ratio(0, 1), ideal=50, least=0, most=100)

    def cell(column: int) -> Cell:
        columns = np.stack([won[:, column], np.ones(len(won))], axis=1).astype(np.float64)

        def on(rows: Any) -> dict[str, Interval]:
            return {"score": Interval(float(measure(columns[rows].sum(axis=0))), 0, 100)}

        return Cell(
            numbers=on(np.ones(len(won), dtype=bool)),
            items=len(won),
            scored=np.ones(len(won), dtype=bool),
            coverage=1.0,
            ties=0,
            key=column,
            measures={"score": measure},
            columns=lambda rows: columns[rows],
            on=on,
        )

    return {str(column): cell(column) for column in range(won.shape[1])}
