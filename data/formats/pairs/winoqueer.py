"""WinoQueer: a sentence about a queer identity (x) and the same sentence about another identity (y).

The authors' code treats x as the more stereotyping sentence, and breaks its results down by the identity of x. The
files have no index. The first version of WinoQueer has the format of CrowS-Pairs.
"""

from pathlib import Path

from catsofa.data.files import csv_files
from catsofa.data.files.csv_files import Row
from catsofa.data.formats import Format
from catsofa.data.formats.pairs import PairTable, indexes, read_only
from catsofa.data.records import Pair

EXPECTED = "WinoQueer"
NEEDED = ("Gender_ID_x", "Gender_ID_y", "sent_x", "sent_y")


def _pair(row: Row, path: Path, line: int) -> list[Pair]:
    """A row as a pair; the domain is the identity of x."""
    columns = (*indexes(row)[:1], "Gender_ID_x", "sent_x", "sent_y")
    return [
        Pair(
            id="".join(row[name] for name in indexes(row)[:1]),
            more=row["sent_x"],
            less=row["sent_y"],
            direction="stereo",
            bias_type=row["Gender_ID_x"],
            extra=csv_files.others(row, columns),
        )
    ]


TABLE = PairTable(EXPECTED, NEEDED, _pair)
FORMAT = Format(
    name="winoqueer",
    holds=(Pair,),
    about="WinoQueer",
    matches=TABLE.matches,
    read=TABLE.read,
    write=read_only("winoqueer"),
    loses=lambda pair: (),
    suffix=None,
    columns=NEEDED,
)
