"""Contexts with a place for a target: which terms fit, and how article, number and verbs follow the term."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from catsofa.data.files import BadInput, toml_files
from catsofa.data.language.articles import article
from catsofa.data.language.blanks import check, starts_sentence
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import plural_noun, singular_noun
from catsofa.data.language.wordlists import wordlist

TermKind = Literal["person", "place", "adjective", "thing", "pronoun"]
Part = Literal["adjective", "noun", "verb", "any"]
Number = Literal["singular", "plural"]

EXPECTED = 'templates (TOML, [[templates]] with context = "The {target} is BLANK.", takes and blank)'
_PLACE = re.compile(r"\{(?P<article>a )?(?P<target>targets?)\}|\{(?P<one>[^{}|]+)\|(?P<many>[^{}|]+)\}")
_PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself", "they", "them", "theirs"})


@dataclass(frozen=True, slots=True)
class Template:
    """A context with places for a target and one BLANK."""

    context: str
    takes: TermKind = "person"
    blank: Part = "any"
    bias_types: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        """Refuse a context without a target, with a place of another form, or without its one BLANK."""
        if fault := check(self.context):
            raise ValueError(f"{self.context!r} has {fault.replace('_', ' ')}; a template has one BLANK")
        if not any(found["target"] for found in _PLACE.finditer(self.context)):
            raise ValueError(f"{self.context!r} has no {{target}}")
        if re.search(r"[{}]", _PLACE.sub("", self.context)):
            raise ValueError(
                f"{self.context!r} has a place that is not {{target}}, {{targets}}, {{a target}} or {{is|are}}"
            )
        if self.takes not in get_args(TermKind) or self.blank not in get_args(Part):
            raise ValueError(f"{self.context!r} takes {self.takes!r} and {self.blank!r}, which we do not know")

    @property
    def number(self) -> Number:
        """The number of the target, as its first place has it."""
        first = next(found["target"] for found in _PLACE.finditer(self.context) if found["target"])
        return "plural" if first == "targets" else "singular"

    def about(self, term: str) -> str:
        """The context with a term in its places."""
        made = ""
        for piece in _pieces(self.context):
            made += piece if isinstance(piece, str) else self._put(piece, term, starts_sentence(made))
        return made

    def _put(self, place: re.Match[str], term: str, first: bool) -> str:
        """What stands in one place, with a capital where it starts a sentence."""
        if not place["target"]:
            return place["one"] if self.number == "singular" else place["many"]
        words = _form(term, self.takes, "plural" if place["target"] == "targets" else "singular")
        if place["article"]:
            words = f"{article(words)} {words}"
        return words[0].upper() + words[1:] if first else words


def _pieces(context: str) -> Iterator[str | re.Match[str]]:
    """Text and places in turn."""
    end = 0
    for found in _PLACE.finditer(context):
        yield context[end : found.start()]
        yield found
        end = found.end()
    yield context[end:]


def _form(term: str, kind: TermKind, number: Number) -> str:
    """A term in a number; a place may need its article."""
    if kind == "place" and term in wordlist("identities.toml")["places"]["with_the"]:
        return f"the {term}"
    if kind not in ("person", "thing"):
        return term
    *_, head = term.split()
    given_plural = singular_noun(head) is not None or head == "people"
    if number == "plural":
        return term if given_plural else plural_noun(term)
    return term.removesuffix(head) + (singular_noun(head) or "person") if given_plural else term


@cache
def kind_of_term(term: str, category: str = "") -> TermKind:
    """What a target term is: a place, the adjective of one, a pronoun, a thing of religion, or people."""
    if term.lower() in _PRONOUNS:
        return "pronoun"
    for nation in nations():
        if term == nation.place:
            return "place"
        if term in nation.adjectives:
            return "adjective"
    lists = wordlist("identities.toml")["places"]
    if term in lists["other_names"]:
        return "place"
    if category == "race" and term.split()[-1].lower() not in ("people", "americans"):
        return "adjective"
    return "thing" if term in wordlist("identities.toml")["things"]["religion"] else "person"


def bundled() -> list[Template]:
    """The templates that come with catsofa."""
    return [_template(entry) for entry in wordlist("cat_templates.toml")["templates"]]


def read(path: Path | str) -> list[Template]:
    """The templates of a TOML file."""
    try:
        return [_template(entry) for entry in toml_files.read(path, EXPECTED)["templates"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, f"no templates ({error})", EXPECTED) from None
    except BadInput:
        raise
    except ValueError as error:
        raise BadInput(path, str(error), EXPECTED) from None


def _template(entry: dict[str, Any]) -> Template:
    """One entry of a file."""
    return Template(**(entry | {"bias_types": frozenset(entry.get("bias_types", ()))}))
