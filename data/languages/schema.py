"""What language.toml and rules.toml may hold: keys, types and functions; a value of another type is a BadInput."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from catsofa.data.files import BadInput, read_text, short

EXPECTED = "a table of a language (see docs/languages.md)"
FLAG, TEXT, TEXTS = "true or false", "a text in quotes", "a list of texts in quotes"
TABLE = "a section with keys of its own"
PATTERN, PATTERNS = "a regular expression of Python in quotes", "a list of regular expressions of Python in quotes"

LANGUAGE = {
    "code": TEXT,
    "name": TEXT,
    "status": TEXT,
    "checked_by": TEXT,
    "spaces": FLAG,
    "genders": TEXTS,
    "numbers": TEXTS,
    "cases": TEXTS,
    "definite": TEXT,
    "collation": TEXT,
    "checkers": TABLE,
    "subject": TABLE,
    "statements": TABLE,
    "meaning": TABLE,
    "facts": TABLE,
}
"""The keys of language.toml and their types."""
SECTIONS = {
    "checkers": {"hunspell": TEXT, "apertium": TEXT},
    "subject": {"noun": TEXT, "adjective": TEXT, "phrase": TEXT, "people": TEXT},
    "statements": {
        **dict.fromkeys(
            (
                "quantifiers",
                "determiners",
                "pronouns",
                "plural_marks",
                "person",
                "named",
                "openers",
                "copulas",
                "degrees",
                "conjunctions",
                "relatives",
                "closers",
                "partitives",
                "one",
                "singular_words",
                "infinitives",
                "copulas_before_adjectives",
                "nominal",
                "like",
                "before_nouns",
                "impersonal",
                "heads",
                "unmarked",
            ),
            TEXTS,
        ),
        **dict.fromkeys(
            (
                "asides",
                "other_subjects",
                "participles",
                "agreeing",
                "past_compound",
                "future_compound",
                "closing",
                "unchanging",
                "agents",
            ),
            PATTERN,
        ),
        **dict.fromkeys(("several", "several_before_adjectives"), TEXT),
        "capital_nouns": FLAG,
        "readings": TABLE,
        "short": TABLE,
    },
    "meaning": {
        **dict.fromkeys(("negations", "beside", "quantities", "pronouns", "prefixes"), TEXTS),
        **dict.fromkeys(("harm", "prescriptive"), PATTERNS),
        "denial": TEXT,
    },
}
"""The keys of the sections of language.toml and their types; [facts] and [statements.readings] have any keys."""
STATUSES = ("draft", "checked")
GENDERS = ("m", "f", "n")
NUMBERS = ("sg", "pl")
FUNCTIONS = ("feminine", "plural", "finite", "stem", "lemma", "reading", "join")
"""The functions with rules in rules.toml; beside them, `case …` for nouns in other cases."""
INFLECTED = ("feminine", "plural", "finite", "stem", "lemma", "agree")
"""The functions of exceptions.csv; beside them, `case …`."""
LISTS = ("unchanged", "prepositions", "adverbs")
"""The lists of rules.toml that the code reads; patterns may name others."""
PARTS = ("adjective", "verb", "noun", "thing")
"""The parts of speech of words.csv."""
TERM_PARTS = ("n", "pl", "adj", "pp")
"""The parts of speech of words for people."""
READINGS = (
    "plural",
    "singular",
    "past_tense",
    "future_or_conditional",
    "no_verb",
    "participle_only",
    "gerund_only",
    "leading_adverb",
    "first_or_second_person",
    "other_subject",
    "restricted_subject",
)
"""The readings of the first word of a statement; all but the first two are reasons of refusals."""


def check_language(path: Path, facts: Mapping[str, Any]) -> None:
    """Raises a BadInput for a value of language.toml that has another type than its key allows."""
    _check_types(path, facts, LANGUAGE, "")
    for section, kinds in SECTIONS.items():
        _check_types(path, facts.get(section, {}), kinds, f" in [{section}]")
    patterns, readings = facts.get("facts", {}), facts.get("statements", {}).get("readings", {})
    _check_types(path, patterns, dict.fromkeys(patterns, PATTERN), " in [facts]")
    _check_types(path, readings, dict.fromkeys(readings, TEXTS), " in [statements.readings]")


def _check_types(path: Path, table: Mapping[str, Any], kinds: Mapping[str, str], place: str) -> None:
    """Raises a BadInput for the first value of another type than its key allows."""
    for name, value in table.items():
        kind = kinds.get(name)
        if kind and not _fits(value, kind):
            raise BadInput(path, f"{name} = {short(value)}{place}", kind)
        for pattern in [value] if kind == PATTERN else value if kind == PATTERNS else ():
            try:
                re.compile(pattern)
            except re.error as error:
                problem = f"{name} = {short(pattern)}{place}, which cannot be read ({error})"
                raise BadInput(path, problem, PATTERN) from None


def _fits(value: object, kind: str) -> bool:
    """Returns whether a value has the type of a key."""
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == TABLE:
        return isinstance(value, dict)
    return isinstance(value, str) if kind in (TEXT, PATTERN) else _texts(value)


def _texts(value: object) -> bool:
    """Returns whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def check_tables(path: Path, tables: Mapping[str, Any], cases: Sequence[str]) -> None:
    """Raises a BadInput for a list, an article or an ending of rules.toml that has no form for each column."""
    columns = tables.get("columns", [])
    if not _texts(columns):
        raise BadInput(path, f"columns = {short(columns)}", TEXTS)
    for section in ("lists", "articles", "endings"):
        if not isinstance(tables.get(section, {}), dict):
            raise BadInput(path, f"{section} = {short(tables[section])}", TABLE)
    for name, words in tables.get("lists", {}).items():
        if not _texts(words):
            raise BadInput(path, f"{name} = {short(words)} in [lists]", TEXTS)
    endings = tables.get("endings", {})
    for name, table in tables.get("articles", {}).items():
        _check_forms(path, f"the article {name!r}", table, columns, cases or ("forms",))
        after = table.get("after", "none")
        if endings and after not in endings:
            raise BadInput(path, f"after = {short(after)} in the article {name!r}", f"one of {', '.join(endings)}")
    for name, table in endings.items():
        _check_forms(path, f"[endings.{name}]", table, columns, cases)
    if endings and "none" not in endings:
        raise BadInput(path, "no [endings.none]", "the endings of an adjective without a word before it")


