"""One language: its tables, its ordered rules, and the word forms from both; without a sure form, a Refusal."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, csv_files, toml_files
from catsofa.data.languages.nouns import Noun, Refusal, Word, noun_of
from catsofa.data.languages.schema import EXPECTED, Rule, check_language, check_tables, compile_rules

NOUN_COLUMNS = ("term", "category", "pos")
NOUNS = ("terms.csv", "demonyms.csv")
ADJECTIVAL = "adjectival"
"""The declension of nouns with adjective endings."""


@dataclass(frozen=True)
class Language:
    """The folder of a language. Forms come from the nouns, then the exceptions, then the first matching rule."""

    folder: Path
    facts: Mapping[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read language.toml, and raise a BadInput if a required field is missing or a value has a wrong type."""
        facts = toml_files.read(self.folder / "language.toml", EXPECTED)
        if missing := [name for name in ("code", "name", "status", "spaces") if name not in facts]:
            raise BadInput(self.folder / "language.toml", f"no {missing[0]}", "code, name, status and spaces")
        check_language(self.folder / "language.toml", facts)
        object.__setattr__(self, "facts", facts)

    @property
    def code(self) -> str:
        """The ISO 639 code."""
        return str(self.facts["code"])

    @property
    def name(self) -> str:
        """The English name."""
        return str(self.facts["name"])

    @property
    def genders(self) -> tuple[str, ...]:
        """The genders of nouns: m, f, n."""
        return tuple(self.facts.get("genders", ()))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers: sg and pl, or none."""
        return tuple(self.facts.get("numbers", ()))

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases of a noun phrase; the first one is the default."""
        return tuple(self.facts.get("cases", ()))

    @property
    def spaces(self) -> bool:
        """True if the language puts spaces between words."""
        return bool(self.facts["spaces"])

    def holds(self, name: str) -> bool:
        """True if the folder has this name; also as a link that leads nowhere, so that reading it is an error."""
        return os.path.lexists(self.folder / name)

    def path(self, name: str, needed_for: str) -> Path:
        """The path of a file of the folder; raises a ValueError if the file is missing."""
        if not self.holds(name):
            raise ValueError(f"language {self.code!r} has no {needed_for}: {self.folder} holds no {name}")
        return self.folder / name

    def need(self, section: str) -> dict[str, Any]:
        """A section of language.toml; raises a ValueError if the section is missing."""
        if section not in self.facts:
            raise ValueError(
                f"language {self.code!r} has no [{section}] in language.toml, which this command needs; "
                f"see docs/languages.md"
            )
        section_facts: dict[str, Any] = self.facts[section]
        if section == "statements" and self.numbers and "copulas" not in section_facts:
            raise BadInput(self.folder / "language.toml", "no copulas in [statements]", "the list of copulas")
        return section_facts

    @cached_property
    def word_sets(self) -> dict[str, Any]:
        """The tables of word tests (weat.toml): tests, sets and kinds of words."""
        return toml_files.read(self.path("weat.toml", "word sets"), EXPECTED)

    @cached_property
    def bleached(self) -> dict[str, list[str]]:
        """The bleached sentences, which say little more than their word, by kind of word."""
        return toml_files.read(self.path("bleached.toml", "bleached sentences"), EXPECTED)

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The content of rules.toml; empty if the language has none."""
        if not self.holds("rules.toml"):
            return {}
        path = self.folder / "rules.toml"
        tables = toml_files.read(path, EXPECTED)
        check_tables(path, tables, self.cases)
        return tables

    @cached_property
    def lists(self) -> dict[str, list[str]]:
        """The lists that patterns of rules can name; `adjective` has the adjectives of words.csv."""
        return {"adjective": self._dictionary_adjectives, **self.tables.get("lists", {})}

    @cached_property
    def rules(self) -> dict[str, list[Rule]]:
        """The ordered rules of each function."""
        return compile_rules(self.folder / "rules.toml", self.tables, self.lists)

    def rows(self, name: str, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows of a table of the folder with their line numbers; none if the folder lacks the table."""
        if self.holds(name):
            with toml_files.not_convertible():
                yield from csv_files.rows(self.folder / name, needed, EXPECTED)

    @cached_property
    def _exceptions(self) -> dict[tuple[str, str, str], str]:
        """The form of a word by function, word and features."""
        rows = self.rows("exceptions.csv", ("function", "word", "features", "form"))
        return {(row["function"], row["word"], row["features"]): row["form"] for _, row in rows}

    @cached_property
    def nouns(self) -> tuple[Noun, ...]:
        """The nouns for people, and for the people of places, from the tables."""
        rows = [row for name in NOUNS for _, row in self.rows(name, NOUN_COLUMNS) if row["pos"] in ("n", "pl")]
        return tuple(self._adjectival(noun) if noun.kind == ADJECTIVAL else noun for noun in map(noun_of, rows))

    def _adjectival(self, noun: Noun) -> Noun:
        """A noun with adjective endings (Deutscher, die Deutschen), with its forms filled in."""
        cells = [("m", "sg"), ("f", "sg"), ("m", "pl"), ("f", "pl")]
        stem = noun.term.removesuffix(self._ending("m", "sg", "", "none"))
        forms = {f"{g}_{n}": stem + self._ending(g, n, "", "none") for g, n in cells}
        return replace(noun, forms={**forms, "def_pl": stem + self._ending("m", "pl", "", "def")})

    @cached_property
    def by_form(self) -> dict[str, list[Noun]]:
        """The nouns, indexed by each form in lower case."""
        nouns: dict[str, list[Noun]] = {}
        for noun in self.nouns:
            for form in dict.fromkeys(map(str.lower, (noun.term, *noun.forms.values()))):
                if form:
                    nouns.setdefault(form, []).append(noun)
        return nouns

    @cached_property
    def words(self) -> dict[str, list[Word]]:
        """The words that are not for people, by dictionary form."""
        by_word: dict[str, list[Word]] = {}
        for _, row in self.rows("words.csv", ("word", "pos", "gender")):
            by_word.setdefault(row["word"], []).append(Word(row["word"], row["pos"], row["gender"]))
        return by_word

    @cached_property
    def adjectives(self) -> dict[str, str]:
        """Maps each form of each known adjective to its dictionary form."""
        forms = {
            form: word
            for word in self._dictionary_adjectives
            for gender in self.genders
            for number in self.numbers
            if isinstance(form := self.agree(word, gender, number), str)
        }
        return forms | {word: word for word in self._dictionary_adjectives}

    @cached_property
    def _dictionary_adjectives(self) -> list[str]:
        """The adjectives of words.csv."""
        return [word for word, readings in self.words.items() if any(each.pos == "adjective" for each in readings)]

    def form(self, function: str, word: str, features: str = "") -> str | Refusal:
        """The form of a word by the exceptions, else by the first matching rule; no form, or `!`, is a Refusal."""
        listed = self._exceptions.get((function, word, features))
        if listed is not None:
            return listed or Refusal(f"ambiguous_{function}", word)
        return self.by_rule(function, word)

    def by_rule(self, function: str, word: str) -> str | Refusal:
        """The form of a word by the first matching rule, ignoring the exceptions."""
        for pattern, put in self.rules.get(function, ()):
            if pattern.search(word):
                return Refusal(f"ambiguous_{function}", word) if put == "!" else pattern.sub(put, word, count=1)
        return Refusal(f"no_{function}", word)

    def reading(self, word: str) -> str:
        """The reading of a word at the start of a predicate, by the first matching rule; empty if none matches."""
        return next((reading for pattern, reading in self.rules.get("reading", ()) if pattern.search(word)), "")

    def noun(self, word: str) -> Noun | Refusal:
        """The noun for people that has this form."""
        nouns = self.by_form.get(word.lower())
        return nouns[0] if nouns else Refusal("no_gender" if self.genders else "unknown_noun", word)

    def thing(self, word: str) -> Noun | Refusal:
        """A noun for a thing, with the gender from the table and the plural by rule."""
        entry = next((each for each in self.words.get(word, ()) if each.pos in ("noun", "thing")), None)
        if entry is None:
            return Refusal("unknown_noun", word)
        plural = self.plural(word) if self.numbers else word
        if isinstance(plural, Refusal):
            return plural
        return Noun(word, {f"{entry.gender}_sg": word, f"{entry.gender}_pl": plural} if entry.gender else {"": word})

    def plural(self, noun: str, gender: str = "") -> str | Refusal:
        """The plural of a noun or adjective: from the table of nouns for people, else by exception or rule."""
        for entry in self.by_form.get(noun.lower(), ()):
            for one in (gender,) if gender else entry.genders:
                if noun.lower() in (entry.form(one, "sg").lower(), entry.term.lower()) and entry.form(one, "pl"):
                    return entry.form(one, "pl")
        return self.form("plural", noun)

    def feminine(self, word: str) -> str | Refusal:
        """The feminine of an adjective by rule, or of a noun for people from the table only."""
        nouns = self.by_form.get(word.lower())
        if nouns:
            return nouns[0].forms.get("f_sg") or Refusal("no_feminine", word)
        return self.form("feminine", word)

    def article(self, word: str, gender: str, number: str, case: str = "") -> str | Refusal:
        """The form of a determiner for a gender, a number and a case; empty if the language has none there."""
        table = self.tables["articles"][word]
        cells = dict(
            zip(self.tables["columns"], table[case or (self.cases[0] if self.cases else "forms")], strict=True)
        )
        form = cells.get(f"{gender}_{number}", cells.get(number))
        return Refusal("no_article", word) if form is None else form.strip("-")

    def agree(self, adjective: str, gender: str, number: str, case: str = "", after: str = "none") -> str | Refusal:
        """An adjective in agreement, by the table of endings if there is one (`after` is the kind of determiner)."""
        words = adjective.split(" ")
        if len(words) > 1:
            parts = [self._agree_in_phrase(words, place, gender, number) for place in range(len(words))]
            refused = [one for one in parts if isinstance(one, Refusal)]
            return refused[0] if refused else " ".join(map(str, parts))
        if fixed := self._exceptions.get(("agree", adjective, "")):
            return fixed
        if "endings" in self.tables:
            stem = self.form("stem", adjective)
            if isinstance(stem, Refusal):
                return stem
            return stem + self._ending(gender, number, case, after)
        made_one: str | Refusal = self.form("feminine", adjective) if gender == "f" else adjective
        if isinstance(made_one, Refusal) or number != "pl":
            return made_one
        return self.form("plural", made_one, gender if (made_one, gender) in self._own_plurals else "")

    def _ending(self, gender: str, number: str, case: str, after: str) -> str:
        """The ending of an adjective from the table of endings."""
        cells = dict(zip(self.tables["columns"], self.tables["endings"][after][case or self.cases[0]], strict=True))
        return str(cells.get(f"{gender}_{number}") or cells.get(number) or "")

    @cached_property
    def _own_plurals(self) -> set[tuple[str, str]]:
        """The words whose plural depends on the gender."""
        return {(word, features) for function, word, features in self._exceptions if function == "plural" and features}

    def _agree_in_phrase(self, words: list[str], place: int, gender: str, number: str) -> str | Refusal:
        """One word of a phrase in agreement; adverbs and all words from the first preposition on stay unchanged."""
        lists = self.tables.get("lists", {})
        stays = any(word in lists.get("prepositions", ()) for word in words[: place + 1])
        if stays or words[place] in lists.get("adverbs", ()):
            return words[place]
        if words[place] not in self.adjectives:
            return Refusal("unknown_word", words[place])
        return self.agree(words[place], gender, number)

    def finite(self, verb: str, number: str) -> str | Refusal:
        """A verb in the third person of a number, given the written singular and the words after it."""
        first, space, rest = verb.partition(" ")
        if number != "pl" or not self.numbers:
            return verb
        form = self.form("finite", first, "pl")
        return form if isinstance(form, Refusal) else form + space + rest

    def join(self, words: list[str]) -> str:
        """Words joined to one phrase, with contraction and elision; without spaces if the language has none."""
        text = (" " if self.spaces else "").join(word for word in words if word)
        for pattern, put in self.rules.get("join", ()):
            text = pattern.sub(put, text)
        return text

    @cached_property
    def names_of(self) -> dict[str, list[str]]:
        """The names of the people of each category."""
        by_category: dict[str, list[str]] = {}
        for noun in self.nouns:
            by_category.setdefault(noun.category, []).extend(self.names(noun))
        return by_category

    def names(self, noun: Noun) -> list[str]:
        """The plurals of a noun; in a language with cases, its singulars too, each in all cases."""
        declined = (
            self.decline(noun, gender, number, case)
            for gender in noun.genders
            for number in self.numbers
            for case in self.cases
        )
        return list(dict.fromkeys([*noun.plurals, *(form for form in declined if isinstance(form, str))]))

    def decline(self, noun: Noun, gender: str, number: str, case: str = "", after: str = "none") -> str | Refusal:
        """A noun in a gender, number and case; a Refusal if the noun has no such written form."""
        if noun.kind == ADJECTIVAL:
            return noun.term.removesuffix(self._ending("m", "sg", "", "none")) + self._ending(
                gender, number, case, after
            )
        form = noun.form(gender, number)
        if not form:
            return Refusal("no_plural" if number == "pl" and noun.form(gender, "sg") else "no_gender", noun.term)
        if not case or case == self.cases[0]:
            return form
        features = " ".join(filter(None, (noun.kind, gender if number == "sg" else "", number, case)))
        case_form = self.form(f"case {features}", form)
        return form if isinstance(case_form, Refusal) else case_form
