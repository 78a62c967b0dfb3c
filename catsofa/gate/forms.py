"""A verdict for other programs: JUnit XML for test runners, Markdown for pull requests, SARIF for code hosts."""

__all__ = ["as_sarif", "junit", "markdown"]

from collections.abc import Iterator
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from catsofa.data.tables import digits
from catsofa.data.visible import markdown as plain
from catsofa.data.visible import visible
from catsofa.gate.verdicts import Checked, Test, Verdict
from catsofa.scoring.statistics.margins import LEVEL

RULES = {
    "regression": "A measure is further from its ideal than the baseline, by more than the margin.",
    "not-shown": "What was required, non-inferiority or equivalence, is not shown.",
    "not-comparable": "A run could not be compared with the baseline.",
}

FOUND = {
    "regression": "the loss is shown to be larger than the margin",
    "same": "every item has the same outcome",
    "equivalent": "the change is shown to be within the margin",
    "not inferior": "the loss is shown to be smaller than the margin",
    "open": "nothing is shown; more items or a larger margin can decide",
    "caution": "the verdict may be wrong in more than 5 % of sets; a warning says why",
}
"""What each word means that a test can find."""


def number(value: float) -> str:
    """A number for people."""
    return f"{value:.{digits(value)}f}".rstrip("0").rstrip(".") if value == value else "undefined"


def change(test: Test) -> str:
    """How far a measure moved, with its limits where it has some: two decimals of a percentage, four of others."""
    by, most = test.test.change.by, test.paired.measure.most
    shown = f"+.{2 if 100 <= most < inf else 4}f"
    limits = "" if by.low != by.low else f" [{by.low:{shown}}, {by.high:{shown}}]"
    return f"{by.value:{shown}}{limits}"


def legend(verdict: Verdict) -> str:
    """What the words under `found` mean, of those that occur; empty if no test was made."""
    found = {word for run in verdict.runs for test in run.tests for word in test.told.split(", ")}
    return "; ".join(f"{word}: {about}" for word, about in FOUND.items() if word in found)


def brief(test: Test) -> str:
    """What was found of a test, in one line."""
    paired, tested = test.paired, test.test
    moves = f"{paired.name} of {paired.set}: {number(tested.before)} to {number(tested.after)}, {change(test)}"
    return f"{moves}; margin {number(tested.margin)}, p {test.holm:.2g} after correction: {test.told}"


def reason(test: Test) -> str:
    """What was found of a test, in a sentence that names the terms and items that moved most."""
    paired, told = test.paired, brief(test)
    for what, rows in (("terms", test.ends(paired.terms, 5)), ("items", test.ends(paired.each(), 5))):
        if rows:
            told += f"; {what} that moved most: " + ", ".join(
                f"{row.name} ({number(row.before)} to {number(row.after)})" for row in rows
            )
    return told


def junit(verdict: Verdict) -> bytes:
    """The verdict as JUnit XML: a suite for each run, a case for each test; a run that was not compared is an error."""
    tests = [test for run in verdict.runs for test in run.tests]
    errors = sum(bool(run.refused) for run in verdict.runs)
    counts = {"tests": str(len(tests) + errors), "failures": str(sum(test.failed for test in tests)),
              "errors": str(errors)}  # fmt: skip
    root = Xml.Element("testsuites", {"name": "catsofa check", **counts})
    for run in verdict.runs:
        name, refused = visible(f"{run.label} on {run.data}"), bool(run.refused)
        failed = sum(test.failed for test in run.tests)
        suite = Xml.SubElement(root, "testsuite", {
            "name": name, "tests": str(len(run.tests) + refused), "failures": str(failed), "errors": str(int(refused)),
        })  # fmt: skip
        properties = Xml.SubElement(suite, "properties")
        for key, value in (("signature", run.signature), ("baseline", run.baseline)):
            Xml.SubElement(properties, "property", {"name": key, "value": visible(value)})
        for test in run.tests:
            about = {"classname": name, "name": visible(f"{test.paired.name} of {test.paired.set}"), "time": "0"}
            case = Xml.SubElement(suite, "testcase", about)
            if test.failed:
                told = visible(reason(test))
                failure = Xml.SubElement(case, "failure", {"message": told, "type": test.found})
                failure.text = told
        if refused:
            case = Xml.SubElement(suite, "testcase", {"classname": name, "name": "comparable", "time": "0"})
            Xml.SubElement(case, "error", {"message": visible(run.refused), "type": "not-comparable"})
        if warnings := [*verdict.warnings, *run.warnings]:
            Xml.SubElement(suite, "system-err").text = "\n".join(visible(f"Warning: {one}") for one in warnings)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True))


