"""Attributes of people without a sentence: their usable parts of speech, or the reason for a refusal.

Lists such as SeeGULL's hold attributes as lemmas (`good at swim`, `love taco`), so a phrase is checked word by word.
"""

import re
from collections.abc import Mapping

from catsofa.builders.cats.fills import Fill, Part, proper, readings, stands_alone, usual_order
from catsofa.builders.dictionary import head_of, names_people, other_parts, verb_tags
from catsofa.data.language.inflection import singular_noun
from catsofa.data.language.wordlists import wordlist
from catsofa.data.visible import UNSAFE

_FOR_OR_AGAINST = re.compile(r"(?:pro|anti)[- ]\w", re.IGNORECASE)
KINDS: Mapping[str, tuple[Part, ...]] = {
    "adjective": ("adjective",),
    "noun": ("noun", "bare noun"),
    "verb": ("verb", "infinitive"),
}
"""The parts of speech for each kind that a model gives: adjective, noun or verb."""


def forms(attribute: str, kind: str = "") -> Mapping[Part, Fill] | str:
    """Returns the parts of speech in which an attribute describes people, with base forms; or the refusal reason.

    A countable noun must name people. `kind` is the declared kind of the attribute; it limits the result if the
    attribute can be of that kind.
    """
    words = [proper().get(word, word) for word in attribute.split()]
    first, lists = words[0].lower(), wordlist("fills.toml")["attributes"]
    if re.search(r"[_\d{}<>\[\]]|\bBLANK\b", attribute) or UNSAFE.search(attribute):
        return "odd_characters"
    if first in lists["clause"]:
        return "clause"
    if _FOR_OR_AGAINST.match(attribute):
        return {"adjective": Fill(" ".join(words), phrase=len(words) > 1)}
    fills = dict(readings(" ".join(words)))
    if len(words) > 1:
        order = usual_order(first)
        if order[:1] == ("verb",) and "adjective" not in order and "verb" not in fills and "VB" in verb_tags(first):
            fills = dict.fromkeys(KINDS["verb"], Fill(" ".join(words), phrase=True))
        if fault := _fault_of_phrase(words, fills):
            return fault
    elif "VBD" in verb_tags(first) and not (first.endswith("ed") or usual_order(first) or "ADJ" in other_parts(first)):
        return "past_tense"
    fills = {part: fill for part, fill in fills.items() if _said_of_people(part, fill, words, fills)}
    return {part: fill for part, fill in fills.items() if part in KINDS.get(kind, ())} or fills or "no_form"


def _fault_of_phrase(words: list[str], fills: Mapping[Part, Fill]) -> str:
    """Returns the fault of an incomplete phrase, or an empty string.

    Faults are a past form, a cut-off phrase, a lemma behind a preposition, an unknown word, or a singular object
    without its article.
    """
    lists = wordlist("fills.toml")
    first, before, last = words[0].lower(), words[-2].lower(), words[-1].lower()
    tags = verb_tags(first)
    if (
        "VBD" in tags
        and "VB" not in tags
        and not ("ADJ" in other_parts(first) or words[1] in lists["attributes"]["behind"])
        and not ("VBN" in tags and words[1] in {*lists["prepositions"]} - {"to"} and not stands_alone(first))
    ):
        return "past_tense"
    if last == "to":
        return "cut_off"
    behind = any(word in lists["prepositions"] for word in words[:-1])
    if not ("verb" in fills or behind or "to" in words) or before in ("to", "a", "an", *lists["determiners"]):
        return ""
    if behind and "VB" in verb_tags(last) and usual_order(last)[:1] == ("verb",):
        return "lemma_behind_preposition"
    if singular_noun(last) is not None or (words[0] == "speak" and words[-1] != last):
        return ""
    if "verb" in fills and not behind and not other_parts(last) | verb_tags(last):
        return "unknown_word"
    noun = readings(last)
    counted = "noun" in noun and "adjective" not in noun and noun.get("bare noun", Fill("")).words != last
    return "singular_object" if counted or words[-1][0].isupper() else ""


def _said_of_people(part: Part, fill: Fill, words: list[str], fills: Mapping[Part, Fill]) -> bool:
    """Returns True if an attribute forms a sentence about people as this part of speech."""
    lists, several = wordlist("fills.toml")["attributes"], len(words) > 1
    head = head_of(fill.words)
    head = singular_noun(head) or head if part == "bare noun" else head
    person = names_people(head)
    if part == "noun":
        return person
    if part == "bare noun":
        plainly = not (
            person
            or words[0] in ("lot", "self")
            or head in lists["not_known_for"]
            or "adjective" in fills
            or set(usual_order(head)) - {"noun"}
        )
        return plainly and (not several or "noun" not in readings(head) or not fill.words.endswith(head))
    if part == "adjective":
        if words[-1].lower() in lists["people"]:
            return False
        graded = words[0].lower() in ("less", "more", "not") or other_parts(words[0].lower()) == {"ADV"}
        return not several or fill.phrase or graded or "and" in words or usual_order(head)[:1] == ("adjective",)
    return several or (usual_order(fill.words)[:1] == ("verb",) and fill.words not in lists["not_alone"])
