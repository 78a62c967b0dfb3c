"""IndiBias: pairs of CrowS-Pairs adapted to India, in English and Hindi; each row becomes two pairs."""

from collections.abc import Iterator
from pathlib import Path

from catsofa.data.files import csv_files
from catsofa.data.files.csv_files import Row
from catsofa.data.formats import Format
from catsofa.data.formats.pairs import PairTable, indexes, read_only
from catsofa.data.formats.pairs.crows_pairs import direction_of
from catsofa.data.records import Pair

EXPECTED = "IndiBias"
LANGUAGES = {
    "en": ("modified_eng_sent_more", "modified_eng_sent_less"),
    "hi": ("sent_more_hindi", "sent_less_hindi"),
}
"""Maps a language to the columns of its two sentences."""
SENTENCES = tuple(name for both in LANGUAGES.values() for name in both)
NEEDED = (*SENTENCES, "stereo_antistereo", "bias_type")


def _pairs(row: Row, path: Path, line: int) -> Iterator[Pair]:
    """A row as one pair per language; the id is the index plus the language."""
    direction = direction_of(row["stereo_antistereo"], path, EXPECTED, line)
    number = "".join(row[name] for name in indexes(row)[:1])
    for language, (more, less) in LANGUAGES.items():
        yield Pair(
            id=f"{number}-{language}" if number else "",
            more=row[more],
            less=row[less],
            direction=direction,
            bias_type=row["bias_type"],
            language=language,
            extra=csv_files.others(row, (*indexes(row)[:1], *NEEDED)),
        )


TABLE = PairTable(EXPECTED, NEEDED, _pairs)
FORMAT = Format(
    name="indibias",
    holds=(Pair,),
    about="IndiBias, in English and Hindi",
    matches=TABLE.matches,
    read=TABLE.read,
    write=read_only("indibias"),
    loses=lambda pair: (),
    suffix=None,
    columns=NEEDED,
    says_language=True,
)
