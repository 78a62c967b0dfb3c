"""Tests that remembered draws equal fresh draws and leave the generator in the same state."""

import numpy as np

from catsofa.data.statistics import draw_counts, remembered_draws
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.intervals import Measure, intervals, ratio

MEASURE = {"share": Measure(name="share", pieces=ratio(0, 1), least=0, most=100)}


def test_what_follows_remembered_draws_is_what_followed_them_before() -> None:
    """Counts and the next number are the same without memory, on the first draw and on a remembered draw."""

    def drawn() -> tuple[list[list[float]], float]:
        rng = np.random.default_rng(7)
        return draw_counts(5, 9, rng).tolist(), rng.random()

    outside = drawn()
    with remembered_draws():
        assert [drawn(), drawn()] == [outside, outside]


def test_intervals_and_tests_do_not_depend_on_what_is_remembered() -> None:
    """Two results of thirty clusters have the same limits and p as without remembered draws."""
    rng = np.random.default_rng(1)
    columns = [np.column_stack([rng.integers(0, 5, 30), np.full(30, 5)]).astype(np.float64) for _ in range(2)]

    def found() -> list[object]:
        tests = paired_tests(columns[0], columns[1], MEASURE, resamples=200)
        return [intervals(columns[1], MEASURE, resamples=200), tests["share"].change()]

    outside = found()
    with remembered_draws():
        assert [found(), found()] == [outside, outside]
