"""Checks that a predicate is complete: one main verb, nothing broken off, no verb in an impossible place."""

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.stereotypes.parsing import Sentence, Word
from catsofa.builders.stereotypes.predicates import AUXILIARIES, SUBJECTS
from catsofa.builders.stereotypes.subjects import FINITE
from catsofa.data.language.inflection import plural_verb
from catsofa.data.language.wordlists import wordlist

_DANGLING = frozenset({"'s", "a", "an", "the", "and", "or", "but", "than"})
"""Words in which no predicate ends."""
_NEVER_SECOND = frozenset(
    {word for word, tag in CLOSED.items() if tag in FINITE} - {"have", "do", "used", "'s", "might"}
)
"""Finite forms that follow no auxiliary: "are can't", "do are"."""


def later_finite_verb(words: Sentence) -> bool:
    """Returns True if a finite verb follows the first two words."""
    return any(map(_is_finite, words[2:]))


def another_main_verb(words: Sentence) -> bool:
    """Returns True if the first verb is not the main one, so the text is no predicate ("they do is complain")."""
    main = words[1].head if words[1].dep in AUXILIARIES else 1
    root = next(i for i, word in enumerate(words) if word.dep == "ROOT")
    if main == root:
        return _noun_taken_for_verb(words)
    if _takes_clause(words[1]) and any(map(_is_finite, words[2:3])):
        return False
    finite = any(_is_finite(w) and i > 1 and root in (i, w.head) for i, w in enumerate(words))
    return finite and not any(w.head == root and w.dep in SUBJECTS and i > 1 for i, w in enumerate(words))


def _takes_clause(word: Word) -> bool:
    """Returns True if a verb takes a clause without "that" ("think nobody likes them")."""
    return (plural_verb(word.lower) if word.tag == "VBZ" else word.lower) in wordlist("verbs.toml")["clausal"]


def _noun_taken_for_verb(words: Sentence) -> bool:
    """Returns True if the first word is wrongly tagged as a verb with a clause ("abuse victims are easy prey")."""
    if words[1].lower in CLOSED or _takes_clause(words[1]):
        return False
    clause = next((i for i, w in enumerate(words) if w.dep == "ccomp" and w.head == 1), 0)
    parts = [w for w in words if w.head == clause]
    linked = any(w.dep in ("mark", "advmod") or w.tag.startswith("W") for w in parts)
    subject = next((i for i, w in enumerate(words) if w.head == clause and w.dep in SUBJECTS), 0)
    verbs = (words[clause], *(w for w in parts if w.dep in AUXILIARIES))
    return bool(clause) and 1 < subject < clause + 2 and not linked and any(map(_is_finite, verbs))


def malformed(text: str, words: Sentence) -> bool:
    """Returns True if a predicate breaks off, or if its first verb cannot precede the next word."""
    first, negated = words[1], len(words) > 2 and words[2].lower in ("n't", "not")
    rest = [w for w in words[2:] if w.lower not in ("n't", "not", "all", "both") and w.lower.isalpha()]
    if _broken_off(text, words) or not rest:
        return _broken_off(text, words)
    second = rest[0].lower
    if first.lower in CLOSED and second in _NEVER_SECOND:
        return True
    if first.lower in ("am", "are", "is", "'s"):
        return _is_present_only(rest[0]) or (second == "one" and [w.lower for w in rest[1:2]] != ["of"])
    if first.lower in ("do", "does") and second == "no" and len(rest) > 1:
        return not other_parts(rest[1].lower)
    if (first.tag == "MD" and first.lower != "ought") or (negated and first.lower in ("do", "does")):
        return not _opens_with_bare_verb(rest)
    return False


def _broken_off(text: str, words: Sentence) -> bool:
    """Returns True if a predicate ends abruptly, has an unclosed bracket, or has "he" or "she" without a noun."""
    if text.count("(") != text.count(")") or (text.endswith("'") and text.count("'") % 2):
        return True
    if words[-1].lower in _DANGLING:
        return True
    for index, word in enumerate(words):
        following = words[index + 1].lower if index + 1 < len(words) else ""
        # the rest of "women" after a careless removal of "men"
        if word.lower == "wo" and following != "n't":
            return True
        if word.lower in ("he", "she") and not any(w.tag in ("NN", "NNP") for w in words[:index]):
            return True
    return False


def _is_present_only(word: Word) -> bool:
    """Returns True if a word can only be a present verb ("are rob")."""
    tags = verb_tags(word.lower)
    return word.tag.startswith("VB") and bool(tags) and tags <= {"VB", "VBP", "VBZ"} and not other_parts(word.lower)


def _opens_with_bare_verb(words: list[Word]) -> bool:
    """Returns True if a bare verb comes first, after optional adverbs ("never help"), as a modal or "do" needs it."""
    for word in words:
        if "VB" in verb_tags(word.lower) or word.lower in ("have", "do"):
            return True
        if not word.tag.startswith("RB") and word.lower != "just":
            return False
    return False


def _is_finite(word: Word) -> bool:
    """Returns True if a word is tagged as a finite verb and can be one."""
    return word.tag == "MD" or (word.tag in FINITE and bool(verb_tags(word.lower) & FINITE))
