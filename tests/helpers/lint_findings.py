"""Findings of one lint rule on some records."""

from typing import Any

from catsofa.validation.lint import lint
from catsofa.validation.lint.rule import Finding, Given


def found(rule: str, *records: Any, **given: Any) -> list[Finding]:
    """Returns the findings of one rule."""
    return list(lint(records, Given(**given), select=[rule]).findings)


def messages(rule: str, *records: Any, **given: Any) -> list[str]:
    """Returns the messages of one rule."""
    return [finding.message for finding in found(rule, *records, **given)]


def fixes(rule: str, *records: Any) -> list[str]:
    """Returns the replacements that one rule suggests."""
    return [finding.fix for finding in found(rule, *records)]
