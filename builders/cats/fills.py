"""Words for a BLANK: their parts of speech, by their original sentence or a dictionary; their form in a template."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from catsofa.builders.dictionary import CLOSED, names_person, other_parts, person_nouns, verb_tags
from catsofa.data.language.blanks import check, slots
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import plural_noun, plural_verb, singular_noun, third_person
from catsofa.data.language.wordlists import table, wordlist
from catsofa.data.language.words import compounds

Part = Literal["adjective", "noun", "bare noun", "verb", "infinitive", "any"]
Number = Literal["singular", "plural"]

_FINITE = frozenset({"VB", "VBP", "VBZ"})
_OWNED = frozenset(["the", "a", "an", "my", "your", "his", "her", "its", "our", "their"])
_JOINED = re.compile(r"(,? and |,? or |, )")


@dataclass(frozen=True, slots=True)
class Fill:
    """Words as one part of speech: a noun in the singular, a bare noun unchanged, a verb in its base form."""

    words: str
    phrase: bool = False
    """True if the words fit only at the end of a clause: `made of wood`, `arrested`, `gossip all day`."""


@cache
def readings(words: str, context: str = "") -> Mapping[Part, Fill]:
    """Returns the parts of speech that words can be, each with its base form; `context` is their own sentence.

    The slot of the context decides first. Without a context, or if the dictionary has nothing for the slot, the usual
    parts of speech of the words decide.
    """
    has_blank = bool(context) and check(context) is None
    slot = slot_of(context) if has_blank else None
    if _is_capitalised(words.split()[0]):
        words = words[0].lower() + words[1:]
    if _JOINED.search(words):
        return _joined(_JOINED.split(words), slot)
    first, *rest = words.split()
    if not rest:
        return _of_word(first, slot)
    return _of_phrase(first, " ".join(rest), slot)


def _is_capitalised(word: str) -> bool:
    """Returns True if the dictionary has a word with a capital, as at the start of a sentence; it has no names."""
    known = other_parts(word) or verb_tags(word)
    return bool(known) and word[:1].isupper() and word[1:].islower() and word not in wordlist("names.toml")["common"]


def are_deeds(fills: Iterable[str]) -> bool:
    """Returns True if all fills can be third-person verbs, and none names a person: cries, laughs, boils."""
    return all(
        verb_tags(first := words.split()[0]) == {"VBZ"}
        and "verb" in readings(words)
        and not names_person(singular_noun(first) or first)
        for words in fills
    )


def is_said_of_target(context: str) -> bool:
    """Returns True if a sentence says a noun of its target (`is a BLANK`), or if there is no sentence."""
    return check(context) is not None or bool((slot_of(context) or set()) & {"article", "predicate"})


def in_number(words: str, part: Part, number: Number) -> str:
    """Returns words in the number of the target: nouns take a plural, verbs the third person's -s."""
    if part not in ("noun", "verb") or number == ("singular" if part == "noun" else "plural"):
        return words
    pieces = _JOINED.split(words)
    return "".join(piece if index % 2 else _inflected(piece, part) for index, piece in enumerate(pieces))


def _inflected(words: str, part: Part) -> str:
    """Returns the plural of a noun phrase, or the third person of a verb phrase."""
    if part == "noun":
        return plural_noun(words)
    verb, space, rest = words.partition(" ")
    adverb = bool(rest) and other_parts(verb) == {"ADV"} and not verb_tags(verb)
    return verb + space + _inflected(rest, part) if adverb else third_person(verb) + space + rest


