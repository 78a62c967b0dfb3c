"""Tests of the gate's verdict as JUnit XML, SARIF, Markdown and on narrow terminals."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from helpers.gate_runs import by_name, cats, checked, even, planted, ran, worse

from catsofa.data.files import jsonl
from catsofa.gate import check
from catsofa.gate.forms import number

Planted = Callable[..., Path]


def test_junit_has_a_case_for_each_test_and_a_failure_for_each_regression(
    data: Path, base: Path, tmp_path: Path
) -> None:
    """The counts of the suites are those of the cases, as test runners check."""
    jsonl.write(cats(19), tmp_path / "few.jsonl")
    planted(tmp_path / "all/few", tmp_path / "few.jsonl", even)
    planted(tmp_path / "all/new", data, worse, model="<lm> & \x1b[31m")
    ran("check", tmp_path / "all", "--against", base, "--junit", tmp_path / "c.xml")
    root = Xml.fromstring((tmp_path / "c.xml").read_bytes())
    suites = root.findall("testsuite")
    assert root.tag == "testsuites"
    for element, cases in ((root, root.findall(".//testcase")), *((s, s.findall("testcase")) for s in suites)):
        counted = [sum(case.find(kind) is not None for case in cases) for kind in ("failure", "error")]
        assert [int(element.get(name, "")) for name in ("tests", "failures", "errors")] == [len(cases), *counted]
    assert all({"name", "classname", "time"} == {*case.keys()} for case in root.iter("testcase"))
    (one, *_) = root.iter("failure")
    assert one.get("type") == "regression"
    assert "dravian 0 (50 to 70)" in (one.text or "")
    assert [element.tag for element in suites[0]] == ["properties", "testcase"]


def test_sarif_has_the_fields_that_code_hosts_require(data: Path, base: Path, tmp_path: Path) -> None:
    """The file has version, driver, rules, and results whose rule exists and whose location is a file."""
    ran("baseline", "save", base, "--out", tmp_path / "b.json")
    run = planted(tmp_path / "new", data, worse)
    ran("check", run, "--against", tmp_path / "b.json", "--sarif", tmp_path / "c.sarif")
    document = json.loads((tmp_path / "c.sarif").read_text())
    (one,) = document["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert (document["version"], one["tool"]["driver"]["name"]) == ("2.1.0", "catsofa check")
    assert [result["ruleId"] for result in one["results"]] == ["regression"] * 2
    for result in one["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"].startswith("ss of ")
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("b.json")


def test_markdown_is_for_pull_requests_and_holds_no_markup_of_names(data: Path, base: Path, tmp_path: Path) -> None:
    """The text has a heading with the verdict, a table, and folded changes; the name of a model is escaped."""
    run = planted(tmp_path / "new", data, worse, model="<b>lm|")
    ran("check", run, "--against", base, "--markdown", tmp_path / "c.md")
    text = (tmp_path / "c.md").read_text()
    assert text.startswith("## Failed: regression in 2 of 6 tests\n")
    assert "| ss | trade | 50 | 70 |" in text
    assert "<details>" in text
    assert "<b>" not in "".join(line for line in text.splitlines() if not line.startswith("`data:"))


def test_a_narrow_terminal_gets_a_line_for_each_test_and_each_word_is_explained(
    data: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No word is broken in 60 columns; terminal and Markdown explain exactly the words that appear under `found`."""
    new = planted(tmp_path / "new", data, worse)
    monkeypatch.setenv("COLUMNS", "60")
    code, shown = ran("check", new, "--against", base, "--markdown", tmp_path / "check.md")
    assert code == 1
    lines = [line for line in shown.splitlines() if line.startswith("ss of trade: ")]
    assert [line.endswith(": regression") for line in lines] == [True]
    for text in (shown, (tmp_path / "check.md").read_text()):
        assert "regression: the loss is shown to be larger than the margin" in text
        assert "equivalent: " not in text


