"""Singular and plural of verbs and nouns.

Three rules for nouns: dictionary forms (`plural_noun`, `singular_noun`); regular endings, which must not change between
versions (`regular_plural`, `regular_singular`); and all possible singulars of a form (`singulars`), to find a term in a
text.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words

BEHIND = re.compile(r"( (?:of|in|with|without|from) )")
"""Prepositions that follow the head of a noun phrase."""
_REGULAR = (("ies", "y"), ("men", "man"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"))
_IRREGULAR = {"people": "person", "children": "child", "wives": "wife"}


@cache
def plural_verb(word: str) -> str:
    """The plural of a third person singular verb form (`tries`, `isn't` -> `try`, `aren't`).

    Call this only for such a form: `focus` and `pass` look like one but are not.
    """
    verb, negation = (word[:-3], "n't") if word.lower().endswith("n't") else (word, "")
    irregular = wordlist("agreement.toml")["verbs"]
    plural = irregular.get(verb.lower()) or (verb if negation else engine().plural_verb(verb.lower()))
    return _cased_like(verb, plural) + negation


@cache
def third_person(verb: str) -> str:
    """The third person singular of a bare verb (`try` -> `tries`)."""
    from lemminflect import getInflection

    exceptions = {"be": "is", "have": "has", "do": "does"}
    forms = getInflection(verb.lower(), tag="VBZ")
    return exceptions.get(verb.lower()) or (str(forms[0]) if forms else verb + "s")


@cache
def plural_noun(phrase: str) -> str:
    """The plural of a singular noun or noun phrase, in the same case (`woman of colour` -> `women of colour`).

    The plural is inflect's, unless lemminflect's dictionary lists other plurals of the word (thieves).
    """
    head, *behind = BEHIND.split(phrase, maxsplit=1)
    before, space, noun = head.rpartition(" ")
    # in lower case, since inflect treats a capitalised word in -y as a name (Christianitys)
    word = noun.lower()
    plural = wordlist("identities.toml")["plurals"].get(word) or _plural_of_word(word)
    form = noun + "s" if noun.isupper() and plural == word + "s" else _cased_like(noun, plural)
    return before + space + form + "".join(behind)


def _plural_of_word(word: str) -> str:
    """inflect's plural, or the dictionary's if the dictionary lists others."""
    from lemminflect import getAllInflections

    plural: str = engine().plural_noun(word)
    if plural.endswith("ss") and plural == word + "s":  # the word is already plural (boils)
        return word
    listed = [form for form in getAllInflections(word, upos="NOUN").get("NNS", ()) if form != word]
    return listed[0] if listed and plural not in listed else plural


@cache
def singular_noun(word: str) -> str | None:
    """The singular of a plural noun, or None if the noun is not plural (by the dictionary: `crocus` is not)."""
    from lemminflect import getAllLemmas

    if word.lower() in (*getAllLemmas(word.lower(), upos="NOUN").get("NOUN", ()), *newer_nouns().values()):
        return None
    if newer := newer_nouns().get(word.lower()):
        return _cased_like(word, newer)
    singular = engine().singular_noun(word.lower())
    # inflect returns some singulars unchanged (mother-in-law)
    return _cased_like(word, singular) if singular and singular != word.lower() else None


@cache
def newer_nouns() -> dict[str, str]:
    """The plurals of nouns that the inflection dictionary lacks, each with its singular."""
    lists = wordlist("newer_words.toml")
    return {regular_plural(noun): noun for noun in (*lists["things"], *lists["people"])}


def regular_plural(term: str) -> str:
    """The plural of a term by the ending of its last word; also gives the third person of a verb."""
    if re.search(r"[^aeiou]y$", term):
        return f"{term[:-1]}ies"
    return f"{term}es" if re.search(r"(s|x|z|ch|sh)$", term) else f"{term}s"


def regular_singular(term: str) -> str:
    """A term without the plural ending of its last word."""
    for ending, instead in _REGULAR:
        if term.endswith(ending):
            return term.removesuffix(ending) + instead
    return term[:-1] if term.endswith("s") and not term.endswith(("ss", "us", "is")) else term


@lru_cache(maxsize=100_000)
def singulars(word: str) -> frozenset[str]:
    """The word and all words whose plural or possessive it may be: `nurses` is nurse or nurs, `baker's` is baker."""
    plain = word.removesuffix("'s").removesuffix("'")
    forms = {plain, _IRREGULAR.get(plain, plain)}
    if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss"):
        forms.add(plain[:-1])
        if plain.endswith("es"):
            forms.add(plain[:-2])
        if plain.endswith("ies"):
            forms.add(plain[:-3] + "y")
    if plain.endswith("men"):
        forms.add(plain[:-3] + "man")
    return frozenset(forms)


def mentions(text: str, term: str, split: Callable[[str], Sequence[str]] = words) -> bool:
    """Returns whether a text contains the words of a term consecutively, in singular, plural or possessive."""
    wanted, text_forms = [singulars(word) for word in split(term)], [singulars(word) for word in split(text)]
    return any(
        all(a & b for a, b in zip(wanted, text_forms[start:], strict=False))
        for start in range(len(text_forms) - len(wanted) + 1)
    ) and bool(wanted)


def _cased_like(model: str, word: str) -> str:
    """`word` in the case of `model`: all capitals, capital first letter, or unchanged."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if model[:1].isupper() else word


@cache
def engine() -> Any:
    """The shared inflect engine, without type checks of arguments, because compiling them takes three seconds."""
    library: Any = import_module("typeguard")
    checked, library.typechecked = library.typechecked, lambda unchanged: unchanged
    try:
        import inflect
    finally:
        library.typechecked = checked
    return inflect.engine()
