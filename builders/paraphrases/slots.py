"""Checks whether the fillers of a CAT fit the slot of a paraphrase, by parsing filled sentences or by patterns."""

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
"""Labels whose fillers must fit the slot. The unrelated filler is not meant to fit, so it proves nothing."""


def misfits_by_pattern(original: Cat, sentence: str) -> list[Label]:
    """Returns the labels whose fillers are adjectives in the context where the paraphrase asks for a noun.

    Uses two patterns that need no parser and raise no false alarm in the samples read: "a high level of BLANK" and
    "shows considerable BLANK". No word that the adjective could modify may follow the slot.
    """
    start, end = blanks.slots(sentence)[0]
    lists = wordlist("paraphrase_words.toml")
    if not any(re.search(pattern + r"\W*$", sentence[:start], re.I) for pattern in lists["noun_slot"]):
        return []
    if not re.match(rf"\W*$|[,;.!?)]|\s+(?:{'|'.join(lists['closes_slot'])})\b", sentence[end:], re.I):
        return []
    by_label = fillers(original)
    return [label for label in JUDGED if label in by_label and _is_adjective(by_label[label], original.context)]


def _is_adjective(filler: str, context: str) -> bool:
    """Returns True if a filler is an adjective in its context.

    After a degree word ("very"), every filler counts as an adjective. After a linking verb ("is"), a filler counts if
    the dictionary allows an adjective. Elsewhere, a filler counts if it can only be an adjective.
    """
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
"""The grammatical role that a sentence gives to the word in its slot."""

Kind = Literal["adjective", "noun", "verb", "gerund", "adverb"]
"""The part of speech of a word in the context that people wrote for it."""

_TAKES: dict[Kind, frozenset[Frame]] = {
    "adjective": frozenset({"attribute", "predicate"}),
    "noun": frozenset({"noun", "predicate", "attribute"}),
    "verb": frozenset({"verb"}),
    "gerund": frozenset({"verb", "gerund", "noun", "attribute", "predicate"}),
    "adverb": frozenset({"adverb", "predicate"}),
}


class Use(NamedTuple):
    """A word of a filler in a filled sentence: its kind and the frame around it, if the frame is known."""

    word: str
    kind: Kind
    frame: Frame | None


@dataclass(slots=True)
class Slots:
    """Callable that checks the slots of paraphrases by patterns and, with a parser, also by parsing."""

    parse: Parser | None
    _parsed: dict[str, Sentence] = field(default_factory=dict)

    def __call__(self, original: Cat, sentence: str) -> tuple[Label, ...]:
        """Returns the labels whose fillers do not fit the slot of a paraphrase."""
        misfits = misfits_by_pattern(original, sentence)
        if self.parse is not None and len(misfits) < len(JUDGED):
            misfits += self._misfits_by_parse(original, sentence)
        return tuple(label for label in JUDGED if label in misfits)

    def read(self, pairs: Iterable[tuple[Cat, str]]) -> None:
        """Parses all texts that the check of these paraphrases needs.

        Parses them in one batch, because many short texts take half the time together.
        """
        if self.parse is not None:
            texts = dict.fromkeys(text for pair in pairs for _, (text, _) in _texts(*pair))
            self._parsed = dict(zip(texts, self.parse(texts), strict=True))

    def _misfits_by_parse(self, original: Cat, sentence: str) -> list[Label]:
        """Returns the labels whose fillers have another part of speech in the context than the paraphrase's slot takes.

        Each filler is read in the context first, because people wrote the context for it, then in the paraphrase. The
        slot passes if both frames are equal, if a frame is unknown, or if the dictionary has the word in the new frame.
        """
        texts = _texts(original, sentence)
        if any(text not in self._parsed for _, (text, _) in texts):
            self.read([(original, sentence)])
        uses = [use_of(self._parsed[text], span) for _, (text, span) in texts]
        differing = [
            (label, before, after)
            for (label, _), before, after in zip(texts[::2], uses[::2], uses[1::2], strict=True)
            if before and after and before.frame and after.frame and before.frame != after.frame
        ]
        return [name for name, was, now in differing if now.frame not in _TAKES[was.kind] and not _other_reading(now)]


def _texts(original: Cat, sentence: str) -> list[tuple[Label, tuple[str, tuple[int, int]]]]:
    """Returns the filled context and the filled paraphrase for each judged filler, each with the span of the filler."""
    by_label = fillers(original)
    return [
        (label, _filled(context, by_label[label]))
        for label in JUDGED
        if label in by_label
        for context in (original.context, sentence)
    ]


def _filled(context: str, words: str) -> tuple[str, tuple[int, int]]:
    """Returns the filled sentence and the span of the filler in it."""
    filled = blanks.fill(context, words)
    stop = len(filled) - len(context[blanks.slots(context)[0][1] :])
    return filled, (stop - len(" ".join(words.split())), stop)


def _other_reading(use: Use) -> bool:
    """Returns True if the dictionary has the word in its frame: "late" as an adverb, "created" as a finite verb."""
    if use.frame == "adverb":
        return "ADV" in other_parts(use.word)
    return use.frame == "verb" and bool(verb_tags(use.word) & {"VBP", "VBZ", "VBD"})


def use_of(words: Sequence[Word], span: tuple[int, int]) -> Use | None:
    """Returns the use of the words that start within a span, or None if no token starts there."""
    inside = [i for i, word in enumerate(words) if span[0] <= word.start < span[1]]
    if not inside:
        return None
    outermost = [i for i in inside if words[i].head not in inside or words[i].head == i]
    head = outermost[-1]
    frame = _frame(words, inside[0], head, inside[-1])
    return Use(words[head].lower, _kind(words, inside[0], head, frame), frame)


def _frame(words: Sequence[Word], first: int, head: int, last: int) -> Frame | None:
    """Returns the frame that a filler's neighbours require; if they require none, the frame of its dependency label."""
    word, before = words[head], _before(words, first)
    after = words[last + 1] if last + 1 < len(words) else None
    lists = wordlist("paraphrase_words.toml")["frames"]
    if word.head > last and word.dep in ("amod", "compound", "nmod") and after and after.tag[0] not in ".,I":
        return "attribute"
    if before is None:
        return _by_dependency(words, head)
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
    return _by_dependency(words, head)


def _before(words: Sequence[Word], first: int) -> Word | None:
    """Returns the word before a filler, skipping adverbs; "as" and "to" are never skipped, whatever their tag."""
    for word in reversed(words[:first]):
        if word.lower in ("as", "to") or word.tag not in ("RB", "RBR", "RBS", "PDT"):
            return word
    return None


def _by_dependency(words: Sequence[Word], place: int) -> Frame | None:
    """Returns the frame for the dependency label of a word."""
    word = words[place]
    match word.dep:
        case "acomp" | "attr" | "oprd":
            return "predicate"
        case "nsubj" | "nsubjpass" | "dobj" | "pobj" | "dative":
            return "noun"
        case "advmod":
            return "adverb"
        case "conj":
            return _by_dependency(words, word.head) if word.head != place else None
        case _:
            return "verb" if word.tag in ("VB", "VBP", "VBZ", "VBD", "MD") else None


def _kind(words: Sequence[Word], first: int, head: int, frame: Frame | None) -> Kind:
    """Returns the kind of a filler by its tag, unless a degree word before it or the dictionary decides otherwise."""
    word = words[head]
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
