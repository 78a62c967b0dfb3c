"""A verdict for other programs: JUnit XML for test runners, Markdown for pull requests, SARIF for code hosts."""

__all__ = ["as_sarif", "junit", "markdown"]

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from math import floor, inf, isnan, log10
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from catsofa.data.percentages import NOISE, unsigned
from catsofa.data.tables import digits
from catsofa.data.visible import markdown as plain
from catsofa.data.visible import visible
from catsofa.gate.verdicts import Checked, Test, Verdict
from catsofa.scoring.statistics.margins import LEVEL

MOST = 5
"""The maximum number of lines about tests with one result."""
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
"""Each possible result of a test to its meaning."""


def number(value: float) -> str:
    """Returns a number for people, without zeros at its end; `undefined` for NaN."""
    return aligned(value).rstrip("0").rstrip(".") if value == value else "undefined"


def aligned(value: float) -> str:
    """Returns a number for a table, with the same digits as others of its size, and three or more that are not 0."""
    return unsigned(f"{value:.{_decimals(value, digits(value), 3)}f}") if value == value else "undefined"


def _decimals(value: float, least: int, significant: int) -> int:
    """Returns the decimals that show so many significant digits, at least `least`; a difference of rounding is 0."""
    size = abs(value)
    return max(least, significant - 1 - floor(log10(size))) if NOISE < size < inf else least


def change(test: Test) -> str:
    """Returns the change of a measure, with its limits if it has some: two decimals for percentages, four otherwise.

    A small change has more decimals, so that two significant digits show.
    """
    interval, most = test.test.change.by, test.paired.measure.most
    least = 2 if 100 <= most < inf else 4
    places = _decimals(interval.value, least, 2)
    value, low, high = (_signed(one, places) for one in (interval.value, interval.low, interval.high))
    return value if interval.low != interval.low else f"{value} [{low}, {high}]"


def _signed(value: float, places: int) -> str:
    """Returns a number with its sign; what is written as 0 has a plus."""
    text = f"{value:+.{places}f}"
    return text.replace("-", "+") if float(text) == 0 else text


def legend(verdict: Verdict) -> str:
    """Returns the meaning of each word in the column `found` that occurs; empty without tests."""
    words = {word for run in verdict.runs for test in run.tests for word in test.told.split(", ")}
    return "; ".join(f"{word}: {about}" for word, about in FOUND.items() if word in words)


def without_margin(verdict: Verdict) -> str:
    """Returns a sentence about the measures whose margin is 0 beside others with one; empty if there are none."""
    tests = [test for run in verdict.runs for test in run.tests]
    names = dict.fromkeys(test.paired.name for test in tests if not test.test.margin)
    if not names or not any(test.test.margin for test in tests):
        return ""
    return f"no margin was given for {', '.join(names)}: any loss counts (--margin {next(iter(names))}=NUMBER)"


def evidence(test: Test) -> str:
    """Returns the p of the hypothesis that decides the result of a test, with the name of the hypothesis."""
    hypothesis, p = test.evidence
    shown = f"{p:.3g}" if p == p else "undefined"
    return f"{shown} ({hypothesis}{', Holm' if hypothesis == 'regression' else ''})"


def brief(test: Test) -> str:
    """Returns the result of a test in one line."""
    paired, tested = test.paired, test.test
    moves = f"{paired.name} of {paired.set}: {number(tested.before)} to {number(tested.after)}, {change(test)}"
    return f"{moves}; margin {tested.margin:g}, p {evidence(test)}: {test.told}"


def lines(tests: Sequence[Test]) -> Iterator[str]:
    """Yields a line for each test, but one line for more than `MOST` tests of a measure with the same good result."""
    alike: dict[tuple[str, str, float, bool], list[Test]] = {}
    for test in tests:
        alike.setdefault((test.paired.name, test.told, test.test.margin, test.failed), []).append(test)
    for (name, told, margin, failed), group in alike.items():
        if failed or len(group) <= MOST:
            yield from map(brief, group)
            continue
        changes = [test.test.change.by.value for test in group if not isnan(test.test.change.by.value)]
        between = f", change {min(changes):+.4g} to {max(changes):+.4g}" if changes else ""
        p = evidence(min(group, key=lambda test: test.evidence[1]))
        yield f"{name} of {len(group):,} sets{between}; margin {margin:g}, smallest p {p}: {told}"


