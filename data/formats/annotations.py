"""Annotations as CSV: item, annotator, label, one judgement per row; column names of other tools are accepted."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from catsofa.data.files import BadInput, csv_files, short
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.records import Annotation

EXPECTED = "annotations as CSV"
NAMES = {
    "item": ("item", "item_id", "sentence_id", "task_id", "task"),
    "annotator": ("annotator", "annotator_id", "human_id", "worker_id", "worker"),
    "label": ("label",),
}
"""Accepted names of each column (catsofa's, StereoSet's, crowd-kit's); the first name in the file counts."""
COLUMNS = ("item", "annotator", "label", "at")


def read(path: Path) -> Iterator[Annotation]:
    """Each judgement; further columns go to `extra`."""
    named: dict[str, str] = {}

    def annotation(line: int, row: Row) -> Annotation:
        named.update(named or {column: _known(column, row, path) for column in NAMES})
        csv_files.refuse_empty(row, (named["item"], named["annotator"]), path, EXPECTED, line)
        return _annotation(row, named)

    return each(annotation, csv_files.rows(path, ("label",), EXPECTED))


def write(annotations: Iterable[Annotation], path: Path) -> int:
    """Write one row per judgement, with a column for each further field of any; returns the number of rows."""

    def rows() -> Iterator[Row]:
        for line, row in enumerate(map(_row, annotations), start=2):
            csv_files.refuse_empty(row, ("item", "annotator"), path, EXPECTED, line)
            yield row

    return csv_files.write(rows(), path, COLUMNS)


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the header has an accepted name for each of item, annotator and label."""
    columns = csv_files.columns_of(head)
    return all(columns & set(names) for names in NAMES.values())


def loses(annotation: Annotation) -> Iterator[str]:
    """The values in `extra` that are not text."""
    return lost(annotation, _annotation(_row(annotation), {column: column for column in NAMES}))


def _known(column: str, row: Row, path: Path) -> str:
    """The name of a column in this file."""
    for name in NAMES[column]:
        if name in row:
            return name
    problem = f"no column {column!r} among {short(', '.join(row))}"
    raise BadInput(path, problem, f"one of {', '.join(NAMES[column])}", 1)


def _annotation(row: Row, named: dict[str, str]) -> Annotation:
    """A row as an Annotation."""
    return Annotation(
        item=row[named["item"]],
        annotator=row[named["annotator"]],
        label=row[named["label"]],
        at=row.get("at", ""),
        extra=csv_files.others(row, (*named.values(), "at")),
    )


def _row(annotation: Annotation) -> Row:
    """An Annotation as a row."""
    cells = {name: getattr(annotation, name) for name in COLUMNS}
    return csv_files.with_others(cells, annotation.extra)


FORMAT = Format(
    name="annotations",
    holds=(Annotation,),
    about=EXPECTED,
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".csv",
    columns=tuple(NAMES),
)
