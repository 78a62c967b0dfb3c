"""The entries of a language's tables: nouns with their written forms, other words, and refusals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Refusal(NamedTuple):
    """The reason why a language has no form, and the word concerned."""

    reason: str
    word: str


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun with its written forms, keyed by gender and number (`f_pl`), by one of them (`pl`), or by neither."""

    term: str
    forms: Mapping[str, str]
    category: str = ""
    pos: str = "n"
    kind: str = ""
    """The declension, if the language has several; in a language with classifiers, the classifier."""
    place: str = ""
    """The place whose people the noun names, as it follows a preposition (la France, der Schweiz)."""

    @property
    def genders(self) -> tuple[str, ...]:
        """The genders that have written forms; one empty name if the noun shows no gender."""
        return tuple(dict.fromkeys(key[0] for key in self.forms if re.match(r"[mfn](?:_|$)", key))) or ("",)

    @property
    def plurals(self) -> tuple[str, ...]:
        """The written plurals; the word itself if the noun has no number."""
        return tuple(form for key, form in self.forms.items() if key.endswith("pl") or not key)

    @property
    def places(self) -> tuple[str, ...]:
        """The place with and without its article; none if the noun has no place."""
        if not self.place:
            return ()
        return tuple(dict.fromkeys((self.place, re.sub(r"^\w{1,3}(?:['’]| (?=\w))", "", self.place))))

    def form(self, gender: str, number: str) -> str:
        """The form for a gender and a number; empty if no form is written."""
        keys = (f"{gender}_{number}", number, gender, "")
        return next((self.forms[key] for key in keys if self.forms.get(key)), "")


@dataclass(frozen=True, slots=True)
class Word:
    """A word that is not for people: adjective, verb, noun (without an article) or thing (counted), and its gender."""

    word: str
    pos: str
    gender: str = ""


FORM = re.compile(r"(?:[mfn]_)?(?:sg|pl)")
"""The name of a column with a form: a gender and a number, or a number."""


def noun_of(row: Mapping[str, str]) -> Noun:
    """The noun of a row of terms.csv or demonyms.csv."""
    forms = {name: cell for name, cell in row.items() if FORM.fullmatch(name) and cell}
    return Noun(
        row["term"],
        forms or {"": row["term"]},
        row["category"],
        row["pos"],
        row.get("kind", "") or row.get("classifier", ""),
        row.get("place", ""),
    )
