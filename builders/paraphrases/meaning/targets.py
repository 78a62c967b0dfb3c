"""Finds how a paraphrase names the target: the same person by another name, a wider name, or another person."""

import re
from functools import cache
from typing import Literal, NamedTuple

from catsofa.builders.dictionary import other_parts
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import mentions, singulars
from catsofa.data.language.wordlists import table, wordlist
from catsofa.data.language.words import compounds

_LONGEST = 6
"""Number of words in the longest name of the lists."""
_ENDING = re.compile(r"(?:er|or|ist|ian|man|woman|ing|ant|ent|ician|e)s?$")


class Named(NamedTuple):
    """The rule that finds the target in a paraphrase, and the word that it finds."""

    rule: str
    word: str


def names_target(sentence: str, target: str, policy: Literal["verbatim", "derived"]) -> bool:
    """Returns True if the sentence has the target, in singular or plural; `derived` also accepts Ghana for Ghanaian."""
    forms = [target] if policy == "verbatim" else [target, *related(target)]
    return any(mentions(sentence, form, compounds) for form in forms)


@cache
def related(target: str) -> tuple[str, ...]:
    """Returns all names of the places, their peoples and the faiths that the target mentions: Ghana, Ghanaian."""
    families = [*(row.names for row in nations()), *wordlist("paraphrase_words.toml")["related"]]
    return tuple(
        name for family in families if any(mentions(target, form, compounds) for form in family) for name in family
    )


def same_person(sentence: str, target: str) -> Named | None:
    """Returns the first rule that finds the target under another name, with the word that it finds.

    The rules, in this order:

    - `pronoun`: he for himself; no other rule applies to a reflexive or personal pronoun
    - `synonym`: a word from catsofa's lists or from WordNet
    - `spelling`: a different spelling
    - `stem`: a word with the target's stem, beside a word for a person
    - `hyponym`: a narrower word in WordNet, constable for policeman
    """
    runs, plain = phrases(sentence), " ".join(compounds(target))
    if pronouns := wordlist("targets.toml")["reflexives"].get(plain):
        return _first("pronoun", runs & set(pronouns))
    return (
        _first("synonym", runs & _synonyms(plain))
        or _first("spelling", {word for word in runs if _spelt_alike(word, plain)})
        or _first("stem", _of_the_stem(runs, plain))
        or _first("hyponym", {word for word in runs - _anyone() if _above(word, 2) & _senses(plain)})
    )


def wider(sentence: str, target: str) -> Named | None:
    """Returns the hypernym by which a sentence names the target, from WordNet or a list: scientist for physicist."""
    plain = " ".join(compounds(target))
    rows, listed = _above(plain, 3), wordlist("targets.toml")["wider"]
    names = {name for name, narrower in listed.items() if any(mentions(plain, one) for one in narrower)}
    words = {word for word in phrases(sentence) - _anyone() if word in names or _senses(word) & rows}
    return _first("hypernym", words)


def of_a_place(sentence: str, target: str) -> Named | None:
    """Returns a name behind `from`, `of` or `to` that begins like a group's name that no list has: Tavon for Tavoni."""
    if not target[:1].isupper() or related(target):
        return None
    stem = target[: max(4, len(target) - 4)]
    names = re.findall(r"\b(?:from|of|to) ([A-Z]\w{3,})", sentence)
    return _first("place", {name for name in names if name.startswith(stem) and len(name) <= len(stem) + 3})


def another_person(sentence: str, context: str, target: str) -> Named | None:
    """Returns a word for another kind of person that only the paraphrase has; "girl" may mean the target schoolgirl."""
    lists = wordlist("targets.toml")
    allowed = phrases(context) | {*lists["anyone"], *lists["beside"]}
    words = (word for word in phrases(sentence) if not allowed & {word, *singulars(word)})
    new = {word for word in words if not any(target.lower().endswith(one) for one in singulars(word))}
    family = {name for row in lists["names"]["gender"] for name in row}
    if own := lists["reflexives"].get(target.lower()):
        family |= {pronoun for row in lists["reflexives"].values() for pronoun in row} - {*own}
    return _first("another", {word for word in new if word in family or (_senses(word) and _only_a_noun(word))})


