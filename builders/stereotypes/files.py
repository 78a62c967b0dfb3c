"""Implied statements from a file of any kind: a known corpus, a table, JSONL or plain text."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from catsofa.data import formats
from catsofa.data.files import BadInput, csv_files, json_files, lines
from catsofa.data.formats.repeats import numbered
from catsofa.data.records import Statement


def read_statements(
    path: Path | str, text: str = "", target: str = "", category: str = "", language: str = "en"
) -> Iterator[Statement]:
    """Yields the statements of a file: a table or JSONL with named columns, or a detected format."""
    statements = _read(Path(path), text, target, category)
    return (s if s.language == language else replace(s, language=language) for s in statements)


def _read(path: Path, text: str, target: str, category: str) -> Iterator[Statement]:
    """Yields the statements of a file, before the language is set."""
    if not text:
        if target or category:
            raise ValueError("name the column of the statements too (--text), or no column")
        if path.suffix != ".txt":
            try:
                formats.format_of(path)
            except BadInput as error:
                raise BadInput(
                    path, error.found, "statements in a format we know, or else their column (--text)"
                ) from None
            return formats.read_as(path, Statement)
        return numbered(Statement(statement=line) for _, line in lines(path, "statements, one a line"))
    named = [column for column in (text, target, category) if column]
    if path.suffix in (".jsonl", ".ndjson"):
        rows = _json_rows(path, named)
    else:
        rows = (row for _, row in csv_files.rows(path, named, "statements (CSV or TSV)"))
    return numbered(
        Statement(
            id=row.get("id", ""),
            statement=row[text],
            target=row[target] if target else "",
            category=row[category] if category else "",
        )
        for row in rows
    )


def _json_rows(path: Path, named: list[str]) -> Iterator[dict[str, str]]:
    """Yields the objects of a JSONL file; named fields must be text or null."""
    expected = f"a JSON object with {', '.join(named)} as text"
    for number, line in lines(path, "statements (JSONL)"):
        record = json_files.parse(line, path, expected, number)
        if not isinstance(record, dict) or named[0] not in record:
            raise BadInput(path, f"no field {named[0]!r}", expected, number)
        wanted = {name: record.get(name) or "" for name in [*named, "id"]}
        if wrong := [name for name, value in wanted.items() if not isinstance(value, str)]:
            raise BadInput(path, f"{wrong[0]} that is no text", expected, number)
        yield wanted
