"""CrowS-Pairs: the released CSV with five annotators, and the revised TSV without annotators."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, csv_files, short
from catsofa.data.files.csv_files import Row
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.formats.pairs import PairTable, checker, indexes
from catsofa.data.records import Annotation, Direction, Pair

EXPECTED = "CrowS-Pairs"
NEEDED = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
VOTES = ("annotations", "anon_annotators")
COLUMNS = ("", *NEEDED, "annotations", "anon_writer", "anon_annotators")
DIRECTIONS: tuple[Direction, Direction] = ("stereo", "antistereo")
_NAMES = re.compile(r"\w+(,\w+)+")
"""The form in which WinoQueer's first version lists annotators."""


def write(pairs: Iterable[Pair], path: Path) -> int:
    """Write the columns of the released file, and one for each further field; returns the number of rows."""
    check, ids = checker(path, NEEDED, EXPECTED), Seen(path, EXPECTED)

    def rows() -> Iterator[Row]:
        for line, pair in enumerate(pairs, start=2):
            ids.add(pair.id, line)
            yield check(line, _row(pair))

    return csv_files.write(rows(), path, COLUMNS)


def loses(pair: Pair) -> Iterator[str]:
    """The fields that are lost: all except the pair, annotators and labels of votes, and texts in `extra`."""
    return lost(pair, _pair(_row(pair), Path(), 0))


def _pair(row: Row, path: Path, line: int) -> Pair:
    """A row as a Pair."""
    if "template" in row:
        raise BadInput(path, "a column 'template', so that the others hold words", "whole sentences", 1)
    if row["stereo_antistereo"].startswith(" "):  # WinoQueer's first version has a space after each comma
        row = {name: value.lstrip() for name, value in row.items()}
    index = indexes(row)[:1]
    pair = Pair(
        id="".join(row[name] for name in index),
        more=row["sent_more"],
        less=row["sent_less"],
        direction=direction_of(row["stereo_antistereo"], path, EXPECTED, line),
        bias_type=row["bias_type"],
        language=row.get("language") or "en",
        extra=csv_files.others(row, (*index, *NEEDED, *VOTES, "language")),
    )
    chosen = csv_files.list_in(row, "annotations", path, line)
    names = row.get("anon_annotators", "")
    people = names.split(",") if _NAMES.fullmatch(names) else csv_files.list_in(row, "anon_annotators", path, line)
    if len(chosen) != len(people):
        raise BadInput(path, f"{len(chosen)} annotations by {len(people)} annotators", "one by each", line)
    if not all(isinstance(person, str) for person in people):
        raise BadInput(path, f"{short(people)} as annotators", "a list of names", line)
    return replace(
        pair,
        votes=tuple(
            Annotation(item=pair.id, annotator=person, label=_joined(labels, path, line))
            for labels, person in zip(chosen, people, strict=True)
        ),
    )


def direction_of(cell: str, path: Path, expected: str, line: int) -> Direction:
    """The direction that a cell names."""
    for direction in DIRECTIONS:
        if cell == direction:
            return direction
    raise BadInput(path, f"the direction {short(cell)}", f"{' or '.join(DIRECTIONS)}, in {expected}", line)


def _joined(labels: Any, path: Path, line: int) -> str:
    """The labels of one annotator, joined to the label of an Annotation."""
    if not isinstance(labels, list):
        raise BadInput(path, f"{short(labels)} as the annotation of one person", "a list of bias types", line)
    if not all(isinstance(label, str) and "|" not in label for label in labels) or labels == [""]:
        raise BadInput(path, f"the labels {short(labels)}", "texts without '|', and an empty list for none", line)
    return "|".join(labels)


def _row(pair: Pair) -> Row:
    """A Pair as a row."""
    cells = {
        "": pair.id,
        "sent_more": pair.more,
        "sent_less": pair.less,
        "stereo_antistereo": pair.direction,
        "bias_type": pair.bias_type,
        "annotations": repr([vote.label.split("|") if vote.label else [] for vote in pair.votes]),
        "anon_writer": str(pair.extra.get("anon_writer", "")),
        "anon_annotators": repr([vote.annotator for vote in pair.votes]),
    }
    if pair.language != "en":
        cells["language"] = pair.language
    return csv_files.with_others(cells, {name: value for name, value in pair.extra.items() if name != "language"})


TABLE = PairTable(EXPECTED, NEEDED, lambda row, path, line: [_pair(row, path, line)])
FORMAT = Format(
    name="crows-pairs",
    holds=(Pair,),
    about=EXPECTED,
    matches=TABLE.matches,
    read=TABLE.read,
    write=write,
    loses=loses,
    suffix=".csv",
    columns=NEEDED,
)