def _check_forms(path: Path, place: str, table: Any, columns: Sequence[str], needed: Sequence[str]) -> None:
    """Raises a BadInput for a list of forms that is missing, or that has no form for each column."""
    if not isinstance(table, dict):
        raise BadInput(path, f"{short(table)} for {place}", TABLE)
    if missing := [name for name in needed if name not in table]:
        raise BadInput(path, f"no {missing[0]} in {place}", f"a list of forms for each of {', '.join(needed)}")
    for name, forms in table.items():
        if name != "after" and (not _texts(forms) or len(forms) != len(columns)):
            count = f"{len(forms)} forms" if _texts(forms) else short(forms)
            expected = f'{len(columns)} forms, one for each of the columns {", ".join(columns)} ("-" for no word)'
            raise BadInput(path, f"{count} in {name} of {place}", expected)


class Rule(NamedTuple):
    """A rule of a function: a pattern, and what replaces the part of a word that matches."""

    pattern: re.Pattern[str]
    put: str


def compile_rules(path: Path, tables: Mapping[str, Any], lists: Mapping[str, Sequence[str]]) -> dict[str, list[Rule]]:
    """The ordered rules of each function; `<name>` in a pattern matches any word of that list, the longest first."""
    words = {name: "|".join(map(re.escape, sorted(lists[name], key=len, reverse=True))) or "(?!)" for name in lists}
    rules: dict[str, list[Rule]] = {}
    for function, entries in tables.items():
        if function in FUNCTIONS and not isinstance(entries, list):
            raise BadInput(path, f"{function} = {short(entries)}", f"rules, each under [[{function}]]")
        if not isinstance(entries, list) or function == "columns":
            continue
        for place, entry in enumerate(entries):
            try:
                rules.setdefault(function, []).append(_rule(path, function, entry, words))
            except BadInput as error:
                raise BadInput(path, error.found, error.expected, line_of(path, function, place)) from None
    return rules


def _rule(path: Path, function: str, entry: Any, lists: Mapping[str, str]) -> Rule:
    """A rule of a function; raises a BadInput for a pattern or a replacement that Python cannot read."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("if", "put")):
        raise BadInput(path, f"the rule {short(entry)} of {function}", 'if = "pattern" and put = "form"')
    filled = LISTED.sub(lambda match: f"(?:{lists[match[1]]})" if match[1] in lists else match[0], entry["if"])
    try:
        pattern = re.compile(filled)
    except re.error as error:
        problem = f"the pattern {short(entry['if'])} of {function}, which cannot be read ({error})"
        advice = "a regular expression of Python, with a backslash before a sign that stands for itself"
        raise BadInput(path, problem, advice) from None
    try:
        if function != "reading":
            pattern.sub(entry["put"], "")
    except (re.error, IndexError) as error:
        problem = f"put = {short(entry['put'])} of {function}, which cannot be read ({error})"
        raise BadInput(path, problem, r"a form, in which \1 repeats the first group of `if`") from None
    return Rule(pattern, entry["put"])


LISTED = re.compile(r"(?<!\?P)<(\w+)>")
"""The name of a list in a pattern."""


def line_of(path: Path, function: str, place: int) -> int | None:
    """The line of a rule of a function in rules.toml, given its place among them; None if the table is inline."""
    header = re.compile(rf"""\s*\[\[\s*["']?{re.escape(function)}["']?\s*\]\]""")
    lines = enumerate(read_text(path, EXPECTED).splitlines(), start=1)
    found = [number for number, line in lines if header.match(line)]
    return found[place] if place < len(found) else None
