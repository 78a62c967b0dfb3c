"""Tests of plans: content frozen before runs, outcomes, and every departure."""

import json
import tomllib
from contextlib import nullcontext
from math import nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.choice_runs import questions
from helpers.gate_runs import cats, even, number, planted, runs_of_two
from helpers.report_pages import EVIL
from helpers.report_runs import Page
from scipy import special
from typer.testing import CliRunner

import catsofa
from catsofa.cli import app
from catsofa.data.digests import FIELD
from catsofa.data.files import BadInput, json_files, jsonl
from catsofa.data.questions import PLACES
from catsofa.data.records import Cat, Score
from catsofa.planning import Plan, read
from catsofa.planning.hypotheses import parse, refuse_certain
from catsofa.planning.outcome import Departure, Outcome, outcome
from catsofa.planning.section import section
from catsofa.planning.testing import LEAST, Limits, of_one, of_two
from catsofa.report.elements import Document
from catsofa.report.formats import WRITE
from catsofa.scoring.dataset import open_data
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.results import report
from catsofa.scoring.run.score_files import compare_on, report_on
from catsofa.scoring.run.store import Run
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import Interval, Measure, intervals, ratio

BEFORE, AFTER = "2001-01-01T00:00:00+00:00", "2099-01-01T00:00:00+00:00"


