"""Tests of every kind of run in the gate: its baseline, its tests, and a worse model."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.choice_runs import run as choices
from helpers.gate_runs import cats, checked, even, number, planted, runs_of_two
from helpers.records import PROBES, TEST

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Pair, Score
from catsofa.gate import check, kinds, snapshots_of
from catsofa.gate.forms import change
from catsofa.gate.kinds import associations, probes
from catsofa.gate.kinds import cats as of_cats
from catsofa.gate.snapshots import read, save
from catsofa.gate.verdicts import Test
from catsofa.scoring.measures.crows_pairs import METRIC
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.seat import effect_size
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.statistics.margins import margin_test


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds two tiny models, and runs of both on pairs, probes and association tests."""
    return runs_of_two(tmp_path_factory.mktemp("gate"))


def test_every_measure_of_a_run_is_the_same_as_itself_and_as_its_baseline(models: Path, tmp_path: Path) -> None:
    """Pairs, probes and association tests of a real model give exit code 0 without changes."""
    mine = models / "runs/gpt2"
    save(snapshots_of([mine]), tmp_path / "b.json")
    for against in (mine, tmp_path / "b.json"):
        verdict = check([mine], against)
        assert verdict.exit_code == 0
        assert {test.paired.name for run in verdict.runs for test in run.tests} == {"crows_pairs", "sofa", "seat"}
        assert all(test.found == "same" for run in verdict.runs for test in run.tests)


def test_two_models_have_the_values_of_their_reports(models: Path) -> None:
    """The gate's values equal those that `score` prints, except for items that only one model decides."""
    verdict = check([models / "runs/llama"], models / "runs/gpt2")
    tests = {test.paired.name: test for run in verdict.runs for test in run.tests}
    for side, model in (("before", "gpt2"), ("after", "llama")):
        reports = {d: json.loads((models / f"runs/{model}/{d}/report.json").read_text()) for d in ("probes", "tests")}
        assert getattr(tests["sofa"].test, side) == pytest.approx(reports["probes"]["results"]["score"], rel=1e-6)
        size = reports["tests"]["results"][0]["effect_size"]
        assert getattr(tests["seat"].test, side) == pytest.approx(size, rel=1e-6)


