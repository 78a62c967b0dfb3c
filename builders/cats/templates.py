"""Contexts with a place for a target: which terms fit, and how article, number and verbs agree with the term."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from catsofa.builders.cats.fills import Fill, Number, Part, usual_order
from catsofa.builders.dictionary import names_person
from catsofa.data.files import BadInput, toml_files
from catsofa.data.language.articles import article
from catsofa.data.language.blanks import check, slots, starts_sentence
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import BEHIND, plural_noun, singular_noun
from catsofa.data.language.same_meaning import core
from catsofa.data.language.wordlists import wordlist

TermKind = Literal["person", "place", "adjective", "thing", "pronoun", "name"]
Frame = Literal["statement", "past", "question", "negation", "dialogue", "comparison"]
FRAMES: tuple[Frame, ...] = get_args(Frame)

EXPECTED = 'templates (TOML, [[templates]] with context = "The {target} is BLANK.", takes and blank)'
_PLACE = re.compile(r"\{(?P<article>a )?(?P<target>targets?)\}|\{(?P<one>[^{}|]+)\|(?P<many>[^{}|]*)\}")
_DETERMINED = re.compile(r"\b(?:the|this|my|your|his|her|our|their|an?) $", re.IGNORECASE)
_NAMED_PLACE = re.compile(
    r"(?P<plain>[A-Z]\S* Island|(?:[A-Z]\S* )+(?:City|County))|"
    r"(?:[A-Z]\S* )+(?:Islands|Isles|Republic|Kingdom|Emirates|Territory|Territories|Federation)|"
    r"(?:Isle|Republic|Kingdom|Federation|Federated States) of .+"
)
"""Names that show that they are places; the `plain` ones have no article."""
_ISLAND = re.compile(r".* Island|(?:the )?Isle of .+")
"""One island: people live on it. People live in groups of islands, and in islands that are states."""
_GRADED = re.compile(r"\b(?:as|so|more|less|very|too|most) $", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Template:
    """A context with places for a target and one BLANK."""

    context: str
    takes: TermKind = "person"
    blank: Part = "any"
    bias_types: frozenset[str] = field(default_factory=frozenset)
    frame: Frame = "statement"
    plural: bool = False
    """True if the BLANK is plural but the target is not: `People from {target} are BLANK.`"""

    def __post_init__(self) -> None:
        """Raises ValueError for a context without a target, with an invalid place, or without its one BLANK.

        Raises ValueError also for an unknown `takes`, `blank` or `frame`.
        """
        if fault := check(self.context):
            raise ValueError(f"{self.context!r} has {fault.replace('_', ' ')}; a template has one BLANK")
        if not any(match["target"] for match in _PLACE.finditer(self.context)):
            raise ValueError(f"{self.context!r} has no {{target}}")
        if re.search(r"[{}]", _PLACE.sub("", self.context)):
            raise ValueError(
                f"{self.context!r} has a place that is not {{target}}, {{targets}}, {{a target}} or {{is|are}}"
            )
        for name, kinds in (("takes", TermKind), ("blank", Part), ("frame", Frame)):
            if (value := getattr(self, name)) not in get_args(kinds):
                raise ValueError(f"{self.context!r} has the {name} {value!r}; expected {', '.join(get_args(kinds))}")

    def number(self, term: str) -> Number:
        """Returns the number of a target in the first place for it."""
        first = next(match["target"] for match in _PLACE.finditer(self.context) if match["target"])
        plural_thing = self.takes == "thing" and singular_noun(term.split()[-1]) is not None
        they = self.takes == "pronoun" and _subject(term) == "they"
        return "plural" if first == "targets" or plural_thing or they else "singular"

    @property
    def polarity(self) -> str:
        """The polarity of a filled context about its target: `asserts`, `denies` or `asks`."""
        return {"negation": "denies", "question": "asks"}.get(self.frame, "asserts")

    @property
    def calls_people(self) -> bool:
        """True if the template calls people by the noun in its BLANK: `The cook is a BLANK.`"""
        return self.blank == "noun" and self.takes != "thing"

    def has_room_for(self, words: Fill) -> bool:
        """Returns True if words fit the slot.

        A phrase does not fit before a word, or after a degree word such as `as` or `so`. A negated fill does not fit
        after `not`.
        """
        start, end = slots(self.context)[0]
        followed = self.context[end:].lstrip(" ")[:1].isalnum()
        if self.frame == "negation" and core(words.words).negated:
            return False
        return not words.phrase or not (followed or _GRADED.search(self.context[:start]))

    def about(self, term: str) -> str:
        """Returns the context with a term in its places."""
        text = ""
        for piece in _pieces(self.context):
            if self.takes == "place" and not isinstance(piece, str) and _ISLAND.fullmatch(term):
                text = re.sub(r"\bin $", "on ", text)
            text += piece if isinstance(piece, str) else self._put(piece, term, text)
        return text

    def _put(self, place: re.Match[str], term: str, before: str) -> str:
        """Returns the text for one place, with a capital at the start of a sentence."""
        if not place["target"]:
            return place["one"] if self.number(term) == "singular" else place["many"]
        words = _form(term, self.takes, "plural" if place["target"] == "targets" else "singular")
        if place["article"]:
            words = f"{article(words)} {words}"
        elif self.takes == "thing" and _takes_the(term) and not _DETERMINED.search(before):
            words = f"the {words}"
        # iPhone keeps its lower-case letter
        return words[0].upper() + words[1:] if starts_sentence(before) and not words[1:2].isupper() else words


def _pieces(context: str) -> Iterator[str | re.Match[str]]:
    """Yields text and places in turn."""
    end = 0
    for match in _PLACE.finditer(context):
        yield context[end : match.start()]
        yield match
        end = match.end()
    yield context[end:]


def _form(term: str, kind: TermKind, number: Number) -> str:
    """Returns a term in a number; a place may need its article."""
    if kind == "place":
        name = term.removeprefix("the ")
        named = _NAMED_PLACE.fullmatch(name)
        listed = name in wordlist("identities.toml")["places"]["with_the"]
        return f"the {name}" if listed or (named and not named["plain"]) else name
    if kind == "pronoun":
        return _subject(term)
    if kind != "person" and (kind != "thing" or number == "singular"):
        return term
    group, term = term, re.sub(r"^(?:the|an?) ", "", term, flags=re.IGNORECASE)
    lists = wordlist("identities.toml")
    order, endings = usual_order(term), tuple(wordlist("fills.toml")["adjective_endings"])
    described = order[:1] == ("adjective",) or ("adjective" in order and term.endswith(endings))
    if group.lower() == f"the {term}" and described:  # the poor, the homeless
        return f"{term} person" if number == "singular" else f"{term} people"
    if one := lists["one_of"].get(term.lower()):
        return one if number == "singular" else term
    many: str = lists["people"]["n"].get(term.lower(), "")
    if many.endswith("people"):
        return many if number == "plural" else many.removesuffix("people") + "person"
    term, *behind = BEHIND.split(term, maxsplit=1)
    *_, head = term.split()
    given_plural = singular_noun(head) is not None or head == "people"
    if number == "plural":
        term = term if given_plural else plural_noun(term)
    elif given_plural:
        term = term.removesuffix(head) + (singular_noun(head) or "person")
    return term + "".join(behind)


def chosen_frames(path: Path | None, frames: Sequence[str]) -> Sequence[str]:
    """Returns the frames to use: the user's choice, else all frames of a file, or our own statements."""
    if unknown := [name for name in frames if name not in FRAMES]:
        raise ValueError(f"no frame {unknown[0]!r}; there are {', '.join(FRAMES)}")
    return frames or (FRAMES if path else ("statement",))


