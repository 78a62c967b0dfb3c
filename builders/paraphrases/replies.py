"""Parses a model's reply into sentences, strictly: removes and notes wrapping, but never changes words."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catsofa.builders.paraphrases.prompts import Request
from catsofa.data.language import blanks
from catsofa.data.language.wordlists import wordlist
from catsofa.data.servers.requests import Answer

_NUMBER = re.compile(r"^(?P<mark>\**)(?:\(?\d{1,2}[.):]|\(?[a-z]\))(?P=mark)\s+")
_BULLET = re.compile(r"^[-*•–]\s+")
_NAMED = re.compile(
    r"^\W{0,2}(?:sentence|paraphrase|option|version)\s*(?:\d{1,2}|one|two|three)?\s*[:.)]\W{0,2}\s+", re.I
)
_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"))
_MARKED_BLANK = re.compile(r"(?P<mark>\*\*|\*|__|_|`)(?P<blank>\[?BLANK\]?)(?P=mark)")
_MARKED_LINE = re.compile(r"^(?P<mark>\*\*|\*|__|_|`)(?P<line>[^*_`]+)(?P=mark)$")
_SENTENCE_END = re.compile(r"(?<!\s)\s+/+\s+|(?<=[.!?])[\"'”’]?\s+(?=[\"'“‘\[A-Z])")
_MARKUP = (
    (
        "reasoning",
        re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)|^.*?</(?:think|thinking|reasoning)>", re.I | re.S),
        "",
    ),
    ("html", re.compile(r"</?(?:p|br|b|i|em|strong|li|ul|ol|div|span|s|u|q|sentence|paraphrase)\s*/?>", re.I), " "),
    ("invisible", re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"), ""),
    ("markdown", re.compile(r"^[^\S\n]*(?:```|~~~)\w*[^\S\n]*$", re.M), ""),
)
_PICTURES = "[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff\u200d]+"
_OUTER_PICTURES = re.compile(rf"^{_PICTURES}\s*|(?<!\s)\s*(?<!{_PICTURES[:-1]}){_PICTURES}$")
_REMARK = re.compile(r"^\W*(?:note|explanation|p\.?s\.?)\s*:|^\W*(?:I (?:have|kept|used|hope)|I've)\b", re.I)


LONGEST = 200_000
"""Maximum number of characters read of a reply: ten times the length of 50 contexts with continuations."""
LAYERS = 10
"""Maximum number of wrappings removed from a line."""
Ending = Literal["complete", "truncated", "content_filter", "refusal", "empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's reply and how it ended; only a complete reply is parsed into sentences."""

    text: str
    ending: Ending = "complete"
    model: str = ""

    def __post_init__(self) -> None:
        """Cuts a reply that is longer than any requested reply, and marks a complete one as truncated."""
        if len(self.text) > LONGEST:
            object.__setattr__(self, "text", self.text[:LONGEST])
            object.__setattr__(self, "ending", "truncated" if self.ending == "complete" else self.ending)


Completed = Answer[Request, Reply]
"""The end of a request, with its parsed reply."""


def reply_of(body: Mapping[str, Any]) -> Reply:
    """Returns the reply in the JSON of a chat completion; without a choice or a text, the reply is empty."""
    choices = body["choices"]
    choice = _object(choices[0] if choices else None)
    message = _object(choice.get("message"))
    text, declined = _text(message.get("content")), _text(message.get("refusal")) or _text(body.get("said"))
    ending = _ending(choice.get("finish_reason"), text, declined)
    return Reply(text=text or declined, ending=ending, model=_text(body.get("model")))


def _ending(finish: Any, text: str, declined: str) -> Ending:
    """Returns how a reply ended; the most serious reason takes precedence."""
    if finish == "content_filter":
        return "content_filter"
    if declined:
        return "refusal"
    if finish == "length":
        return "truncated"
    return "complete" if text.strip() else "empty"


