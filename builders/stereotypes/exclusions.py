"""Excluded topics of statements: events, terminology, offences, other subjects, named targets (SoFa, App. A)."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import plural_noun
from catsofa.data.language.wordlists import slurs, wordlist

RuleSet = Literal["revised", "paper"]
"""`paper`: our reading of SoFa's Appendix A; `revised`: the same, corrected where a reader found errors."""

Exclusion = Literal["historical_event", "terminology", "offence_or_joke"]
EXCLUSIONS: tuple[Exclusion, ...] = ("historical_event", "terminology", "offence_or_joke")


def topic(text: str, rules: RuleSet = "paper") -> Exclusion | None:
    """Returns the first excluded topic of a statement, by the words of `exclusions.toml`, or None."""
    searched = _spared().sub(" ", text.lower()) if rules == "revised" else text.lower()
    return next((reason for reason in EXCLUSIONS if _topic_pattern(reason, rules).search(searched)), None)


@cache
def _spared() -> re.Pattern[str]:
    """Returns the pattern of allowed phrases that contain a word of an excluded topic ("take a joke")."""
    return whole_words(wordlist("exclusions.toml")["revised"]["spared"], escape=False)


@cache
def _topic_pattern(reason: Exclusion, rules: RuleSet) -> re.Pattern[str]:
    """Returns one pattern for all words of a topic; a star in a listed word matches any further letters."""
    lists = wordlist("exclusions.toml")
    words = lists[reason]
    if rules == "revised":
        words = [w for w in words if w not in lists["revised"]["dropped"]] + lists["revised"]["added"][reason]
    return whole_words([re.sub(r"(?<!\\w)\*", r"\\w*", word) for word in words], escape=False)


def whole_words(words: Iterable[str], *, escape: bool = True) -> re.Pattern[str]:
    """Returns a pattern that matches any of these words as whole words."""
    ordered = sorted(set(words), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?<!\w')(?:{'|'.join(map(re.escape, ordered) if escape else ordered)})(?![\w-])")


@cache
def _person_pattern(rules: RuleSet) -> re.Pattern[str]:
    """Returns the pattern of first- and second-person words.

    The revised rules match words of the writer and instructions to the reader ("you should"). They allow "will take
    your money".
    """
    lists = wordlist("exclusions.toml")
    return whole_words(lists["person"]) if rules == "paper" else whole_words(lists["revised"]["person"], escape=False)


def first_or_second_person(text: str, rules: RuleSet = "paper") -> bool:
    """Returns True if a text mentions its writer or its reader; "US" for the country does not count."""
    spared = re.sub(r"\bUS\b|\b[Tt]he us\b|\bin us\b", "America", text)
    return bool(_person_pattern(rules).search(spared.lower()))


def expects_no_subject(text: str, rules: RuleSet = "paper") -> bool:
    """Returns True if a statement opens with "it" or "there", or says that an action is fine."""
    lists = wordlist("exclusions.toml")
    if text.lower().split(" ")[0] in lists["no_subject"]:
        return True
    return bool(_no_subject_pattern(rules).match(text.lower()))


@cache
def _no_subject_pattern(rules: RuleSet) -> re.Pattern[str]:
    """Returns the pattern of `is fine to …` and of a purpose, `is to cook`.

    It does not match `are`, because "are hard to tell apart" is a good predicate. By the revised rules "shouldn't
    be allowed to vote" and "is known to lie" are predicates.
    """
    lists, revised = wordlist("exclusions.toml"), rules == "revised"
    words = lists["no_subject_adjectives"] + (lists["revised"]["no_subject_adjectives"] if revised else [])
    adjectives = "|".join(re.escape(word) for word in words if not (revised and word == "allowed"))
    be = r"(?:is|isn't|'s|(?:would|will|should|can|could|might|may|must)(?:n't)? (?:not )?be)"
    fine = rf"{be}(?: \w+)? (?:{adjectives}) (?:to|that|if|when|for .+ to)\b"
    if revised:
        purpose = r"is(?: not| just| only)? to (?!be\b|blame\b)"
        return re.compile(rf"{fine}|{purpose}|is not a (?:problem|big deal)|(?:doesn't|does not) matter (?:if|that)")
    return re.compile(rf"{fine}|is(?: \w+)? to (?!be\b|blame\b)")


def other_subject(text: str) -> bool:
    """Returns True if a statement opens with a pronoun or another word that is not a group."""
    return text.lower().split(" ")[0] in wordlist("exclusions.toml")["other_subject"]


class Names:
    """Group names that a predicate must not contain: the bundled lists and the user's own names."""

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

    def first(self, text: str, rules: RuleSet = "paper") -> str | None:
        """Returns the first group name in a text, or None."""
        return self._listed(text) or (_revised_name(text.lower()) if rules == "revised" else None)

    def _listed(self, text: str) -> str | None:
        """Returns the first listed group name in a text, or None."""
        text = self._tongue.sub(" ", text.lower())
        for pattern in (self._nouns, self._described, self._collective):
            if match := pattern.search(text):
                return match[0]
        return None


def _revised_name(text: str) -> str | None:
    """Returns a group name by the revised rules: more nouns, colours, and slurs, also masked ones; or None."""
    if match := _more_names().search(text):
        return match[0]
    for token in text.split():
        word = token.strip("\"'.,;:?()")
        # an asterisk or another sign replaces a letter
        if re.search(r"\w[*@#$%&!]", word) and any(
            re.fullmatch(re.sub(r"[^\w'-]", ".", word), slur) for slur in slurs()
        ):
            return word
    return None


@cache
def _more_names() -> re.Pattern[str]:
    """Returns the pattern of the nouns, colours and slurs of the revised rules."""
    lists = wordlist("groups.toml")["revised"]
    nouns = whole_words([*lists["nouns"], *slurs()]).pattern
    colours, behind, adverbs = ("|".join(lists[name]) for name in ("colours", "behind", "adverbs"))
    described = "|".join(f"{noun}s?" for noun in lists["coloured"])
    end = rf"(?=$|[,;.]| (?:{behind})\b)"
    return re.compile(
        rf"{nouns}|\b(?:{colours}) (?!(?:{described}|{behind})\b)[a-z]"
        rf"|\b(?:{'|'.join(lists['seeming'])}) (?:(?:{adverbs}) )?(?:{colours}){end}"
    )
