"""Parts of speech of a word by dictionary, used as a veto over a tagger that guesses from a fragment."""

import re
from functools import cache

from catsofa.data.language.inflection import newer_nouns, regular_plural
from catsofa.data.language.wordlists import table, wordlist

_CLOSED = {
    "VBP": "are aren't have haven't do don't ain't am",
    "VBZ": "is isn't has hasn't does doesn't 's",
    "VBD": "was wasn't were weren't had hadn't did didn't used",
    "MD": """can can't cannot could couldn't will won't would wouldn't shall shan't should shouldn't may might must
        mustn't ought oughtn't 'll 'd""",
    "VB": "be",
    "VBN": "been",
    "VBG": "being having doing",
}
CLOSED = {word: tag for tag, words in _CLOSED.items() for word in words.split()}
"""Forms of be, have and do, and the modals, each with its only tag."""


_DERIVED = re.compile(r"(?:over|under|out|mal|mis|re|un|back|up)-?(?P<verb>[a-z]+)")
_VERB_ENDING = re.compile(r"([a-z]{3,})(i[sz]|ify|ifi)(?:e|es|ed|ing|s)?")


@cache
def verb_tags(word: str) -> frozenset[str]:
    """Returns the possible verb tags of a form (VB VBP VBZ VBD VBN VBG MD); empty if the word is no verb."""
    word = word.lower()
    if word in CLOSED:
        return frozenset({CLOSED[word]})
    from lemminflect import getAllInflections, getAllLemmas

    lemmas = getAllLemmas(word, upos="VERB").get("VERB", ())
    tags = {tag for lemma in lemmas for tag, forms in getAllInflections(lemma, upos="VERB").items() if word in forms}
    # the dictionary lists a form that equals the present ("come", "run") only as its own lemma
    if word in lemmas:
        tags |= {"VB", "VBP"}
    if "VBD" in tags and word.endswith("ed"):
        tags.add("VBN")
    if not tags:  # a regular verb newer than the dictionary
        tags = {tag for verb in wordlist("verbs.toml")["new"] for tag, form in regular_forms(verb) if form == word}
    return frozenset(tags) or _derived_verb_tags(word)


def _derived_verb_tags(word: str) -> frozenset[str]:
    """Returns the tags of a verb outside the dictionary: with a prefix (overbreed) or a verb's ending (sexualize)."""
    if match := _DERIVED.fullmatch(word):
        return verb_tags(match["verb"]) if len(match["verb"]) > 3 else frozenset()
    if match := _VERB_ENDING.fullmatch(word):
        base = match[1] + {"iz": "ize", "is": "ise"}.get(match[2], "ify")
        return frozenset(tag for tag, form in regular_forms(base) if form == word)
    return frozenset()


@cache
def regular_forms(verb: str) -> tuple[tuple[str, str], ...]:
    """Returns each tag with the form of a regular verb: twerk, twerks, twerked, twerking."""
    third = regular_plural(verb)
    stem = third[:-2] if third.endswith("ies") else verb.removesuffix("e")
    gerund = verb + "ing" if verb.endswith("y") else stem + "ing"
    return (("VB", verb), ("VBP", verb), ("VBZ", third), ("VBD", stem + "ed"), ("VBN", stem + "ed"), ("VBG", gerund))


@cache
def other_parts(word: str) -> frozenset[str]:
    """Returns the possible parts of speech other than verb: NOUN, ADJ, ADV, PROPN; empty for an unknown word."""
    from lemminflect import getAllLemmas

    word, lists = word.lower(), wordlist("newer_words.toml")
    noun = {"NOUN"} if word in newer_nouns() or word in newer_nouns().values() else set()
    adjective = {"ADJ"} if word in lists["adjectives"] else set()
    wrong = {"ADJ"} if word in lists["only_nouns"] else set()
    return frozenset({*getAllLemmas(word), *noun, *adjective}) - {"VERB", "AUX", *wrong}


@cache
def person_nouns() -> frozenset[str]:
    """Returns singular nouns for people, and nouns that people are compared to."""
    groups, likened = wordlist("groups.toml"), wordlist("exclusions.toml")["revised"]["likened"]
    listed = {word for row in table("person_nouns.csv") for word in row["words"].split("|")}
    return frozenset({*listed, *groups["kinds"], *groups["persons"], *likened, *wordlist("newer_words.toml")["people"]})


def names_person(noun: str) -> bool:
    """Returns True if a singular noun names a person: a listed noun, or an agent noun from a verb (`riser`)."""
    stem = noun.removesuffix("er") if noun.endswith("er") else noun.removesuffix("or")
    doer = stem != noun and any("VB" in verb_tags(verb) for verb in (stem, stem + "e", stem[:-1]))
    return noun in person_nouns() or (doer and noun not in wordlist("exclusions.toml")["revised"]["no_persons"])


def head_of(words: str) -> str:
    """Returns the head of a noun phrase: `bad cook` and `cook of renown` give `cook`."""
    return re.split(r" (?:of|in|with|from|at|on) ", words)[0].split()[-1].lower()


def names_people(head: str) -> bool:
    """Returns True if the head of an attribute, a noun in the singular, names people: `cook`, but not `house`."""
    lists = wordlist("fills.toml")["attributes"]
    return head not in lists["not_people"] and (head in lists["people"] or head.endswith("ist") or names_person(head))