@cache
def kind_of_term(term: str, category: str = "") -> TermKind | None:
    """Returns the kind of a target term: a place, an adjective, a pronoun, a name, a thing of religion, or people.

    None if a term with a capital letter is on no list and has no ending of a people, because it may be a name or a
    place.
    """
    if term.lower() in _pronouns():
        return "pronoun"
    if term in wordlist("names.toml")["first_names"]:
        return "name"
    name = term.removeprefix("the ").replace(" & ", " and ")
    for nation in nations():
        if name == nation.place:
            return "place"
        if term in nation.adjectives:
            return "adjective"
    lists = wordlist("identities.toml")["places"]
    if name in lists["other_names"] or name in lists["with_the"] or _NAMED_PLACE.fullmatch(name):
        return "place"
    if term in wordlist("identities.toml")["things"]["religion"]:
        return "thing"
    if not _are_people(name):
        return None
    if category == "race":
        head = term.split()[-1]
        plural = head.lower() in ("people", "americans") or (head[0].isupper() and singular_noun(head) is not None)
        return "person" if plural else "adjective"
    # people of an unlisted place: Faroese, Northern Irish
    return "adjective" if term[0].isupper() and term.endswith(("ese", "ish")) else "person"


def kind_of_group(identity: str, category: str = "", language: str = "en") -> TermKind | None:
    """Returns the kind of a group in a file of associations, by `kind_of_term`; an unknown plural (Zorbs) is people.

    The lists are English. In another language, a group that no list has is people.
    """
    plural = language != "en" or re.search(r"[^\Waious]s$", identity)
    return kind_of_term(identity, category) or ("person" if plural else None)


def _are_people(term: str) -> bool:
    """Returns True if a term names people: by its common noun, a list or its ending; not `Bali` or `Elizabeth`."""
    words = re.sub(r"^(?:[Tt]he|[Aa]n?) ", "", BEHIND.split(term, maxsplit=1)[0]).split()
    if not words:
        return False
    head = words[-1].removesuffix("'s")
    one, lists, groups = singular_noun(head) or head, wordlist("peoples.toml"), wordlist("groups.toml")
    if not head[:1].isupper() or names_person(one.lower()) or head.lower() in (*groups["nouns"], *groups["ambiguous"]):
        return True
    if any(head.lower() in nation.people() for nation in nations()) or {one, head} & {*lists["names"]}:
        return True
    return one not in lists["others"] and one.endswith(tuple(lists["endings"])) and not one.endswith("stan")


def _subject(pronoun: str) -> str:
    """Returns the subject form of a pronoun; a pronoun that the list lacks (`xe`) is unchanged."""
    return _pronouns().get(pronoun.lower(), pronoun)


def _pronouns() -> dict[str, str]:
    """Returns the forms of pronouns with their subject form."""
    forms: dict[str, str] = wordlist("identities.toml")["pronouns"]
    return forms


def _takes_the(thing: str) -> bool:
    """Returns True if a thing needs the definite article: a common noun, and names like the Bible."""
    return thing[0].islower() or thing in wordlist("identities.toml")["things"]["with_the"]


def bundled() -> list[Template]:
    """Returns the bundled templates."""
    return [_template(entry) for entry in wordlist("cat_templates.toml")["templates"]]


def read(path: Path | str) -> list[Template]:
    """Reads the templates of a TOML file."""
    try:
        return [_template(entry) for entry in toml_files.read(path, EXPECTED)["templates"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, f"no templates ({error})", EXPECTED) from None
    except BadInput:
        raise
    except ValueError as error:
        raise BadInput(path, str(error), EXPECTED) from None


def _template(entry: dict[str, Any]) -> Template:
    """Returns the template of one entry of a file."""
    return Template(**(entry | {"bias_types": frozenset(entry.get("bias_types", ()))}))
