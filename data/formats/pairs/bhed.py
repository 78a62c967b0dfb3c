"""Indian-BhED: a sentence with MASK, and lists of stereotypical and anti-stereotypical words to fill in."""

import re
from pathlib import Path

from catsofa.data.files import BadInput, csv_files, short, stem
from catsofa.data.files.csv_files import Row
from catsofa.data.formats import Format
from catsofa.data.formats.pairs import PairTable, indexes, read_only
from catsofa.data.formats.pairs.crows_pairs import direction_of
from catsofa.data.records import Pair

EXPECTED = "Indian-BhED"
FILLS = ("Target_Stereotypical", "Target_Anti-Stereotypical")
NEEDED = (*FILLS, "Sentence")
_MASK = re.compile(r"\bMASK\b")


def _pair(row: Row, path: Path, line: int) -> list[Pair]:
    """A row as a pair; the domain is the `bias_type`, or else the file name, which is a topic (Caste, Gender, …)."""
    more, less = (_filled(row, name, path, line) for name in FILLS)
    columns = (*indexes(row)[:1], "stereo_antistereo", "bias_type")
    return [
        Pair(
            id="".join(row[name] for name in indexes(row)[:1]),
            more=more,
            less=less,
            direction=direction_of(row.get("stereo_antistereo") or "stereo", path, EXPECTED, line),
            bias_type=row.get("bias_type") or stem(path),
            extra=csv_files.others(row, columns),
        )
    ]


def _filled(row: Row, column: str, path: Path, line: int) -> str:
    """The sentence with each MASK replaced by the next word of a column."""
    words = csv_files.list_in(row, column, path, line)
    parts = _MASK.split(row["Sentence"])
    if len(parts) == 1 or len(words) != len(parts) - 1 or not all(isinstance(word, str) for word in words):
        problem = f"{short(words)} as {column!r} for {len(parts) - 1} MASK"
        raise BadInput(path, problem, f"a word for each MASK of the sentence, in {EXPECTED}", line)
    return "".join(part + word for part, word in zip(parts, [*words, ""], strict=True))


TABLE = PairTable(EXPECTED, NEEDED, _pair, tolerant=True)
FORMAT = Format(
    name="bhed",
    holds=(Pair,),
    about="Indian-BhED",
    matches=TABLE.matches,
    read=TABLE.read,
    write=read_only("bhed"),
    loses=lambda pair: (),
    suffix=None,
    columns=NEEDED,
)
