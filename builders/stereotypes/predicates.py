"""The predicate of a statement: its first verb read as present plural, or a refusal reason; and its plural."""

from dataclasses import dataclass
from typing import Literal

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.stereotypes.parsing import Sentence, Word
from catsofa.builders.stereotypes.subjects import GENERIC, RESTRICTORS
from catsofa.data.language.inflection import plural_noun, plural_verb
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

Present = Literal["VBP", "VBZ", "MD"]
PredicateFault = Literal["no_verb", "leading_adverb", "past_tense", "participle_only", "gerund_only"]
AUXILIARIES = frozenset({"aux", "auxpass", "cop"})
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
THEY = "they "
"""The text before a fragment when it is parsed, because a fragment without a subject parses badly."""

_READINGS: dict[str, Present | PredicateFault] = {
    "VBP": "VBP",
    "VBZ": "VBZ",
    "MD": "MD",
    "VBD": "past_tense",
    "VBN": "participle_only",
    "VBG": "gerund_only",
}
"""The reading of a predicate by the tag of its first verb, in the order in which an ambiguous form is read."""


def opens_with_predicate(text: str) -> bool:
    """Returns True if the dictionary allows the first word as a finite verb, or as an adverb before one."""
    words = compounds(text)
    if words[0] in GENERIC:
        return False
    tags, parts = verb_tags(words[0]), other_parts(words[0])
    if tags and tags <= {"VBG"}:
        return False
    if tags:
        # "guards are rude", "cooks should …": a noun that could be a verb, before a form that is only a verb
        verb_only = words[0] in CLOSED or words[0] in wordlist("verbs.toml")["clausal"] or "NOUN" not in parts
        return verb_only or len(words) < 2 or words[1] not in CLOSED
    return words[0] in RESTRICTORS or ("ADV" in parts and "NOUN" not in parts)


def may_open_with_subject(text: str) -> bool:
    """Returns True if the dictionary allows the first word as part of a noun phrase."""
    first = compounds(text)[0]
    return first not in CLOSED and first not in RESTRICTORS and (bool(other_parts(first)) or not verb_tags(first))


def first_verb(rest: str, words: Sentence) -> Present | PredicateFault:
    """Returns the reading of a predicate's first word, given the parse of "they …"; the dictionary has a veto."""
    first, tag = compounds(rest)[0], words[1].tag
    tags = verb_tags(first)
    if not tags:
        return _no_verb_first(words)
    if first in CLOSED:
        return _READINGS.get(CLOSED[first], "no_verb")
    if tag.startswith(("NN", "JJ")) and _is_no_verb(first, words):
        return "no_verb"
    # a form that can be present (cut, put, come) is read as present, because the statement describes a habit
    if tags & {"VB", "VBP"} and tag != "VBZ":
        return "VBP"
    return _READINGS.get(tag if tag in tags else next(t for t in _READINGS if t in tags), "no_verb")


def _is_no_verb(first: str, words: Sentence) -> bool:
    """Returns True if a word that could be a verb, but is tagged as noun or adjective, is no verb here."""
    if not other_parts(first):
        return False
    if "VB" not in verb_tags(first) or "ADJ" in other_parts(first):
        return True
    return words[1].dep != "ROOT" or len(words) == 2


def _no_verb_first(words: Sentence) -> PredicateFault:
    """Returns the fault of a predicate that does not open with a verb: a leading adverb, or no verb."""
    adverbs = 0
    for word in words[1:]:
        if not ((word.tag.startswith("RB") and "NOUN" not in other_parts(word.lower)) or word.lower in ("also", "not")):
            break
        adverbs += 1
    following = words[1 + adverbs :]
    if adverbs and following and verb_tags(following[0].lower) and following[0].tag.startswith(("VB", "MD")):
        return "leading_adverb"
    return "no_verb"


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of one word of a sentence; an empty form deletes the word and the space behind it."""

    word: Word
    form: str


def pluralise(words: Sentence, *, singular: bool, noun: bool = False) -> list[Edit]:
    """Returns the edits that make a predicate parsed behind "they" plural.

    `singular` means that the first verb is singular and changes too. With `singular` or `noun`, the predicate noun and
    the possessives (his, her) also change.
    """
    edits = [Edit(words[1], plural_verb(words[1].text))] if singular else []
    edits += [Edit(w, plural_verb(w.text)) for i, w in enumerate(words) if i > 1 and _shares_the_subject(i, words)]
    if singular or noun:
        edits += _predicate_noun(words)
        possessives = wordlist("agreement.toml")["possessives"]
        edits += [Edit(w, possessives[w.lower]) for w in words if w.tag == "PRP$" and w.lower in possessives]
    pronouns = wordlist("agreement.toml")["pronouns"]
    edits += [Edit(w, pronouns[w.lower]) for w in words if w.lower in pronouns]
    return edits


def apply(text: str, edits: list[Edit]) -> str:
    """Returns the text with its edits."""
    for edit in sorted(edits, key=lambda e: e.word.start, reverse=True):
        before, after = text[: edit.word.start], text[edit.word.start + len(edit.word.text) :]
        text = before + edit.form + after if edit.form else before + after.lstrip()
    return text


def _shares_the_subject(index: int, words: Sentence) -> bool:
    """Returns True if a third-person singular verb is coordinated with the first verb and has no other subject."""
    word = words[index]
    if "VBZ" not in verb_tags(word.lower) or not (word.tag == "VBZ" or _mistaken_for_noun(index, words)):
        return False
    if word.tag != "VBZ":
        return True
    clause = word.head if word.dep in AUXILIARIES else index
    for _ in words:
        if any(w.head == clause and w.dep in SUBJECTS and i > 1 for i, w in enumerate(words)):
            return False
        if words[clause].dep == "ROOT" or clause == 1:
            return True
        if words[clause].dep not in ("conj", "parataxis"):
            return False
        clause = words[clause].head
    return False


def _mistaken_for_noun(index: int, words: Sentence) -> bool:
    """Returns True if a plural-noun tag follows an `and` that joins no nouns: "talks a lot and interrupts"."""
    if words[index].tag != "NNS" or words[index - 1].tag != "CC" or words[1].tag != "VBZ":
        return False
    return not words[index - 2].tag.startswith(("NN", "CD", "PRP"))


def _predicate_noun(words: Sentence) -> list[Edit]:
    """Returns the edits from `is a(n) ADJ N` to `are ADJ Ns`, with the verbs of "who …"; collective nouns stay."""
    edits: list[Edit] = []
    for index, noun in enumerate(words):
        if noun.dep != "attr" or noun.tag != "NN" or words[noun.head].lower not in ("is", "'s", "be", "are"):
            continue
        article = next((w for w in words if w.head == index and w.dep == "det" and w.lower in ("a", "an")), None)
        if article is None or noun.lower in wordlist("agreement.toml")["nouns"]["collective"]:
            continue
        edits += [Edit(article, ""), Edit(noun, plural_noun(noun.text))]
        edits += [Edit(w, plural_verb(w.text)) for i, w in enumerate(words) if _speaks_of(i, index, words)]
    return edits


def _speaks_of(index: int, noun: int, words: Sentence) -> bool:
    """Returns True if a singular verb is in a relative clause about a noun, with who, which or that as subject."""
    word = words[index]
    clause = words[word.head] if word.dep in AUXILIARIES else word
    place = word.head if word.dep in AUXILIARIES else index
    if word.tag != "VBZ" or clause.dep != "relcl" or clause.head != noun:
        return False
    return any(w.head == place and w.dep in SUBJECTS and w.lower in ("who", "that", "which") for w in words)
