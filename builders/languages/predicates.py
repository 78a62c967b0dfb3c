"""Predicates from statements in languages other than English, by the closed lists and rules of a folder."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from catsofa.builders.languages.agreement import (
    COPULAS,
    asides,
    attributes,
    bare,
    copular,
    describes_subject,
    forms_of,
    plural_noun,
)
from catsofa.builders.languages.text import tidy
from catsofa.data.languages import Language, Refusal
from catsofa.data.records import Statement

READINGS = ("plural", "singular")
"""The readings of a first verb that form a predicate; any other reading is a refusal reason."""
GROUPS = ("nationality", "race", "religion", "sexuality")
"""The categories of words for people that a predicate must not name."""


class Predicate(NamedTuple):
    """The subject of a statement, and its predicate in the third person plural by the gender of its subject."""

    subject: str
    forms: Mapping[str, str]
    """The predicate by gender; under the empty text alone if all are equal."""


def predicate(statement: Statement, language: Language) -> Predicate | Refusal:
    """Returns the predicate of a statement that can follow any plural subject, or the reason for a refusal."""
    lists, text = language.need("statements"), tidy(statement.statement)
    subject, rest = _without_subject(text, statement.target, lists, language)
    # tidy text has ASCII punctuation; a script without spaces needs its own
    rest = rest if language.spaces else rest.translate(str.maketrans(",!?;:", "，！？；："))
    words = _words(rest, language)
    if not words:
        return Refusal("empty" if not text else "no_verb", text)
    impersonal = "|".join(map(re.escape, lists.get("impersonal", ()))) or r"(?!)"
    if listed := _met(re.sub(impersonal, "", rest), words, lists.get("person", ()), language):
        return Refusal("first_or_second_person", listed)
    plain = " ".join(map(bare, words)) if language.spaces else rest
    if agreeing := re.search(lists.get("agreeing", r"(?!)"), plain):
        return Refusal("agrees_with_subject", agreeing[0])
    named = [form for category in GROUPS for form in language.names_of.get(category, ())]
    own = _forms(statement.target, language) if statement.target else ()
    if listed := _met(rest, words, [*own, *named, *lists.get("named", ())], language):
        return Refusal("names_target", listed)
    if re.search(lists.get("past_compound", r"(?!)"), rest):
        return Refusal("past_tense", rest)
    if re.search(lists.get("future_compound", r"(?!)"), rest):
        return Refusal("future_or_conditional", rest)
    if not language.numbers:
        reading = language.reading(rest) or "no_verb"
        return Predicate(subject, {"": rest}) if reading == "plural" else Refusal(reading, rest)
    if feeling := re.search(lists.get("other_subjects", r"(?!)"), " ".join(map(bare, words))):
        return Refusal("other_subject", feeling[0])
    front = asides(words, lists) | {
        index for index, word in enumerate(words) if word.lower() in lists.get("openers", ())
    }
    place = next((index for index in range(len(words)) if index not in front), len(words))
    if place == len(words):
        return Refusal("no_verb", rest)
    reading = _reading(words[place], place, lists, language)
    if not subject and (other := _other_subject(words, place, reading, lists, language)):
        return Refusal("other_subject", other)
    if reading not in READINGS:
        return Refusal(reading, words[place])
    words[0] = words[0][0].lower() + words[0][1:]
    if reading == "singular":
        turned = _plural(words, place, lists, language)
        if isinstance(turned, Refusal):
            return turned
        words = turned
    return _agreed(subject, words, place, reading, lists, language)


def _words(text: str, language: Language) -> list[str]:
    """Returns the words of a text with their punctuation; in a language without spaces, its characters."""
    return text.split() if language.spaces else list(text)


def _met(text: str, words: Sequence[str], listed: Sequence[str], language: Language) -> str:
    """Returns the first listed word or phrase in a text, or an empty string."""
    if not language.spaces:
        return next((word for word in listed if word in text), "")
    # an elided word counts as a word: l'homme, j'ai
    apart = re.sub(r"(?<=\w)'(?=\w)", "' ", f" {' '.join(map(bare, words))} ")
    return next((word for word in listed if f" {word.lower()} " in apart), "")


def _forms(target: str, language: Language) -> list[str]:
    """Returns a target with all its written forms.

    For a target that no table has, the singular is the plural without its last one or two letters, and the plural and
    the feminine are those of the rules.
    """
    plain = _without_article(target.strip(), language)
    nouns = language.by_form.get(plain.lower(), ())
    variants = [form for noun in nouns for form in (*noun.forms.values(), *language.names(noun)) if form] + [plain]
    if not nouns and language.spaces and len(plain) > 4:
        variants += [plain[:-1], plain[:-2]]
    if language.numbers and plain:
        made = [plain] if nouns else [plain, language.form("feminine", plain)]
        made += [language.form("plural", one) for one in made if isinstance(one, str)]
        variants += [one for one in made if isinstance(one, str)]
    return list(dict.fromkeys(variants))


def _without_article(target: str, language: Language) -> str:
    """Returns a target without the determiner before it."""
    determiners = language.need("statements").get("determiners", ())
    return re.sub(rf"^(?:{_any(determiners)})(?=\S)", "", target, flags=re.IGNORECASE) if determiners else target


def _any(phrases: Sequence[str]) -> str:
    """Returns an alternation, longest phrase first; a space follows each phrase without an apostrophe at its end."""
    return "|".join(
        re.escape(phrase) + ("" if phrase.endswith("'") else r"\s+")
        for phrase in sorted(phrases, key=len, reverse=True)
    )


def _without_subject(text: str, target: str, lists: Mapping[str, Any], language: Language) -> tuple[str, str]:
    """Returns the subject at the front of a statement, its target or a pronoun, and the text after it."""
    named = [*(_forms(target, language) if target.strip() else ()), *lists.get("pronouns", ())]
    names = "|".join(map(re.escape, sorted(named, key=len, reverse=True)))
    before, after = (r"(?:%s)?", r"(?=[\s,])") if language.spaces else ("(?:%s)?", "")
    opening = ""
    for group in ("quantifiers", "determiners"):
        if phrases := lists.get(group):
            alternatives = _any(phrases) if language.spaces else "|".join(sorted(phrases, key=len, reverse=True))
            opening += before % alternatives
    plural_marks = "|".join(map(re.escape, lists.get("plural_marks", ())))
    match = re.match(rf"{opening}(?:{names})(?:{plural_marks}){after}", text, re.IGNORECASE) if names else None
    return (match[0], text[match.end() :].lstrip(" ,，")) if match else ("", text)


def _reading(word: str, place: int, lists: Mapping[str, Any], language: Language) -> str:
    """Returns the reading of a first word: a plural or singular verb, or the reason why it forms no predicate."""
    plain = bare(word)
    for reading, listed in lists.get("readings", {}).items():
        if plain in listed:
            return str(reading)
    capital = place == 0 and word[:1].isupper() and lists.get("capital_nouns", False)
    if capital or plain in language.by_form:
        return "no_verb"
    return language.reading(plain) or "no_verb"


def _other_subject(words: Sequence[str], place: int, reading: str, lists: Mapping[str, Any], language: Language) -> str:
    """Returns the words before the verb of a sentence about somebody other than the target, or an empty string.

    `La zorba` may be an object and its verb (la odia) or a subject. It is a subject if a known verb follows directly.
    """
    plain = [bare(word) for word in words]
    listed = [*lists.get("quantifiers", ()), *lists.get("determiners", ())] if language.spaces else []
    opened = bool(listed and re.match(rf"(?:{_any(listed)})", f"{' '.join(plain)} "))
    verbs = {word for kind in READINGS for word in lists.get("readings", {}).get(kind, ())}
    verbs |= {phrase.split()[-1] for kind in COPULAS for phrase in lists.get(kind, ())}
    if reading in READINGS:
        behind = plain[place + 1 : place + 3]
        meaning = language.facts.get("meaning", {})
        negations = {*meaning.get("negations", ()), *meaning.get("beside", ())}.intersection(lists.get("openers", ()))
        denied = len(behind) == 2 and behind[0] in negations
        follows = verbs.intersection(behind[:1]) or (denied and _reading(behind[1], 1, lists, language) in READINGS)
        named = plain[place] not in verbs or plain[place] in language.by_form
        return words[place] if opened and named and follows else ""
    if reading not in ("no_verb", "participle_only", "first_or_second_person"):
        return ""
    capital = lists.get("capital_nouns", False) and words[place][:1].isupper()
    noun = plain[place] in language.by_form or (
        capital and plain[place] not in lists.get("readings", {}).get("no_verb", ())
    )
    stops = {*lists.get("relatives", ()), *lists.get("conjunctions", ())}
    for index in range(place + 1 if opened or noun else len(words), len(words)):
        if plain[index] in stops:
            return ""
        if plain[index] in verbs or _reading(words[index], index, lists, language) in READINGS:
            return " ".join(words[:index])
    return ""


def _plural(words: Sequence[str], place: int, lists: Mapping[str, Any], language: Language) -> list[str] | Refusal:
    """Returns a predicate with its singular verb made plural.

    Refuses a verb without a known plural, a second verb, a word for one owner, and an unknown noun after an
    indefinite article.
    """
    verb = language.finite(bare(words[place]), "pl")
    if isinstance(verb, Refusal):
        return Refusal("singular_verb" if verb.reason == "no_finite" else verb.reason, verb.word)
    after, copula = list(words[place + 1 :]), copular(words, place, lists, language)
    if copula and "endings" in language.tables:
        declined = attributes(after, lists, language)
        if isinstance(declined, Refusal):
            return declined
        after = declined
    for index, word in enumerate(map(bare, after), 1):
        joined = next((one for one in map(bare, after[index:]) if one not in lists.get("degrees", ())), "")
        # behind a copula, `and` joins a second adjective to an adjective, not a second verb
        second = word in lists.get("conjunctions", ()) and not (copula and joined in language.adjectives)
        owned = word in lists.get("singular_words", ()) and not (
            index == len(after) and word in lists.get("infinitives", ())
        )
        if second or owned:
            return Refusal("singular_verb", word)
    if copula and after and bare(after[0]) in lists.get("one", ()):
        head = bare(after[1]) if len(after) > 1 else ""
        # behind a short form or an adjective before its noun: un buen cocinero, de bons cuisiniers
        full = lists.get("short", {}).get(head, head)
        early = len(after) > 2 and language.adjectives.get(full) in lists.get("before_nouns", ())
        early = early and bare(after[2]) not in lists["closers"]
        plural = lists.get("several_before_adjectives" if early else "several", "")
        if isinstance(forms_of(full, language), Refusal):
            return Refusal("unknown_agreement", head)
        after = [*([plural] if plural else []), full if head in lists.get("short", {}) else after[1], *after[2:]]
    elif copula and len(after) > 1 and bare(after[1]) in language.by_form:
        after[0] = lists.get("short", {}).get(bare(after[0]), after[0])
    # a comma behind the verb stays: glaubt, dass
    return [*words[:place], verb + re.sub(r"^.*\w", "", words[place]), *after]


def _agreed(
    subject: str, words: Sequence[str], place: int, reading: str, lists: Mapping[str, Any], language: Language
) -> Predicate | Refusal:
    """Returns the predicate in each gender, with agreement of adjectives and words for people behind a copula.

    A predicate with another word that would have to agree is refused.
    """
    columns = [dict.fromkeys(language.genders[:2], word) for word in words]
    behind, clause, related, before, passed = False, False, False, "", asides(words, lists)
    for index, word in enumerate(words[place:], place):
        if index in passed:
            continue
        plain, last, before = bare(word), before, bare(word)
        related |= plain in lists.get("relatives", ())
        if copular(words, index, lists, language):
            if related:
                return Refusal("unknown_agreement", word)
            behind = clause = True
            continue
        if not behind and index > place and describes_subject(words, index, clause, reading, language):
            far = reading == "singular" and last not in lists.get("conjunctions", ())
            if far or not clause or any(plural_noun(bare(one), lists) for one in words[place + 1 : index]):
                return Refusal("agrees_with_subject", word)
            behind = True
        if not behind or plain in lists.get("degrees", ()) or plain in lists.get("conjunctions", ()):
            continue
        if re.search(lists.get("unchanging", r"(?!)"), plain):
            continue
        closed = plain in lists.get("closers", ()) or bool(re.match(lists.get("closing", r"(?!)"), plain))
        follows = bare("".join(words[index + 1 : index + 2]))
        closed |= follows in lists.get("heads", ())
        opening = plain in lists.get("partitives", ()) and last in (*lists["copulas"], *lists.get("degrees", ()))
        if opening and follows in language.adjectives:
            continue
        second = (
            last in lists.get("conjunctions", ())
            and language.reading(plain) == "plural"
            and isinstance(forms_of(plain, language), Refusal)
        )
        clause, closed = clause and not second, closed or second
        behind = not closed and not word.endswith((".", ";", ":", "!"))
        if not closed and plain not in language.by_form and re.match(lists.get("agents", r"(?!)"), word.strip(".,;:!")):
            return Refusal("unknown_agreement", word)
        # an adjective after a copula has no ending in a language with a table of endings
        noun = plain in language.by_form and not (lists.get("capital_nouns", False) and word[0].islower())
        if closed or ("endings" in language.tables and not noun):
            continue
        forms = forms_of(plain, language)
        if isinstance(forms, Refusal):
            return forms
        columns[index] = {gender: word.lower().replace(plain, form) for gender, form in forms.items()}
    by_gender = {gender: " ".join(column[gender] for column in columns) for gender in language.genders[:2]}
    if len(set(by_gender.values())) <= 1:
        return Predicate(subject, {"": next(iter(by_gender.values()), " ".join(words))})
    return Predicate(subject, by_gender)