def is_known(target: str) -> bool:
    """Returns True if the lists know the target, and so may know its other names."""
    plain = " ".join(compounds(target))
    return bool(_synonyms(plain) - {plain} or _senses(plain) or plain in wordlist("targets.toml")["reflexives"])


@cache
def phrases(sentence: str) -> frozenset[str]:
    """Returns every run of up to six words of a sentence, with its last word as it is and in the singular."""
    words = compounds(sentence)
    return frozenset(
        " ".join([*words[start : stop - 1], last])
        for start in range(len(words))
        for stop in range(start + 1, min(start + _LONGEST, len(words)) + 1)
        for last in {words[stop - 1], *singulars(words[stop - 1])}
    )


def _first(rule: str, words: frozenset[str] | set[str]) -> Named | None:
    """Returns the longest of the words as the match of a rule."""
    return Named(rule, max(sorted(words), key=len)) if words else None


@cache
def _synonyms(target: str) -> frozenset[str]:
    """Returns the other names of the target: rows of the lists that have one of its forms, and WordNet's words."""
    head, _, last = target.rpartition(" ")
    forms = {f"{head} {one}".strip() for one in singulars(last)}
    lists = wordlist("targets.toml")["names"]
    ours = ([word.lower() for word in row] for rows in lists.values() for row in rows)
    names = {word for row in ours if forms & {*row} for word in row}
    return frozenset(names | {word for row in _senses(target) for word in _people()[row][0]})


@cache
def _people() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Returns the words and the hypernyms of each row of WordNet's words for people."""
    return {
        row["row"]: (tuple(row["words"].split("|")), tuple(filter(None, row["above"].split("|"))))
        for row in table("person_nouns.csv")
    }


@cache
def _by_word() -> dict[str, set[str]]:
    """Returns the rows that contain each word."""
    rows_by_word: dict[str, set[str]] = {}
    for row, (words, _) in _people().items():
        for word in words:
            rows_by_word.setdefault(word, set()).add(row)
    return rows_by_word


def _senses(word: str) -> set[str]:
    """Returns the rows of a word, or of its singular."""
    head, _, last = word.rpartition(" ")
    return {row for one in singulars(last) for row in _by_word().get(f"{head} {one}".strip(), ())}


@cache
def _above(word: str, steps: int) -> frozenset[str]:
    """Returns the rows that are up to `steps` hypernyms above the rows of a word."""
    rows, ancestors = _senses(word), set[str]()
    for _ in range(steps):
        rows = {above for row in rows for above in _people()[row][1] if above in _people()}
        ancestors |= rows
    return frozenset(ancestors)


@cache
def _anyone() -> frozenset[str]:
    """Returns words for a person of any kind."""
    return frozenset(wordlist("targets.toml")["anyone"])


@cache
def _only_a_noun(phrase: str) -> bool:
    """Returns True if the last word of a phrase can be no adjective or adverb in the dictionary."""
    return other_parts(phrase.split()[-1]) <= {"NOUN", "PROPN"}


def _spelt_alike(word: str, target: str) -> bool:
    """Returns True if two names differ only by spaces and hyphens, or by one letter if they have six or more."""
    one, other = (re.sub(r"[\s-]", "", name) for name in (word, target))
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < 6 or short[0] != long[0] or len(long) - len(short) > 1:
        return False
    place = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[place + (len(short) == len(long)) :] == long[place + 1 :]


def _of_the_stem(runs: frozenset[str], target: str) -> set[str]:
    """Returns words that begin with the target's stem, or with the first word of a longer target.

    Returns an empty set if the sentence has no word for a person.
    """
    first, *rest = target.split()
    stem = first if rest else _ENDING.sub("", first)
    words = {word for word in runs if " " not in word and len(stem) >= 5 and word.startswith(stem)}
    return words if words and (runs & _anyone() or any(_senses(word) for word in runs)) else set()


@cache
def person_words() -> frozenset[str]:
    """Returns every word for a person in the lists."""
    return frozenset([*_by_word(), *_anyone()])
