"""Text for people in which no character steers a terminal, a page or a sheet."""

import re

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that would steer a terminal or turn the order of what is read: controls but tab and newline, marks and
overrides of direction, separators of lines, and surrogates, which stand for bytes that are no UTF-8."""
MARKUP = r"([\\`*_{}\[\]<>#|~&])"
"""Characters that begin or end markup."""


def visible(text: str) -> str:
    """The text with every character that a terminal would obey written out, as \\x1b or \\u202e.

    All that this program prints and every report goes through here; files of data keep their texts as they are.
    """
    return UNSAFE.sub(lambda found: f"\\x{n:02x}" if (n := ord(found[0])) < 0x100 else f"\\u{n:04x}", text)


def one_line(text: str) -> str:
    """A visible text without line breaks, so that a name cannot add a line of its own to what is printed."""
    return " ".join(visible(text).split())


def markdown(text: str) -> str:
    """A text on one line in which neither Markdown nor HTML finds markup, and no character steers a reader."""
    return re.sub(MARKUP, r"\\\1", one_line(text))


def unmarked(text: str) -> str:
    """What was given to `markdown`."""
    return re.sub(rf"\\{MARKUP}", r"\1", text)


def visible_json(text: str) -> str:
    """JSON with the same characters as escapes of JSON, which a program reads as they were."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