def test_many_sets_with_one_result_have_one_line_on_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of nine sets of each measure, those that stay the same are counted in one line; a regression has its own."""
    data = tmp_path / "cats.jsonl"
    jsonl.write(cats(terms=96, items=4, domains=[f"domain {number}" for number in range(8)]), data)
    planted(tmp_path / "old", data, even)
    planted(tmp_path / "new", data, lambda cat: "+" if cat.bias_type == "domain 3" else even(cat))
    monkeypatch.setenv("COLUMNS", "60")
    code, shown = ran("check", tmp_path / "new", "--against", tmp_path / "old")
    assert code == 1
    lines = [line for line in shown.splitlines() if line.startswith("ss of ")]
    assert [line for line in lines if line.startswith("ss of 7 sets, change +0 to +0;") and line.endswith(": same")]
    assert [line for line in lines if line.startswith("ss of domain 3: 50 to 100") and line.endswith(": regression")]
    assert len(shown.splitlines()) < 20


@pytest.mark.parametrize("columns", ["200", "60"])
def test_a_name_adds_no_line_to_a_verdict(
    data: Path, base: Path, tmp_path: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names with line ends and control characters add no line to a table, to lines and in Python."""
    monkeypatch.setenv("COLUMNS", columns)
    forged = "no regression in 9 tests"
    evil = f"dravian\n{forged}\n\x1b[2J"
    jsonl.write(cats(domains=(f"trade\n{forged}\n", "planet")), tmp_path / "evil.jsonl")
    before, after = (
        planted(tmp_path / name, tmp_path / "evil.jsonl", way, model=evil)
        for name, way in (("before", even), ("after", worse))
    )
    code, output = ran("check", after, base, "--against", before)
    assert code == 1
    assert "dravian" in output
    for text in (output, str(check(after, before))):
        assert forged not in [line.strip() for line in text.splitlines()]
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("options", "hypothesis"),
    [
        ((), "regression, Holm"),
        (("--margin", "ss=8", "--margin", "lms=8"), "equivalence"),
        (("--margin", "ss=0.6", "--margin", "lms=8", "--require-non-inferiority"), "non-inferiority"),
    ],
)
def test_each_p_is_of_the_hypothesis_beside_it(
    data: Path, base: Path, tmp_path: Path, options: tuple[str, ...], hypothesis: str
) -> None:
    """A p stands with its hypothesis: the one that is required, else the one that is shown, else a regression."""
    run = planted(tmp_path / "new", data, lambda cat: "+" if cat.id == "0-1" else even(cat))
    json_of = {"regression, Holm": "holm", "equivalence": "p_equivalent", "non-inferiority": "p_not_inferior"}
    ran("check", run, "--against", base, *options, "--markdown", tmp_path / "c.md")
    test = by_name(checked(run, "--against", base, *options)[1])["ss", "overall"]
    (row,) = (line for line in (tmp_path / "c.md").read_text().splitlines() if line.startswith("| ss | overall |"))
    assert f"| {test[json_of[hypothesis]]:.3g} ({hypothesis}) |" in row


@pytest.mark.parametrize("terms", [1, 4])
def test_a_loss_without_spread_is_named(terms: int, tmp_path: Path) -> None:
    """If one term counts, or all terms change alike, no test shows a loss; a warning names the loss, not a gain."""
    jsonl.write(cats(terms, 10, ("trade",)), tmp_path / "few.jsonl")
    base, worst = (
        planted(tmp_path / str(n), tmp_path / "few.jsonl", way) for n, way in enumerate((even, lambda _: "+"))
    )
    code, report = checked(worst, "--against", base)
    warnings = [text for text in report["runs"][0]["warnings"] if text.startswith("ss of overall is worse by 50")]
    assert (code, len(warnings)) == (0, 1)
    assert not any(" is worse by " in text for text in checked(base, "--against", worst)[1]["runs"][0]["warnings"])


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.000678, "0.000678"), (0.0, "0"), (-0.0, "0"), (7e-15, "0"), (100.0, "100"), (1200.0, "1200"), (0.5, "0.5")],
)
def test_a_small_number_is_not_shown_as_0(value: float, shown: str) -> None:
    """A SoFa score of 0.000678 keeps three digits; only 0 and differences of rounding are shown as 0."""
    assert number(value) == shown


def test_a_difference_of_rounding_has_no_minus_sign(data: Path, base: Path, tmp_path: Path) -> None:
    """Some terms gain what others lose, so that ss does not change, and the change is shown as +0.00."""
    run = planted(tmp_path / "new", data, lambda cat: {"0-1": "+", "2-0": "-"}.get(cat.id, even(cat)))
    ran("check", run, "--against", base, "--markdown", tmp_path / "c.md")
    (row,) = (line for line in (tmp_path / "c.md").read_text().splitlines() if line.startswith("| ss | overall |"))
    assert "| 50 | 50 | +0.00" in row.replace("\\", "")
