"""Sibling terms: names of the same group, which must stay on one side of a split (Ethiopia, Ethiopian)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from catsofa.data.files import csv_files
from catsofa.data.language.demonyms import sibling_groups
from catsofa.data.language.inflection import regular_singular
from catsofa.data.languages.texts import ENGLISH, language_of, names_of
from catsofa.data.records import Cat, Identity, Pair, Probe, Question, Term


def term_of(record: Any) -> str:
    """The target term of a record, or empty."""
    match record:
        case Cat() | Question():
            return record.target
        case Probe() | Identity():
            return record.identity
        case Term():
            return record.group or record.term
    return ""


def domain_of(record: Any) -> str:
    """The domain of a record, or empty."""
    match record:
        case Cat() | Pair():
            return record.bias_type
        case Probe() | Identity() | Term() | Question():
            return record.category
    return ""


def group_of(term: str, siblings: Mapping[str, str] | None = None, language: str = ENGLISH) -> str:
    """The sibling group of a term: the given one, or else that of the bundled word lists, or else its singular.

    In another language: the alphabetically first written form of the noun, or else the term itself.
    """
    plain = " ".join(term.lower().split())
    if siblings and plain in siblings:
        return siblings[plain]
    if language != ENGLISH:
        return min(names_of(plain, language))
    return sibling_groups().get(plain) or regular_singular(plain)


def read(path: Path) -> dict[str, str]:
    """Sibling groups from a CSV with the columns term and group."""
    return {row["term"].lower(): row["group"] for _, row in csv_files.rows(path, ("term", "group"), "sibling groups")}


def groups_of(records: Iterable[Any], siblings: Mapping[str, str] | None = None) -> list[str]:
    """The sibling group of each record's target term; empty for a record without one."""
    lowered = {term.lower(): group for term, group in (siblings or {}).items()}
    return [group_of(term, lowered, language_of(record)) if (term := term_of(record)) else "" for record in records]
