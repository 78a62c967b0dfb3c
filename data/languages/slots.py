"""Templates with slots: `{el targets}`, `{vago~targets}`, `{es|son}`, `{der targets@dat}`, filled in with agreement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from catsofa.data.languages.language import Language
from catsofa.data.languages.nouns import Noun, Refusal
from catsofa.data.records import BLANK

_SLOT = re.compile(r"\{([^{}]*)\}")
_HEAD = re.compile(
    r"(?P<words>.*?)(?P<mark>[ ~]?)(?P<head>target)(?P<which>\d?)(?P<plural>s?)"
    r"(?::(?P<gender>[mfn]))?(?:@(?P<case>\w+))?"
)
_START = re.compile(r"(?:^|[.!?…:]\s+|[。！？])[\"“„«»¿¡‘'(—–\s-]*$")


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of a template: words that agree, the target or only its features, and a choice between forms."""

    words: str
    target: bool
    """True if the slot contains the target; if not, the words only agree with the target."""
    which: int = 0
    number: str = ""
    gender: str = ""
    case: str = ""
    choices: tuple[str, ...] = ()
    """Two forms to choose from: by number, or by gender if the slot names the target."""


@dataclass(frozen=True, slots=True)
class Fill:
    """The words that replace the BLANK and their part of speech; `BLANK` itself if the context keeps it open."""

    words: str = BLANK
    part: str = "any"


@lru_cache(maxsize=10_000)
def parse(template: str) -> tuple[str | Slot, ...]:
    """The texts and slots of a template in order; raises a ValueError for a malformed slot."""
    pieces: list[str | Slot] = []
    end = 0
    for match in _SLOT.finditer(template):
        pieces += [template[end : match.start()], _slot(match[1], template)]
        end = match.end()
    pieces.append(template[end:])
    if re.search(r"[{}]", "".join(piece for piece in pieces if isinstance(piece, str))):
        raise ValueError(f"a brace without its partner in {template!r}; a slot stands between {{ and }}")
    return tuple(piece for piece in pieces if piece != "")


def _slot(inner: str, template: str) -> Slot:
    """The slot between two braces."""
    head = _HEAD.fullmatch(inner)
    if head is None or (head["words"] and not head["mark"]):
        if inner.count("|") == 1:
            return Slot("", target=False, choices=tuple(inner.split("|")))
        raise ValueError(
            f"the slot {{{inner}}} in {template!r}; a slot is {{target}}, {{targets}}, {{words target}}, "
            "{word~target}, {one|many} or {masculine|feminine~target}"
        )
    apart = head["mark"] == "~"
    return Slot(
        words="" if apart and "|" in head["words"] else head["words"],
        target=not apart,
        which=int(head["which"] or 1) - 1,
        number="pl" if head["plural"] else "sg",
        gender=head["gender"] or "",
        case=head["case"] or "",
        choices=tuple(head["words"].split("|")) if apart and "|" in head["words"] else (),
    )


def faults(template: str, language: Language) -> Iterator[str]:
    """Describes what a template needs that its language does not have."""
    wrong = list(slot_faults(template, language))
    yield from wrong
    if not wrong and not any(isinstance(piece, Slot) and piece.target for piece in parse(template)):
        yield f"no {{target}} in {template!r}"


def slot_faults(template: str, language: Language) -> Iterator[str]:
    """Describes what the slots of a template need that its language does not have."""
    try:
        slots = [piece for piece in parse(template) if isinstance(piece, Slot)]
    except ValueError as error:
        yield str(error)
        return
    for slot in slots:
        if slot.which:
            yield f"target{slot.which + 1} in {template!r}; a template has one target"
        if slot.choices and not slot.number and not language.numbers:
            yield f"a choice by number in {template!r}; the language has no numbers"
        if (slot.gender or (slot.choices and slot.number)) and not language.genders:
            yield f"a choice by gender in {template!r}; the language has no genders"
        if slot.case and slot.case not in language.cases:
            cases = ", ".join(language.cases) or "none"
            yield f"the case {slot.case!r} in {template!r}; the language has {cases}"


def render(
    template: str, language: Language, nouns: Sequence[Noun], genders: Sequence[str], fill: Fill | None = None
) -> str | Refusal:
    """A template filled with nouns, each in one of its genders, with the BLANK filled or left open."""
    pieces = parse(template)
    first = next((piece.number for piece in pieces if isinstance(piece, Slot) and piece.target), "sg")
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece.replace(BLANK, (fill or Fill()).words) if fill and BLANK in piece else piece
            continue
        if piece.choices and not piece.number:
            text += piece.choices[first == "pl"]
            continue
        gender = piece.gender or genders[piece.which]
        words = _put(piece, language, nouns[piece.which], gender, fill or Fill())
        if isinstance(words, Refusal):
            return words
        text += words[:1].upper() + words[1:] if _START.search(text) else words
    return text if text[:1].isupper() else text[:1].upper() + text[1:]


def variants(
    template: str, language: Language, noun: Noun, fill: Fill | None = None
) -> Iterator[tuple[str, str | Refusal]]:
    """The distinct texts of a template about one noun in its genders, each with its genders (`mf`)."""
    texts = {gender: render(template, language, [noun], [gender], fill) for gender in noun.genders}
    same = len(set(texts.values())) == 1
    for gender, text in texts.items():
        yield ("".join(texts) if same else gender), text
        if same:
            return


def _put(slot: Slot, language: Language, noun: Noun, gender: str, fill: Fill) -> str | Refusal:
    """The text of one slot."""
    if slot.choices:
        return slot.choices[gender == "f"]
    parts: list[str] = []
    after = "none"
    for word in slot.words.split():
        piece: str | Refusal
        if word in language.tables.get("articles", {}):
            piece = language.article(word, gender, slot.number, slot.case)
            after = language.tables["articles"][word].get("after", "none") if piece else "none"
        elif word in language.tables.get("lists", {}).get("unchanged", ()):
            piece = word
        elif word == "cl":
            piece = noun.kind or Refusal("no_classifier", noun.term)
        elif word == BLANK:
            piece = filled(fill, language, gender, slot.number, slot.case, after)
        else:
            piece = language.agree(word, gender, slot.number, slot.case, after)
        if isinstance(piece, Refusal):
            return piece
        parts.append(piece)
    if slot.target:
        form = language.decline(noun, gender, slot.number, slot.case, after)
        if isinstance(form, Refusal):
            return form
        parts.append(form)
    return language.join(parts)


def filled(
    fill: Fill, language: Language, gender: str, number: str, case: str = "", after: str = "none"
) -> str | Refusal:
    """The words for a BLANK, in agreement with the target."""
    if fill.words == BLANK or fill.part == "any":
        return fill.words
    if fill.part == "verb":
        return language.finite(fill.words, number)
    if fill.part == "noun":
        noun = language.noun(fill.words)
        if isinstance(noun, Refusal):
            return noun
        return language.decline(noun, "m" if gender == "n" else gender, number)
    return language.agree(fill.words, gender, number, case, after)