def reason(test: Test) -> str:
    """Returns the result of a test in a sentence that names the terms and items with the largest changes."""
    paired, text = test.paired, brief(test)
    for kind, rows in (("terms", test.ends(paired.terms, 5)), ("items", test.ends(paired.each(), 5))):
        if rows:
            text += f"; {kind} that moved most: " + ", ".join(
                f"{row.name} ({number(row.before)} to {number(row.after)})" for row in rows
            )
    return text


def junit(verdict: Verdict) -> bytes:
    """Returns the verdict as JUnit XML: a suite per run, a case per test, an error for each run not compared."""
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
                text = visible(reason(test))
                failure = Xml.SubElement(case, "failure", {"message": text, "type": test.found})
                failure.text = text
        if refused:
            case = Xml.SubElement(suite, "testcase", {"classname": name, "name": "comparable", "time": "0"})
            Xml.SubElement(case, "error", {"message": visible(run.refused), "type": "not-comparable"})
        if warnings := [*verdict.warnings, *run.warnings]:
            Xml.SubElement(suite, "system-err").text = "\n".join(visible(f"Warning: {one}") for one in warnings)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True))


def markdown(verdict: Verdict) -> str:
    """Returns the verdict for a pull request: a sentence, a table for each run, and the largest changes, folded."""
    sign = {0: "Passed", 1: "Failed", 2: "Not comparable"}[verdict.exit_code]
    lines = [f"## {sign}: {plain(verdict.sentence)}", ""]
    if text := legend(verdict):
        lines += [f"{text}.", ""]
    lines += [f"> **Warning.** {plain(text)}\n" for text in verdict.warnings]
    for run in verdict.runs:
        lines += [f"### {plain(run.label)} on {plain(run.data)}", ""]
        lines += [f"> **Not comparable.** {plain(run.refused)}", ""] if run.refused else []
        lines += _table(run) if run.tests else []
        lines += [f"> **Warning.** {plain(text)}\n" for text in run.warnings]
        failed = [test for test in run.tests if test.failed]
        if failed:
            lines += ["<details><summary>What moved most; may offend</summary>", ""]
            lines += [f"- {plain(reason(test))}" for test in failed]
            lines += ["", "</details>", ""]
        lines += [f"`{' '.join(visible(run.signature).replace('`', chr(39)).split())}`", ""] if run.signature else []
    return "\n".join(lines)


def _table(run: Checked) -> list[str]:
    """Returns the tests of a run as lines of a Markdown table."""
    head = ["measure", "set", "baseline", "run", "change [90 %]", "margin", "p (hypothesis)", "found"]
    rows = [
        [test.paired.name, test.paired.set, number(test.test.before), number(test.test.after), change(test),
         f"{test.test.margin:g}", evidence(test), f"**{test.told}**" if test.failed else test.told]
        for test in run.tests
    ]  # fmt: skip
    bars = [[*map(plain, row[:-1]), row[-1]] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *bars)] + [""]


def as_sarif(verdict: Verdict, against: Path | str) -> dict[str, Any]:
    """Returns the verdict in SARIF 2.1.0; findings point to the baseline; run and measure are logical locations."""
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
    """Returns a notification for each warning of the verdict or of a run."""
    of_runs = [f"{run.label} on {run.data}: {text}" for run in verdict.runs for text in run.warnings]
    return [{"level": "warning", "message": {"text": visible(text)}} for text in [*verdict.warnings, *of_runs]]


def _results(verdict: Verdict, against: Path) -> Iterator[dict[str, Any]]:
    """Yields a finding for each failed test, and for each run that was not compared."""
    uri = quote(against.as_posix()) if not against.is_absolute() else against.resolve().as_uri()
    for run in verdict.runs:
        findings = [
            (
                "regression" if test.found == "regression" else "not-shown",
                reason(test),
                f"{run.label}/{test.paired.name}/{test.paired.set}",
            )
            for test in run.tests
            if test.failed
        ]
        findings += [("not-comparable", run.refused, run.label)] if run.refused else []
        for rule, text, place in findings:
            yield {
                "ruleId": rule,
                "ruleIndex": list(RULES).index(rule),
                "level": "error",
                "message": {"text": visible(text)},
                "locations": [
                    {
                        "physicalLocation": {"artifactLocation": {"uri": uri}},
                        "logicalLocations": [{"name": visible(place), "kind": "object"}],
                    }
                ],
            }