def slot_of(context: str) -> frozenset[str] | None:
    """Returns the parts that the words around a BLANK need: adjective, noun, article, predicate or verb.

    Returns None if the words do not decide.
    """
    start, end = slots(context)[0]
    before = compounds(re.split(r"[.!?;:,\"“]", context[:start])[-1])
    after = re.match(r"\s+([\w'-]+)", context[end:])
    lists, own = wordlist("paraphrase_words.toml"), wordlist("fills.toml")
    last = before[-1] if before else ""
    degree = last in lists["degree"] and last != "most"
    closed = after and re.fullmatch("|".join((*lists["closes_slot"], *own["prepositions"])), after[1])
    if degree or (after and not closed and ("NOUN" in other_parts(after[1]) or after[1][0].isupper())):
        return frozenset({"adjective"})
    while before and before[-1] in ("always", "often", "usually", "all", "both", "not", "mostly", "generally", "also"):
        before = before[:-1]
    last = before[-1] if before else ""
    if last in ("a", "an"):
        return frozenset({"article"})
    if last in lists["frames"]["linking"]:
        return frozenset({"predicate"})
    slot_names = [name for name in ("noun", "verb") if last in own["slots"][name]]
    return frozenset(slot_names) or None


def _joined(pieces: list[str], slot: frozenset[str] | None) -> Mapping[Part, Fill]:
    """Returns the readings that all words joined by and, or or commas share, each in its form."""
    each = [readings(piece) if slot is None else _again(piece, slot) for piece in pieces[::2]]
    shared: dict[Part, Fill] = {}
    for part in each[0]:
        if all(part in other for other in each):
            joined = "".join(a + b for a, b in zip((e[part].words for e in each), [*pieces[1::2], ""], strict=True))
            shared[part] = Fill(joined, any(e[part].phrase for e in each))
    return shared


def _again(words: str, slot: frozenset[str]) -> Mapping[Part, Fill]:
    """Returns the readings of one of several joined words in their slot."""
    first, *rest = words.split()
    return _of_phrase(first, " ".join(rest), slot) if rest else _of_word(first, slot)


def _of_phrase(first: str, rest: str, slot: frozenset[str] | None) -> Mapping[Part, Fill]:
    """Returns the readings of several words: a noun or adjective with its modifiers, or a verb with its rest."""
    lists, plain = wordlist("fills.toml"), first.lower()
    head, preposition, behind = _before_preposition(f"{first} {rest}")
    if plain in ("a", "an"):
        return {part: fill for part, fill in _again(rest, frozenset({"article"})).items() if part == "noun"}
    if plain in lists["determiners"] or plain in lists["no_head"] or CLOSED.get(plain) == "MD":
        return {}
    if plain in lists["prepositions"]:
        return {"adjective": Fill(f"{first} {rest}", phrase=True)}
    if other_parts(plain) == {"ADV"} or plain in wordlist("paraphrase_words.toml")["degree"]:
        inner = readings(rest)
        if "adjective" in inner:
            return {"adjective": Fill(f"{first} {rest}", phrase=True)}
        # `never sing` fits no template with a negation, so it is no infinitive
        return {"verb": Fill(f"{first} {inner['verb'].words}", phrase=True)} if "verb" in inner else {}
    if (slot is None or slot & {"verb", "predicate"}) and (base := _base_of_phrase(plain, rest)):
        verb = Fill(f"{base} {rest}", phrase=True)
        return {"verb": verb, "infinitive": verb}
    if preposition:
        return _with_preposition(head, f" {preposition} {behind}", slot)
    last: Mapping[Part, Fill] = _of_word(rest.split()[-1], slot)
    if rest.split()[-1] == "people":
        last = {"noun": Fill("person")}
    front = f"{first} {rest}".rpartition(" ")[0]
    return {
        part: replace(fill, words=f"{front} {fill.words}", phrase=fill.phrase and part == "adjective")
        for part, fill in last.items()
        if part in ("adjective", "noun", "bare noun")
    }


def _before_preposition(words: str) -> tuple[str, str, str]:
    """Returns the words before the first preposition, the preposition and the words behind it.

    Without a preposition, the last two are empty.
    """
    prepositions = "|".join(wordlist("fills.toml")["prepositions"])
    match = re.fullmatch(rf"(.+?) ({prepositions}) (.+)", words, re.IGNORECASE)
    return (match[1], match[2], match[3]) if match else (words, "", "")