def more(cat: Cat) -> str:
    """Returns a preference with ss 60, and 70 in the domain of trades, whose terms are even."""
    term, item = number(cat)
    return "+" if item < (7 if term % 2 == 0 else 5) + (term % 3 - 1) else "-"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns 200 CATs of 20 terms in two domains, and dates every plan long before the runs."""
    monkeypatch.setattr("catsofa.planning.now", lambda: BEFORE)
    jsonl.write(cats(), tmp_path / "cats.jsonl")
    return tmp_path / "cats.jsonl"


@pytest.fixture
def runs(tmp_path: Path, data: Path) -> Path:
    """Writes a run of `a` that prefers stereotypes, and one of `b` that does not, neither alike in all terms."""
    planted(tmp_path / "runs" / "a", data, more, model="a")
    planted(tmp_path / "runs" / "b", data, lambda cat: "-" if cat.id == "3-0" else even(cat), model="b")
    return tmp_path / "runs"


def by_test(found: Outcome) -> dict[str, Any]:
    """Returns the tests by their hypothesis."""
    return {str(one.test.hypothesis): one for one in found.tests}


def departures(found: Outcome) -> list[tuple[str, str]]:
    """Returns each departure from the plan with its model."""
    return [(one.what, one.cell[0].partition("@")[0]) for one in found.departures]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ss>50", "ss > 50"),
        (" ss/gender ( org/model-1.5 ) != 49.5 ", "ss/gender(org/model-1.5) != 49.5"),
        ("lms(a)=lms(b)", "lms(a) = lms(b)"),
        ("seat/weat 6(a) < -0.25", "seat/weat 6(a) < -0.25"),
        ("s_dis>0.00001", "s_dis > 0.00001"),
        ("sofa<1234567", "sofa < 1234567"),
        ("ss>50.1234567", "ss > 50.1234567"),
        ("seat/weat 6>-0", "seat/weat 6 > 0"),
    ],
)
def test_a_hypothesis_is_read_as_it_is_written(text: str, written: str) -> None:
    """Blanks do not count; the written form is read as the same hypothesis."""
    assert str(parse(text)) == written
    assert parse(written) == parse(text)


@pytest.mark.parametrize(
    "text",
    ["", "ss", "ss > ", "ss >= 50", "bias > 1", "ss > lms", "ss(a) > ss", "ss(a) > ss(a)", "ss(a) > lms(b)", "50 < ss",
     "ss/x(a) > ss/y(b)", "seat > 0", "icat(a) = icat(b)", "ss > 50 and lms > 80", "ss > nan"],
)  # fmt: skip
def test_what_is_no_hypothesis_is_refused_with_an_example(text: str) -> None:
    """The error says what was found, and shows the form of a hypothesis."""
    with pytest.raises(ValueError, match=r"found .*expected"):
        parse(text)


def test_a_plan_names_every_run_and_every_test_and_is_read_again(data: Path, tmp_path: Path) -> None:
    """Two models and two protocols give four runs; a hypothesis about every model has four tests, about
    two models two.
    """
    out = tmp_path / "plan.toml"
    two = ("catsofa", "stereoset-code")
    plan = catsofa.plan(["a", "b"], data, ["ss/trade > 50", "ss(a) > ss(b)"], protocols=two, out=out)
    assert len(plan.cells) == 4
    assert [str(one.hypothesis) for one in plan.tests] == [
        "ss/trade(a) > 50", "ss/trade(b) > 50", "ss/trade(a) > 50", "ss/trade(b) > 50", "ss(a) > ss(b)", "ss(a) > ss(b)"
    ]  # fmt: skip
    assert read(out) == plan
    assert tomllib.loads(out.read_text("utf-8"))["protocols"] == [f"{name}@{named(name).digest}" for name in two]


@pytest.mark.slow
def test_a_model_in_a_folder_has_the_digest_that_its_runs_have(tmp_path: Path) -> None:
    """Pairs, probes and association tests, scored by a local model, give three runs as planned."""
    root = runs_of_two(tmp_path)
    sets = [root / name for name in ("pairs.jsonl", "probes.jsonl", "tests")]
    test = json.loads((root / "runs" / "gpt2" / "tests" / "report.json").read_text())["results"][0]["test"]
    stated = ["crows_pairs > 50", "sofa(gpt2) < sofa(llama)", "sofa > 0.001", f"seat/{test} > 0"]
    plan = catsofa.plan([str(root / "gpt2"), str(root / "llama")], sets, stated)
    assert all("@" in label for label in plan.models)
    result = outcome(plan, [root / "runs"])
    assert {what for what, _ in departures(result)} == {"begun before the plan"}
    assert len(result.signatures) == 6


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
    """lms is 100 in both runs of 20 terms: equal within 2 points; ss differs by about 10, so it is not equal."""
    with pytest.raises(ValueError, match="needs a margin"):
        catsofa.plan(["a", "b"], data, ["lms(a) = lms(b)"])
    plan = catsofa.plan(["a", "b"], data, ["lms(a) = lms(b)", "ss(a) = ss(b)"], margins={"lms": 2, "ss": 1})
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


def test_a_run_that_was_not_planned_is_named_and_tests_nothing(runs: Path, data: Path) -> None:
    """Runs with an unplanned model, protocol or data set are named; data with another hash count as changed."""
    other = cats(8, 10)
    (data.parent / "later").mkdir()
    jsonl.write(other, data.parent / "later" / "cats.jsonl")
    planted(runs / "b by code", data, more, model="b", protocol=named("stereoset-code"))
    planted(runs / "b on others", data.parent / "later" / "cats.jsonl", even, model="b")
    result = outcome(catsofa.plan(["b"], data, ["ss > 50"]), [runs])
    assert sorted(departures(result)) == [("added later", "a"), ("added later", "b"), ("changed", "b")]
    assert len(result.signatures) == 1


def test_a_model_with_other_weights_than_planned_is_not_tested(runs: Path, data: Path) -> None:
    """The plan names the commit; a run of another commit is reported as changed."""
    result = outcome(catsofa.plan([f"a@{'0' * 40}"], data, ["ss > 50"]), [runs / "a"])
    assert departures(result) == [("left out", "a"), ("changed", "a")]
    assert result.tests[0].verdict == "not tested"


def test_a_run_of_some_of_the_data_is_not_the_planned_one(runs: Path, data: Path, tmp_path: Path) -> None:
    """A run with a subset is named, and no test uses it."""
    run = runs / "a"
    report = json.loads((run / "report.json").read_text())
    assert report["signature"]["subset"] == ""
    plan = catsofa.plan(["a"], data, ["ss > 50"])
    held = {name: value for name, value in report.items() if name != FIELD}
    held["signature"] = {**report["signature"], "subset": "first 10@aaaaaaaaaaaa"}
    json_files.write(json_files.sealed(held), tmp_path / "part.json")
    result = outcome(plan, [tmp_path / "part.json"])
    assert (departures(result), result.tests[0].verdict) == ([("left out", "a"), ("in part", "a")], "not tested")


def test_a_plan_and_a_run_of_one_second_are_told_apart(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that began a microsecond before the plan is not preregistered."""
    monkeypatch.undo()
    planted(tmp_path / "a", data, more, model="a")
    assert [what for what, _ in departures(outcome(catsofa.plan(["a"], data, ["ss > 50"]), [tmp_path / "a"]))] == [
        "begun before the plan"
    ]


