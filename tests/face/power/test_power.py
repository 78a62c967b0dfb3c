"""Tests of power: closed forms, the size of the tests, and the command."""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.gate_runs import cats, planted
from helpers.records import TEST, a_pair, probes
from scipy import stats

from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import read_as
from catsofa.data.records import Cat
from catsofa.power import power, simulation, stated
from catsofa.power.people import judgements, majority
from catsofa.power.simulation import Design, found
from catsofa.scoring.measures.cat_outcomes import jointly, outcomes
from catsofa.scoring.measures.stereoset import MEASURES
from catsofa.scoring.protocols import named
from catsofa.scoring.run.score_files import scores_of

WIDE = 3.3
"""Number of Monte Carlo standard errors that covers a simulated rate except in one case of a thousand."""


def near(rate: float, truth: float, times: int = simulation.SIMULATIONS) -> bool:
    """Returns True if a simulated rate is the true rate within its Monte Carlo error."""
    return abs(rate - truth) < WIDE * math.sqrt(max(truth * (1 - truth), 0.01) / times)


def rate(shows: Callable[[float, int, np.random.Generator], bool], effect: float, clusters: int, times: int) -> float:
    """Returns how often a test finds an effect."""
    rng = np.random.default_rng(7)
    return sum(shows(effect, clusters, rng) for _ in range(times)) / times


def design(test: str, designs: object) -> Design:
    """Returns the last design of a test, which covers all items."""
    return [one for one in designs if one.test == test][-1]  # type: ignore[attr-defined]


PAIRS = [a_pair(f"Dravians are late {n}.", f"Pellorans are late {n}.", id=str(n)) for n in range(60)]
TERMS = cats(terms=40, items=10, domains=("trade",))


def test_of_pairs_the_power_is_a_sum_of_binomial_probabilities() -> None:
    """60 pairs: `score` excludes 50 from 38 pairs on; the power at 15 points is P(≥ 38) + P(≤ 22) at 65 %."""
    score = design("score against 50", stated.pairs_designs(PAIRS))
    assert stated.least_count(60) == 38
    whole = stats.binom(60, 0.65)
    assert score.power(15).value == pytest.approx(whole.sf(37) + whole.cdf(22))
    assert math.isnan(score.power(15).low)


def test_the_closed_form_is_what_the_test_of_pairs_does() -> None:
    """300 simulated runs of `score` find 15 points as often as the binomial sum says."""
    score = design("score against 50", stated.pairs_designs(PAIRS))
    assert near(rate(score.shows, 15, 60, 300), score.power(15).value, 300)


@pytest.mark.slow
def test_a_change_of_pairs_is_found_as_often_as_by_mcnemar() -> None:
    """Given the discordant pairs, the exact McNemar test is a sign test; our test is at most slightly more powerful."""
    change = design("change of score", stated.pairs_designs(PAIRS * 3))
    differ, pairs = stated.STATED["ss"].differ / 100, 180
    up, expected = (differ + 0.12) / (2 * differ), 0.0
    for discordant in range(1, pairs + 1):
        least = int(stats.binom(discordant, 0.5).isf(0.025)) + 1
        shown = stats.binom.sf(least - 1, discordant, up) + stats.binom.cdf(discordant - least, discordant, up)
        expected += float(stats.binom.pmf(discordant, pairs, differ) * shown)
    assert expected - 0.05 < change.power(12).value < expected + 0.07


@pytest.mark.parametrize("targets", [8, 16])
def test_an_effect_size_is_found_as_often_as_by_a_t_test(targets: int) -> None:
    """The permutation test of normal associations has the power of the one-sided t test (noncentral t)."""
    d, free = 0.9, 2 * targets - 2
    apart = d / math.sqrt(1 - d * d / 4) * math.sqrt(targets / 2)
    truth = float(stats.nct(free, apart).sf(stats.t(free).ppf(0.95)))
    (test,) = stated.seat_designs([TEST])
    assert rate(test.shows, d, targets, 400) == pytest.approx(truth, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["ss against 50", "lms against 50", "change of ss", "change of lms"])
def test_without_an_effect_a_test_finds_one_in_twenty(test: str) -> None:
    """40 terms, 2,000 data sets: 4 to 6 %, within the Monte Carlo error."""
    size = rate(design(test, stated.cats_designs(TERMS, "terms")).shows, 0.0, 40, 2000)
    assert 0.04 - 0.01 < size < 0.06 + 0.01


