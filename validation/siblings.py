"""Sibling terms: names of one group, which must stay on one side of a split (Ethiopia, Ethiopian)."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from catsofa.data.files import csv_files
from catsofa.data.language.wordlists import table
from catsofa.data.records import Cat, Identity, Pair, Probe, Term
from catsofa.validation.words import demonym_rows

_PLURALS = (("ies", "y"), ("men", "man"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"))


def term_of(record: Any) -> str:
    """The target term of a record, or nothing where it has none."""
    match record:
        case Cat():
            return record.target
        case Probe() | Identity():
            return record.identity
        case Term():
            return record.group or record.term
    return ""


def domain_of(record: Any) -> str:
    """The domain of a record, or nothing where it has none."""
    match record:
        case Cat() | Pair():
            return record.bias_type
        case Probe() | Identity() | Term():
            return record.category
    return ""


def group_of(term: str, siblings: Mapping[str, str] | None = None) -> str:
    """The sibling group of a term: the one given, else that of the package's word lists, else its own singular."""
    plain = " ".join(term.lower().split())
    if siblings and plain in siblings:
        return siblings[plain]
    return _known().get(plain) or singular(plain)


@cache
def _known() -> dict[str, str]:
    """The group of each of StereoSet's target terms, and of every name of a country and its people."""
    groups = {
        name.lower(): row["group"].lower()
        for row in table("terms.csv")
        for name in (row["term"], row["spelling"])
        if name
    }
    for place, *names in demonym_rows():
        for name in (place, *filter(None, names)):
            groups.setdefault(name.lower(), place.lower())
    return groups


def singular(term: str) -> str:
    """A term without the plural ending of its last word."""
    for ending, instead in _PLURALS:
        if term.endswith(ending):
            return term.removesuffix(ending) + instead
    return term[:-1] if term.endswith("s") and not term.endswith(("ss", "us", "is")) else term


def read(path: Path) -> dict[str, str]:
    """Sibling groups from a CSV with the columns term and group."""
    return {row["term"].lower(): row["group"] for _, row in csv_files.rows(path, ("term", "group"), "sibling groups")}


def groups_of(records: Iterable[Any], siblings: Mapping[str, str] | None = None) -> list[str]:
    """The sibling group of each record's target term; nothing where it has none."""
    lowered = {term.lower(): group for term, group in (siblings or {}).items()}
    return [group_of(term, lowered) if (term := term_of(record)) else "" for record in records]
