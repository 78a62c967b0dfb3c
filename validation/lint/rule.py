"""The definition of a lint rule: a function from records to findings, with code, severity and example."""

__all__ = ["WHOLE_SET", "Corpus", "Finding", "Found", "Given", "NotApplied", "Rule"]

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from catsofa.data.languages.texts import ENGLISH, known, language_of, spaced
from catsofa.data.percentages import quantity
from catsofa.data.records import Cat, Pair, Probe, Question, Stereotype

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def at_least(severity: str) -> tuple[Severity, ...]:
    """This severity and all worse ones."""
    for place, one in enumerate(SEVERITIES):
        if one == severity:
            return SEVERITIES[: place + 1]
    raise ValueError(f"no severity {severity!r}; there are {', '.join(SEVERITIES)}")


WHOLE_SET = "*"
"""The item of a finding about the whole set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A rule's finding in one item; `fix` is the corrected text, only if the correction is safe."""

    item: str
    message: str
    text: str = ""
    fix: str = ""
    severity: Severity | None = None
    """The severity, if it differs from the rule's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding with its rule and severity."""

    rule: str
    severity: Severity
    item: str
    message: str
    text: str = ""
    fix: str = ""

    @property
    def place(self) -> str:
        """The item or "the set", as text for users."""
        return "the set" if self.item == WHOLE_SET else self.item


class Word(Protocol):
    """A word of a parsed text, with spaCy's attributes."""

    @property
    def idx(self) -> int:
        """The word's start position in the text."""

    @property
    def pos_(self) -> str:
        """The word's part of speech (NOUN, ADJ, VERB, …)."""


class Parser(Protocol):
    """A spaCy pipeline, or an object with the same interface."""

    def pipe(self, texts: Iterable[str]) -> Iterable[Iterable[Word]]:
        """The words of each text."""


class Encoder(Protocol):
    """A sentence encoder."""

    def encode(self, texts: Sequence[str], /) -> NDArray[np.floating[Any]]:
        """One vector per text."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """The resources that rules may need; a rule without its required resource does not run, and is reported."""

    parser: Parser | None = None
    frequency: Callable[[str], float] | None = None
    """The Zipf frequency of a word: log10 of its occurrences in a billion words, 0 for an unknown one."""
    frequency_language: str = ENGLISH
    """The language of the frequencies."""
    likelihood: Callable[[Sequence[str]], Sequence[float]] | None = None
    """The mean log-probability per token of each text."""
    sentiment: Callable[[Sequence[str]], Sequence[bool]] | None = None
    """Returns whether each text is positive, or at least not negative."""
    encoder: Encoder | None = None
    names: frozenset[str] = frozenset()
    """Given names, in lower case."""
    offensive: frozenset[str] = frozenset()
    """Offensive words, in lower case."""
    against: Sequence[Any] = ()
    """The records of another split."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The records of a set, by kind."""

    records: Sequence[Any]

    @cached_property
    def cats(self) -> list[Cat]:
        """The CATs."""
        return [record for record in self.records if isinstance(record, Cat)]

    @cached_property
    def intrasentence(self) -> list[Cat]:
        """The CATs with a BLANK to fill."""
        return [cat for cat in self.cats if cat.kind == "intrasentence"]

    @cached_property
    def pairs(self) -> list[Pair]:
        """The minimal pairs."""
        return [record for record in self.records if isinstance(record, Pair)]

    @cached_property
    def probes(self) -> list[Probe]:
        """The probes."""
        return [record for record in self.records if isinstance(record, Probe)]

    @cached_property
    def questions(self) -> list[Question]:
        """The questions of the BBQ family."""
        return [record for record in self.records if isinstance(record, Question)]

    @cached_property
    def stereotypes(self) -> list[Stereotype]:
        """The predicates that become probes."""
        return [record for record in self.records if isinstance(record, Stereotype)]


Check = Callable[[Corpus, Given], Iterator[Found]]
Ask = Literal["nothing", "English", "words", "folder", "facts", "tables", "frequency"]
"""The requirement of a rule on a language: English, spaces (words), a folder, its [facts], folder and spaces (tables),
or frequencies."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: its subject, severity, a mild example, and the resources it needs."""

    code: str
    severity: Severity
    about: str
    example: str
    check: Check
    needs: str = ""
    """The field of `Given` that the rule requires."""
    uses: tuple[str, ...] = ()
    """The optional fields of `Given` with which the rule finds more."""
    reads: tuple[type[Any], ...] = (Cat, Pair, Probe, Question, Stereotype)
    """The record types that the rule reads."""
    asks: Ask = "nothing"
    """The requirement of the rule on a record's language; other records are counted, but not checked."""
    english: str = ""
    """The part of the rule that supports only English, if the rest supports other languages."""

    def withheld(self, code: str, resources: Given) -> str:
        """The reason why the rule does not support a language; empty if it does."""
        match self.asks:
            case "English" if code != ENGLISH:
                return "it reads English"
            case "words" | "tables" | "frequency" if not spaced(code):
                return "it compares words, and no spaces are written"
            case "tables" | "folder" if known(code) is None:
                return "no folder of the language"
            case "facts" if not ((language := known(code)) and "facts" in language.facts):
                return "no [facts] in a folder of the language"
            case "frequency" if code != resources.frequency_language:
                return f"the frequencies are of {resources.frequency_language!r}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplied:
    """A rule, or part of a rule, that does not support the language of some records."""

    rule: str
    language: str
    records: int
    why: str
    partly: bool = False
    """True if the rest of the rule was applied."""

    def __str__(self) -> str:
        """One line of text for users."""
        how = "applied in part to" if self.partly else "not applied to"
        return f"{self.rule} was {how} {quantity(self.records, 'record')} in {self.language!r}: {self.why}"


def applied(rule: Rule, records: Sequence[Any], resources: Given) -> tuple[Corpus, list[NotApplied]]:
    """The records for a rule, and the languages that the rule or a part of it does not support."""
    languages = Counter(language_of(record) for record in records if isinstance(record, rule.reads))
    why = {code: rule.withheld(code, resources) for code in languages}
    of_words = {code: replace(rule, asks="frequency").withheld(code, resources) for code in languages}
    out = [
        NotApplied(rule=rule.code, language=code, records=languages[code], why=reason)
        for code, reason in why.items()
        if reason
    ]
    if rule.english:
        out += [
            NotApplied(rule=rule.code, language=code, records=count, why=f"{rule.english} read English", partly=True)
            for code, count in languages.items()
            if code != ENGLISH and not why[code]
        ]
    if "frequency" in rule.uses and resources.frequency:
        out += [
            NotApplied(
                rule=rule.code, language=code, records=languages[code], why=f"no spelling: {reason}", partly=True
            )
            for code, reason in of_words.items()
            if reason
        ]
    if not any(why.values()):
        return Corpus(records=records), out
    return Corpus(records=[record for record in records if not why.get(language_of(record))]), out


NEEDS = {
    "parser": "a spaCy pipeline (--spacy-model)",
    "frequency": "word frequencies (--corpus)",
    "likelihood": "a language model (--model)",
    "sentiment": "a sentiment classifier (--sentiment-model)",
    "encoder": "a sentence encoder (--encoder)",
    "names": "a list of given names (--names)",
    "offensive": "a list of offensive words (--offensive)",
    "against": "the other split (--against)",
}
"""A description of each field of `Given` for users."""
assert NEEDS.keys() == {f.name for f in fields(Given)} - {"frequency_language"}