@pytest.mark.slow
def test_the_size_of_the_test_of_effect_sizes() -> None:
    """Without an effect the permutation test of 10 targets a side finds one in twenty."""
    (test,) = stated.seat_designs([TEST])
    assert 0.03 < rate(test.shows, 0.0, 10, 800) < 0.07


def test_an_effect_in_points_is_the_effect_that_is_planted() -> None:
    """The mean change over 400 drawn data sets is 6 points of ss, −6 points of lms, −8 points of icat."""
    rng = np.random.default_rng(1)
    for name, planted_effect, moved in (("ss", 6.0, 6.0), ("lms", 6.0, -6.0), ("icat", 8.0, -8.0)):
        measure, effects, _ = stated.CHANGES[name]
        draw = partial(stated._sides, np.full(200, 20), "terms", effects)
        sides = [draw(planted_effect, 200, rng) for _ in range(100)]
        change = np.mean([measure(after.sum(axis=0)) - measure(before.sum(axis=0)) for before, after in sides])
        assert change == pytest.approx(moved, abs=0.6)


@pytest.mark.parametrize("name", stated.CHANGES)
def test_without_an_effect_nothing_moves_on_average(name: str) -> None:
    """Terms with an lms near 100 can win few CATs: as many are lost, so that the mean change is zero."""
    measure, effects, _ = stated.CHANGES[name]
    rng, counts = np.random.default_rng(1), np.full(79, 27)
    sides = [stated._sides(counts, "terms", effects, 0.0, 20_000, rng) for _ in range(10)]
    change = np.mean([measure(after.sum(axis=0)) - measure(before.sum(axis=0)) for before, after in sides])
    assert change == pytest.approx(0, abs=0.12)


