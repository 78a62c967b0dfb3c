"""Words in a predicate that agree with the subject, by the closed lists and rules of a folder."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from catsofa.data.languages import Language, Refusal

COPULAS = ("copulas", "copulas_before_adjectives")
"""The lists of verbs with agreement behind them. A phrase is a verb with the word before it (se sienten)."""


def bare(word: str) -> str:
    """Returns a word in lower case without its punctuation."""
    return word.strip(".,;:!?¡¿…\"'«»()。，！？；：").lower()


def asides(words: Sequence[str], lists: Mapping[str, Any]) -> set[int]:
    """Returns the places of the words of adverbial phrases (a veces, en général), which change no agreement."""
    text, places = " ".join(map(bare, words)), set[int]()
    for match in re.finditer(rf"(?<!\S)(?:{lists.get('asides', '(?!)')})(?!\S)", text):
        first = text.count(" ", 0, match.start())
        places.update(range(first, first + match[0].count(" ") + 1))
    return places


def copular(words: Sequence[str], index: int, lists: Mapping[str, Any], language: Language) -> bool:
    """Returns True if adjectives behind the word agree with the subject: at a copula, or a verb with an adjective."""
    plain = list(map(bare, words))
    names = {plain[index], " ".join(plain[max(index - 1, 0) : index + 1]), plain[index].rpartition("'")[2]}
    if names.intersection(lists["copulas"]):
        return True
    passed, joined = asides(words, lists), (*lists.get("degrees", ()), *lists.get("conjunctions", ()))
    follows = next((w for at, w in enumerate(plain) if at > index and at not in passed and w not in joined), "")
    participle = bool(re.search(lists.get("participles", r"(?!)"), follows))
    described = follows not in lists.get("unmarked", ()) and (participle or follows in language.adjectives)
    return described and bool(names.intersection(lists.get("copulas_before_adjectives", ())))


def plural_noun(word: str, lists: Mapping[str, Any]) -> bool:
    """Returns True if a word looks like a plural noun, by its last letter, in a language that lists function words."""
    kinds = ("closers", "degrees", "conjunctions", "relatives", "openers", "nominal", "unmarked")
    return word in lists.get("heads", ()) or (
        word.endswith(("s", "x")) and not any(word in lists.get(kind, ()) for kind in kinds)
    )


def describes_subject(words: Sequence[str], index: int, clause: bool, reading: str, language: Language) -> bool:
    """Returns True if an adjective or a word for people far from a copula shows the gender or number of the subject.

    It does not if it stands with a noun (cosas raras), a determiner (los ricos) or most prepositions (con amigos).
    `clause` tells that a copula stands before it, and `reading` is the number of the statement.
    """
    lists, plain = language.need("statements"), list(map(bare, words))
    word, passed = plain[index], asides(words, lists)
    adjective = word in language.adjectives or bool(re.search(lists.get("participles", r"(?!)"), word))
    if "nominal" not in lists or word in lists["unmarked"] or not (adjective or word in language.by_form):
        return False
    forms = forms_of(word, language)
    if isinstance(forms, Refusal) or (word in forms.values() and len({*forms.values()}) == 1):
        return False
    places = [at for at in range(index) if at not in passed and plain[at] not in lists["degrees"]]
    last = plain[places[-1]] if places else ""
    follows = "".join(plain[index + 1 : index + 2])
    early = language.adjectives.get(word) in lists["before_nouns"] and follows and follows not in lists["closers"]
    singular = word not in forms.values()
    if early or last in lists["nominal"] or (singular and reading != "singular"):
        return False
    if last in lists["conjunctions"] and len(places) > 1:
        other = plain[places[-2]]
        others = forms_of(other, language)
        joined = other in language.adjectives and not describes_subject(words, places[-2], clause, reading, language)
        same = isinstance(others, Refusal) or any(others[g] == other and forms[g] == word for g in forms)
        return (adjective or clause) and not (joined and same)
    if not adjective:
        return last in lists["like"]
    if not singular:
        return not plural_noun(last, lists)
    return clause or last in lists["like"] or language.reading(last) == "plural"


def attributes(after: Sequence[str], lists: Mapping[str, Any], language: Language) -> list[str] | Refusal:
    """Returns the words behind a copula with the article and the adjectives of a noun for the subject made plural.

    For a language with a table of endings: ein guter Koch, gute Koch; kein guter Koch, keine guten Koch. Refuses
    a definite article, an article in another place, an unknown adjective and an unknown noun.
    """
    articles = {
        form: (word, table["after"])
        for word, table in language.tables.get("articles", {}).items()
        for form in table[language.cases[0]][:2]
        if "after" in table
    }
    plain = [bare(word) for word in after]
    degrees = {*lists.get("degrees", ())} - {*articles}
    passed = asides(after, lists)
    start = next((at for at, word in enumerate(plain) if at not in passed and word not in degrees), len(after))
    article, kind = articles.get(plain[start] if start < len(after) else "", ("", ""))
    if kind != "indef":
        apart = [word for word in plain[start + 1 :] if articles.get(word, ("", ""))[1] == "indef"]
        people = [word for word in plain[start + 1 :] if word in language.by_form]
        closed = {*plain}.intersection((*lists.get("closers", ()), *lists.get("degrees", ()))) - {*articles}
        if kind or (apart and people and not closed):
            return Refusal("unknown_agreement", after[start])
        return list(after)
    plural = str(language.article(article, language.genders[0], "pl"))
    made = [*after[:start], *([plural] if plural else [])]
    for index in range(start + 1, len(after)):
        word, lemma = plain[index], language.adjectives.get(plain[index], "")
        if not after[index][0].islower():
            known = forms_of(word, language)
            return known if isinstance(known, Refusal) else [*made, *after[index:]]
        # without an ending, an adjective is an adverb: ein richtig guter Koch
        adverb = word in (*degrees, *lists.get("conjunctions", ())) or (word == lemma and not word.endswith("e"))
        if not adverb and not lemma:
            break
        form = word if adverb else language.agree(lemma, language.genders[0], "pl", "", kind if plural else "none")
        made.append(after[index].replace(word, str(form)))
    return Refusal("unknown_agreement", after[-1])


def forms_of(word: str, language: Language) -> Mapping[str, str] | Refusal:
    """Returns the plural of an adjective or a word for people in each gender, given any of its forms."""
    for article in language.tables.get("articles", {}):
        plurals = {gender: str(language.article(article, gender, "pl")) for gender in language.genders[:2]}
        if word in plurals.values():
            return plurals
    nouns = language.by_form.get(word)
    if nouns:
        # a noun with one gender can be for all (Kinder, gute Menschen) if adjectives have no gender in the plural
        every = nouns[0].category != "gender" and len(nouns[0].plurals) == 1 and "endings" in language.tables
        same = nouns[0].plurals[0] if every else nouns[0].form("n", "pl")
        plurals = {gender: nouns[0].form(gender, "pl") or same for gender in language.genders[:2]}
        return plurals if all(plurals.values()) else Refusal("unknown_agreement", word)
    lemma = language.adjectives.get(word) or language.form("lemma", word)
    if isinstance(lemma, Refusal):
        return Refusal("unknown_agreement", word)
    agreed = {gender: language.agree(lemma, gender, "pl") for gender in language.genders[:2]}
    forms = {gender: form for gender, form in agreed.items() if isinstance(form, str)}
    all_forms = {form for g in language.genders[:2] for n in ("sg", "pl") if (form := language.agree(lemma, g, n))}
    return forms if len(forms) == 2 and word in all_forms else Refusal("unknown_agreement", word)
