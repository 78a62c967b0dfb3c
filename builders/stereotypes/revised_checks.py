"""Checks of the revised rules beyond the paper's: a verb first, people as subject, nothing incomplete."""

import re

from catsofa.builders.dictionary import other_parts, person_nouns, regular_forms, verb_tags
from catsofa.builders.stereotypes.parsing import Sentence, Word
from catsofa.builders.stereotypes.predicates import AUXILIARIES, SUBJECTS, PredicateFault, Present
from catsofa.builders.stereotypes.subjects import GENERIC
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

_LEFT_OVER = re.compile(
    r"(?<=\s)(?:'(?:s|re|ve)|wh|ths|thats)\b|(?<!each )(?<!the )(?<!one )\bother$|\b(?:\w+)/having\b|\(\s*\)"
    r"|(?:[,;]|\bgets?) it's\b|(?<=\w )(?:is|are) because\b"
    r"|\b(?:should|can|could|will|would) ever\b|\b(?:of|to|with|at|by|and|than) (?:and|or|because|but)\b"
)
"""Traces of a lost word: "persuaded if 's fun", "people wh limbs", "target other"."""
_SOMEBODY = frozenset(
    {"people", "family", "one", *(a + b for a in ("every", "some", "any", "no") for b in ("one", "body", "thing"))}
)
"""Singular words for more than one person, or for somebody else."""
_AGENTS = ("ers", "ors", "ims", "icts", "ists", "ants", "eons", "ects")
"""Endings of a head noun that another noun precedes: "slave owners", "rape victims"."""
_PRESCRIPTIVE = re.compile(wordlist("candidates.toml")["prescriptive"][0])


def is_prescriptive(text: str) -> bool:
    """Returns True if a predicate says what people should do or deserve, not what they are or do."""
    return bool(_PRESCRIPTIVE.search(text))


def slang_verb(text: str) -> Present | None:
    """Returns the reading of a first word that is a verb outside the dictionary ("mooch off people"), or None."""
    forms = {form: tag for verb in wordlist("verbs.toml")["slang"] for tag, form in regular_forms(verb)}
    match forms.get(compounds(text)[0]):
        case "VBP":
            return "VBP"
        case "VBZ":
            return "VBZ"
    return None


def reading_of(text: str, words: Sentence) -> Present | PredicateFault:
    """Returns the reading of a first word that is no verb by the paper's rules.

    The word can still be a slang verb, a verb before its object, or an adverb before a verb. Otherwise the predicate
    has no verb.
    """
    first = compounds(text)[0]
    if (slang := slang_verb(text)) and words[1].tag.startswith("VB"):
        return slang
    if "VB" in verb_tags(first):
        return "VBP" if _has_object(first, words) else "no_verb"
    following = next((i for i, w in enumerate(words[1:], 1) if not _is_adverb(w)), 0)
    after = words[following].lower
    verb = following > 1 and {"VB", "VBZ"} & verb_tags(after) and "ADJ" not in other_parts(after)
    finite = any(w.tag in ("VBZ", "MD", "VBP") for w in words[following + 1 :])
    return "leading_adverb" if verb and not finite and not words[following].tag.startswith(("IN", "TO")) else "no_verb"


def _is_adverb(word: Word) -> bool:
    """Returns True if the dictionary lists a word as an adverb, but not as a noun or a verb."""
    return "ADV" in other_parts(word.lower) and "NOUN" not in other_parts(word.lower) and not verb_tags(word.lower)


def _has_object(first: str, words: Sentence) -> bool:
    """Returns True if a word tagged as noun or adjective is a verb before its object ("own shops")."""
    if len(words) < 3 or any(w.tag in ("VBZ", "MD") for w in words[3:4]):
        return False
    inside = ("compound", "amod", "nmod")
    head = next((w for w in words[2:] if not w.tag.startswith("JJ") and w.dep not in inside), words[-1])
    if "ADJ" in other_parts(first) and "NOUN" not in other_parts(first):
        return first in wordlist("verbs.toml")["before_nouns"]
    determined = words[2].tag in ("DT", "PRP$", "PRP", "CD")
    plural = head.tag == "NNS" and not head.lower.endswith(_AGENTS)
    verb = words[1].tag.startswith("VB") and words[2].tag in ("VBG", "RP", "IN", "VBP")
    return determined or plural or verb


def speaks_of_a_thing(text: str, words: Sentence, *, singular: bool) -> bool:
    """Returns True if the lost subject was no group of people: an event, or a thing ("is a bad religion")."""
    lists = wordlist("exclusions.toml")["revised"]
    if words[1].lower in lists["happens"] or re.match(rf"is (?:{'|'.join(lists['said_of_things'])})\b", text.lower()):
        return True
    main = words[1].head if words[1].dep in AUXILIARIES else 1
    for index, noun in enumerate(words):
        between = words[main + 1 : index]
        if noun.dep != "attr" or noun.head != main or any(word.tag == "VBG" for word in between):
            continue
        if noun.lower in lists["things"]:
            return True
        article = any(w.head == index and w.lower in ("a", "an") for w in words)
        if singular and article and noun.tag == "NN" and not _goes_with_people(noun.lower):
            return True
    return False


def _goes_with_people(noun: str) -> bool:
    """Returns True if a noun can describe people: a person, a likeness, or a noun for a group ("a burden")."""
    lists, groups = wordlist("exclusions.toml")["revised"], wordlist("groups.toml")
    if noun in lists["no_persons"]:
        return False
    person_nouns_and_collectives = {*person_nouns(), *GENERIC, *wordlist("agreement.toml")["nouns"]["collective"]}
    return noun in person_nouns_and_collectives or noun.endswith(tuple(groups["person_endings"]))


def left_open(text: str, words: Sentence) -> bool:
    """Returns True if a word was lost, or "them" refers to the victims of the lost subject ("hurt them")."""
    if _LEFT_OVER.search(text.lower()):
        return True
    for index, word in enumerate(words):
        if word.lower not in ("them", "him", "her") or word.tag == "PRP$":
            continue
        inside = words[1].lower in ("have", "has") and words[index - 1].tag == "IN"
        if not inside and not any(_may_be_meant(i, words) for i in range(1, index)):
            return True
    return False


def _may_be_meant(index: int, words: Sentence) -> bool:
    """Returns True if "them" can refer to this word, or if the word is another subject, which can mean the group."""
    word = words[index]
    meant = word.tag in ("NNS", "NNPS", "WP", "?") or word.lower in _SOMEBODY
    return meant or word.dep in SUBJECTS
