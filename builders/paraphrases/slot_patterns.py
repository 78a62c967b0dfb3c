"""Whether a filler can stand in a paraphrase's slot, by patterns that need no parser."""

import re

from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.builders.paraphrases.prompts import fillers
from catsofa.data.language import blanks
from catsofa.data.language.wordlists import wordlist
from catsofa.data.records import Cat, Label

JUDGED: tuple[Label, Label] = ("stereotype", "anti-stereotype")
"""The unrelated filler is meant not to fit, and says nothing about the slot."""


def misfits_by_pattern(original: Cat, sentence: str) -> list[Label]:
    """The labels whose fillers are adjectives in the context, where the paraphrase asks for a noun.

    Two patterns need no parser and have no false alarm in the samples read: "a high level of BLANK" and "shows
    considerable BLANK", with nothing after the slot that the adjective could belong to.
    """
    start, end = blanks.slots(sentence)[0]
    lists = wordlist("paraphrase_words.toml")
    if not any(re.search(pattern + r"\W*$", sentence[:start], re.I) for pattern in lists["noun_slot"]):
        return []
    if not re.match(rf"\W*$|[,;.!?)]|\s+(?:{'|'.join(lists['closes_slot'])})\b", sentence[end:], re.I):
        return []
    given = fillers(original)
    return [label for label in JUDGED if label in given and _is_adjective(given[label], original.context)]


def _is_adjective(filler: str, context: str) -> bool:
    """Whether a filler is an adjective: after "very" always, after "is" if a dictionary allows it, else if it must."""
    before = context[: blanks.slots(context)[0][0]]
    lists = wordlist("paraphrase_words.toml")
    if re.search(rf"\b({'|'.join(lists['degree'])})\s+$", before, re.I):
        return True
    parts = other_parts(filler)
    if parts == {"ADJ"}:
        return True
    can_be = "ADJ" in parts or bool(verb_tags(filler) & {"VBN", "VBG"})
    return can_be and bool(re.search(rf"\b({'|'.join(lists['linking'])})\s+$", before, re.I))
