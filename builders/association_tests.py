"""Sentence association tests (SEAT) from word sets: puts each word into bleached sentences of its kind."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from catsofa.builders.cats.fills import usual_order
from catsofa.builders.dictionary import names_person, other_parts, verb_tags
from catsofa.data import formats
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, toml_files
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import BEHIND, singular_noun
from catsofa.data.language.wordlists import wordlist
from catsofa.data.languages import Language, Noun, Refusal, find
from catsofa.data.languages.slots import render
from catsofa.data.records import AssociationTest, Extra, WordSet

Kind = Literal["name", "person", "noun", "mass", "adjective", "verb", "subject", "object", "possessive"]
"""The kind of a word in a sentence. `noun` is a countable thing; the last three kinds are pronouns."""
KINDS: tuple[Kind, ...] = get_args(Kind)

EXPECTED = "word sets (a SEAT file or folder, or TOML with [tests], [sets] and [kinds])"


@dataclass(frozen=True, slots=True)
class WordTest:
    """A word test, with the kind of each word for which the source gives one."""

    test: AssociationTest
    kinds: Mapping[str, Kind]


def bundled(name: str = "", language: Language | None = None) -> Iterator[WordTest]:
    """Yields the word tests of a language, or one by name; English has WEAT, angry black woman and double bind."""
    yield from _from_tables((language or find("en")).word_sets, name)


def read(path: Path | str) -> Iterator[WordTest]:
    """Yields the word tests of a SEAT file or folder, or of a TOML file with [tests], [sets] and [kinds]."""
    path = Path(path)
    if path.suffix != ".toml":
        for test in formats.read_as(path, AssociationTest):
            yield WordTest(test, {})
        return
    try:
        yield from _from_tables(toml_files.read(path, EXPECTED))
    except BadInput:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(path, f"word sets that do not fit together ({error})", EXPECTED) from None


def _from_tables(tables: Mapping[str, Any], only: str = "") -> Iterator[WordTest]:
    """Yields the tests of a TOML file with the tables `tests`, `sets` and `kinds`; with `only`, just that test.

    Raises ValueError for an unknown kind of word or an unknown test.
    """
    kinds: dict[str, Kind] = {word: kind for kind, words in tables.get("kinds", {}).items() for word in words}
    if unknown := set(tables.get("kinds", {})) - set(KINDS):
        raise ValueError(f"no kind of word {min(unknown)!r}; the kinds are {', '.join(KINDS)}")
    sets = {name: WordSet(name=name.rstrip("0123456789"), items=tuple(words)) for name, words in tables["sets"].items()}
    if only and only not in tables["tests"]:
        raise ValueError(f"no bundled test {only!r}; there are {', '.join(tables['tests'])}")
    for name, parts in tables["tests"].items():
        if only in ("", name):
            x, y, a, b = (sets[part] for part in parts)
            yield WordTest(AssociationTest(id=name, x=x, y=y, a=a, b=b), kinds)


def build(
    tests: Iterable[WordTest],
    *,
    seed: int = 0,
    otherwise: Kind | None = None,
    source: Extra | None = None,
    language: Language | None = None,
) -> Iterator[AssociationTest]:
    """Yields each word test as a sentence test `sent-…`.

    The longer target set loses sentences at random, by the seed. `otherwise` is the kind of words without a listed or
    recognized kind. Without it, such a word is an error.
    """
    for word_test in tests:
        test = word_test.test
        # one random generator per test, so that adding or removing a test changes no other test
        rng = np.random.default_rng([seed, int(hex_digest(test.id, 16), 16)])
        x, y, a, b = (
            replace(part, items=tuple(_sentences_of(part, word_test.kinds, otherwise, language)))
            for part in (test.x, test.y, test.a, test.b)
        )
        size = min(len(x.items), len(y.items))
        cut = {part.name: len(part.items) - size for part in (x, y) if len(part.items) > size}
        origin = {**test.source, "words": test.id, "seed": seed, **({"cut": cut} if cut else {}), **(source or {})}
        yield AssociationTest(
            id=f"sent-{test.id}", x=_truncated(x, size, rng), y=_truncated(y, size, rng), a=a, b=b, source=origin
        )


def _truncated(words: WordSet, size: int, rng: np.random.Generator) -> WordSet:
    """Returns a random subset of `size` items of a set in their original order; a set of at most `size` unchanged."""
    if len(words.items) <= size:
        return words
    indices = np.sort(rng.choice(len(words.items), size, replace=False))
    return replace(words, items=tuple(words.items[int(place)] for place in indices))


def _sentences_of(
    words: WordSet, kinds: Mapping[str, Kind], otherwise: Kind | None, language: Language | None
) -> Iterator[str]:
    """Yields the sentences of every word of a set; raises ValueError for words of unknown kind."""
    spoken = language or find("en")
    kind_by_word = {word: kinds.get(word) or kind_in(word, spoken) or otherwise for word in words.items}
    if open_words := [word for word, kind in kind_by_word.items() if kind is None]:
        raise ValueError(
            f"it is open what {', '.join(open_words)} of {words.name} may be; say so under [kinds] of a TOML file, or "
            "name one kind for all such words (--kind)"
        )
    for word in words.items:
        if kind := kind_by_word[word]:
            yield from sentences(word, kind, spoken)


def sentences(word: str, kind: Kind, language: Language | None = None) -> list[str]:
    """Returns the bleached sentences of a word.

    Raises ValueError if the language lacks forms of a noun, or if a sentence cannot be filled with the word.

    English has 8 sentences for a name, 14 for a thing, 13 for a person, 3 for an adjective, and so on.
    """
    language = language or find("en")
    if kind == "person" and language.code == "en":
        word = _as_person(word)
    noun: Noun | Refusal = Noun(word, {"": word})
    if kind in ("person", "noun"):
        noun = language.noun(word) if kind == "person" else language.thing(word)
    if isinstance(noun, Refusal):
        raise ValueError(f"{word!r} has no forms in {language.name}; add it to the tables of the language's folder")
    shown = [one for one in noun.genders if word in (noun.form(one, "sg"), noun.form(one, "pl"))]
    texts = [render(template, language, [noun], shown or noun.genders) for template in language.bleached.get(kind, ())]
    if refused := next((text for text in texts if isinstance(text, Refusal)), None):
        raise ValueError(f"a {kind} sentence cannot be filled with {word!r} ({refused.reason}: {refused.word})")
    return [text for text in texts if isinstance(text, str)]


def _as_person(word: str) -> str:
    """Returns a noun for one person: `elderly` becomes `elderly person`, `people from X` becomes `person from X`."""
    head, *behind = BEHIND.split(word, maxsplit=1)
    before, _, last = head.rpartition(" ")
    one = "person" if last.lower() == "people" else last
    peoples = [nation.plural for nation in nations() if last in nation.adjectives]
    no_noun = bool(peoples) and not any(peoples)
    adjective = usual_order(last)[:1] == ("adjective",) or last.endswith("less")
    described = no_noun or last == "Jewish" or (adjective and last.islower() and not names_person(last))
    return f"{before} {one}{' person' if described else ''}{''.join(behind)}".strip()


def kind_in(word: str, language: Language) -> Kind | None:
    """Returns the kind of a word by the tables of its language or by a capital; None if it is unknown.

    English words use `kind_of`.
    """
    if language.code == "en":
        return kind_of(word)
    if word.lower() in language.by_form:
        return "person"
    parts = {each.pos for each in language.words.get(word, ())}
    kind_by_part: dict[str, Kind] = {"adjective": "adjective", "noun": "mass", "thing": "noun", "verb": "verb"}
    kind = kind_by_part.get(next(iter(parts))) if len(parts) == 1 else None
    return kind or ("name" if word[:1].isupper() else None)


@cache
def kind_of(word: str) -> Kind | None:
    """Returns the kind of an English word, or None if it is unknown or ambiguous.

    The word list decides first, then a capital, then the nouns for people, then the dictionary if it has only one
    reading.
    """
    listed = {item: kind for kind, words in find("en").word_sets["kinds"].items() for item in words}
    if word in listed:
        listed_kind: Kind = listed[word]
        return listed_kind
    if word[:1].isupper():
        return "name"
    head = re.split(r" (?:of|in|with|from) ", word)[0].split(" ")[-1]
    one = singular_noun(head) or head
    if one in {*wordlist("groups.toml")["kinds"], *wordlist("groups.toml")["persons"]}:
        return "person"
    readings = {part for part in other_parts(head) if part in ("NOUN", "ADJ")} | (
        {"VERB"} if verb_tags(head) else set()
    )
    if readings == {"NOUN"}:
        return "noun"
    return {  # type: ignore[return-value] # mypy widens the literals
        frozenset({"ADJ"}): "adjective",
        frozenset({"VERB"}): "verb",
    }.get(frozenset(readings))
