"""Whether a filler fits the slot of a paraphrase: by a parse of the filled sentences, or by patterns."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.builders.paraphrases.prompts import fillers
from catsofa.builders.stereotypes.parsing import Parser, Sentence, Word
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


Frame = Literal["attribute", "predicate", "noun", "verb", "gerund", "adverb"]
"""What a sentence makes of the word in its slot."""

Kind = Literal["adjective", "noun", "verb", "gerund", "adverb"]
"""What a word is, as people used it in the context."""

_TAKES: dict[Kind, frozenset[Frame]] = {
    "adjective": frozenset({"attribute", "predicate"}),
    "noun": frozenset({"noun", "predicate", "attribute"}),
    "verb": frozenset({"verb"}),
    "gerund": frozenset({"verb", "gerund", "noun", "attribute", "predicate"}),
    "adverb": frozenset({"adverb", "predicate"}),
}


class Use(NamedTuple):
    """A filler in a filled sentence: what it is, and what the sentence makes of it, where that can be told."""

    word: str
    kind: Kind
    frame: Frame | None


@dataclass(slots=True)
class Slots:
    """The check of slots: by patterns, and by a parser where there is one."""

    parse: Parser | None
    _parsed: dict[str, Sentence] = field(default_factory=dict)

    def __call__(self, original: Cat, sentence: str) -> tuple[Label, ...]:
        """The labels whose fillers cannot stand in the slot of a paraphrase."""
        found = misfits_by_pattern(original, sentence)
        if self.parse is not None and len(found) < len(JUDGED):
            found += self._misfits_by_parse(original, sentence)
        return tuple(label for label in JUDGED if label in found)

    def read(self, pairs: Iterable[tuple[Cat, str]]) -> None:
        """Parse what the check of these paraphrases needs, at once; many short texts cost half as much together."""
        if self.parse is not None:
            texts = dict.fromkeys(text for pair in pairs for _, (text, _) in _texts(*pair))
            self._parsed = dict(zip(texts, self.parse(texts), strict=True))

    def _misfits_by_parse(self, original: Cat, sentence: str) -> list[Label]:
        """The labels whose fillers are of another part of speech in the context than the paraphrase's slot takes.

        Each filler is read in the context first, which people wrote for it, then in the paraphrase. Where the two
        frames are the same, or one cannot be told, nothing is held against the slot.
        """
        texts = _texts(original, sentence)
        if any(text not in self._parsed for _, (text, _) in texts):
            self.read([(original, sentence)])
        uses = [use_of(self._parsed[text], span) for _, (text, span) in texts]
        told = [
            (label, before, after)
            for (label, _), before, after in zip(texts[::2], uses[::2], uses[1::2], strict=True)
            if before and after and before.frame and after.frame and before.frame != after.frame
        ]
        return [name for name, was, now in told if now.frame not in _TAKES[was.kind] and not _other_reading(now)]


def _texts(original: Cat, sentence: str) -> list[tuple[Label, tuple[str, tuple[int, int]]]]:
    """For each judged filler the filled context and the filled paraphrase, with where the filler stands in them."""
    given = fillers(original)
    return [
        (label, _filled(context, given[label]))
        for label in JUDGED
        if label in given
        for context in (original.context, sentence)
    ]


def _filled(context: str, words: str) -> tuple[str, tuple[int, int]]:
    """The filled sentence, and where the filler stands in it."""
    filled = blanks.fill(context, words)
    stop = len(filled) - len(context[blanks.slots(context)[0][1] :])
    return filled, (stop - len(" ".join(words.split())), stop)


def _other_reading(use: Use) -> bool:
    """Whether the dictionary has the word as what the frame takes: "late" is an adverb too, "created" a finite verb."""
    if use.frame == "adverb":
        return "ADV" in other_parts(use.word)
    return use.frame == "verb" and bool(verb_tags(use.word) & {"VBP", "VBZ", "VBD"})


def use_of(words: Sequence[Word], span: tuple[int, int]) -> Use | None:
    """How the words that start within a span are used; None where the tokens do not show them."""
    inside = [i for i, word in enumerate(words) if span[0] <= word.start < span[1]]
    if not inside:
        return None
    outermost = [i for i in inside if words[i].head not in inside or words[i].head == i]
    at = outermost[-1]
    frame = _frame(words, inside[0], at, inside[-1])
    return Use(words[at].lower, _kind(words, inside[0], at, frame), frame)


def _frame(words: Sequence[Word], first: int, at: int, last: int) -> Frame | None:
    """What the neighbours of a filler ask for; where they are silent, its dependency."""
    word, before = words[at], _before(words, first)
    after = words[last + 1] if last + 1 < len(words) else None
    lists = wordlist("paraphrase_words.toml")["frames"]
    if word.head > last and word.dep in ("amod", "compound", "nmod") and after and after.tag[0] not in ".,I":
        return "attribute"
    if before is None:
        return _by_dependency(words, at)
    if before.lower in lists["linking"]:
        return "verb" if word.tag == "VBG" and word.dep != "acomp" else "predicate"
    if before.lower in lists["predicate"]:
        return "predicate"
    if before.lower == "to" and word.tag in ("VB", "VBP"):
        return "verb"
    if before.tag in ("DT", "WDT") and (word.tag == "JJS" or other_parts(word.lower) & {"NOUN", "PROPN"}):
        return "noun" if word.tag.startswith("NN") else None
    if before.tag in ("DT", "PRP$", "POS", "WP$") or (before.tag == "IN" and before.lower not in lists["clause"]):
        return "gerund" if word.tag == "VBG" and before.tag == "IN" else "noun"
    return _by_dependency(words, at)


def _before(words: Sequence[Word], first: int) -> Word | None:
    """The word before a filler, adverbs passed over ("as" and "to" are none, whatever a tagger says)."""
    for word in reversed(words[:first]):
        if word.lower in ("as", "to") or word.tag not in ("RB", "RBR", "RBS", "PDT"):
            return word
    return None


def _by_dependency(words: Sequence[Word], at: int) -> Frame | None:
    """The frame that a parser's label stands for."""
    word = words[at]
    match word.dep:
        case "acomp" | "attr" | "oprd":
            return "predicate"
        case "nsubj" | "nsubjpass" | "dobj" | "pobj" | "dative":
            return "noun"
        case "advmod":
            return "adverb"
        case "conj":
            return _by_dependency(words, word.head) if word.head != at else None
        case _:
            return "verb" if word.tag in ("VB", "VBP", "VBZ", "VBD", "MD") else None


def _kind(words: Sequence[Word], first: int, at: int, frame: Frame | None) -> Kind:
    """What a filler is: by its tag, unless a degree word before it or the dictionary says otherwise."""
    word = words[at]
    parts = other_parts(word.lower)
    degree = first > 0 and words[first - 1].lower in wordlist("paraphrase_words.toml")["degree"]
    if parts == {"ADJ"} or (degree and frame == "predicate"):
        return "adjective"
    if word.tag.startswith(("JJ", "VBN")) or (frame == "predicate" and word.tag in ("VB", "VBP", "VBD", "VBZ", "RB")):
        return "noun" if parts == {"NOUN"} else "adjective"
    if word.tag == "VBG":
        return "gerund"
    if word.tag.startswith(("VB", "MD")):
        return "verb"
    return "adverb" if word.tag.startswith("RB") else "noun"
