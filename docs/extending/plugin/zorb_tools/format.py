"""Minimal pairs of the zorb lab: a header line, then one pair per line with three tab-separated fields."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from catsofa.data.files import BadInput, atomic_write, lines, short
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.records import Pair

HEAD = "zorb pairs"
EXPECTED = "a line `more<tab>less<tab>domain`"


def matches(path: Path, head: bytes) -> bool:
    """Returns True if a file starts with the header."""
    return head.startswith(HEAD.encode())


def read(path: Path) -> Iterator[Pair]:
    """Yields the pairs of a file."""
    for number, line in lines(path, EXPECTED):
        if number > 1:
            yield pair_of(line, path, number)


def pair_of(line: str, path: Path, number: int) -> Pair:
    """Returns the pair of a line."""
    fields = line.split("\t")
    if len(fields) != 3:
        raise BadInput(path, f"{len(fields)} fields in {short(line)}", EXPECTED, number)
    return Pair(more=fields[0], less=fields[1], bias_type=fields[2], direction="stereo")


def line_of(pair: Pair) -> str:
    """Returns the line of a pair."""
    return "\t".join(text.replace("\t", " ") for text in (pair.more, pair.less, pair.bias_type))


def write(pairs: Iterable[Pair], path: Path) -> int:
    """Writes a file atomically; returns the number of its pairs."""
    rows = [line_of(pair) for pair in pairs]
    with atomic_write(path) as out:
        out.write("".join(f"{row}\n" for row in [HEAD, *rows]).encode())
    return len(rows)


FORMAT = Format(
    name="zorb-pairs",
    holds=(Pair,),
    about="minimal pairs of the zorb lab",
    matches=matches,
    read=read,
    write=write,
    loses=lambda pair: lost(pair, pair_of(line_of(pair), Path(), 0)),
    suffix=".zorbs",
)
