"""Lint: runs rules over a set of records, and reports which rules ran and which lacked a resource."""

__all__ = ["RULES", "lint", "rules"]

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from catsofa.data.files import atomic_write
from catsofa.data.plugins import Plugins
from catsofa.data.progress import SILENT, Progress
from catsofa.data.tables import Tabular
from catsofa.validation.lint import contrast, groups, models, people, plugged, structure, wording
from catsofa.validation.lint.rule import (
    NEEDS,
    SEVERITIES,
    WHOLE_SET,
    Finding,
    Given,
    NotApplied,
    Rule,
    Severity,
    applied,
)

_MODULES = (structure, wording, contrast, groups, people, models)
RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in sorted(chain.from_iterable(module.RULES for module in _MODULES), key=lambda rule: int(rule.code[1:]))
}
"""The rules of catsofa by code, L1 to L24. Add your own by code, or register them in a package."""


@cache
def plugins() -> Plugins:
    """The rules of other packages."""
    return plugged.load([rule.code for module in _MODULES for rule in module.RULES])


def rules() -> dict[str, Rule]:
    """All rules by code, those of other packages last."""
    return RULES | dict(plugins().parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Tabular):
    """The findings, worst first, and the rules that did not run."""

    findings: Sequence[Finding]
    ran: Sequence[str]
    missing: dict[str, str]
    """Rules that did not run, or ran only in part, with the missing resources."""
    not_applied: Sequence[NotApplied] = ()
    """Rules that do not support the language of some records."""

    offensive: ClassVar[bool] = True

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each finding."""
        return [asdict(finding) for finding in self.findings]

    def heading(self) -> str:
        """The number of findings and of rules."""
        return f"{len(self.findings):,} findings by {len(self.ran)} rules"

    def counts(self) -> Counter[str]:
        """The number of findings by rule."""
        return Counter(finding.rule for finding in self.findings)

    def items(self) -> Counter[str]:
        """The number of items with a finding, by rule; findings about the whole set do not count."""
        places = {(finding.rule, finding.item) for finding in self.findings if finding.item != WHOLE_SET}
        return Counter(rule for rule, _ in places)


def lint(
    records: Iterable[Any],
    resources: Given | None = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    progress: Progress = SILENT,
) -> Report:
    """Run the selected rules (by default all), except those whose required resource is not given."""
    resources, records = resources or Given(), list(records)
    findings: list[Finding] = []
    ran: list[str] = []
    not_applied: list[NotApplied] = []
    missing: dict[str, str] = {}
    for rule in progress.each(chosen(select, ignore)):
        wanting = [NEEDS[name] for name in (rule.needs, *rule.uses) if name and not getattr(resources, name)]
        if wanting:
            missing[rule.code] = ", ".join(wanting)
        if rule.needs and not getattr(resources, rule.needs):
            continue
        corpus, withheld = applied(rule, records, resources)
        not_applied += withheld
        if records and not corpus.records:
            continue
        ran.append(rule.code)
        for hit in rule.check(corpus, resources):
            labels = {"rule": rule.code, "severity": hit.severity or rule.severity}
            findings.append(Finding(**asdict(hit) | labels))
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Report(findings=findings, ran=ran, missing=missing, not_applied=not_applied)


def chosen(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Rule]:
    """The rules with these codes, or all, without the ignored ones; an unknown code is an error."""
    select, ignore, every = [code.upper() for code in select], [code.upper() for code in ignore], rules()
    if unknown := [code for code in (*select, *ignore) if code not in every]:
        why = [plugins().broken[code] for code in unknown if code in plugins().broken]
        raise ValueError("; ".join(why) or f"no rule {', '.join(unknown)}; the rules are {', '.join(every)}")
    return [rule for code, rule in every.items() if (not select or code in select) and code not in ignore]


def as_json(report: Report) -> dict[str, Any]:
    """The findings without empty fields, the rules that ran, missing resources, and unsupported languages by rule."""
    entries = [{name: value for name, value in asdict(finding).items() if value} for finding in report.findings]
    rest = {"not_applied": list(map(asdict, report.not_applied))} if report.not_applied else {}
    return {"findings": entries, "ran": list(report.ran), "missing": report.missing, **rest}


def write_sarif(report: Report, file: str, path: Path) -> None:
    """Write the findings about `file` to `path` as SARIF."""
    with atomic_write(path) as out:
        out.write(json.dumps(as_sarif(report, file), ensure_ascii=False, indent=1).encode())


_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def as_sarif(report: Report, file: str) -> dict[str, Any]:
    """The findings in SARIF 2.1.0, which code hosts show beside a file; an item is a logical location."""
    described = [
        {
            "id": rule.code,
            "shortDescription": {"text": rule.about},
            "help": {"text": f"Example: {rule.example}"},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
        for rule in rules().values()
    ]
    places = {code: place for place, code in enumerate(rules())}
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": places[finding.rule],
            "level": _LEVELS[finding.severity],
            "message": {"text": f"{finding.message}: {finding.text}" if finding.text else finding.message},
            "locations": [
                {
                    "physicalLocation": {"artifactLocation": {"uri": file}},
                    "logicalLocations": [{"name": finding.place, "kind": "object"}],
                }
            ],
        }
        for finding in report.findings
    ]
    driver = {"name": "catsofa validate lint", "version": version("catsofa"), "rules": described}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }
