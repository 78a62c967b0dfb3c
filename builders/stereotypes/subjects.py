"""Finds the subject at the front of a statement: by the row's target, by group names, or by the parse."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.builders.stereotypes.exclusions import whole_words
from catsofa.builders.stereotypes.parsing import Sentence, Word
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import plural_noun, singular_noun
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

SubjectFault = Literal["other_subject", "restricted_subject", "expects_no_subject", "gerund_only", "no_verb"]
FINITE = frozenset({"VBP", "VBZ", "MD", "VBD"})
GENERIC = frozenset({"people", "person", "persons", "folk", "folks", "individual", "individuals", "human", "humans"})
RESTRICTORS = frozenset(wordlist("exclusions.toml")["restrictors"])
_THEY = re.compile(r"(?P<subject>they|them|these (?:people|folks|guys|ones)|those (?:people|folks))(?=\s|$)", re.I)
"""Matches "they" or "these people", which refer to the row's group."""
_SPLIT = re.compile(r"\s*(?:[/,;&()]|\band\b|\bor\b)\s*")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A statement without its subject; `subject` is empty if the statement had none."""

    subject: str
    rest: str


def strip_target(text: str, target: str) -> Stripped | None:
    """Returns the statement without the row's own target in front, in any usual spelling, or None."""
    if not target.strip():
        return None
    return _strip(text, target_pattern(target.lower()))


def strip_group(text: str) -> Stripped | None:
    """Returns the statement without a group name in front (`women`, `the elderly`, `people with depression`)."""
    if stripped := _strip(text, _THEY):
        return stripped
    stripped = _strip(text, _group_pattern())
    return _described_people(text) if stripped is None or stripped.subject.lower() in GENERIC else stripped


def _described_people(text: str) -> Stripped | None:
    """Returns the statement without adjectives and `people` in front, if a verb follows ("plump people struggle")."""
    words = text.split()
    place = next((i for i, word in enumerate(words[:4]) if word.lower() in GENERIC), 0)
    if not place or len(words) == place + 1 or not verb_tags(words[place + 1]) & (FINITE | {"VB"}):
        return None
    barred = RESTRICTORS.union(wordlist("exclusions.toml")["no_noun_phrase"])
    before = [word.lower() for word in words[:place]]
    described = all(w not in barred and ({"ADJ", "ADV"} & other_parts(w) or not verb_tags(w)) for w in before)
    return Stripped(" ".join(words[: place + 1]), " ".join(words[place + 1 :])) if described else None


@cache
def target_pattern(target: str) -> re.Pattern[str]:
    """Returns a pattern for a target in any usual spelling, with an optional quantifier before it."""
    parts = {part for part in [target, *_SPLIT.split(target)] if part.strip()}
    return _compiled(_any({phrase for part in parts for phrase in _variants(part.strip())}))


def _variants(target: str) -> set[str]:
    """Returns the variants of a target: singular and plural, people and folks, a nationality and its country."""
    bare = re.sub(rf"^(?:{'|'.join(_quantifiers())})\s+", "", target)
    *before, head = bare.split()
    modifier = " ".join(before)
    if head in GENERIC or not before:
        adjective = modifier or bare
        variants = {f"{adjective} {person}" for person in wordlist("groups.toml")["persons"]} | _people_of(adjective)
    else:
        variants = set()
    forms = {head, plural_noun(head), singular_noun(head) or head}
    return variants | {bare} | {f"{modifier} {form}".strip() for form in forms}


def _people_of(adjective: str) -> set[str]:
    """Returns the people that an adjective names: `italian` -> italians, people from italy; `old` -> the old."""
    phrases = {f"the {adjective}", adjective, wordlist("groups.toml")["plural_of"].get(adjective, f"{adjective}s")}
    for nation in nations():
        names = nation.people()
        if adjective in names:
            phrases |= names | {f"people from {nation.place.lower()}"}
    return phrases


def mentions_target(text: str, target: str) -> bool:
    """Returns True if a predicate mentions the row's own target again."""
    return bool(target.strip()) and bool(_target_mention(target.lower()).search(text.lower()))


@cache
def _target_mention(target: str) -> re.Pattern[str]:
    """Returns a pattern for a target in a predicate: the noun, not the adjective alone ("old" of "old folks")."""
    parts = {part.strip() for part in [target, *_SPLIT.split(target)] if part.strip()}
    adjectives = {word for part in parts for word in part.split()[:-1]}
    return whole_words({phrase for part in parts for phrase in _variants(part)} - adjectives - GENERIC)