def markdown(verdict: Verdict) -> str:
    """The verdict for a pull request: a sentence, a table for each run, and what moved most, folded away."""
    sign = {0: "Passed", 1: "Failed", 2: "Not comparable"}[verdict.exit_code]
    lines = [f"## {sign}: {plain(verdict.sentence)}", ""]
    if told := legend(verdict):
        lines += [f"{told}.", ""]
    lines += [f"> **Warning.** {plain(told)}\n" for told in verdict.warnings]
    for run in verdict.runs:
        lines += [f"### {plain(run.label)} on {plain(run.data)}", ""]
        lines += [f"> **Not comparable.** {plain(run.refused)}", ""] if run.refused else []
        lines += _table(run) if run.tests else []
        lines += [f"> **Warning.** {plain(told)}\n" for told in run.warnings]
        failed = [test for test in run.tests if test.failed]
        if failed:
            lines += ["<details><summary>What moved most; may offend</summary>", ""]
            lines += [f"- {plain(reason(test))}" for test in failed]
            lines += ["", "</details>", ""]
        lines += [f"`{' '.join(visible(run.signature).replace('`', chr(39)).split())}`", ""] if run.signature else []
    return "\n".join(lines)


def _table(run: Checked) -> list[str]:
    """The tests of a run as a Markdown table."""
    head = ["measure", "set", "baseline", "run", "change [90 %]", "margin", "p (Holm)", "found"]
    rows = [
        [test.paired.name, test.paired.set, number(test.test.before), number(test.test.after), change(test),
         number(test.test.margin), f"{test.holm:.2g}", f"**{test.told}**" if test.failed else test.told]
        for test in run.tests
    ]  # fmt: skip
    bars = [[*map(plain, row[:-1]), row[-1]] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *bars)] + [""]


def as_sarif(verdict: Verdict, against: Path | str) -> dict[str, Any]:
    """The verdict in SARIF 2.1.0; each finding is about the baseline, a run and a measure are logical locations."""
    driver = {
        "name": "catsofa check",
        "version": version("catsofa"),
        "rules": [
            {"id": rule, "shortDescription": {"text": about}, "defaultConfiguration": {"level": "error"}}
            for rule, about in RULES.items()
        ],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "results": list(_results(verdict, Path(against))),
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _warnings(verdict)}],
                "columnKind": "unicodeCodePoints",
                "properties": {"level": LEVEL, "required": verdict.require},
            }
        ],
    }


def _warnings(verdict: Verdict) -> list[dict[str, Any]]:
    """A notification for each warning, about what is left out or about a run."""
    of_runs = [f"{run.label} on {run.data}: {told}" for run in verdict.runs for told in run.warnings]
    return [{"level": "warning", "message": {"text": visible(told)}} for told in [*verdict.warnings, *of_runs]]


def _results(verdict: Verdict, against: Path) -> Iterator[dict[str, Any]]:
    """A finding for each test that failed, and for each run that was not compared."""
    uri = quote(against.as_posix()) if not against.is_absolute() else against.resolve().as_uri()
    for run in verdict.runs:
        found = [
            (
                "regression" if test.found == "regression" else "not-shown",
                reason(test),
                f"{run.label}/{test.paired.name}/{test.paired.set}",
            )
            for test in run.tests
            if test.failed
        ]
        found += [("not-comparable", run.refused, run.label)] if run.refused else []
        for rule, told, place in found:
            yield {
                "ruleId": rule,
                "ruleIndex": list(RULES).index(rule),
                "level": "error",
                "message": {"text": visible(told)},
                "locations": [
                    {
                        "physicalLocation": {"artifactLocation": {"uri": uri}},
                        "logicalLocations": [{"name": visible(place), "kind": "object"}],
                    }
                ],
            }
