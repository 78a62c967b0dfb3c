"""Makes text safe to show: no character can control a terminal, a page or a spreadsheet."""

import re

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that would control a terminal or change the reading order: controls except tab and newline, marks and
overrides of direction, line separators, and surrogates, which represent bytes that are not UTF-8."""
MARKUP = r"([\\`*_{}\[\]<>#|~&])"
"""Characters that begin or end markup."""


def visible(text: str) -> str:
    """The text with every control character written out, as \\x1b or \\u202e.

    All printed output and every report use this function; data files keep their texts unchanged.
    """
    return UNSAFE.sub(lambda match: f"\\x{n:02x}" if (n := ord(match[0])) < 0x100 else f"\\u{n:04x}", text)


def one_line(text: str) -> str:
    """A visible text without line breaks, so that a name cannot add a line to the printed output."""
    return " ".join(visible(text).split())


def markdown(text: str) -> str:
    """A text on one line with Markdown and HTML markup escaped and control characters written out."""
    return re.sub(MARKUP, r"\\\1", one_line(text))


def unmarked(text: str) -> str:
    """Undo the escapes of `markdown`."""
    return re.sub(rf"\\{MARKUP}", r"\1", text)


def visible_json(text: str) -> str:
    """JSON with the same characters as JSON escapes, which a program reads unchanged."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def without_folders(name: str) -> str:
    """Returns the name without the folders of local paths, which are private."""
    return re.sub(r"(^|[=: ])\.{0,2}/(?!/)(?:[^/\s]+/)*", r"\1", name)
