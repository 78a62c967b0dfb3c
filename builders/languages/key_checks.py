"""Checks of the keys of a language's files: keys, lists and functions that the code does not read; unknown values."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from catsofa.builders.languages.faults import Fault
from catsofa.data.languages import Language, codes, find
from catsofa.data.languages import schema as known
from catsofa.data.languages.nouns import FORM

FACTS, RULES = "language.toml", "rules.toml"


def key_faults(language: Language) -> Iterator[Fault]:
    """Yields the faults of the keys of language.toml and rules.toml."""
    yield from _unknown_keys(language)
    yield from _unknown_values(language)
    yield from _code(language)
    yield from _tables(language)
    yield from _rules(language)


def one_of(allowed: Collection[str]) -> str:
    """Returns the advice to write one of these words."""
    return f"write one of {', '.join(allowed)}"


def cases_of(language: Language) -> set[str]:
    """Returns the functions for nouns in other cases than the first."""
    kinds = {"", *(noun.kind for noun in language.nouns)}
    cells = {f"{gender} sg" for gender in language.genders} | ({"pl"} if "pl" in language.numbers else set())
    return {
        " ".join(filter(None, ("case", kind, cell, case)))
        for kind in kinds
        for cell in cells or {""}
        for case in language.cases[1:]
    }


def _unknown_keys(language: Language) -> Iterator[Fault]:
    """Yields the keys of language.toml that the code does not read, and missing sections and keys."""
    for name in sorted(language.facts.keys() - known.LANGUAGE.keys()):
        yield Fault(FACTS, f"the key {name!r}", one_of(known.LANGUAGE))
    for section, keys in known.SECTIONS.items():
        for name in sorted(language.facts.get(section, {}).keys() - keys.keys()):
            yield Fault(FACTS, f"the key {name!r} in [{section}]", one_of(keys))
    for section in ("subject", "statements"):
        if section not in language.facts:
            yield Fault(FACTS, f"no [{section}]", "add it as docs/languages.md shows")
    needed = {"subject": tuple(known.SECTIONS["subject"]), "statements": ("copulas",) if language.numbers else ()}
    for section, names in needed.items():
        for name in names:
            if name not in language.facts.get(section, {name: ""}):
                yield Fault(FACTS, f"no {name} in [{section}]", "add it as docs/languages.md shows")


def _unknown_values(language: Language) -> Iterator[Fault]:
    """Yields the values of language.toml that mean nothing."""
    for name, values, allowed in (
        ("status", [language.facts["status"]], known.STATUSES),
        ("genders", language.genders, known.GENDERS),
        ("numbers", language.numbers, known.NUMBERS),
    ):
        for value in values:
            if value not in allowed:
                yield Fault(FACTS, f"{value!r} in {name}", one_of(allowed))
    if language.facts["status"] == "checked" and not language.facts.get("checked_by"):
        yield Fault(FACTS, "status = 'checked' without checked_by", "name the native speakers, or write draft")
    definite = language.facts.get("definite", "")
    if definite and definite != "cl" and definite not in language.tables.get("articles", {}):
        advice = f"name a word of [articles] in {RULES}, or cl for the classifier"
        yield Fault(FACTS, f"definite = {definite!r}", advice)
    for name in language.facts.get("statements", {}).get("readings", {}):
        if name not in known.READINGS:
            yield Fault(FACTS, f"the key {name!r} in [statements.readings]", one_of(known.READINGS))


def _code(language: Language) -> Iterator[Fault]:
    """Yields a code that is no code of a language, or that another language has; a copy of a language has its name."""
    if not re.fullmatch("[a-z]{2,3}", language.code):
        advice = "write the code of ISO 639: two or three small letters"
        yield Fault(FACTS, f"code = {language.code!r}", advice)
    elif (place := codes().get(language.code)) and Path(place).resolve() != language.folder.resolve():
        name = find(language.code).name
        if name != language.name:
            what = f"code = {language.code!r} with the name {language.name!r}, but it is the code of {name}"
            yield Fault(FACTS, what, "write the code of this language")


def _tables(language: Language) -> Iterator[Fault]:
    """Yields the faults of the columns, lists, articles and endings of rules.toml."""
    tables = language.tables
    for name in tables.get("columns", ()):
        if not FORM.fullmatch(name):
            yield Fault(RULES, f"the column {name!r}", "write a gender, a number or both, such as m_sg")
    named = {name for _, _, rule in _written(language) for name in known.LISTED.findall(rule["if"])}
    for name in tables.get("lists", {}).keys() - named - {*known.LISTS}:
        advice = f"write <{name}> in a pattern, or {one_of(known.LISTS)}"
        yield Fault(RULES, f"the list {name!r}, which no pattern names", advice)
    forms = language.cases or ("forms",)
    for section, keys in (("articles", ("after", *forms)), ("endings", forms)):
        for word, table in tables.get(section, {}).items():
            for name in table.keys() - {*keys}:
                yield Fault(RULES, f"the key {name!r} of {word!r} in [{section}]", one_of(keys))


def _written(language: Language) -> Iterator[tuple[str, int, dict[str, str]]]:
    """Yields each rule with its function and its place among them."""
    for function in language.rules:
        for place, rule in enumerate(language.tables[function]):
            yield function, place, rule


def _rules(language: Language) -> Iterator[Fault]:
    """Yields the functions that do not exist, and the rules with an unknown list, key or reading."""
    cases = sorted(cases_of(language))
    tables = ("columns", "lists", "articles", "endings", *known.FUNCTIONS, *cases)
    for name in language.tables:
        if name not in tables:
            yield Fault(_line(language, name, 0), f"the function or table {name!r}", one_of(tables))
    for function, place, rule in _written(language):
        where = _line(language, function, place)
        for name in known.LISTED.findall(rule["if"]):
            if name not in language.lists:
                advice = f"name a list of [lists]: {', '.join(language.lists)}"
                yield Fault(where, f"<{name}> in the pattern {rule['if']!r} of {function}", advice)
        for key in rule.keys() - {"if", "put"}:
            yield Fault(where, f"the key {key!r} in a rule of {function}", "write if and put")
        if function == "reading" and rule["put"] not in known.READINGS:
            yield Fault(where, f"the reading {rule['put']!r}", one_of(known.READINGS))


def _line(language: Language, function: str, place: int) -> str:
    """Returns the place of a rule in rules.toml, with its line if it has one."""
    line = known.line_of(language.folder / RULES, function, place)
    return f"{RULES}:{line}" if line else RULES
