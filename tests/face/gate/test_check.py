"""Tests of the regression gate: exit codes, margins, baselines, and named items."""

import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from helpers.gate_runs import by_name, cats, checked, even, number, planted, ran, worse
from helpers.mutations import MUTATIONS

from catsofa.data.digests import FIELD
from catsofa.data.files import jsonl
from catsofa.data.files.json_files import sealed
from catsofa.gate import check, snapshots_of
from catsofa.gate.snapshots import save
from catsofa.scoring.protocols import named

Planted = Callable[..., Path]


def test_a_run_is_no_regression_of_itself(base: Path, tmp_path: Path) -> None:
    """The exit code is 0 against the run, a folder above it and its baseline, also if equivalence is required."""
    ran("baseline", "save", base, "--out", tmp_path / "b.json")
    for against in (base, tmp_path / "b.json"):
        code, report = checked(base, "--against", against)
        assert (code, {test["found"] for test in report["runs"][0]["tests"]}) == (0, {"same"})
    margins = ("--margin", "ss=1", "--margin", "lms=1", "--require-equivalence")
    assert checked(base, "--against", tmp_path / "b.json", *margins)[0] == 0


def test_a_planted_regression_is_found_in_its_domain_with_its_terms_and_items(
    base: Path, data: Path, tmp_path: Path
) -> None:
    """ss of trades rises from 50 to 70, by two of ten items of each even term; lms and the other domain stay."""
    run = planted(tmp_path / "new", data, worse)
    code, report = checked(run, "--against", base)
    tests = by_name(report)
    assert code == 1
    assert [name for name, test in tests.items() if test["found"] == "regression"] == [
        ("ss", "overall"),
        ("ss", "trade"),
    ]
    trade = tests["ss", "trade"]
    assert (trade["before"], trade["after"], trade["change"], trade["worse"]) == pytest.approx((50, 70, 20, 20))
    assert trade["terms"][0] == {"name": "dravian 0", "before": 50.0, "after": 70.0}
    assert [row["name"] for row in trade["moved"][:3]] == ["0-1", "0-3", "10-1"]
    assert tests["ss", "planet"]["found"] == tests["lms", "overall"]["found"] == "same"


def test_a_move_to_the_ideal_is_no_regression(data: Path, base: Path, tmp_path: Path) -> None:
    """ss moves from 70 back to 50, and lms from 90 to 100."""
    before = planted(tmp_path / "before", data, lambda cat: "u" if number(cat)[1] == 9 else worse(cat))
    assert checked(base, "--against", before)[0] == 0


def test_lower_lms_is_a_regression(data: Path, base: Path, tmp_path: Path) -> None:
    """One item of ten has the unrelated candidate first."""
    run = planted(tmp_path / "new", data, lambda cat: "u" if number(cat)[1] == 9 else even(cat))
    code, report = checked(run, "--against", base)
    assert (code, by_name(report)["lms", "overall"]["after"]) == (1, pytest.approx(90))


def test_a_margin_allows_what_lies_within_it(data: Path, base: Path, tmp_path: Path) -> None:
    """A rise of 10 passes with a margin of 10 and fails with 9, also for a single set; every even term rises by 20."""
    run = planted(tmp_path / "new", data, worse)
    for margins, code in (
        (("ss=20",), 0),
        (("ss=10",), 1),
        (("ss=1", "ss/trade=20", "ss/overall=10"), 0),
        (("ss=20", "ss/trade=19"), 1),
    ):
        options = [part for margin in margins for part in ("--margin", margin)]
        assert ran("check", run, "--against", base, *options)[0] == code, margins


def test_equivalence_needs_evidence_and_a_margin(data: Path, base: Path, tmp_path: Path) -> None:
    """One item of 200 moves ss by 0.5 and 1: within 8 points, not shown to be within 0.6. Without margins: refused."""
    run = planted(tmp_path / "new", data, lambda cat: "+" if cat.id == "0-1" else even(cat))
    wide, narrow = (["--margin", f"ss={m}", "--margin", "lms=4"] for m in (8, 0.6))
    assert ran("check", run, "--against", base, *wide, "--require-equivalence")[0] == 0
    assert ran("check", run, "--against", base, *narrow)[0] == 0
    code, output = ran("check", run, "--against", base, *narrow, "--require-equivalence")
    assert code == 1
    assert "equivalence not shown" in output
    assert ran("check", run, "--against", base, *wide, "--require-non-inferiority")[0] == 0
    code, output = ran("check", run, "--against", base, "--require-equivalence")
    assert (code, "needs a margin above 0" in output) == (2, True)


