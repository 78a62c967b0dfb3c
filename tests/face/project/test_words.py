"""Tests that printed text is plain English: short sentences in errors, and no phrase of the old dialect."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from helpers import ROOT
from helpers.commands import commands

ROOMS = ("annotation", "builders", "data", "scoring", "validation")
LONGEST = 25
"""Maximum number of words of a sentence."""
IN_HELP = re.compile(r"\b(of which|whoever|whatever|as many|stands?|is said|is told)\b")
DIALECT = re.compile(r"\b(of ours|is told so|are told so|is a number of|nobody says|(bring|brought) home|anew)\b")


def modules() -> list[Path]:
    """Returns the modules of the rooms and of the package itself."""
    places = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return places + [path for path in (ROOT / "catsofa").rglob("*.py") if path.relative_to(ROOT).parts[1] not in ROOMS]


def raised() -> Iterator[tuple[str, str]]:
    """Yields each text of an error with its place; a value in it is the word X."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                for text in filter(None, map(literal, node.exc.args)):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def literal(node: ast.expr) -> str:
    """Returns a text as in code with `X` for each value; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def test_errors_are_short_sentences_in_plain_english() -> None:
    """No sentence of an error has more than 25 words, and none has a phrase of the old dialect."""
    texts = list(raised())
    assert len(texts) > 900
    long = [
        (place, sentence)
        for place, text in texts
        for sentence in re.split(r"[.!?:;]\s|\n", text)
        if len(sentence.split()) > LONGEST
    ]
    assert long == []
    assert [(place, text) for place, text in texts if DIALECT.search(text)] == []


def test_documentation_has_no_phrase_of_the_old_dialect() -> None:
    """Neither README nor a page says `of ours`, `is told so` or `is a number of`."""
    pages: list[Path] = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    matches = [(page.name, match[0]) for page in pages for match in DIALECT.finditer(page.read_text(encoding="utf-8"))]
    assert matches == []


def test_docstrings_say_what_a_thing_does() -> None:
    """No docstring has a phrase of the old dialect or begins with `Whether`."""
    texts = [
        (path.relative_to(ROOT), node.lineno, node.value.value)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    assert len(texts) > 5_000
    assert [text for text in texts if re.search(rf"^Whether\b|{DIALECT.pattern}", text[2])] == []


def test_help_is_full_phrases_in_plain_english() -> None:
    """Help begins with a capital and never with `Of`; no sentence is over 25 words or has a phrase of the dialect."""
    texts = [(name, "", str(command.help or "")) for name, command in commands().items()]
    for name, command in commands().items():
        shown = [option for option in command.params if not getattr(option, "hidden", False)]
        texts += [(name, str(option.name), str(getattr(option, "help", None) or "")) for option in shown]
    assert len(texts) > 700
    marked = [(name, option, re.sub(r"\[/?\w+\]", "", text)) for name, option, text in texts]
    assert [(name, option) for name, option, text in marked if not re.match(r"[A-Z`]", text)] == []
    assert [row for row in marked if row[2].startswith("Of ") or DIALECT.search(row[2]) or IN_HELP.search(row[2])] == []
    sentences = [(*row[:2], part) for row in marked for part in re.split(r"[.!?:;]\s|\n\n", row[2])]
    assert [row for row in sentences if len(row[2].split()) > LONGEST] == []