@cache
def _group_pattern() -> re.Pattern[str]:
    """Returns a pattern for a group name with its modifiers: adjectives before, a condition or country after."""
    groups = wordlist("groups.toml")
    demonyms = {name for nation in nations() for name in nation.people()}
    places = [nation.place.lower() for nation in nations()]
    named = [*groups["nouns"], *demonyms]
    unit = _any([*named, *groups["ambiguous"], *groups["persons"]])
    noun = rf"(?:(?:{unit}),? )*(?:{_any([*named, *groups['persons']])})"
    after = rf"(?: with (?:{_any(groups['conditions'])})| from (?:the )?(?:{_any(places)})| of colou?r)?"
    return _compiled(rf"the (?:{_any(groups['collective'])})(?! (?:{unit})\b)|{noun}{after}")


def _compiled(subject: str) -> re.Pattern[str]:
    """Compiles a pattern for a subject at the front, with an optional quantifier.

    A possessive, or a part of a compound, does not match.
    """
    before = rf"(?:(?:{'|'.join(_quantifiers())})\s+)?"
    return re.compile(rf"(?P<subject>{before}(?:{subject}))(?=\s|$)", re.IGNORECASE)


def _any(phrases: set[str] | list[str]) -> str:
    """Returns an alternation of the phrases, longest first."""
    return "|".join(map(re.escape, sorted(set(phrases), key=len, reverse=True)))


def _quantifiers() -> list[str]:
    """Returns the quantifiers that can precede a group, longest first."""
    return sorted(wordlist("groups.toml")["quantifiers"], key=len, reverse=True)


def _strip(text: str, pattern: re.Pattern[str]) -> Stripped | None:
    """Removes the subject that the pattern matches, and a second group after `and` or `or`; None without a match."""
    match = pattern.match(text)
    if not match:
        return None
    subject, rest = match["subject"], text[match.end() :].strip()
    joined = re.match(r"(?:and|or|&|/)\s+", rest)
    behind = rest[joined.end() :] if joined else ""
    if joined and (more := pattern.match(behind) or _group_pattern().match(behind)):
        subject = f"{subject} {joined[0]}{more['subject']}"
        rest = rest[joined.end() + more.end() :].strip()
    return Stripped(subject, rest)


def restricted(rest: str) -> bool:
    """Returns True if the text after a subject only narrows it (`who …`, `with …`)."""
    return compounds(rest) != () and compounds(rest)[0] in RESTRICTORS


def parsed_subject(text: str, words: Sentence) -> Stripped | SubjectFault:
    """Returns the statement without the plural subject of its finite verb, or the reason why it has none."""
    verb = next((i for i, w in enumerate(words) if w.tag in FINITE and i and _in_main_clause(w, i, words)), None)
    if verb is None:
        return "gerund_only" if "VBG" in verb_tags(words[0].lower) else "no_verb"
    if "VBG" in verb_tags(words[0].lower) and words[0].tag in ("VBG", "NN"):
        return "expects_no_subject"
    subjects = ("nsubj", "nsubjpass")
    head = next((i for i, w in enumerate(words[:verb]) if w.dep in subjects and w.head >= verb), None)
    if head is None or words[0].lower in wordlist("exclusions.toml")["no_noun_phrase"]:
        return "other_subject"
    phrase = [i for i in range(verb) if head in _ancestors(i, words)]
    if any(words[i].dep in ("relcl", "acl", "prep", "appos") for i in phrase):
        return "restricted_subject"
    possessive = any(words[i].dep == "poss" or words[i].tag in ("POS", "PRP$") for i in phrase)
    alone = len(phrase) == 1 and words[head].lower in GENERIC
    if (
        phrase[0] > 0
        or possessive
        or alone
        or words[head].tag not in ("NNS", "NNPS")
        or not _is_people(words[head].lower)
    ):
        return "other_subject"
    start = words[phrase[-1] + 1].start
    return Stripped(text[:start].strip(), text[start:])


def _ancestors(index: int, words: Sentence) -> set[int]:
    """Returns the indices of a word and of the words above it in the parse tree."""
    ancestors: set[int] = set()
    while index not in ancestors:
        ancestors.add(index)
        index = words[index].head
    return ancestors


def _is_people(plural: str) -> bool:
    """Returns True if a plural noun names people, by its ending or by the list."""
    if plural in GENERIC:
        return True
    one = singular_noun(plural) or plural
    return one.endswith(tuple(wordlist("groups.toml")["person_endings"])) or one in wordlist("groups.toml")["kinds"]


def _in_main_clause(word: Word, index: int, words: Sentence) -> bool:
    """Returns True if a verb, or the head of an auxiliary, is the root, a complement or a coordinated clause."""
    if word.dep in ("aux", "auxpass", "cop"):
        word, index = words[word.head], word.head
    return word.dep in ("ROOT", "ccomp", "conj", "parataxis") or word.head == index