def test_equal_outcomes_of_two_models_on_few_items_are_no_equivalence(tmp_path: Path) -> None:
    """Four unchanged CATs pass for the model itself; another model or precision may change the next CAT."""
    jsonl.write(cats(2, 2), tmp_path / "few.jsonl")
    base, again, other = (
        planted(tmp_path / name, tmp_path / "few.jsonl", even, model_digest=digest)
        for name, digest in (("base", "aa"), ("again", "aa"), ("other", "bb"))
    )
    for require in ("equivalence", "non-inferiority"):
        options = ("--margin", "ss=1", "--margin", "lms=1", f"--require-{require}")
        assert ran("check", again, "--against", base, *options)[0] == 0
        code, output = ran("check", other, "--against", base, *options)
        assert (code, f"{require} not shown" in output) == (1, True)
    assert ran("check", other, "--against", base)[0] == 0


@pytest.mark.parametrize("how", [{"margins": {"ss": float("nan")}}, {"margins": {"ss": -1}}, {"require": "equal"}])
def test_from_python_margins_and_requirements_are_refused_alike(base: Path, how: dict[str, Any]) -> None:
    """NaN, negative numbers and unknown requirements are refused."""
    with pytest.raises(ValueError, match="expected"):
        check([base], base, **how)


def test_margins_do_not_hide_why_a_run_is_not_comparable(base: Path, tmp_path: Path) -> None:
    """A run on other data has no matching test; every format reports that the data differ."""
    jsonl.write(cats(19), tmp_path / "few.jsonl")
    run = planted(tmp_path / "few", tmp_path / "few.jsonl", even)
    code, output = ran("check", run, "--against", base, "--margin", "ss=1", "--junit", tmp_path / "c.xml")
    assert (code, "data: cats.jsonl@" in output) == (2, True)
    assert b"data: cats.jsonl@" in (tmp_path / "c.xml").read_bytes()


@pytest.mark.parametrize("margin", ["ss", "ss=x", "ss=-1", "=1", "ss=nan", "ss=inf"])
def test_a_margin_is_a_measure_and_a_number(base: Path, margin: str) -> None:
    """Anything else is refused with the value found."""
    code, output = ran("check", base, "--against", base, f"--margin={margin}")
    assert (code, repr(margin) in output) == (2, True)


def test_two_margins_of_one_measure_are_refused(base: Path) -> None:
    """The later margin does not silently replace the first."""
    code, output = ran("check", base, "--against", base, "--margin", "ss=1", "--margin", "ss=20")
    assert (code, "two margins of 'ss'" in output) == (2, True)


def test_a_margin_of_nothing_is_refused_with_the_names_there_are(base: Path) -> None:
    """A typing error in a margin must not pass."""
    code, output = ran("check", base, "--against", base, "--margin", "ss/trades=1")
    assert code == 2
    expected = "expected lms, ss, or one of them with /SET; do you mean ss/trade?"
    assert f"'ss/trades' is of no test here; {expected}" in output


def test_measures_without_a_margin_are_named_beside_one_that_has_one(base: Path) -> None:
    """A loss of any size counts for them, which may surprise; without any margin nothing is said."""
    assert (
        "no margin was given for ss: any loss counts" in ran("check", base, "--against", base, "--margin", "lms=1")[1]
    )
    assert "no margin" not in ran("check", base, "--against", base)[1]


def test_a_baseline_edited_by_hand_is_refused(base: Path, tmp_path: Path) -> None:
    """A baseline with one changed outcome of a CAT is refused."""
    file = tmp_path / "b.json"
    ran("baseline", "save", base, "--out", file)
    document = json.loads(file.read_text())
    letters = document["runs"][0]["outcomes"]["letters"]
    document["runs"][0]["outcomes"]["letters"] = letters[1] + letters[1:]
    file.write_text(json.dumps(document))
    code, output = ran("check", base, "--against", file)
    assert code == 2
    assert "checksum" in output
    for text, expected in (("{}", "no baseline"), ("x", "not JSON"), ('{"form": "other"}', "no baseline")):
        file.write_text(text)
        code, output = ran("check", base, "--against", file)
        assert (code, expected in output) == (2, True)


def test_other_data_another_protocol_and_another_measure_are_not_comparable(base: Path, tmp_path: Path) -> None:
    """The exit code is 2, and the report names the differences."""
    few, pairs = tmp_path / "few.jsonl", tmp_path / "half.jsonl"
    jsonl.write(cats(19), few)
    other = planted(tmp_path / "other", few, even)
    code, report = checked(other, "--against", base)
    assert code == 2
    assert "data: cats.jsonl@" in report["runs"][0]["refused"]
    jsonl.write(cats(), pairs)
    halved = planted(tmp_path / "half", pairs, even, protocol=named("catsofa,ties=half"))
    code, report = checked(halved, "--against", base)
    assert code == 2
    assert "options" in report["runs"][0]["refused"]


