"""What one rule of lint finds in some records."""

from typing import Any

from catsofa.validation.lint import lint
from catsofa.validation.lint.rule import Finding, Given


def found(rule: str, *records: Any, **given: Any) -> list[Finding]:
    """What one rule finds."""
    return list(lint(records, Given(**given), select=[rule]).findings)


def messages(rule: str, *records: Any, **given: Any) -> list[str]:
    """What one rule says."""
    return [finding.message for finding in found(rule, *records, **given)]


def fixes(rule: str, *records: Any) -> list[str]:
    """What one rule would put instead."""
    return [finding.fix for finding in found(rule, *records)]
