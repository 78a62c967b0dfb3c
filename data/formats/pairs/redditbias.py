"""RedditBias: comments about a minoritised group, each with the same comment about the dominant group.

Only the files of the dominant group (`…_white_biased_test_reduced.csv`) have both sentences. The other files of a topic
have one sentence per row and hold no pairs. The file name contains the topic (`race`).
"""

import re
from pathlib import Path

from catsofa.data.files import BadInput, csv_files, stem
from catsofa.data.files.csv_files import Row
from catsofa.data.formats import Format
from catsofa.data.formats.pairs import PairTable, indexes, read_only
from catsofa.data.records import Pair

EXPECTED = "RedditBias"
NEEDED = ("initial_demo", "replaced_demo", "comments", "comments_processed")
_TOPIC = re.compile(r"reddit_comments_([a-z]+\d?)_")


def _pair(row: Row, path: Path, line: int) -> list[Pair]:
    """A row as a pair; the domain is the topic in the file name, or else the file name."""
    if row["comments"] == row["comments_processed"]:
        raise BadInput(path, "the same comment twice", f"two that differ in the group, in {EXPECTED}", line)
    topic = _TOPIC.match(path.name)
    columns = (*indexes(row)[:1], "comments", "comments_processed")
    return [
        Pair(
            id="".join(row[name] for name in indexes(row)[:1]),
            more=row["comments"],
            less=row["comments_processed"],
            direction="stereo",
            bias_type=topic[1] if topic else stem(path),
            extra=csv_files.others(row, columns),
        )
    ]


TABLE = PairTable(EXPECTED, NEEDED, _pair, tolerant=True)
FORMAT = Format(
    name="redditbias",
    holds=(Pair,),
    about="RedditBias, the files with both comments",
    matches=TABLE.matches,
    read=TABLE.read,
    write=read_only("redditbias"),
    loses=lambda pair: (),
    suffix=None,
    columns=NEEDED,
)
