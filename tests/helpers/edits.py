"""Edits of a file by a test."""

from pathlib import Path


def replaced_in(file: Path, before: str, after: str, encoding: str = "utf-8") -> None:
    """Replaces a text that must be in a UTF-8 file, once, and writes the file in an encoding."""
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding=encoding)