def _base_of_phrase(first: str, rest: str) -> str | None:
    """Returns the base form of the verb that begins a verb phrase, or None.

    The word that follows decides, or the usual part of speech of the first word.
    """
    lists, second = wordlist("fills.toml"), rest.split()[0].lower()
    if not verb_tags(first) & {*_FINITE, "VBG"}:
        return None
    base = _base(first)
    if second in _OWNED:  # "clean their houses": no adjective precedes an article
        return base
    if "adjective" in _of_word(first, None):
        return None
    if second in (*lists["determiners"], "a", "an") or other_parts(second) == {"ADV"}:
        return base
    # an adjective does not follow its noun: who studies hard
    if second == rest.lower() and {"ADV", "ADJ"} <= other_parts(second) and "NOUN" not in other_parts(second):
        return base if "verb" in usual_kinds(base) else None
    return base if _row(base).get("usual", "verb").split()[0] == "verb" else None


def _with_preposition(head: str, behind: str, slot: frozenset[str] | None) -> Mapping[Part, Fill]:
    """Returns a noun with its complement (`man of honour`), or an adjective that only follows a verb."""
    own = readings(head) if slot is None else _again(head, slot)
    fills: dict[Part, Fill] = {
        part: Fill(fill.words + behind) for part, fill in own.items() if part in ("noun", "bare noun")
    }
    if "adjective" in own:
        fills["adjective"] = Fill(head + behind, phrase=True)
    return fills


def _of_word(word: str, slot: frozenset[str] | None) -> Mapping[Part, Fill]:
    """Returns the readings of one word: what its slot takes if the dictionary has that, else its usual ones."""
    if word.lower() in CLOSED or word.lower() in wordlist("fills.toml")["pronouns"]:
        return {}
    tags, parts = verb_tags(word), other_parts(word)
    one = _proper_noun(word) or (singular_noun(word) if "NOUN" in parts else None)
    noun = one or (word if "NOUN" in parts else None)
    adjective = _adjective(word, tags, parts, slot)
    usual = _row(noun or word).get("usual", "noun").split() if noun else []
    if slot == frozenset({"article"}) and noun in person_nouns() and not adjective:
        usual = ["noun"]
    noun_fills = _noun(word, noun, one is not None, slot) if noun and "noun" in usual else {}
    base = _base(word) if tags & {*_FINITE, "VBG"} else ""
    verb: dict[Part, Fill] = {"verb": Fill(base), "infinitive": Fill(base)} if base and stands_alone(base) else {}
    if slot:
        if adjective and slot & {"adjective", "predicate"}:
            return {"adjective": adjective}
        if noun_fills and (slot & {"noun", "article"} or ("predicate" in slot and one is not None)):
            return noun_fills
        if verb and ("verb" in slot or ("predicate" in slot and "VBG" in tags)):
            return verb
    if adjective:
        # "criminal" is as often a noun; "white" and "wealthy" are not
        is_noun = "noun" in noun_fills and _row(noun or "").get("usual", "").startswith("noun")
        return {"adjective": adjective, **(noun_fills if is_noun else {})}
    return noun_fills | (verb if "verb" in _row(base).get("usual", "verb") else {})


def _adjective(word: str, tags: frozenset[str], parts: frozenset[str], slot: frozenset[str] | None) -> Fill | None:
    """Returns a word as an adjective, if the dictionary or its ending allows it, or None.

    A participle, a comparative or a word such as `asleep` is a phrase.
    """
    plain, lists = word.lower(), wordlist("fills.toml")
    if plain in lists["predicative"]:
        return Fill(word, phrase=True)
    degrees = _degrees(plain)
    if plain in (*lists["prepositions"], *wordlist("newer_words.toml")["only_nouns"]) or "JJS" in degrees:
        return None
    if "JJR" in degrees:
        return Fill(word, phrase=True)
    if plain in proper():
        return Fill(proper()[plain] if word.islower() else word)
    row = _row(plain)
    allowed = not row or "adjective" in f"{row['usual']} {row['rare']}"
    listed = row.get("usual", "").startswith("adjective") or (
        "adjective" in row.get("usual", "") and tags & {"VBG", "VBN"}
    )
    if ("ADJ" in parts and allowed) or listed or plain in lists["adjectives"]:
        return Fill(word)
    if "VBG" in tags and slot == frozenset({"adjective"}) and stands_alone(word):
        return Fill(word)
    if "VBN" in tags and "NOUN" not in parts:
        return Fill(word, phrase=True)
    hyphenated = "-" in plain and plain.endswith(("ed", "ing"))
    ending = len(word) > 5 and plain.endswith(tuple(lists["adjective_endings"]))
    derived = not parts and not tags and (hyphenated or ending)
    return Fill(word) if derived else None


