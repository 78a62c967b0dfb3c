"""A predicate made plural: its verbs, its predicate noun, and what it calls itself."""

from dataclasses import dataclass

from catsofa.builders.dictionary import verb_tags
from catsofa.builders.stereotypes.parsing import Sentence, Word
from catsofa.builders.stereotypes.predicates import AUXILIARIES, SUBJECTS
from catsofa.data.language.inflection import plural_noun, plural_verb
from catsofa.data.language.wordlists import wordlist


@dataclass(frozen=True, slots=True)
class Edit:
    """One word of a sentence put in another form; an empty one is taken out with the space behind it."""

    word: Word
    form: str


def pluralise(words: Sentence, *, singular: bool) -> list[Edit]:
    """The edits that make a predicate parsed behind "they" plural; `singular` if its first verb is."""
    edits = [Edit(words[1], plural_verb(words[1].text))] if singular else []
    edits += [Edit(w, plural_verb(w.text)) for i, w in enumerate(words) if i > 1 and _shares_the_subject(i, words)]
    if singular:
        edits += _predicate_noun(words)
        possessives = wordlist("agreement.toml")["possessives"]
        edits += [Edit(w, possessives[w.lower]) for w in words if w.tag == "PRP$" and w.lower in possessives]
    pronouns = wordlist("agreement.toml")["pronouns"]
    edits += [Edit(w, pronouns[w.lower]) for w in words if w.lower in pronouns]
    return edits


def apply(text: str, edits: list[Edit]) -> str:
    """The text with its edits."""
    for edit in sorted(edits, key=lambda e: e.word.start, reverse=True):
        before, after = text[: edit.word.start], text[edit.word.start + len(edit.word.text) :]
        text = before + edit.form + after if edit.form else before + after.lstrip()
    return text


def _shares_the_subject(index: int, words: Sentence) -> bool:
    """Whether a third person singular verb is coordinated with the first verb and has no subject of its own."""
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
    """Whether a word tagged as a plural noun follows an `and` that joins no nouns: "talks a lot and interrupts"."""
    if words[index].tag != "NNS" or words[index - 1].tag != "CC" or words[1].tag != "VBZ":
        return False
    return not words[index - 2].tag.startswith(("NN", "CD", "PRP"))


def _predicate_noun(words: Sentence) -> list[Edit]:
    """`is a(n) ADJ N` -> `are ADJ Ns`, with the verbs of "who …"; a collective noun stays as it is."""
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
    """Whether a singular verb stands in a relative clause about a noun, with who or that as its subject."""
    word = words[index]
    clause = words[word.head] if word.dep in AUXILIARIES else word
    place = word.head if word.dep in AUXILIARIES else index
    if word.tag != "VBZ" or clause.dep != "relcl" or clause.head != noun:
        return False
    return any(w.head == place and w.dep in SUBJECTS and w.lower in ("who", "that", "which") for w in words)
