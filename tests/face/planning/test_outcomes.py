"""Tests of the outcomes of a plan: estimates, p and corrections."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import nan, sqrt
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from helpers.choice_runs import questions
from helpers.gate_runs import BEFORE, by_test, cats, departures, even, more, number, planted
from helpers.records import PROBES
from scipy import special

import catsofa
from catsofa.data.files import jsonl
from catsofa.data.questions import PLACES
from catsofa.data.records import Score
from catsofa.planning.hypotheses import parse
from catsofa.planning.outcome import outcome
from catsofa.planning.testing import LEAST, Limits, of_one, of_two
from catsofa.scoring.dataset import open_data
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.results import report
from catsofa.scoring.run.score_files import compare_on, report_on
from catsofa.scoring.run.store import Run
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import Interval, Measure, intervals, ratio


def test_an_estimate_is_that_of_the_report(runs: Path, data: Path, tmp_path: Path) -> None:
    """The value and its limits, for all items and for a domain, are those that `score` writes."""
    plan = catsofa.plan(["a"], data, ["ss > 50", "ss/trade > 50", "icat > 50"])
    tests = by_test(outcome(plan, [runs / "a"]))
    results = report_on(runs / "a", data).to_dict()["results"]
    for name, where, measure in (("ss(a) > 50", "overall", "ss"), ("ss/trade(a) > 50", "trade", "ss"),
                                 ("icat(a) > 50", "overall", "icat")):  # fmt: skip
        of = results["intrasentence"][where]
        assert tests[name].estimate.value.to_dict() == pytest.approx({"value": of[measure], **of["intervals"][measure]})


def test_p_is_that_of_students_t_on_log_odds(runs: Path, data: Path) -> None:
    """By hand: t = logit(ss) · ss · (1 − ss) / standard error, with 19 degrees of freedom, to the resampling error."""
    shares = np.array([0.1 * sum(more(cat) == "+" for cat in cats() if number(cat)[0] == term) for term in range(20)])
    mean, error = shares.mean(), shares.std(ddof=1) / sqrt(20)
    t = special.logit(mean) * mean * (1 - mean) / error
    test = by_test(outcome(catsofa.plan(["a"], data, ["ss > 50"]), [runs]))["ss(a) > 50"]
    assert test.estimate.value.value == pytest.approx(100 * mean)
    assert test.estimate.p == pytest.approx(max(LEAST, 2 * special.stdtr(19, -t)), rel=0.15)


def test_p_of_two_models_is_that_of_compare(runs: Path, data: Path) -> None:
    """Change, limits and p of ss, lms and icat equal those of `compare`; the opposite hypothesis has p 1."""
    stated = ["ss(a) > ss(b)", "ss(a) != ss(b)", "ss(a) < ss(b)", "icat(a) < icat(b)"]
    tests = by_test(outcome(catsofa.plan(["a", "b"], data, stated), [runs]))
    compared = {row.measure: row.change for row in compare_on([runs / "b", runs / "a"], None).differences}  # type: ignore[union-attr]
    for name in ("ss(a) > ss(b)", "ss(a) != ss(b)"):
        assert tests[name].estimate.value.to_dict() == pytest.approx(compared["ss"].by.to_dict())
        assert tests[name].estimate.p == compared["ss"].p
    assert tests["ss(a) < ss(b)"].estimate.p == 1
    assert tests["icat(a) < icat(b)"].estimate.p == compared["icat"].p


@pytest.mark.parametrize("sign", [">", "<", "!=", "="])
@pytest.mark.parametrize("number", [40.0, 52.0, 55.0, 58.0, 70.0])
def test_p_is_at_most_5_percent_exactly_where_the_interval_lies_within_the_hypothesis(sign: str, number: float) -> None:
    """The interval shrinks to 55 as its level falls; the margin is 4."""

    def limits(level: float) -> Interval:
        reach = 3 * float(special.ndtri((1 + level) / 2)) / float(special.ndtri(0.975))
        return Interval(55, 55 - reach, 55 + reach)

    expected = {">": number + 4 < 52, "<": number - 4 > 58, "!=": not number - 7 <= 55 <= number + 7,
                "=": number - 4 < 52 and number + 4 > 58}  # fmt: skip
    estimate = of_one(parse(f"ss {sign} {number}"), 4, limits)
    assert (estimate.p <= 0.05) == expected[sign]


def test_p_of_a_normal_interval_is_the_two_sided_p() -> None:
    """A value 2 standard errors above 50 has p = 0.0455; with a margin of half a standard error, 1.5, 0.1336."""

    def limits(level: float) -> Interval:
        reach = float(special.ndtri((1 + level) / 2))
        return Interval(52, 52 - reach, 52 + reach)

    assert of_one(parse("ss > 50"), 0, limits).p == pytest.approx(0.0455, rel=0.01)
    assert of_one(parse("ss > 50"), 0.5, limits).p == pytest.approx(0.1336, rel=0.01)
    assert of_one(parse("ss < 50"), 0, limits).p == 1


def test_equality_needs_its_margin_and_is_shown_within_it(runs: Path, data: Path) -> None:
    """lms is 100 in both runs of 20 terms: equal within 3 points; ss differs by about 10, so it is not equal."""
    with pytest.raises(ValueError, match="needs a margin"):
        catsofa.plan(["a", "b"], data, ["lms(a) = lms(b)"])
    plan = catsofa.plan(["a", "b"], data, ["lms(a) = lms(b)", "ss(a) = ss(b)"], margins={"lms": 3, "ss": 1})
    tests = by_test(outcome(plan, [runs]))
    assert (tests["lms(a) = lms(b)"].verdict, tests["ss(a) = ss(b)"].verdict) == ("supported", "not supported")


def test_holms_correction_counts_planned_tests_that_were_not_run(runs: Path, data: Path) -> None:
    """One test of four has its run: p is multiplied by four."""
    plan = catsofa.plan(["a", "x", "y", "z"], data, ["ss > 50"])
    result = outcome(plan, [runs / "a"])
    tests = by_test(result)
    assert tests["ss(a) > 50"].holm == pytest.approx(min(1, 4 * tests["ss(a) > 50"].estimate.p))
    assert [tests[f"ss({name}) > 50"].verdict for name in "xyz"] == ["not tested"] * 3
    assert departures(result) == [("left out", name) for name in "xyz"]


def test_without_its_data_a_test_is_not_made(runs: Path, data: Path) -> None:
    """If the data moved, the test is not made, and the reason is given."""
    plan = catsofa.plan(["a"], data, ["ss > 50"])
    data.rename(data.with_name("moved.jsonl"))
    (test,) = outcome(plan, [runs / "a"]).tests
    assert (test.verdict, bool(test.why)) == ("not tested", True)


def test_two_models_are_compared_on_the_only_set_of_the_data(tmp_path: Path, data: Path) -> None:
    """For CATs of one domain, the change of the domain equals that of all CATs, with the same p."""
    jsonl.write(cats(domains=("trade",)), data)
    planted(tmp_path / "runs" / "a", data, more, model="a")
    planted(tmp_path / "runs" / "b", data, even, model="b")
    found = outcome(catsofa.plan(["a", "b"], data, ["ss(a) > ss(b)", "ss/trade(a) > ss/trade(b)"]), [tmp_path / "runs"])
    overall, trade = (one.estimate for one in found.tests)
    assert overall == trade
    assert trade.p < 0.05


SHARE = Measure(name="ss", pieces=ratio(0, 1), ideal=50, least=0, most=100)


@pytest.mark.slow
def test_of_true_null_hypotheses_at_most_5_percent_of_plans_support_one() -> None:
    """Two models of true ss 50, 20 differing terms of 10 items, three hypotheses, 300 plans: 5 % within its error."""
    rng = np.random.default_rng(17)
    wrong, plans = 0, 300
    for _ in range(plans):
        terms = rng.beta(10, 10, size=20)
        sides = [np.column_stack([rng.binomial(10, terms) / 10, np.ones(20)]) for _ in range(2)]
        how: dict[str, Any] = {"resamples": 200, "seed": int(rng.integers(1 << 30))}

        def limits(columns: Any, **how: Any) -> Limits:
            return lambda level: intervals(columns, {"ss": SHARE}, **how, level=level)["ss"]

        p = [of_one(parse("ss != 50"), 0, limits(side, **how)).p for side in sides]
        p.append(of_two(parse("ss(a) != ss(b)"), 0, paired_tests(*sides, {"ss": SHARE}, **how)["ss"], 1).p)
        wrong += min(holm(p)) <= 0.05
    assert wrong / plans <= 0.05 + 2 * sqrt(0.05 * 0.95 / plans)


def test_accuracy_and_bias_of_questions_are_tested_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value and its limits equal those of the report, and the p of two models fits their order."""
    monkeypatch.setattr("catsofa.planning.now", lambda: BEFORE)
    records, place = questions(40), tmp_path / "asked.jsonl"
    jsonl.write(records, place)
    rng = np.random.default_rng(3)
    for name, right in (("good", 0.9), ("bad", 0.2)):
        scores = [
            Score(item=one.id, task=place_name, score=-2.0 + (position == (one.correct if rng.random() < right else 0)))
            for one in records
            for position, place_name in enumerate(PLACES)
        ]
        data = open_data(place)
        about = {"model": name, "data": data.name, "on": str(place)}
        with Run.begin(tmp_path / "runs" / name, {"model": {"name": name}, "data": data.digest}, about) as run:
            run.add(scores)
            run.finish(report(records, scores, DEFAULT, data=data.name, model=f"{name}@{'1' * 12}").to_dict())
    stated = ["acc_amb > 0.3", "s_dis != 0", "acc_amb(good) > acc_amb(bad)"]
    tests = by_test(outcome(catsofa.plan(["good", "bad"], place, stated), [tmp_path / "runs"]))
    for name in ("good", "bad"):
        of = json.loads((tmp_path / "runs" / name / "report.json").read_text())["results"]["overall"]
        for measure, test in (("acc_amb", f"acc_amb({name}) > 0.3"), ("s_dis", f"s_dis({name}) != 0")):
            value = tests[test].estimate.value
            assert value.value == pytest.approx(of[measure])
            assert value.limits() == pytest.approx(
                {side: nan if limit is None else limit for side, limit in of["intervals"][measure].items()}, nan_ok=True
            )
    assert tests["acc_amb(good) > acc_amb(bad)"].estimate.value.value > 0