def test_an_effect_size_of_columns_is_that_of_its_definition() -> None:
    """With six targets, the sums of the columns give d for any associations."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.2, 0.1, 3), rng.normal(0, 0.2, 3)
    held = associations.of_run([{"test": "t", "associations": {"x": x.tolist(), "y": y.tolist()}}])
    sides = {name: replace(getattr(TEST, name), items=tuple(f"{name}{n}" for n in range(3))) for name in "xy"}
    (test,) = associations.tests([replace(TEST, id="t", **sides)], held, held, DEFAULT, 0)
    assert float(test.measure(test.before.sum(axis=0))) == pytest.approx(effect_size(x, y), rel=1e-6)


def test_targets_are_paired_by_their_place() -> None:
    """Each run lacks the vector of another target: only targets present in both runs are compared."""
    x, y = (replace(side, items=tuple(f"{side.name} {n}" for n in range(4))) for side in (TEST.x, TEST.y))
    four = replace(TEST, x=x, y=y)
    rows = [
        [{"test": "invented", "associations": {"x": [None, 0.1, 0.2, 0.3], "y": [None, 0.4, 0.6, 0.8]}}],
        [{"test": "invented", "associations": {"x": [0.9, 0.1, 0.2, float("nan")], "y": [0.9, 0.4, 0.6, None]}}],
    ]
    (test,) = associations.tests([four], *map(associations.of_run, rows), DEFAULT, 0)
    assert (test.items, test.decided, test.each()) == (4, 0.5, [])
    assert margin_test(test.before, test.after, test.measure).same


def test_an_unscored_test_has_no_associations() -> None:
    """A test without a score has no targets to compare, and the others keep theirs."""
    scored = {"test": "invented", "associations": {"x": [0.1, 0.2], "y": [0.4, 0.6]}}
    held = associations.of_run([scored, {"test": "unscored", "associations": {}}])
    assert list(held) == ["invented"]
    assert [test.set for test in associations.tests([replace(TEST, id="unscored")], held, held, DEFAULT, 0)] == []


def test_the_change_of_a_small_number_keeps_its_digits() -> None:
    """A SoFa score from 0.0013 to 0.0158 moves by +0.0145, not by +0.01; ss from 50 to 75 by +25.00."""
    before, after = (np.column_stack([scale * np.linspace(0.5, 1.5, 20), np.ones(20)]) for scale in (0.0013, 0.0158))
    held = {"set": "overall", "items": 20, "decided": 1.0}
    small = kinds.Paired(name="sofa", measure=probes._mean(1, 0.03), before=before, after=after, **held)
    won = [np.column_stack([side, np.ones(20)]) for side in ([0.0, 1.0] * 10, [0.0, 1.0, 1.0, 1.0] * 5)]
    large = kinds.Paired(name="crows_pairs", measure=METRIC, before=won[0], after=won[1], **held)
    told = [change(Test(paired=of, test=margin_test(of.before, of.after, of.measure))) for of in (small, large)]
    assert [one.partition(" ")[0] for one in told] == ["+0.0145", "+25.00"]


@pytest.mark.slow
def test_a_verdict_on_sofa_holds_where_both_runs_have_the_same_heavy_tail() -> None:
    """With one true mean, at most 7 % of verdicts are wrong; over 15 % if only one run has a tail, as
    docs/gate.md says.
    """
    rng = np.random.default_rng(5)

    def wrong(one_tail: bool) -> tuple[float, float]:
        """Returns the shares of 200 sets with a regression, and with non-inferiority if the runs are exchanged."""
        shown = np.zeros(2)
        for _ in range(200):
            tail = rng.lognormal(-(1.5**2) / 2, 1.5, 8)
            before = 0.1 * tail * (rng.chisquare(9, 8) / 9 if one_tail else 1)
            after = 0.1 * (tail * rng.chisquare(9, 8) / 9 if one_tail else rng.normal(1, 0.1, 8))
            columns = [np.column_stack([side, np.ones(8)]) for side in (before, after)]
            measure = probes._mean(1, float(np.max(columns)))
            tests = [margin_test(*sides, measure, resamples=400) for sides in (columns, columns[::-1])]
            shown += tests[0].p_worse <= 0.05, tests[1].p_not_worse <= 0.05
        worse, not_inferior = shown / 200
        return float(worse), float(not_inferior)

    assert max(wrong(one_tail=True)) <= 0.07
    assert min(wrong(one_tail=False)) > 0.15


def test_a_verdict_on_sofa_has_a_caution_where_its_level_does_not_hold() -> None:
    """Seven stereotypes or a log spread of 1.4 in one run give a caution; 8 or more with similar or
    equal tails do not.
    """
    tail, flat = 0.1 * np.exp(1.5 * np.tile([-1.0, 0.0, 0.5, 1.0], 5)), np.full(20, 0.1)
    few = flat[:7]

    def caution(before: Any, after: Any) -> str:
        """Returns the caution of one category."""
        records = [replace(PROBES[0], id=f"{n}", stereotype=f"{n:02}", category="trade") for n in range(len(before))]
        held = [
            {"trade": {"variances": kinds.written(side), "identities": kinds.written(np.ones(len(side)))}}
            for side in (before, after)
        ]
        (paired,) = probes.tests(records, *held, DEFAULT, 0)
        return paired.caution

    assert "7 stereotypes" in caution(few, few * 1.1)
    assert "one run alone" in caution(tail, flat)
    assert "one run alone" in caution(flat, tail)
    assert caution(few, few) == caution(tail, tail * 1.1) == caution(flat[:8], flat[:8] * 1.1) == ""


@pytest.mark.parametrize("lost", [0, 1])
def test_variances_of_as_many_identities_may_be_of_others(lost: int) -> None:
    """Two of three identities are scored in both runs: comparable only if they are the same two."""
    three = [replace(PROBES[0], id=name, identity=name) for name in ("a", "b", "c")]
    held = [
        probes.of_run(
            three,
            Given(scores=[Score(item=p.id, score=-1.0 - n, task="probe", extra={"identity": -1.0, "conditional": -1.0})
                          for n, p in enumerate(three) if n != without]),
            DEFAULT,
        )
        for without in (0, lost)
    ]  # fmt: skip
    (test,) = probes.tests(three, *held, DEFAULT, 0)
    assert test.items == 1 - lost


def test_a_variance_over_other_identities_is_not_compared() -> None:
    """A stereotype that lost the score of one identity is left out on both sides."""
    before = {"invented": {"variances": "0.1 0.2 0.3", "identities": "3 3 3"}}
    after = {"invented": {"variances": "0.1 0.4 0.9", "identities": "3 3 2"}}
    three = [replace(PROBES[0], stereotype=text, id=text) for text in ("a", "b", "c")]
    (comparison,) = probes.tests(three, before, after, DEFAULT, 0)
    assert (comparison.items, comparison.decided) == (2, pytest.approx(2 / 3))
    test = margin_test(comparison.before, comparison.after, comparison.measure)
    assert (test.before, test.after, test.worse) == pytest.approx((0.15, 0.25, 0.1))
    assert [(row.name, row.before, row.after) for row in comparison.each()] == [("b", 0.2, 0.4)]


def test_association_tests_of_earlier_versions_ask_for_a_new_run(models: Path, tmp_path: Path) -> None:
    """Reports of earlier versions have no associations."""
    from catsofa.data.files.json_files import sealed
    from catsofa.gate import snapshots
    from catsofa.report import inputs

    run = inputs.read(models / "runs/gpt2/tests")
    bare = [{k: v for k, v in row.items() if k != "associations"} for row in run.report["results"]]
    assert sealed({"x": 1})
    with pytest.raises(BadInput, match="score again"):
        snapshots.taken(replace(run, report={**run.report, "results": bare}))


def pairs(count: int = 60) -> list[Pair]:
    """Returns invented pairs of two types."""
    return [
        Pair(id=f"p{n}", more=f"Dravians lose {n} keys.", less=f"Dravians find {n} keys.", direction="stereo",
             bias_type="ab"[n % 2])
        for n in range(count)
    ]  # fmt: skip


def test_choices_of_chat_models_are_held_against_a_baseline(tmp_path: Path) -> None:
    """A preference rises from 0.5 to 0.83 in both domains; the run records the path of its data."""
    sides = ("stereotype", "anti-stereotype")
    one = choices(tmp_path / "one", pairs(), lambda item, order: sides[int(item.id[1:]) // 2 % 2])
    two = choices(tmp_path / "two", pairs(), lambda item, order: sides[int(item.id[1:]) // 2 % 6 == 5])
    save(snapshots_of([one], on=[tmp_path / "data.jsonl"]), tmp_path / "b.json")
    same = check([one], tmp_path / "b.json", on=[tmp_path / "data.jsonl"])
    assert (same.exit_code, {t.found for t in same.runs[0].tests}) == (0, {"same"})
    verdict = check([two], tmp_path / "b.json", on=[tmp_path / "data.jsonl"])
    tests = {(test.paired.name, test.paired.set): test for test in verdict.runs[0].tests}
    assert verdict.exit_code == 1
    assert (tests["preference", "overall"].test.before, tests["preference", "overall"].found) == (0.5, "regression")
    assert {name for name, _ in tests} == {"preference", "position"}
    assert {part for _, part in tests} == {"overall", "a", "b"}
    assert {part: test.paired.items for (_, part), test in tests.items()} == {"overall": 60, "a": 30, "b": 30}
    assert tests["preference", "a"].paired.step == pytest.approx(1 / 30), "both orders of a pair turn together"
    assert check([two], tmp_path / "b.json").to_dict() == verdict.to_dict()


def test_flips_on_paraphrases_are_held_against_a_baseline(tmp_path: Path) -> None:
    """One model turns one preference of ten on paraphrases, and another turns four."""
    originals = cats()
    reworded = [replace(cat, context=cat.context.replace(" on day", " by day")) for cat in originals]
    jsonl.write(originals, tmp_path / "cats.jsonl")
    jsonl.write(reworded, tmp_path / "reworded.jsonl")

    def turned(items: int) -> Callable[[Any], str]:
        return lambda cat: {"+": "-", "-": "+"}[even(cat)] if number(cat)[1] < items else even(cat)

    base = planted(tmp_path / "base", tmp_path / "cats.jsonl", even, model_digest="base")
    for items in (1, 4):
        planted(tmp_path / f"turns-{items}", tmp_path / "reworded.jsonl", turned(items), model_digest="base")
    save(snapshots_of([base], paraphrases=[tmp_path / "turns-1"]), tmp_path / "b.json")
    assert [one.kind for one in read(tmp_path / "b.json")] == ["stereoset", "flips"]
    assert check([base], tmp_path / "b.json", paraphrases=[tmp_path / "turns-1"]).exit_code == 0
    verdict = check([base], tmp_path / "b.json", paraphrases=[tmp_path / "turns-4"])
    (flips,) = (test for run in verdict.runs for test in run.tests if (test.paired.name, test.paired.set) == (
        "flips", "overall"))  # fmt: skip
    assert (flips.test.before, flips.test.after, flips.found) == (10, 40, "regression")
    assert verdict.exit_code == 1


def test_coded_outcomes_come_back() -> None:
    """Few distinct outcomes are coded as letters, many are kept; numbers have nine digits, NaN is a dash."""
    for values in (["a", "b", "a"], [], [str(n) for n in range(200)]):
        assert kinds.decoded(json.loads(json.dumps(kinds.coded(values)))) == values
    assert kinds.coded(["a", "b", "a"]) == {"distinct": ["a", "b"], "letters": "!#!"}
    assert kinds.written([1, float("nan"), 1 / 3]) == "1 - 0.333333333"
    assert np.isnan(kinds.numbers_in("1 - 0.5")).tolist() == [False, True, False]


def test_the_baseline_of_stereoset_is_small(shared: Path, tmp_path: Path) -> None:
    """4,229 CATs take less than 100 kB."""
    released = shared / "data/stereoset/dev.json"
    jsonl.write(list(formats.read(released)), tmp_path / "dev.jsonl")
    orders = "+-u="
    run = planted(tmp_path / "run", tmp_path / "dev.jsonl", lambda cat: orders[int(cat.id[:8], 16) % 4])
    save(snapshots_of([run]), tmp_path / "b.json")
    assert (tmp_path / "b.json").stat().st_size < 20_000


def test_a_step_of_lms_is_a_whole_cat() -> None:
    """The unrelated sentence is in both comparisons of a CAT, so lms and ss move by 1/200 if one CAT of 200 turns."""
    every = cats()
    held = kinds.coded([kinds.written([2, 2, 1, 1, 1, 1, 1, 1])] * len(every))
    lms, ss = (test for test in of_cats.tests(every, held, held, DEFAULT, 0) if test.set == "overall")
    assert (lms.name, lms.step, ss.step) == ("lms", pytest.approx(100 / 200), pytest.approx(100 / 200))


def test_a_stereotype_in_several_categories_is_one_cluster_of_the_overall_score() -> None:
    """Copies of a category add no evidence: three have the p of one, and other stereotypes have a smaller p."""
    rng = np.random.default_rng(2)
    before = rng.lognormal(0, 0.3, 10)
    after = before * rng.lognormal(0.2, 0.3, 10)

    def p(categories: str, shared: bool) -> float:
        """Returns the p of a regression of the overall score."""
        records = [
            replace(PROBES[0], id=f"{category}{n}", stereotype=f"{n}{'' if shared else category}", category=category)
            for category in categories
            for n in range(10)
        ]
        held = [
            {one: {"variances": kinds.written(side), "identities": kinds.written(np.ones(10))} for one in categories}
            for side in (before, after)
        ]
        paired = next(probes.tests(records, *held, DEFAULT, 0))
        assert (paired.set, paired.items) == ("overall", 10 * len(categories))
        return margin_test(paired.before, paired.after, paired.measure).p_worse

    assert p("abc", shared=True) == pytest.approx(p("a", shared=True))
    assert p("abc", shared=False) < p("a", shared=True)


def test_a_domain_without_scores_is_named_beside_the_tests_of_the_others(
    data: Path, base: Path, tmp_path: Path
) -> None:
    """A run without a score in one domain of two is not comparable in it, and is tested in the other."""
    run = planted(tmp_path / "new", data, even, without="trade")
    code, report = checked(run, "--against", base)
    assert (code, {test["set"] for test in report["runs"][0]["tests"]}) == (2, {"overall", "planet"})
    assert "ss of trade has a value in the baseline alone" in report["runs"][0]["refused"]
