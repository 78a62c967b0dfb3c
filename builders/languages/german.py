"""German, the worked example of a language beside English: a lexicon with plurals, and a closed list of verbs."""

import re

from catsofa.builders.languages.text import clean
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds
from catsofa.data.records import Statement, Term

PLURAL = "PLURAL"
"""The column in which a German lexicon holds the plural of a noun: no rule makes it."""


def subject(term: Term, style: str = "plural") -> tuple[str, str] | str:
    """The plural subject of a term: `Frauen`, `Blinde Menschen`, `Menschen mit Asthma`; or why there is none."""
    people = wordlist("german.toml")["people"]
    if term.pos == "adj":
        return f"{_inflected(term.term).capitalize()} {people}", "adjective people"
    if term.pos == "pp":
        return f"{people} {term.term}", "people phrase"
    plural = term.term if term.pos == "pl" else term.extra.get(PLURAL, "")
    if term.pos not in ("n", "pl"):
        return "no_part_of_speech"
    return (plural, "noun") if plural else "no_plural"


def _inflected(adjective: str) -> str:
    """An adjective before a plural without an article: an -e, and no e before it in -el and -er (dunkle, teure)."""
    if adjective.endswith("e"):
        return adjective
    return re.sub(r"(?<=[^aeiou])e(?=l$)|(?<=[aeu])e(?=r$)", "", adjective) + "e"


def predicate(statement: Statement) -> tuple[str, str] | str:
    """The subject a statement had and its predicate in the third person plural, or the reason to refuse it.

    The case of its words stays, since German nouns have capitals; a singular is refused, not turned.
    """
    lists, text = wordlist("german.toml"), clean(statement.statement)
    quantifiers = "|".join(sorted(lists["quantifiers"], key=len, reverse=True))
    target = re.escape(statement.target.strip()) or "sie"
    found = re.match(rf"(?:(?:{quantifiers})\s+)?(?:{target})(?=\s)|sie(?=\s)", text, re.IGNORECASE)
    rest = text[found.end() :].strip() if found else text
    words = compounds(rest)
    if not words:
        return "empty"
    if fault := _verb_fault(words[0], rest[0].isupper()):
        return fault
    if set(words) & set(lists["person"]):
        return "first_or_second_person"
    if statement.target and statement.target.lower() in rest.lower():
        return "names_target"
    return (found[0] if found else ""), rest


def _verb_fault(word: str, is_capital: bool) -> str | None:
    """Why a word is no verb in the present plural, or None."""
    lists = wordlist("german.toml")
    if word in lists["present"]:
        return None
    if word in lists["past"] or word.endswith(("teten", "deten")):
        return "past_tense"
    if word in lists["singular"]:
        return "singular_verb"
    looks_plural = re.fullmatch(r"[a-zäöüß]{2,}(?:en|ern|eln)", word) is not None
    return None if looks_plural and not is_capital and word not in lists["no_verbs"] else "no_verb"
