"""What a statement must not be about: events, terminology, offences, other subjects, named targets (SoFa, App. A)."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import plural_noun
from catsofa.data.language.wordlists import wordlist

Exclusion = Literal["historical_event", "terminology", "offence_or_joke"]
EXCLUSIONS: tuple[Exclusion, ...] = ("historical_event", "terminology", "offence_or_joke")


def topic(text: str) -> Exclusion | None:
    """The first excluded topic a statement touches, by the words of `exclusions.toml`."""
    return next((reason for reason in EXCLUSIONS if _topic_pattern(reason).search(text.lower())), None)


@cache
def _topic_pattern(reason: Exclusion) -> re.Pattern[str]:
    """One pattern for all words of a topic; a star at the end of a word stands for the rest of it."""
    words = [re.sub(r"(?<!\\w)\*", r"\\w*", word) for word in wordlist("exclusions.toml")[reason]]
    return whole_words(words, escape=False)


def whole_words(words: Iterable[str], *, escape: bool = True) -> re.Pattern[str]:
    """A pattern that finds any of these words where they stand alone."""
    ordered = sorted(set(words), key=len, reverse=True)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, ordered) if escape else ordered)})(?![\w-])")


@cache
def _person_pattern() -> re.Pattern[str]:
    """Words of the first and second person."""
    return whole_words(wordlist("exclusions.toml")["person"])


def first_or_second_person(text: str) -> bool:
    """Whether the writer or the reader is spoken of; the US are not us."""
    spared = re.sub(r"\bUS\b|\b[Tt]he us\b|\bin us\b", "America", text)
    return bool(_person_pattern().search(spared.lower()))


def expects_no_subject(text: str) -> bool:
    """Whether a statement opens with it or there, or says that something is fine to do."""
    lists = wordlist("exclusions.toml")
    if text.lower().split(" ")[0] in lists["no_subject"]:
        return True
    return bool(_no_subject_pattern().match(text.lower()))


@cache
def _no_subject_pattern() -> re.Pattern[str]:
    """`is fine to …`, in the singular: "are hard to tell apart" is a good predicate; and `is to cook`, a purpose."""
    adjectives = "|".join(map(re.escape, wordlist("exclusions.toml")["no_subject_adjectives"]))
    be = r"(?:is|isn't|'s|(?:would|will|should|can|could|might|may|must)(?:n't)? (?:not )?be)"
    return re.compile(
        rf"{be}(?: \w+)? (?:{adjectives}) (?:to|that|if|when|for .+ to)\b|is(?: \w+)? to (?!be\b|blame\b)"
    )


def other_subject(text: str) -> bool:
    """Whether a statement opens with a pronoun or another word that is no group."""
    return text.lower().split(" ")[0] in wordlist("exclusions.toml")["other_subject"]


class Names:
    """The names of groups by which a predicate would name a target: our lists and the user's own."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        groups = wordlist("groups.toml")
        ambiguous = set(groups["ambiguous"])
        demonyms = {name for nation in nations() for name in nation.people()}
        own = {form for word in more if word for form in (word.lower(), plural_noun(word.lower()))}
        nouns = {*groups["nouns"], *groups["faiths"], *demonyms, *own} - ambiguous
        persons = "|".join(groups["persons"])
        spoken = "|".join(groups["languages"])
        self._tongue = re.compile(rf"\b(?:{'|'.join(groups['tongue'])}) (?:only |in |fluent |good )?(?:{spoken})\b")
        self._nouns = whole_words(nouns)
        described = ambiguous - set(groups["no_target"])
        self._described = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, described))}),? (?:{persons})\b")
        collective = set(groups["collective"]) - set(groups["no_target"])
        self._collective = re.compile(
            rf"\bthe (?:{'|'.join(map(re.escape, collective))})\b(?! (?:language|side|eye|spot)s?\b)"
        )

    def first(self, text: str) -> str | None:
        """The first name of a group in a text, or None."""
        text = self._tongue.sub(" ", text.lower())
        for pattern in (self._nouns, self._described, self._collective):
            if found := pattern.search(text):
                return found[0]
        return None
