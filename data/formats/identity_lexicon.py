"""The identity lexicon of Czarnowska et al. 2021: one CSV per category, with terms, parts of speech and groups.

The file name is the category. The columns differ between files: TERM, often POS (n, adj, pp) and GROUP, and
further columns (`countries` has the adjective of each country and of its region).
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from catsofa.data.files import BadInput, csv_files, open_to_read, stem
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.files.folders import atomic_folder
from catsofa.data.formats import Format
from catsofa.data.formats.repeats import lost_beside_number, numbered
from catsofa.data.records import Term

EXPECTED = "an identity lexicon (CSV with a column TERM, named by its category)"
OWN = ("TERM", "POS", "GROUP")
RELEASED = {
    "age": ("TERM", "POS", "GROUP"),
    "countries": ("RANK", "TERM", "COUNTRY_ADJ", "CONTINENT", "REGION", "REGION_ADJ", "GDP_NOMINAL", "GDP_PPP"),
    "disability": ("TERM", "GROUP", "POS", "TYPE"),
    "gender": ("TERM", "POS", "TYPE", "GROUP"),
    "race": ("TERM", "GROUP"),
    "religion": ("TERM", "POS", "TYPE", "SEM", "GROUP"),
    "sexuality": ("TERM", "POS", "TYPE", "GROUP"),
}
"""The columns of the released files, in their order."""


def read(path: Path) -> Iterator[Term]:
    """Each row of a CSV, or of each CSV of a folder by name, as a term; the file name is the category."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise BadInput(path, "a folder without a CSV", EXPECTED)
    return numbered(chain.from_iterable(map(_terms, files)))


def _terms(path: Path) -> Iterator[Term]:
    """The terms of one CSV."""

    def term(line: int, row: Row) -> Term:
        csv_files.refuse_empty(row, ["TERM"], path, EXPECTED, line)
        return _term(row, stem(path))

    return each(term, csv_files.rows(path, ["TERM"], EXPECTED))


def _term(row: Row, category: str) -> Term:
    """A row as a term; columns other than TERM, POS and GROUP go to `extra`."""
    pos, group = row.get("POS", ""), row.get("GROUP", "")
    return Term(category=category, term=row["TERM"], pos=pos, group=group, extra=csv_files.others(row, OWN))


def _row(term: Term) -> Row:
    """A term as a row, without empty cells such as a missing POS or GROUP."""
    row = csv_files.with_others({"TERM": term.term, "POS": term.pos, "GROUP": term.group}, term.extra)
    return {name: cell for name, cell in row.items() if cell}


def write(terms: Iterable[Term], path: Path) -> int:
    """Write one CSV per category into a folder, or a single category as one CSV; returns the number of terms."""
    lexicons: dict[str, list[Row]] = {}
    for term in terms:
        if not term.term.strip():
            raise ValueError(f"term {term.id} of {term.category!r} is empty")
        lexicons.setdefault(term.category, []).append(_row(term))
    if not lexicons:
        raise ValueError(f"there is nothing to write to {path}")
    if path.suffix.lower() == ".csv":
        if set(lexicons) != {path.stem}:
            names = ", ".join(f"{category}.csv" for category in lexicons)
            raise ValueError(f"{path} would turn its terms into {path.stem!r}; name a folder, which will hold {names}")
        return _write(lexicons[path.stem], path.parent, path.stem)
    for category in lexicons:
        if not re.fullmatch(r"[^./\\\0][^/\\\0]*", category):
            raise ValueError(f"category {category!r} cannot be the name of a file")
    with atomic_folder(path, lambda file: file.match("*.csv") and _is_lexicon(path / file)) as folder:
        return sum(_write(rows, folder, category) for category, rows in lexicons.items())


def _write(rows: list[Row], folder: Path, category: str) -> int:
    """Write one CSV, with the released columns first and in their order."""
    return csv_files.write(rows, folder / f"{category}.csv", RELEASED.get(category, OWN))


def matches(path: Path, head: bytes) -> bool:
    """Returns whether a CSV has TERM and a column that describes the term, or the first CSV of a folder does."""
    if path.is_dir():
        first = min(path.glob("*.csv"), default=None)
        return first is not None and first.is_file() and _is_lexicon(first)
    return _has_columns(head)


def _is_lexicon(path: Path) -> bool:
    """Returns whether the header of a file is that of a lexicon."""
    with open_to_read(path, EXPECTED) as file:
        return _has_columns(file.readline(4096).removeprefix(b"\xef\xbb\xbf"))


def _has_columns(head: bytes) -> bool:
    """Returns whether a header has the columns of a lexicon; TERM alone would match any glossary."""
    columns = csv_files.columns_of(head)
    return "TERM" in columns and bool(columns & {"POS", "GROUP", "COUNTRY_ADJ"})


def loses(term: Term) -> Iterator[str]:
    """The fields that differ when the written row is read again."""
    return lost_beside_number(term, _term({"TERM": ""} | _row(term), term.category))


FORMAT = Format(
    name="identities",
    holds=(Term,),
    about="an identity lexicon",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".csv",
)
