"""What a paraphrase says instead of the target: the same person under another name, a wider name, or somebody else."""

import re
from functools import cache
from typing import Literal, NamedTuple

from catsofa.builders.dictionary import other_parts
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import mentions, singulars
from catsofa.data.language.wordlists import table, wordlist
from catsofa.data.language.words import compounds

_LONGEST = 6
"""Words of the longest name in the lists."""
_ENDING = re.compile(r"(?:er|or|ist|ian|man|woman|ing|ant|ent|ician|e)s?$")


class Named(NamedTuple):
    """The rule by which a paraphrase still has the target, and the word that shows it."""

    rule: str
    word: str


def names_target(sentence: str, target: str, policy: Literal["verbatim", "derived"]) -> bool:
    """Whether the sentence holds the target, in the singular or plural; `derived` takes Ghana for Ghanaian too."""
    forms = [target] if policy == "verbatim" else [target, *related(target)]
    return any(mentions(sentence, form, compounds) for form in forms)


@cache
def related(target: str) -> tuple[str, ...]:
    """The names of each place and its people, or of a faith, one of which is in the target: Ghana, Ghanaian."""
    families = [*(row.names for row in nations()), *wordlist("paraphrase_words.toml")["related"]]
    return tuple(
        name for family in families if any(mentions(target, form, compounds) for form in family) for name in family
    )


def same_person(sentence: str, target: str) -> Named | None:
    """The first of the rules that finds the target under another name, and the word it finds.

    `pronoun` (of the gender of himself), `synonym` (lists of ours, then WordNet), `spelling`, `stem` (a word of the
    target's stem beside a word for a person), `hyponym` (a narrower word of WordNet: constable for policeman).
    """
    said, plain = phrases(sentence), " ".join(compounds(target))
    if pronouns := wordlist("targets.toml")["reflexives"].get(plain):
        return _first("pronoun", said & set(pronouns))
    return (
        _first("synonym", said & _synonyms(plain))
        or _first("spelling", {word for word in said if _spelt_alike(word, plain)})
        or _first("stem", _of_the_stem(said, plain))
        or _first("hyponym", {word for word in said - _anyone() if _above(word, 2) & _senses(plain)})
    )


def wider(sentence: str, target: str) -> Named | None:
    """The hypernym by which a sentence calls the target: scientist for physicist, by WordNet or a list of ours."""
    plain = " ".join(compounds(target))
    rows, listed = _above(plain, 3), wordlist("targets.toml")["wider"]
    names = {name for name, narrower in listed.items() if any(mentions(plain, one) for one in narrower)}
    words = {word for word in phrases(sentence) - _anyone() if word in names or _senses(word) & rows}
    return _first("hypernym", words)


def another_person(sentence: str, context: str, target: str) -> Named | None:
    """A word for a person of some kind that only the paraphrase has; a girl may be the schoolgirl."""
    told = wordlist("targets.toml")
    known = phrases(context) | {*told["anyone"], *told["beside"]}
    words = (word for word in phrases(sentence) if not known & {word, *singulars(word)})
    new = {word for word in words if not any(target.lower().endswith(one) for one in singulars(word))}
    family = {name for row in told["names"]["gender"] for name in row}
    if own := told["reflexives"].get(target.lower()):
        family |= {pronoun for row in told["reflexives"].values() for pronoun in row} - {*own}
    return _first("another", {word for word in new if word in family or (_senses(word) and _only_a_noun(word))})


def is_known(target: str) -> bool:
    """Whether the lists know the target, and so may know what else it is called."""
    plain = " ".join(compounds(target))
    return bool(_synonyms(plain) - {plain} or _senses(plain) or plain in wordlist("targets.toml")["reflexives"])


@cache
def phrases(sentence: str) -> frozenset[str]:
    """Every run of up to six words of a sentence, its last word also in the singular."""
    words = compounds(sentence)
    return frozenset(
        " ".join([*words[start : stop - 1], last])
        for start in range(len(words))
        for stop in range(start + 1, min(start + _LONGEST, len(words)) + 1)
        for last in {words[stop - 1], *singulars(words[stop - 1])}
    )


def _first(rule: str, words: frozenset[str] | set[str]) -> Named | None:
    """The longest of the words as the finding of a rule."""
    return Named(rule, max(sorted(words), key=len)) if words else None


@cache
def _synonyms(target: str) -> frozenset[str]:
    """What else the target is called: all rows of ours that have one of its forms, and WordNet's."""
    head, _, last = target.rpartition(" ")
    forms = {f"{head} {one}".strip() for one in singulars(last)}
    lists = wordlist("targets.toml")["names"]
    ours = ([word.lower() for word in row] for rows in lists.values() for row in rows)
    found = {word for row in ours if forms & {*row} for word in row}
    return frozenset(found | {word for row in _senses(target) for word in _people()[row][0]})


@cache
def _people() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The words and the hypernyms of each row of WordNet's people."""
    return {
        row["row"]: (tuple(row["words"].split("|")), tuple(filter(None, row["above"].split("|"))))
        for row in table("person_nouns.csv")
    }


@cache
def _by_word() -> dict[str, set[str]]:
    """The rows that a word is in."""
    found: dict[str, set[str]] = {}
    for row, (words, _) in _people().items():
        for word in words:
            found.setdefault(word, set()).add(row)
    return found


def _senses(word: str) -> set[str]:
    """The rows of a word, in the singular if it is plural."""
    head, _, last = word.rpartition(" ")
    return {row for one in singulars(last) for row in _by_word().get(f"{head} {one}".strip(), ())}


@cache
def _above(word: str, steps: int) -> frozenset[str]:
    """The rows above those of a word, up to so many steps."""
    rows, found = _senses(word), set[str]()
    for _ in range(steps):
        rows = {above for row in rows for above in _people()[row][1] if above in _people()}
        found |= rows
    return frozenset(found)


@cache
def _anyone() -> frozenset[str]:
    """Words for a person of any kind."""
    return frozenset(wordlist("targets.toml")["anyone"])


@cache
def _only_a_noun(phrase: str) -> bool:
    """Whether the last word of a phrase is nothing but a noun in the dictionary."""
    return other_parts(phrase.split()[-1]) <= {"NOUN", "PROPN"}


def _spelt_alike(word: str, target: str) -> bool:
    """Whether two names differ by blanks, hyphens, or one letter of six or more."""
    one, other = (re.sub(r"[\s-]", "", name) for name in (word, target))
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < 6 or short[0] != long[0] or len(long) - len(short) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]


def _of_the_stem(said: frozenset[str], target: str) -> set[str]:
    """Words of the target's stem, or its first word if it has two, where a word for a person stands too."""
    first, *rest = target.split()
    stem = first if rest else _ENDING.sub("", first)
    found = {word for word in said if " " not in word and len(stem) >= 5 and word.startswith(stem)}
    return found if found and (said & _anyone() or any(_senses(word) for word in said)) else set()


@cache
def person_words() -> frozenset[str]:
    """Every word for a person that the lists have."""
    return frozenset([*_by_word(), *_anyone()])
