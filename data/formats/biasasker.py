"""BiasAsker's CSV files: SBIC's implied statements without subjects, some with an antonym, and social groups.

`Labels` is the topic of a statement (appearance, crime, …), not a group, so it goes to `extra`, not `category`.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from catsofa.data.files import csv_files, existing_file, open_to_read
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.formats import Format
from catsofa.data.formats.repeats import lost_beside_number, numbered
from catsofa.data.records import Statement, Term, kind_name

STATEMENTS, ANTONYMS, GROUPS = ("Sentence", "Labels"), ("Sentence", "Antonym", "Labels"), ("Group", "Category")
EXPECTED = "BiasAsker's statements (CSV with Sentence, Labels) or groups (CSV with Group, Category)"


def read(path: Path) -> Iterator[Statement | Term]:
    """Each statement of a file of statements, or each group of a file of groups as a term."""
    existing_file(path, EXPECTED)
    with open_to_read(path, EXPECTED) as file:
        columns = csv_files.columns_of(file.readline(4096).removeprefix(b"\xef\xbb\xbf"))
    if set(GROUPS) <= columns:
        return numbered(_term(row) for row in _rows(path, GROUPS))
    return numbered(_statement(row) for row in _rows(path, STATEMENTS))


def _rows(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """The rows of a CSV file; a row with an empty first needed column is refused."""

    def filled(line: int, row: Row) -> Row:
        csv_files.refuse_empty(row, needed[:1], path, EXPECTED, line)
        return row

    return each(filled, csv_files.rows(path, needed, EXPECTED))


def _statement(row: Row) -> Statement:
    """A row as a Statement; labels, antonym and further columns go to `extra`."""
    return Statement(statement=row["Sentence"], extra=csv_files.others(row, ["Sentence"]))


def _term(row: Row) -> Term:
    """A row as a Term; further columns go to `extra`."""
    return Term(category=row["Category"], term=row["Group"], extra=csv_files.others(row, GROUPS))


def _row(record: Statement | Term) -> Row:
    """A record as a row."""
    if isinstance(record, Statement):
        return csv_files.with_others({"Sentence": record.statement}, record.extra)
    return csv_files.with_others({"Group": record.term, "Category": record.category}, record.extra)


def write(records: Iterable[Statement | Term], path: Path) -> int:
    """Write statements or terms, in the layout of the first record; returns the number of records."""
    rest = iter(records)
    first = next(rest, None)
    if first is None:
        raise ValueError(f"there is nothing to write to {path}")
    columns = GROUPS if isinstance(first, Term) else ANTONYMS if "Antonym" in first.extra else STATEMENTS
    return csv_files.write(_written(chain([first], rest), type(first)), path, columns)


def _written(records: Iterable[Statement | Term], kind: type[Statement | Term]) -> Iterator[Row]:
    """The rows of records of one kind; refuses an empty record."""
    for record in records:
        if not isinstance(record, kind):
            raise ValueError(f"a file of BiasAsker holds {kind_name(kind)} alone; found {kind_name(type(record))}")
        if not (record.statement if isinstance(record, Statement) else record.term).strip():
            raise ValueError(f"record {record.id} is empty")
        yield _row(record)


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the columns are exactly those of statements or groups; statements never begin with a capital."""
    header = head.split(b"\n", 1)[0]
    columns = csv_files.columns_of(head) - {"", header.decode("utf-8", "replace").strip()}
    if columns in (set(STATEMENTS), set(ANTONYMS)):
        return not any(sentence[:1].isupper() for sentence in _sentences(head))
    return columns == set(GROUPS)


def _sentences(head: bytes) -> list[str]:
    """The statements at the head of a file, except the last one, which may be cut."""
    lines = head.decode("utf-8", "replace").splitlines()
    separator = max(csv_files.SEPARATORS, key=lines[0].count)
    try:
        return [row.get("Sentence") or "" for row in csv.DictReader(lines, delimiter=separator)][:-1]
    except csv.Error:
        return []


def loses(record: Statement | Term) -> Iterator[str]:
    """The fields that differ when the written row is read again."""
    if isinstance(record, Statement):
        return lost_beside_number(record, _statement(_row(record)))
    return lost_beside_number(record, _term(_row(record)))


FORMAT = Format(
    name="biasasker",
    holds=(Statement, Term),
    about="BiasAsker's statements or groups",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".csv",
)