def stands_alone(form: str) -> bool:
    """Returns True if the verb of a form can also occur without an object."""
    verb = _base(form)
    return bool(_row(verb).get("intransitive")) or verb in wordlist("fills.toml")["without_object"]


def _degrees(word: str) -> set[str]:
    """Returns JJR for the comparative of an adjective, JJS for the superlative; empty for its plain form."""
    from lemminflect import getAllInflections, getAllLemmas

    lemmas = [lemma for lemma in getAllLemmas(word, upos="ADJ").get("ADJ", ()) if lemma != word]
    tags = [(tag, forms) for lemma in lemmas for tag, forms in getAllInflections(lemma, "ADJ").items()]
    return {tag for tag, forms in tags if word in forms}


def _noun(word: str, one: str, plural: bool, slot: frozenset[str] | None) -> dict[Part, Fill]:
    """Returns a countable noun in the singular, and its form without an article; a mass noun has only the latter.

    A noun for people is only countable, because somebody who is known for snobs is no snob.
    """
    lists, plain = wordlist("fills.toml"), one.lower()
    if word.lower() in lists["plural_only"]:
        return {"bare noun": Fill(word)}
    mass = "only" if plain in lists["mass"] else _row(plain).get("mass", "")
    gerund = "VBG" in verb_tags(plain)
    if one[0].isupper() or (not mass and names_person(plain)):
        return {"noun": Fill(one)}
    counted = mass != "only" and (plural or not (mass or gerund) or slot == frozenset({"article"}))
    fills: dict[Part, Fill] = {"bare noun": Fill(word if plural or mass or gerund else plural_noun(word))}
    return fills | ({"noun": Fill(one)} if counted else {})


@cache
def _base(verb: str) -> str:
    """Returns the base form of a verb form."""
    from lemminflect import getLemma

    tags = verb_tags(verb)
    if "VB" in tags:
        return verb
    return plural_verb(verb) if "VBZ" in tags else str(getLemma(verb.lower(), upos="VERB")[0])


def usual_kinds(word: str) -> frozenset[str]:
    """Returns the usual kinds of a word: adjective, noun, verb; also adverb if the table lacks the word."""
    if row := _row(word):
        return frozenset(row["usual"].split())
    kinds = {"ADJ": "adjective", "NOUN": "noun", "ADV": "adverb"}
    usual = {kinds[part] for part in other_parts(word) if part in kinds}
    return frozenset(usual | ({"verb"} if verb_tags(word) & _FINITE else set()))


def usual_order(word: str) -> tuple[str, ...]:
    """Returns the usual kinds of a word, most frequent first; in alphabetical order if the table lacks it."""
    return tuple(_row(word).get("usual", "").split()) or tuple(sorted(usual_kinds(word)))


@cache
def _by_word() -> dict[str, dict[str, str]]:
    """Returns the table of usual parts of speech, by word."""
    return {row["word"]: row for row in table("readings.csv")}


def _row(word: str) -> dict[str, str]:
    """Returns the table's row for a word; empty for a word with one part of speech."""
    return _by_word().get(word.lower(), {})


@cache
def proper() -> dict[str, str]:
    """Returns adjectives of places, peoples and faiths in lower case, each with its capitalized form."""
    listed = (*wordlist("fills.toml")["proper"], *(word for nation in nations() for word in nation.adjectives))
    return {word.lower(): word for word in listed}


def _proper_noun(word: str) -> str | None:
    """Returns the name for a member of a people or faith: `german` and `Germans` give `German`; or None."""
    name = proper().get(word.lower()) or proper().get(word.lower().removesuffix("s"))
    return name if name and name.endswith(("an", "Arab", "Buddhist", "Hindu", "Latino", "Muslim")) else None