def test_data_of_another_name_are_the_same_data(base: Path, data: Path, tmp_path: Path) -> None:
    """The hash counts, not the name of the file."""
    shutil.copy(data, tmp_path / "renamed.jsonl")
    assert checked(planted(tmp_path / "new", tmp_path / "renamed.jsonl", even), "--against", base)[0] == 0


def test_a_measure_that_no_run_has_is_missing(base: Path, tmp_path: Path) -> None:
    """The baseline has two data sets, and only one is scored again."""
    few = tmp_path / "few.jsonl"
    jsonl.write(cats(19), few)
    planted(tmp_path / "both/few", few, even)
    shutil.copytree(base, tmp_path / "both/cats")
    ran("baseline", "save", tmp_path / "both", "--out", tmp_path / "b.json")
    assert checked(tmp_path / "both", "--against", tmp_path / "b.json")[0] == 0
    code, report = checked(base, "--against", tmp_path / "b.json")
    assert code == 2
    assert "few.jsonl" in report["runs"][1]["refused"]


def test_a_number_that_only_the_baseline_has_is_not_comparable(data: Path, base: Path, tmp_path: Path) -> None:
    """A model that ties every CAT has no ss, and must not pass."""
    scores = planted(tmp_path / "new", data, lambda cat: "=")
    code, report = checked(scores, "--against", base)
    assert code == 2
    assert "in the baseline alone" in report["runs"][0]["refused"]


def test_a_regression_counts_more_than_what_cannot_be_compared(data: Path, base: Path, tmp_path: Path) -> None:
    """The exit code is 1, and both runs are named."""
    jsonl.write(cats(19), tmp_path / "few.jsonl")
    planted(tmp_path / "all/few", tmp_path / "few.jsonl", even)
    planted(tmp_path / "all/new", data, worse)
    code, report = checked(tmp_path / "all", "--against", base)
    assert code == 1
    assert [bool(run["refused"]) for run in report["runs"]] == [True, False]


def test_checkpoints_below_a_folder_are_found_and_labelled(data: Path, base: Path, tmp_path: Path) -> None:
    """Two models of one name are distinguished by labels, one for each path."""
    for step in (100, 200):
        planted(tmp_path / f"ck/{step}/model", data, even if step == 100 else worse)
    code, report = checked(tmp_path / "ck", "--against", base)
    assert (code, len(report["runs"])) == (1, 2)
    paths = tmp_path / "ck/100", tmp_path / "ck/200"
    _, report = checked(*paths, "--against", base, "--label", "step-100", "--label", "step-200")
    assert [run["label"] for run in report["runs"]] == ["step-100", "step-200"]
    code, output = ran("check", *paths, "--against", base, "--label", "one")
    assert (code, "1 labels and 2 paths" in output) == (2, True)


def test_two_models_are_no_baseline(data: Path, base: Path, tmp_path: Path) -> None:
    """A baseline has one model, so one of two must be chosen."""
    shutil.copytree(base, tmp_path / "two/one")
    planted(tmp_path / "two/other", data, worse)
    code, output = ran("baseline", "save", tmp_path / "two", "--out", tmp_path / "b.json")
    assert (code, "two models on" in output) == (2, True)
    assert checked(base, "--against", tmp_path / "two")[0] == 2


def test_p_is_corrected_over_all_tests_of_the_call(data: Path, base: Path, tmp_path: Path) -> None:
    """Twice as many tests, half of them equal again, have p twice as large, at most 1."""
    planted(
        tmp_path / "one/new", data, lambda cat: "+" if number(cat)[0] < 12 and number(cat)[1] in (1, 2) else even(cat)
    )
    _, alone = checked(tmp_path / "one/new", "--against", base)
    planted(tmp_path / "one/equal", data, even)
    _, beside = checked(tmp_path / "one", "--against", base)
    few = by_name(alone)["ss", "overall"]
    (many,) = (t for run in beside["runs"] for t in run["tests"] if t["set"] == "overall" and t["worse"] > 0)
    assert many["p"] == few["p"]
    assert many["holm"] == pytest.approx(2 * few["holm"])


@pytest.mark.parametrize("again", ["itself", "a copy", "a folder above both"])
def test_a_run_that_is_given_twice_counts_once(data: Path, base: Path, tmp_path: Path, again: str) -> None:
    """Holm's p equals that of the run alone, and the omitted run is named, in every format."""
    run = planted(
        tmp_path / "all/new", data, lambda cat: "+" if number(cat)[0] < 12 and number(cat)[1] in (1, 2) else even(cat)
    )
    code, alone = checked(run, "--against", base)
    if again != "itself":
        shutil.copytree(run, tmp_path / "all/copied")
    paths = {"itself": [run, run], "a copy": [run, tmp_path / "all/copied"]}.get(again, [tmp_path / "all"])
    formats = [word for form in ("markdown", "junit", "sarif") for word in (f"--{form}", tmp_path / f"c.{form}")]
    found_code, report = checked(*paths, "--against", base, *formats)
    assert (found_code, by_name(report), len(report["runs"])) == (code, by_name(alone), 1)
    (warning,) = report["warnings"]
    assert ("new" if again == "itself" else "copied") in warning
    assert "Left out" in (tmp_path / "c.markdown").read_text()
    assert "Left out" in (Xml.parse(tmp_path / "c.junit").findtext("testsuite/system-err") or "")
    ((invocation,),) = (one["invocations"] for one in json.loads((tmp_path / "c.sarif").read_text())["runs"])
    (notified,) = invocation["toolExecutionNotifications"]
    assert (notified["level"], notified["message"]["text"]) == ("warning", warning)
    assert not alone["warnings"]


