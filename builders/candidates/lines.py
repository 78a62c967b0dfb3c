"""Parses the lines of a reply into cells: an attribute and its kind, or the columns of a whole CAT."""

import json
import re
from collections.abc import Iterator, Sequence

from catsofa.builders.candidates.seeds import Target
from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.builders.paraphrases.replies import parse
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words

KINDS = ("adjective", "noun", "verb")
_KIND_BEHIND = re.compile(rf"(?:\s*[:;,–—-]\s*|\s*\(\s*)({'|'.join(KINDS)})(?: phrase)?\)?$", re.I)
"""The kind behind an attribute, separated by another sign than the bar."""
_EXPLAINED = re.compile(r"^[\W\d]*\*\*([^*|]+?):?\*\*:?\s*(?:[-–—:]\s.*|[^\s|].*)?$")
"""An attribute in bold with an explanation behind it."""
_EMPTY = ("n/a", "na", "none", "attribute", "attributes", "completion", "association", "...", "…")
"""Placeholders for no attribute, and headers of a table."""
_SUBJECT = re.compile(r"(?:they\s+(?!are\b)|(?P<be>they['’]re|(?:they\s+)?are|is)\s+)(?=\w)", re.I)
"""The subject of an attribute that is written as a sentence, or its form of "be"."""
_AROUND = " .,;\"'*_"
_COLUMN = re.compile(
    r"(?P<name>context|(?P<anti>anti[- ]?)?stereotyp(?:e|ical)|unrelated)(?: \w+)?(?:\s*:\s*(?P<said>.*))?", re.I
)
_FIRST = re.compile(r"#|no\.?|group|\d{1,2}[.)]?", re.I)
"""A cell before the requested columns: a number, or the header of such a column."""


_JSON_TEXT = ("attribute", "text", "association", "stereotype")
"""Fields of a JSON object that can hold its attribute."""
_ONE_FIELD = re.compile(r'\{\s*"[^"]*"\s*:\s*\}')
"""The rest of a JSON object after the removal of the array in its only field."""


def lines_of(reply: str, wanted: int, columns: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines of a reply; each item of a JSON array of strings or objects is one line.

    The array may be the only field of a JSON object.
    """
    lines = parse(reply, wanted).sentences
    if columns:
        return lines
    start, end = reply.find("["), reply.rfind("]") + 1
    around = _ONE_FIELD.sub("", reply[: max(start, 0)] + reply[end:])
    if start >= 0 and not any(words(text) for text in parse(around).sentences):
        texts = [_text_of(value) for value in _json(reply[start:end])]
        return tuple(texts) if texts and all(texts) else lines
    objects = (_json(f"[{text.rstrip(',')}]") if text.startswith("{") else () for text in lines)
    return tuple(_text_of(next(iter(one), None)) or text for one, text in zip(objects, lines, strict=True))


def _json(text: str) -> Sequence[object]:
    """Returns the values of a JSON array, or an empty tuple."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return value if isinstance(value, list) else ()


def _text_of(value: object) -> str:
    """Returns the text of one JSON value, or an empty string."""
    if isinstance(value, dict):
        value = next((value[name] for name in _JSON_TEXT if name in value), "")
    return " ".join(value.split()) if isinstance(value, str) else ""


def single(text: str, target: Target) -> dict[str, str] | str:
    """Returns a line as an attribute and its kind, or the reason why it has none.

    Removes the group before the attribute, and `they are`. In `**Stingy**: they count every coin` the bold words are
    the attribute. The header of a table is no attribute.
    """
    text = _EXPLAINED.sub(r"\1", " ".join(text.split()).strip("| ")).replace("**", "")
    parts = [part.strip(" .\"'*_`") for part in _KIND_BEHIND.sub(r"|\1", text).split("|")]
    if len(parts) > 1 and parts[0].casefold() == target.identity.casefold():
        parts = parts[1:]
    if parts[0].casefold() in _EMPTY:
        return "no_attribute"
    kind = next((kind for kind in KINDS if len(parts) > 1 and parts[1].lower().startswith(kind)), "")
    phrase = " ".join(parts[0].split())
    if target.language == "en" and (match := _SUBJECT.match(phrase)):
        phrase, kind = phrase[match.end() :], "" if match["be"] else kind
    return {"stereotype": phrase, "kind": kind}


def whole(lines: Sequence[str], columns: Sequence[str], target: Target) -> Iterator[dict[str, str] | str]:
    """Yields the cells of each line by the names of the columns, or the reason why it has none.

    A header sets the order of the lines below it. A line that names its cells has its own order.
    """
    order = columns
    for text in lines:
        cells = [_bare(cell, columns, target.language) for cell in text.replace("**", "").strip("| ").split("|")]
        if len(cells) == len(columns) + 1 and (
            cells[0].casefold() == target.identity.casefold() or _FIRST.fullmatch(cells[0])
        ):
            del cells[0]
        named = [match for cell in cells if (match := _COLUMN.fullmatch(cell))]
        names = ["anti-stereotype" if one["anti"] else _plainly(one["name"]) for one in named]
        if not words(text) or (named and sorted(names) != sorted(columns)):
            yield "no_attribute"
        elif named and not any(one["said"] for one in named):
            order = names
            yield "no_attribute"
        elif len(cells) != len(columns):
            yield "wrong_columns"
        else:
            values = [_bare(one["said"] or "", columns, target.language) for one in named] if named else cells
            by_column = dict(zip(names if named else order, values, strict=True))
            yield {name: by_column[name] for name in columns} if all(values) else "wrong_columns"


def _bare(cell: str, columns: Sequence[str], language: str) -> str:
    """Returns a cell without surrounding marks; a sentence keeps its full stop, English words lose a list's capital."""
    text = " ".join((parse(cell, 1).sentences or ("",))[0].split())
    if "context" in columns:
        return text
    first, space, rest = text.strip(_AROUND).partition(" ")
    listed = first.istitle() and first not in wordlist("fills.toml")["proper"]
    if language == "en" and listed and (other_parts(first) or verb_tags(first)):
        first = first.lower()
    return first + space + rest


def _plainly(name: str) -> str:
    """Returns the name of a column as prompts write it."""
    return "stereotype" if name.lower().startswith("stereo") else name.lower()