def test_the_limits_of_sofa_are_those_of_the_report_where_categories_share_stereotypes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two categories have the same stereotypes, so the overall interval is wider than that of independent ones."""
    monkeypatch.setattr("catsofa.planning.now", lambda: BEFORE)
    probes = [
        replace(
            PROBES[0], id="", text="", category=category, identity=f"{category}{n} people", stereotype=f"are {word}"
        )
        for category in ("trade", "planet")
        for n in range(4)
        for word in ("kind", "late", "early", "quiet", "clever", "asleep", "tidy", "stubborn")
    ]
    jsonl.write(probes, tmp_path / "probes.jsonl")
    scored = catsofa.evaluate(Hashed(), tmp_path / "probes.jsonl", out=tmp_path / "run").to_dict()["results"]
    tests = by_test(outcome(catsofa.plan(["hashed"], tmp_path / "probes.jsonl", ["sofa < 9"]), [tmp_path / "run"]))
    expected = {"value": scored["score"], **scored["intervals"]["score"]}
    assert tests["sofa(hashed) < 9"].estimate.value.to_dict() == pytest.approx(expected)


class Hashed:
    """Gives each word a log-probability that depends on the words before it."""

    name, digest = "hashed", "1" * 12

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns a log-probability from -9 to 0 for each word."""
        every = []
        for context, text in queries:
            before, words = context.split(), text.split()
            starts = [" ".join([*before, *words[: n + 1]]) for n in range(len(words))]
            every.append([-9 * crc32(start.encode()) / 2**32 for start in starts])
        return every
