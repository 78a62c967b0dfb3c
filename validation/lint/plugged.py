"""Lint rules of other packages, registered under an entry point."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from catsofa.data import plugins
from catsofa.data.files import BadInput, short
from catsofa.data.plugins import Plugins, what
from catsofa.validation.lint.rule import NEEDS, SEVERITIES, Corpus, Found, Given, Rule

GROUP = "catsofa.lint_rules"
CODE = re.compile(r"L[1-9]\d{2,}")
"""The codes reserved for other packages: L100 and above."""


def load(codes: Collection[str]) -> Plugins:
    """All registered rules by code, checked; `codes` are the codes of catsofa's own rules."""
    registry = plugins.load(GROUP, "lint rule", dict.fromkeys(codes, "a rule"), _faults)
    in_order = sorted(registry.parts.items(), key=lambda part: int(part[0][1:]))
    return replace(registry, parts={code: _guarded(rule) for code, rule in in_order})


def _faults(code: str, plugin: Any) -> Iterator[str]:
    """The reasons why the object of an entry point is not a usable rule."""
    if not isinstance(plugin, Rule):
        yield f"found {short(plugin)}; expected an instance of catsofa.validation.lint.rule.Rule"
        return
    if not CODE.fullmatch(code):
        yield "its code must be L100 or above"
    if plugin.code != code:
        yield f"its `code` is {plugin.code!r}; expected {code!r}, the name of the entry point"
    if plugin.severity not in SEVERITIES:
        yield f"its `severity` is {plugin.severity!r}; expected one of {', '.join(SEVERITIES)}"
    if not callable(plugin.check):
        yield f"its `check` is {short(plugin.check)}; expected a function"
    if unknown := [name for name in (plugin.needs, *plugin.uses) if name and name not in NEEDS]:
        yield f"it needs {unknown[0]!r}; expected a field of Given: {', '.join(NEEDS)}"


def _guarded(rule: Rule) -> Rule:
    """The rule with a wrapped check, whose exceptions name the rule."""

    def check(corpus: Corpus, resources: Given) -> Iterator[Found]:
        try:
            yield from rule.check(corpus, resources)
        except (BadInput, MemoryError):
            raise
        except Exception as error:
            raise ValueError(f"the lint rule {rule.code} failed: {what(error)}; mend its package") from error

    return replace(rule, check=check)
