"""Languages of identities and statements: English, and what others plug in.

A language is a module of `catsofa.builders` with two functions: `subject`, a term's plural subject, and `predicate`,
what is left of a statement without its subject. German is the worked example; add yours to LANGUAGES.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from catsofa.data.records import Statement, Term

LANGUAGES = {"en": "identities", "de": "languages.german"}
"""Language code to the module that holds its rules."""

SubjectRule = Callable[[Term, str], tuple[str, str] | str]
"""The plural subject of a term in a style and how it is made, or the reason why there is none."""

PredicateRule = Callable[[Statement], tuple[str, str] | str]
"""The subject a statement had and its predicate, or the reason why it has none to use."""


def subject_rule(language: str) -> SubjectRule:
    """How a language makes plural subjects."""
    rule: SubjectRule = _module(language).subject
    return rule


def predicate_rule(language: str) -> PredicateRule:
    """How a language other than English, which needs a parser, takes predicates from statements."""
    rule: PredicateRule = _module(language).predicate
    return rule


def _module(language: str) -> ModuleType:
    """The module of a language's rules."""
    if language not in LANGUAGES:
        raise ValueError(
            f"no rules for language {language!r}; there are {', '.join(LANGUAGES)} (see builders/languages/__init__.py)"
        )
    return import_module(f"catsofa.builders.{LANGUAGES[language]}")