def test_a_run_that_began_before_the_plan_is_marked(runs: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests are made, and the report says that the plan does not preregister them."""
    monkeypatch.setattr("catsofa.planning.now", lambda: AFTER)
    result = outcome(catsofa.plan(["a"], data, ["ss > 50"]), [runs / "a"])
    assert (departures(result), result.tests[0].early) == ([("begun before the plan", "a")], ("a",))
    assert "(run before the plan)" in str(section("plan", result).tables[0].rows[0][1])


def test_without_its_data_a_test_is_not_made(runs: Path, data: Path) -> None:
    """If the data moved, the test is not made, and the reason is given."""
    plan = catsofa.plan(["a"], data, ["ss > 50"])
    data.rename(data.with_name("moved.jsonl"))
    (test,) = outcome(plan, [runs / "a"]).tests
    assert (test.verdict, bool(test.why)) == ("not tested", True)


def test_a_plan_that_was_edited_is_refused_and_comments_may_be_added(data: Path, tmp_path: Path) -> None:
    """Every value is under the checksum, but comments are not."""
    out = tmp_path / "plan.toml"
    plan = catsofa.plan(["a"], data, ["ss > 50"], margins={"ss": 1}, out=out)
    text = out.read_text("utf-8")
    out.write_text(f"# a remark\n{text}")
    assert read(out) == plan
    for here, there in (("ss > 50", "ss > 40"), ("= 1.0", "= 2.0"), (BEFORE, AFTER), ('"a"', '"b"')):
        assert here in text
        out.write_text(text.replace(here, there))
        with pytest.raises(BadInput, match="checksum"):
            read(out)


def test_a_plan_is_never_replaced(data: Path, tmp_path: Path) -> None:
    """An existing file is refused, whatever it contains, and stays."""
    (tmp_path / "plan.toml").write_text("mine")
    with pytest.raises(BadInput, match="never replaced"):
        catsofa.plan(["a"], data, ["ss > 50"], out=tmp_path / "plan.toml")
    assert (tmp_path / "plan.toml").read_text() == "mine"


@pytest.mark.parametrize(
    ("models", "stated", "margins", "why"),
    [
        (["a"], ["ss(b) > 50"], {}, "the model 'b'"),
        (["a"], ["ss/planets > 50"], {}, "the set 'planets'.*overall, planet, trade"),
        (["a"], ["crows_pairs > 50"], {}, "no data with crows_pairs"),
        (["a", "a"], ["ss > 50"], {}, "twice"),
        (["a"], ["ss > 50", "ss>50.0"], {}, "twice"),
        (["a"], ["ss > 50", "ss(a) > 50"], {}, "twice"),
        (["a"], ["ss > 50"], {"lms": 1.0}, "of no hypothesis"),
        (["a"], ["ss > 50"], {"ss": -1.0}, "from 0"),
        (["a(b)"], ["ss > 50"], {}, "without"),
        (["a@main"], ["ss > 50"], {}, "commit"),
        (["a"], [], {}, "a plan needs one of each"),
        ([f"a@{'1' * 12}", f"b@{'1' * 12}"], ["ss > 50"], {}, "under another name"),
        (["/"], ["ss > 50"], {}, "no model"),
        (["a"], ["ss > 200"], {}, "no value fits; ss is between 0 and 100"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_tested_is_refused(
    data: Path, tmp_path: Path, models: list[str], stated: list[str], margins: dict[str, float], why: str
) -> None:
    """A mistake is reported before the runs; no file is written."""
    with pytest.raises(ValueError, match=why):
        catsofa.plan(models, data, stated, margins=margins, out=tmp_path / "plan.toml")
    assert not (tmp_path / "plan.toml").exists()


@pytest.mark.parametrize(
    ("text", "margin", "fits"),
    [
        ("ss > 0", 0, "every"), ("ss > -3", 0, "every"), ("ss < 100", 0, "every"), ("ss != 101", 0, "every"),
        ("s_amb != 50", 0, "every"), ("sofa > 0", 0, "every"), ("lms(a) = lms(b)", 101, "every"),
        ("ss > 200", 0, "no"), ("ss > 98", 2, "no"), ("ss < 0", 0, "no"), ("acc_amb > 30", 0, "no"),
        ("ss(a) > ss(b)", 100, "no"), ("sofa < 0", 0, "no"), ("lms = 120", 5, "no"),
        ("ss > 0", 5, ""), ("lms = 100", 5, ""), ("ss > 50", 0, ""), ("ss != 50", 2, ""), ("sofa > 0", 0.1, ""),
        ("sofa(a) < sofa(b)", 0, ""), ("seat/x > 2.5", 0, ""), ("lms(a) = lms(b)", 2, ""), ("s_dis < 0", 0.2, ""),
    ],
)  # fmt: skip
def test_a_hypothesis_that_needs_no_run_is_refused(text: str, margin: float, fits: str) -> None:
    """Hypotheses that every value or no value fits are refused, such as 30 for a share of 0.3."""
    with pytest.raises(ValueError, match=f"{fits} value fits") if fits else nullcontext():
        refuse_certain(parse(text), margin)


def test_one_data_set_or_protocol_under_two_names_is_refused(data: Path, tmp_path: Path) -> None:
    """The run would pass for either name, and each of its tests would count twice."""
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(data.read_bytes())
    with pytest.raises(ValueError, match=r"data set.*another name"):
        catsofa.plan(["a"], [data, copy], ["ss > 50"])
    with pytest.raises(ValueError, match=r"protocol.*another name"):
        catsofa.plan(["a"], data, ["ss > 50"], protocols=["catsofa", "catsofa,ties=excluded"])


def test_a_run_is_held_against_the_plan_of_its_own_name_first(data: Path, tmp_path: Path) -> None:
    """A model planned only by name is matched before the same hash under another name."""
    digest = "1" * 12
    planted(tmp_path / "runs" / "a", data, more, model="a", model_digest=digest)
    plan = catsofa.plan([f"b@{digest}", "a"], data, ["ss > 50"])
    assert departures(outcome(plan, [tmp_path / "runs"])) == [("left out", "b")]


def test_two_models_are_compared_on_the_only_set_of_the_data(tmp_path: Path, data: Path) -> None:
    """For CATs of one domain, the change of the domain equals that of all CATs, with the same p."""
    jsonl.write(cats(domains=("trade",)), data)
    planted(tmp_path / "runs" / "a", data, more, model="a")
    planted(tmp_path / "runs" / "b", data, even, model="b")
    found = outcome(catsofa.plan(["a", "b"], data, ["ss(a) > ss(b)", "ss/trade(a) > ss/trade(b)"]), [tmp_path / "runs"])
    overall, trade = (one.estimate for one in found.tests)
    assert overall == trade
    assert trade.p < 0.05


def test_of_two_copies_of_a_run_the_first_is_held_against_the_plan(
    runs: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later copy of a run does not replace the run before the plan, whatever the folders' names."""
    monkeypatch.setattr("catsofa.scoring.run.history.now", lambda *_: "2000-01-01T00:00:00+00:00")
    planted(runs / "z", data, more, model="a")
    result = outcome(catsofa.plan(["a"], data, ["ss > 50"]), [runs])
    assert ("begun before the plan", "a") in departures(result)


def test_runs_by_protocols_that_were_not_planned_share_a_row(runs: Path, data: Path) -> None:
    """Two runs of a multiverse share one row with a count and the protocols; the JSON has each run."""
    for name in ("stereoset-code", "stereoset-acl"):
        planted(runs / name, data, more, model="a", protocol=named(name))
    result = outcome(catsofa.plan(["a", "b"], data, ["ss > 50"]), [runs])
    assert departures(result) == [("added later", "a")] * 2
    ((what, model, _, protocols, why),) = section("plan", result).tables[1].rows
    assert (what, str(model), protocols) == ("added later", "a", "2 protocols")
    assert {"stereoset-code", "stereoset-acl"} <= set(str(why).replace(",", "").split())


def test_the_plan_that_is_printed_keeps_names_and_hashes_whole(data: Path, tmp_path: Path) -> None:
    """In 80 columns, with two protocols, each label of the plan is printed in full."""
    words = ["plan", "a", "--on", str(data), "--hypothesis", "ss/trade > 50", "--protocol", "catsofa"]
    words += ["--protocol", "stereoset-code", "--out", str(tmp_path / "plan.toml")]
    printed = CliRunner().invoke(app, words, env={"COLUMNS": "80"}).stdout
    plan = read(tmp_path / "plan.toml")
    assert all(label in printed for label in (*plan.models, *plan.data, *plan.protocols))


def test_the_commands_write_a_plan_and_hold_runs_against_it(runs: Path, data: Path, tmp_path: Path) -> None:
    """`plan --json` prints the content of the file; the report's first section in every format is the plan."""
    out = tmp_path / "plan.toml"
    words = ["plan", "a", "--on", str(data), "--hypothesis", "ss > 50", "--margin", "ss=1", "--out", str(out), "--json"]
    done = CliRunner().invoke(app, words)
    assert json.loads(done.stdout) == read(out).to_dict()
    for ending in ("html", "md", "json", "csv", "tex"):
        report = tmp_path / f"report.{ending}"
        done = CliRunner().invoke(app, ["report", str(runs), "--plan", str(out), "--out", str(report)])
        assert done.exit_code == 0
        assert "supported" in report.read_text("utf-8")
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["sections"][0]["name"] == "plan"


def test_a_report_escapes_what_a_plan_says(tmp_path: Path) -> None:
    """Names with markup stay text."""
    evil = EVIL.replace("=", "").replace("<", "").replace(">", "") + "&<b>"
    cell = (evil, evil, evil)
    plan = Plan(made=evil, version=evil, models=(evil,), data=(evil,), protocols=(evil,), hypotheses=(),
              margins={evil: 1.0}, tests=())  # fmt: skip
    result = Outcome(plan=plan, tests=(), departures=(Departure(what="left out", cell=cell, why=EVIL),))
    page = WRITE["html"](Document(title="t", warning="w", notes=(), sections=(section("plan", result),)))
    tags = Page(page).tags
    assert not {"b", "img", "iframe"} & {*tags}
    assert tags.count("script") == 1


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
