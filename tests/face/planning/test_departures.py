"""Tests of every departure from a plan, and of the section about it in a report."""

import json
from pathlib import Path

import pytest
from helpers.gate_runs import AFTER, cats, departures, even, more, planted, runs_of_two
from helpers.report_pages import EVIL
from helpers.report_runs import Page
from typer.testing import CliRunner

import catsofa
from catsofa.cli import app
from catsofa.data.digests import FIELD
from catsofa.data.files import json_files, jsonl
from catsofa.planning import Plan, read
from catsofa.planning.outcome import Departure, Outcome, outcome
from catsofa.planning.section import section
from catsofa.report.elements import Document
from catsofa.report.formats import WRITE
from catsofa.scoring.protocols import named


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


def test_a_run_is_held_against_the_plan_of_its_own_name_first(data: Path, tmp_path: Path) -> None:
    """A model planned only by name is matched before the same hash under another name."""
    digest = "1" * 12
    planted(tmp_path / "runs" / "a", data, more, model="a", model_digest=digest)
    plan = catsofa.plan([f"b@{digest}", "a"], data, ["ss > 50"])
    assert departures(outcome(plan, [tmp_path / "runs"])) == [("left out", "b")]


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