def _object(value: Any) -> dict[str, Any]:
    """Returns the value if it is a JSON object, else an empty dict."""
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    """Returns the value if it is a string, else an empty string.

    U+FFFD replaces half a surrogate pair, which no file can hold.
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The sentences of a reply in order, and the kinds of wrapping removed; `refusal` if the reply declines."""

    sentences: tuple[str, ...]
    notes: tuple[str, ...] = ()
    refusal: bool = False


def parse(reply: str, wanted: int = 2) -> Parsed:
    """Returns the sentences of a reply, one per line, without numbers, bullets, quotes, markup and remarks.

    A line is a remark if it has no BLANK and ends in a colon. Lines are also remarks if the other lines are the wanted
    number of sentences with one BLANK each. A single line is split at sentence ends or slashes only if that gives the
    wanted number of sentences.
    """
    notes: set[str] = set()
    lines = [line for raw in _without_markup(reply, notes).splitlines() if (line := _unwrapped(raw, notes))]
    if not any("BLANK" in line for line in lines) and any(refuses(line) for line in lines):
        return Parsed(sentences=tuple(lines), notes=tuple(sorted(notes)), refusal=True)
    # a line without BLANK that ends in a colon only introduces the sentences
    spoken = [line for line in lines if "BLANK" in line or not line.endswith(":")]
    whole = [line for line in spoken if blanks.check(line) is None and not _REMARK.match(line)]
    if len(whole) == wanted and all("BLANK" not in line or _REMARK.match(line) for line in spoken if line not in whole):
        spoken = whole
    if len(spoken) < len(lines):
        notes.add("chatter")
    if len(spoken) == 1 and wanted > 1:
        cut = [part.strip() for part in _SENTENCE_END.split(spoken[0])]
        if len(cut) == wanted and all(blanks.check(part) is None for part in cut):
            spoken = cut
            notes.add("one_line")
    return Parsed(sentences=tuple(spoken), notes=tuple(sorted(notes)))


def refuses(sentence: str) -> bool:
    """Returns True if a sentence declines the task: sorry about not being able, unable to comply, "as an AI"."""
    straight = sentence.replace("’", "'")
    return any(re.search(pattern, straight, re.I) for pattern in wordlist("paraphrase_words.toml")["refusal"])


def _without_markup(reply: str, notes: set[str]) -> str:
    """Returns the reply without reasoning, code fences, tags and invisible characters, with its entities decoded."""
    for kind, pattern, instead in _MARKUP:
        cleaned = pattern.sub(instead, html.unescape(reply) if kind == "html" else reply)
        if cleaned != reply:
            notes.add(kind)
        reply = cleaned
    return reply


def _unwrapped(line: str, notes: set[str]) -> str:
    """Returns the line without its wrappings, and adds each kind of wrapping to `notes`."""
    line = line.strip()
    for _ in range(LAYERS):
        bare, kind = _one_layer_off(line)
        if not kind:
            break
        notes.add(kind)
        line = bare.strip()
    return line


def _one_layer_off(line: str) -> tuple[str, str]:
    """Returns the line without its outermost wrapping, and the kind of the wrapping; empty if there is none."""
    for pattern, kind in ((_NUMBER, "numbered"), (_BULLET, "bullets"), (_NAMED, "numbered")):
        if match := pattern.match(line):
            return line[match.end() :], kind
    if match := _MARKED_LINE.match(line):
        return match["line"], "markdown"
    if _MARKED_BLANK.search(line):
        return _MARKED_BLANK.sub(r"\g<blank>", line), "markdown"
    if match := _OUTER_PICTURES.search(line):
        return line[: match.start()] + line[match.end() :], "pictures"
    for start, end in _QUOTES:
        if _is_quoted(line, start, end):
            return line[len(start) : -len(end)], "quotes"
    return line, ""


def _is_quoted(line: str, start: str, end: str) -> bool:
    """Returns True if one pair of quotes encloses the whole line, and no further quotation opens or closes inside."""
    if len(line) < 3 or not (line.startswith(start) and line.endswith(end)):
        return False
    inside = line[1:-1]
    if start != end:
        return start not in inside
    return not re.search(rf"(?:^|[\s(]){re.escape(start)}\w", inside) and (start != '"' or start not in inside)