def test_a_file_of_scores_that_is_given_twice_counts_once(data: Path, base: Path, tmp_path: Path) -> None:
    """A repeated file of scores counts once, like a repeated run."""
    file = tmp_path / "scores.jsonl"
    ran("export", planted(tmp_path / "run", data, worse), "--format", "jsonl", "--out", file)
    _, report = checked(file, file, "--against", base, "--on", data)
    assert (len(report["runs"]), len(report["warnings"])) == (1, 1)


def test_an_unfinished_run_is_not_comparable(data: Path, base: Path, tmp_path: Path) -> None:
    """A single unfinished run is refused; below a folder it is named, and the exit code is 2."""
    shutil.copytree(base, tmp_path / "all/done")
    planted(tmp_path / "all/half", data, worse)
    (tmp_path / "all/half/report.json").unlink()
    code, output = ran("check", tmp_path / "all", "--against", base)
    assert code == 2
    assert "half" in output


def test_models_of_one_name_are_told_apart_by_their_paths(data: Path, base: Path, tmp_path: Path) -> None:
    """Without a label, the second model has its RUN beside its name."""
    paths = [planted(tmp_path / f"ck/{step}", data, way) for step, way in ((100, even), (200, worse))]
    _, report = checked(*paths, "--against", base)
    assert [run["label"] for run in report["runs"]] == ["dravian-lm", f"dravian-lm ({paths[1]})"]


def test_a_file_of_scores_is_held_against_a_baseline_as_its_run_is(data: Path, base: Path, tmp_path: Path) -> None:
    """The file gives the same tests and exit code; it needs --on, and shares ids with the data."""
    run, file = planted(tmp_path / "run", data, worse), tmp_path / "scores.jsonl"
    ran("export", run, "--format", "jsonl", "--out", file)
    code, report = checked(file, "--against", base, "--on", data)
    expected, of_run = checked(run, "--against", base)
    assert (code, by_name(report)) == (expected, by_name(of_run)) == (1, by_name(of_run))
    ran("baseline", "save", file, "--on", data, "--out", tmp_path / "b.json")
    assert checked(run, "--against", tmp_path / "b.json")[0] == 0
    code, output = ran("check", file, "--against", base)
    assert (code, "expected --on with its data" in output) == (2, True)
    jsonl.write(cats(terms=1, items=1)[:1], tmp_path / "one.jsonl")
    _, report = checked(file, "--against", base, "--on", data, "--on", tmp_path / "one.jsonl")
    assert report["runs"][0]["data"].startswith("cats.jsonl@")


def test_a_baseline_is_verified_with_the_other_stores(base: Path, tmp_path: Path) -> None:
    """The exit code is 0 as saved, and 1 after an edit, which the verdict names."""
    file = tmp_path / "stores/b.json"
    file.parent.mkdir()
    ran("baseline", "save", base, "--out", file)
    code, output = ran("verify", file.parent)
    assert (code, "1 run" in output) == (0, True)
    file.write_text(file.read_text().replace("dravian-lm", "pelloran-lm"))
    code, output = ran("verify", file.parent)
    assert (code, "changed after it was written" in output) == (1, True)


@pytest.mark.parametrize("seed", range(3))
def test_any_baseline_is_read_or_refused_in_a_sentence(seed: int, base: Path, tmp_path: Path) -> None:
    """25 mutations each, with and without a fitting checksum, give a verdict or one sentence."""
    file, rng = tmp_path / "b.json", random.Random(seed)
    save(snapshots_of([base]), file)
    good = file.read_bytes()
    for turn in range(50):
        raw = rng.choice(MUTATIONS)(good, rng) or b"\n"
        if turn % 2:
            with suppress(AttributeError, RecursionError, ValueError):
                document = json.loads(raw)
                raw = json.dumps(sealed({k: v for k, v in document.items() if k != FIELD})).encode()
        file.write_bytes(raw)
        code, output = ran("check", base, "--against", file)
        assert code in (0, 1) or (code == 2 and ("not comparable" in output or "\n" not in output)), output
