"""The Social Bias Inference Corpus (SBIC), released as annotations (one row per judgement) and by post (JSON lists).

An annotation row becomes one statement, which is empty if the annotator wrote none. A row by post becomes one
statement for each of its implied statements, or one empty statement. Statements of a post are consecutive. No
row is dropped: the builders decide about rows without a statement.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, csv_files, json_files, short
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.formats import Format
from catsofa.data.formats.repeats import lost_beside_number, numbered
from catsofa.data.records import Statement

MINORITY, CATEGORY, STEREOTYPE = TEXTS = ("targetMinority", "targetCategory", "targetStereotype")
NEEDED = ("post", *TEXTS)
BY_POST = "hasBiasedImplication"
"""The column that identifies a file by post; in the release, 1 means that a post has *no* implied statement."""
EXPECTED = f"SBIC (CSV with {', '.join(NEEDED)})"

ANNOTATION_COLUMNS = (
    *("", "whoTarget", "intentYN", "sexYN", "sexReason", "offensiveYN", "annotatorGender", "annotatorMinority"),
    *("sexPhrase", "speakerMinorityYN", "WorkerId", "HITId", "annotatorPolitics", "annotatorRace", "annotatorAge"),
    *(*NEEDED, "dataSource"),
)
POST_COLUMNS = ("", *NEEDED, "whoTarget", "intentYN", "sexYN", "offensiveYN", "dataSource", BY_POST)
"""The columns of the release in order; the unnamed column is an index that some copies have."""


def read(path: Path) -> Iterator[Statement]:
    """Each statement with its target and category; every other column goes to `extra`."""
    return numbered(_statements(path))


def _statements(path: Path) -> Iterator[Statement]:
    """The statements of each row."""

    def of_row(line: int, row: Row) -> list[Statement]:
        if BY_POST in row:
            return list(_of_post({name: _list(row[name], name, path, line) for name in TEXTS}, row))
        return [_of_annotation(row)]

    return chain.from_iterable(each(of_row, csv_files.rows(path, NEEDED, EXPECTED)))


def _of_annotation(row: Row) -> Statement:
    """The statement of one judgement."""
    extra = csv_files.others(row, TEXTS)
    return Statement(statement=row[STEREOTYPE], target=row[MINORITY], category=row[CATEGORY], extra=extra)


def _of_post(lists: dict[str, list[str]], row: Row) -> Iterator[Statement]:
    """The statements of a post; the release does not say which of several targets a statement is about."""
    extra: dict[str, Any] = dict(csv_files.others(row, TEXTS))
    extra |= {name: lists[name] for name in (MINORITY, CATEGORY) if len(lists[name]) > 1}
    target, category = ", ".join(lists[MINORITY]), ", ".join(lists[CATEGORY])
    for statement in lists[STEREOTYPE] or [""]:
        yield Statement(statement=statement, target=target, category=category, extra=extra)


def _list(cell: str, name: str, path: Path, line: int) -> list[str]:
    """The texts of a JSON list; refuses an empty text."""
    texts = json_files.parse(cell, path, f"a list in JSON as {name}", line)
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise BadInput(path, f"{short(cell)} as {name}", "a list of texts in JSON, none of them empty", line)
    return texts


def write(statements: Iterable[Statement], path: Path) -> int:
    """Write statements as annotations, or by post if the first was read by post; returns the number of statements."""
    rest = iter(statements)
    first = next(rest, None)
    if first is None:
        raise ValueError(f"no statements to write to {path}")
    by_post, count = BY_POST in first.extra, 0

    def checked() -> Iterator[Statement]:
        nonlocal count
        for statement in chain([first], rest):
            if (BY_POST in statement.extra) != by_post:
                raise ValueError(f"statement {statement.id} mixes annotations with statements by post")
            count += 1
            yield statement

    rows = _post_rows(checked()) if by_post else map(_annotation_row, checked())
    released = POST_COLUMNS if by_post else ANNOTATION_COLUMNS
    csv_files.write(rows, path, [name for name in released if name or name in first.extra])
    return count


def _annotation_row(statement: Statement) -> Row:
    """A statement as a row of annotations."""
    texts = {MINORITY: statement.target, CATEGORY: statement.category, STEREOTYPE: statement.statement}
    return csv_files.with_others(texts, statement.extra)


def _post_rows(statements: Iterable[Statement]) -> Iterator[Row]:
    """One row for consecutive statements that differ only in their text, and one for each empty statement."""
    for _, post in groupby(statements, key=lambda s: (bool(s.statement), s.target, s.category, s.extra)):
        together = list(post)
        if together[0].statement:
            yield _post_row(together)
        else:
            yield from (_post_row([alone]) for alone in together)


def _post_row(statements: list[Statement]) -> Row:
    """The row of a post with these statements."""
    first = statements[0]
    lists = {
        MINORITY: first.extra.get(MINORITY, [first.target] if first.target else []),
        CATEGORY: first.extra.get(CATEGORY, [first.category] if first.category else []),
        STEREOTYPE: [s.statement for s in statements if s.statement],
    }
    return _annotation_row(first) | {name: json.dumps(texts) for name, texts in lists.items()}


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the header has the columns of SBIC."""
    return set(NEEDED) <= csv_files.columns_of(head)


def loses(statement: Statement) -> Iterator[str]:
    """The fields that differ when the written row is read again."""
    if BY_POST in statement.extra:
        row = _post_row([statement])
        back = next(_of_post({name: json.loads(row[name]) for name in TEXTS}, row))
    else:
        back = _of_annotation(_annotation_row(statement))
    return lost_beside_number(statement, back)


FORMAT = Format(
    name="sbic",
    holds=(Statement,),
    about="SBIC's implied statements",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".csv",
    columns=NEEDED,
)
