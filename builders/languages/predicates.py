"""Predicates from statements in any language but English, by the closed lists and rules of its folder."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from catsofa.builders.languages.text import tidy
from catsofa.data.languages import Language, Refusal
from catsofa.data.records import Statement

READINGS = ("plural", "singular")
"""The readings of a first verb that make a predicate; any other reading is the reason of a refusal."""
GROUPS = ("nationality", "race", "religion", "sexuality")
"""The categories of words for people that a predicate must not name."""


class Predicate(NamedTuple):
    """The subject a statement had and its predicate in the third person plural, by the gender of its subject."""

    subject: str
    forms: Mapping[str, str]
    """By gender; under the empty text alone where all are equal."""


def predicate(statement: Statement, language: Language) -> Predicate | Refusal:
    """The predicate of a statement that can follow any subject in the plural, or the reason to refuse it."""
    lists, text = language.need("statements"), tidy(statement.statement)
    subject, rest = _without_subject(text, statement.target, lists, language)
    # tidy text has plain punctuation; a script without spaces has its own
    rest = rest if language.spaces else rest.translate(str.maketrans(",!?;:", "，！？；："))
    words = _words(rest, language)
    if not words:
        return Refusal("empty" if not text else "no_verb", text)
    if found := _met(rest, words, lists.get("person", ()), language):
        return Refusal("first_or_second_person", found)
    if agreeing := re.search(lists.get("agreeing", r"(?!)"), " ".join(map(_bare, words))):
        return Refusal("agrees_with_subject", agreeing[0])
    named = [form for noun in language.nouns if noun.category in GROUPS for form in noun.plurals]
    own = _forms(statement.target, language) if statement.target else ()
    if found := _met(rest, words, [*own, *named, *lists.get("named", ())], language):
        return Refusal("names_target", found)
    if re.search(lists.get("past_compound", r"(?!)"), rest):
        return Refusal("past_tense", rest)
    if re.search(lists.get("future_compound", r"(?!)"), rest):
        return Refusal("future_or_conditional", rest)
    if not language.numbers:
        reading = language.reading(rest) or "no_verb"
        return Predicate(subject, {"": rest}) if reading == "plural" else Refusal(reading, rest)
    place = next((at for at, word in enumerate(words) if word.lower() not in lists.get("openers", ())), len(words))
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
    return _agreed(subject, words, place, lists, language)


def _words(text: str, language: Language) -> list[str]:
    """The words of a text as they are written, with their punctuation; in a language without spaces, its characters."""
    return text.split() if language.spaces else list(text)


def _bare(word: str) -> str:
    """A word in lower case without its punctuation."""
    return word.strip(".,;:!?¡¿…\"'«»()。，！？；：").lower()


def _met(text: str, words: Sequence[str], listed: Sequence[str], language: Language) -> str:
    """The first listed word or phrase that is in a text; empty if none is."""
    if not language.spaces:
        return next((word for word in listed if word in text), "")
    # an elided word is a word: l'homme, j'ai
    apart = re.sub(r"(?<=\w)'(?=\w)", "' ", f" {' '.join(map(_bare, words))} ")
    return next((word for word in listed if f" {word.lower()} " in apart), "")


def _forms(target: str, language: Language) -> list[str]:
    """A target with all its written forms; of one that no table has, the singular is the plural without its ending."""
    plain = _without_article(target.strip(), language)
    nouns = language.by_form.get(plain.lower(), ())
    found = [form for noun in nouns for form in noun.forms.values() if form] + [plain]
    if not nouns and language.spaces and len(plain) > 4:
        found += [plain[:-1], plain[:-2]]
    return list(dict.fromkeys(found))


def _without_article(target: str, language: Language) -> str:
    """A target without the determiner before it."""
    determiners = language.need("statements").get("determiners", ())
    return re.sub(rf"^(?:{_any(determiners)})(?=\S)", "", target, flags=re.IGNORECASE) if determiners else target


def _any(phrases: Sequence[str]) -> str:
    """An alternation, the longest phrase first, with a space after each that does not end in an apostrophe."""
    return "|".join(
        re.escape(phrase) + ("" if phrase.endswith("'") else r"\s+")
        for phrase in sorted(phrases, key=len, reverse=True)
    )


def _without_subject(text: str, target: str, lists: Mapping[str, Any], language: Language) -> tuple[str, str]:
    """The subject at the front of a statement, its target or a pronoun, and what follows it."""
    named = [*(_forms(target, language) if target.strip() else ()), *lists.get("pronouns", ())]
    names = "|".join(map(re.escape, sorted(named, key=len, reverse=True)))
    before, after = (r"(?:%s)?", r"(?=[\s,])") if language.spaces else ("(?:%s)?", "")
    opening = ""
    for group in ("quantifiers", "determiners"):
        if phrases := lists.get(group):
            alternatives = _any(phrases) if language.spaces else "|".join(sorted(phrases, key=len, reverse=True))
            opening += before % alternatives
    plural_marks = "|".join(map(re.escape, lists.get("plural_marks", ())))
    found = re.match(rf"{opening}(?:{names})(?:{plural_marks}){after}", text, re.IGNORECASE) if names else None
    return (found[0], text[found.end() :].lstrip(" ,，")) if found else ("", text)


def _reading(word: str, place: int, lists: Mapping[str, Any], language: Language) -> str:
    """What a first word is: a plural or singular verb, or the reason why it is no verb for a predicate."""
    plain = _bare(word)
    for reading, listed in lists.get("readings", {}).items():
        if plain in listed:
            return str(reading)
    capital = place == 0 and word[:1].isupper() and lists.get("capital_nouns", False)
    if capital or plain in language.by_form:
        return "no_verb"
    return language.reading(plain) or "no_verb"


def _other_subject(words: Sequence[str], place: int, reading: str, lists: Mapping[str, Any], language: Language) -> str:
    """The words before the verb of a whole sentence about somebody whom no target names; empty if there are none.

    `La zorba` may be an object and its verb (la odia) or a subject: it is a subject if a known verb follows at once.
    """
    plain = [_bare(word) for word in words]
    listed = [*lists.get("quantifiers", ()), *lists.get("determiners", ())] if language.spaces else []
    opened = bool(listed and re.match(rf"(?:{_any(listed)})", f"{' '.join(plain)} "))
    known = {word for kind in READINGS for word in lists.get("readings", {}).get(kind, ())} | set(lists["copulas"])
    if reading in READINGS:
        behind = plain[place + 1 : place + 3]
        meaning = language.facts.get("meaning", {})
        negations = {*meaning.get("negations", ()), *meaning.get("beside", ())}.intersection(lists.get("openers", ()))
        denied = len(behind) == 2 and behind[0] in negations
        follows = known.intersection(behind[:1]) or (denied and _reading(behind[1], 1, lists, language) in READINGS)
        return words[place] if opened and plain[place] not in known and follows else ""
    if reading not in ("no_verb", "participle_only"):
        return ""
    capital = lists.get("capital_nouns", False) and words[place][:1].isupper()
    noun = plain[place] in language.by_form or (
        capital and plain[place] not in lists.get("readings", {}).get("no_verb", ())
    )
    stops = {*lists.get("relatives", ()), *lists.get("conjunctions", ())}
    for at in range(place + 1 if opened or noun else len(words), len(words)):
        if plain[at] in stops:
            return ""
        if plain[at] in known or _reading(words[at], at, lists, language) in READINGS:
            return " ".join(words[:at])
    return ""


def _plural(words: Sequence[str], place: int, lists: Mapping[str, Any], language: Language) -> list[str] | Refusal:
    """A predicate with its singular verb made plural; one with a second verb or a word for one owner is refused."""
    made = language.finite(_bare(words[place]), "pl")
    if isinstance(made, Refusal):
        return Refusal("singular_verb" if made.reason == "no_finite" else made.reason, made.word)
    after, copula = list(words[place + 1 :]), _bare(words[place]) in lists["copulas"]
    for at, word in enumerate(map(_bare, after), 1):
        joined = next((one for one in map(_bare, after[at:]) if one not in lists.get("degrees", ())), "")
        # what `and` joins to an adjective behind a copula is an adjective, and no second verb
        second = word in lists.get("conjunctions", ()) and not (copula and joined in language.adjectives)
        owned = word in lists.get("singular_words", ()) and not (
            at == len(after) and word in lists.get("infinitives", ())
        )
        if second or owned:
            return Refusal("singular_verb", word)
    if copula and after and _bare(after[0]) in lists.get("one", ()):
        plural = lists.get("several", "")
        after = [*([plural] if plural else []), *after[1:]]
        head = _bare(after[1 if plural else 0]) if len(after) > bool(plural) else ""
        if isinstance(_forms_of(head, language), Refusal):
            return Refusal("unknown_agreement", head)
    return [*words[:place], made, *after]


def _agreed(
    subject: str, words: Sequence[str], place: int, lists: Mapping[str, Any], language: Language
) -> Predicate | Refusal:
    """The predicate in each gender: adjectives and words for people behind a copula agree, others are refused."""
    columns = [dict.fromkeys(language.genders[:2], word) for word in words]
    behind, related, before = False, False, ""
    for at, word in enumerate(words[place:], place):
        plain, last, before = _bare(word), before, _bare(word)
        related |= plain in lists.get("relatives", ())
        if plain in lists["copulas"]:
            if related:
                return Refusal("unknown_agreement", word)
            behind = True
            continue
        if not behind or plain in lists.get("degrees", ()) or plain in lists.get("conjunctions", ()):
            continue
        if re.search(lists.get("unchanging", r"(?!)"), plain):
            continue
        closed = plain in lists.get("closers", ()) or bool(re.match(lists.get("closing", r"(?!)"), plain))
        follows = _bare("".join(words[at + 1 : at + 2]))
        opening = plain in lists.get("partitives", ()) and last in (*lists["copulas"], *lists.get("degrees", ()))
        if opening and follows in language.adjectives:
            continue
        # a second verb
        closed = closed or (
            last in lists.get("conjunctions", ())
            and language.reading(plain) == "plural"
            and isinstance(_forms_of(plain, language), Refusal)
        )
        behind = not closed and not word.endswith((".", ";", ":", "!"))
        if not closed and plain not in language.by_form and re.match(lists.get("agents", r"(?!)"), word.strip(".,;:!")):
            return Refusal("unknown_agreement", word)
        # an adjective after a copula has no ending in a language with a table of endings
        if closed or ("endings" in language.tables and plain not in language.by_form):
            continue
        forms = _forms_of(plain, language)
        if isinstance(forms, Refusal):
            return forms
        columns[at] = {gender: word.lower().replace(plain, form) for gender, form in forms.items()}
    made = {gender: " ".join(column[gender] for column in columns) for gender in language.genders[:2]}
    if len(set(made.values())) <= 1:
        return Predicate(subject, {"": next(iter(made.values()), " ".join(words))})
    return Predicate(subject, made)


def _forms_of(word: str, language: Language) -> Mapping[str, str] | Refusal:
    """The plural of an adjective or a word for people in each gender, given any form of it."""
    for article in language.tables.get("articles", {}):
        found = {gender: str(language.article(article, gender, "pl")) for gender in language.genders[:2]}
        if word in found.values():
            return found
    nouns = language.by_form.get(word)
    if nouns:
        found = {gender: nouns[0].form(gender, "pl") for gender in language.genders[:2]}
        return found if all(found.values()) else Refusal("unknown_agreement", word)
    lemma = language.adjectives.get(word) or language.form("lemma", word)
    if isinstance(lemma, Refusal):
        return Refusal("unknown_agreement", word)
    made = {gender: language.agree(lemma, gender, "pl") for gender in language.genders[:2]}
    forms = {gender: form for gender, form in made.items() if isinstance(form, str)}
    known = {form for g in language.genders[:2] for n in ("sg", "pl") if (form := language.agree(lemma, g, n))}
    return forms if len(forms) == 2 and word in known else Refusal("unknown_agreement", word)