@pytest.mark.slow
def test_the_smallest_effect_has_the_power_that_is_printed() -> None:
    """Another seed finds the printed effect at the printed rate, within the error of both simulations."""
    ss = design("ss against 50", stated.cats_designs(TERMS, "terms"))
    one = found(ss)
    assert one.power.low <= 0.8 <= one.power.high
    assert near(ss.power(one.effect, seed=11).value, one.power.value, simulation.SIMULATIONS // 2)


@pytest.mark.slow
def test_an_effect_that_is_given_has_its_power_and_needs_so_many_items() -> None:
    """Half the smallest effect needs about four times the terms; each term keeps its ten items."""
    ss = design("ss against 50", stated.cats_designs(TERMS, "terms"))
    smallest = found(ss).effect
    half = found(ss, smallest / 2)
    assert half.at is not None
    assert half.at.value < 0.5
    assert half.needed is not None
    assert 120 < half.needed < 210
    assert half.items_needed == 10 * half.needed
    with pytest.raises(ValueError, match="50 points"):
        found(ss, 60)


@pytest.mark.slow
def test_what_the_stated_variances_come_from(shared: Path) -> None:
    """For StereoSet dev and nine released models, the medians over models and pairs of models are near
    the stated ones.
    """
    items = list(read_as(shared / "data/stereoset/dev.json", Cat))
    files = sorted((shared / "data/stereoset/released_predictions").glob("predictions_*_*_*LM.json"))
    assert len(files) == 9
    every = [outcomes(items, scores_of(path)) for path in files]
    for name, (won, made) in stated.PLACES.items():
        means = [float(MEASURES[name](one.columns("terms").sum(axis=0))) for one in every]
        differ = []
        for index, one in enumerate(every):
            for other in every[:index]:
                first, second = jointly(one, other)
                counted = first.counts[:, made] > 0
                moved = np.abs(first.counts[counted, won] - second.counts[counted, won]) / first.counts[counted, made]
                differ.append(100 * moved.mean())
        assert np.median(means) == pytest.approx(stated.STATED[name].mean, abs=2)
        assert np.median(differ) == pytest.approx(stated.STATED[name].differ, abs=2)


@pytest.mark.slow
def test_power_from_a_run_is_over_its_clusters(tmp_path: Path) -> None:
    """One run has ss 50 in each of 40 terms except for chance, and another differs: sizes use the runs'
    own clusters.
    """
    jsonl.write(TERMS, tmp_path / "cats.jsonl")
    rng = np.random.default_rng(2)
    one, other = ({cat.id: "+-"[int(rng.integers(2))] for cat in TERMS} for _ in range(2))
    first = planted(tmp_path / "a", tmp_path / "cats.jsonl", lambda cat: one[cat.id], model="a")
    second = planted(tmp_path / "b", tmp_path / "cats.jsonl", lambda cat: other[cat.id], model="b")
    alone = power(tmp_path / "cats.jsonl", predictions=first)
    ss = next(row for row in alone.sets if row.design.test == "ss against a fixed value")
    error = 100 * math.sqrt(0.25 / 400)
    assert ss.effect == pytest.approx(2.86 * error, rel=0.2)
    both = power(tmp_path / "cats.jsonl", predictions=first, against=second)
    assert {row.design.test for row in both.sets} == {"change of ss", "change of lms", "change of icat"}
    change = next(row for row in both.sets if row.design.test == "change of ss")
    assert change.effect == pytest.approx(math.sqrt(2) * 2.86 * error, rel=0.25)
    lms = next(row for row in both.sets if row.design.test == "change of lms")
    assert math.isnan(lms.effect)
    assert not lms.impossible
    assert any("do not vary" in text for text in both.warnings)


def test_a_run_that_was_scored_otherwise_needs_its_protocol(tmp_path: Path) -> None:
    """The error names the protocol, because with another one later runs would have other scores."""
    jsonl.write(TERMS, tmp_path / "cats.jsonl")
    hidden = named("catsofa,masked=pseudo")
    run = planted(tmp_path / "a", tmp_path / "cats.jsonl", lambda cat: "+-"[int(cat.id[-1]) % 2], protocol=hidden)
    with pytest.raises(ValueError, match="--protocol catsofa,masked=pseudo"):
        power(tmp_path / "cats.jsonl", predictions=run)
    assert power(tmp_path / "cats.jsonl", predictions=run, protocol=hidden.name).signature.protocol == hidden.name


def test_records_without_a_variance_model_ask_for_a_pilot_run(tmp_path: Path) -> None:
    """Probes give no variance of stereotypes; the error names the two runs that would."""
    jsonl.write(probes(4), tmp_path / "probes.jsonl")
    with pytest.raises(BadInput, match="--predictions RUN --against RUN"):
        power(tmp_path / "probes.jsonl")


def test_a_majority_is_right_as_often_as_the_binomial_says() -> None:
    """Accuracy 0.8: three judgements 0.896, five 0.942, seven 0.967, so seven are needed; for accuracy 1
    one is enough.
    """
    assert [round(majority(0.8, n), 3) for n in (1, 3, 5, 7)] == [0.8, 0.896, 0.942, 0.967]
    people = judgements(0.8, 100)
    assert people.judgements == 7
    assert people.agreement["percent"] == pytest.approx(0.8**2 + 0.2**2, abs=0.02)
    assert people.agreement["krippendorff_alpha"] == pytest.approx(0.6**2, abs=0.04)
    assert 0.02 < people.half_width["percent"] < 0.05
    assert judgements(1.0, 50).judgements == 1
    for wrong in (0.5, 1.01, math.nan):
        with pytest.raises(ValueError, match=r"above 0\.5.*at most 1"):
            judgements(wrong, 10)
    with pytest.raises(ValueError, match="train people"):
        judgements(0.51, 10)


def test_power_names_its_data_and_fits_sixty_columns(
    tmp_path: Path, catsofa: Callable[..., tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature contains the data with their hash; sets of one term have no effect."""
    monkeypatch.setenv("COLUMNS", "60")
    jsonl.write(cats(terms=1, items=3), tmp_path / "cats.jsonl")
    report = json.loads(catsofa("power", "--on", tmp_path / "cats.jsonl", "--accuracy", 0.9, "--json")[0])
    assert {row["effect"] for row in report["sets"]} == {None}
    assert report["signature"]["data"].startswith("cats.jsonl@")
    assert report["people"]["judgements"] == 3
    jsonl.write(PAIRS, tmp_path / "pairs.jsonl")
    shown = catsofa("power", "--on", tmp_path / "pairs.jsonl", "--effect", 10, "--accuracy", 0.9)[0]
    rows = [line for line in shown.splitlines() if line.startswith(("overall", "set"))]
    assert len(rows) >= 3
    assert max(map(len, rows)) <= 60
