"""What a lint rule is: a function from a set of records to findings, with its code, severity and an example."""

__all__ = ["WHOLE_SET", "Corpus", "Finding", "Found", "Given", "Rule"]

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Cat, Pair, Probe, Question, Stereotype

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def at_least(severity: str) -> tuple[Severity, ...]:
    """This severity and the worse ones."""
    for place, known in enumerate(SEVERITIES):
        if known == severity:
            return SEVERITIES[: place + 1]
    raise ValueError(f"no severity {severity!r}; there are {', '.join(SEVERITIES)}")


WHOLE_SET = "*"
"""The item of a finding that is about the set, not one of its records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a rule found in one item; `fix` is the text as it should be, only where that is safe."""

    item: str
    message: str
    text: str = ""
    fix: str = ""
    severity: Severity | None = None
    """Where it differs from the rule's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found, by which rule, and how bad it is."""

    rule: str
    severity: Severity
    item: str
    message: str
    text: str = ""
    fix: str = ""

    @property
    def place(self) -> str:
        """The item, or the set, for people."""
        return "the set" if self.item == WHOLE_SET else self.item


class Word(Protocol):
    """A word of a parsed text, as spaCy has it."""

    @property
    def idx(self) -> int:
        """Where it begins in the text."""

    @property
    def pos_(self) -> str:
        """Its part of speech (NOUN, ADJ, VERB, …)."""


class Parser(Protocol):
    """A spaCy pipeline, or what reads like one."""

    def pipe(self, texts: Iterable[str]) -> Iterable[Iterable[Word]]:
        """The words of each text."""


class Encoder(Protocol):
    """A sentence encoder."""

    def encode(self, texts: Sequence[str], /) -> NDArray[np.floating[Any]]:
        """One vector a text."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a rule may need beside the records; a rule whose need is missing does not run, and is named."""

    parser: Parser | None = None
    frequency: Callable[[str], float] | None = None
    """The Zipf frequency of a word: log10 of its occurrences in a billion words, 0 for an unknown one."""
    likelihood: Callable[[Sequence[str]], Sequence[float]] | None = None
    """The mean log-probability per token of each text."""
    sentiment: Callable[[Sequence[str]], Sequence[bool]] | None = None
    """Whether each text is positive, or at least not negative."""
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
        """The predicates that are to become probes."""
        return [record for record in self.records if isinstance(record, Stereotype)]


Check = Callable[[Corpus, Given], Iterator[Found]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: what it looks for, how bad that is, a mild example, and what it needs to run."""

    code: str
    severity: Severity
    about: str
    example: str
    check: Check
    needs: str = ""
    """The field of `Given` without which the rule cannot run."""
    uses: tuple[str, ...] = ()
    """The fields of `Given` with which it sees more."""


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
"""What each field of `Given` is, for people."""
assert NEEDS.keys() == {f.name for f in fields(Given)}
