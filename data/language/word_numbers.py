"""Readers of word-frequency files: counts, Zipf values, running text. Each reader refuses the other two."""

import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from catsofa.data.files import BadInput, lines, short

COUNTS = "word counts: lines of a word, a tab and a whole number"
ZIPF = "Zipf values: lines of a word, a tab and a number from 0 to 9 (log10 of its uses in a billion words)"
CORPUS = "a corpus as running text"
HIGHEST = 9.0
"""The maximum Zipf value: a word that is every word of a text."""
FEW = 10
"""At least this many values that are all integers are counts, even if they are small."""
_NUMBERED = re.compile(r"\S.*\t\s*(?:-?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?|nan|-?inf)\s*$")


def read_counts(path: Path | str) -> dict[str, int]:
    """Word counts by word in lower case; counts of words that differ only in case are added."""
    counts = dict[str, int]()
    for number, word, value in _rows(path, COUNTS):
        if not value.isdecimal():
            kind = "; Zipf values belong to --zipf" if _number(value) is not None else ""
            raise BadInput(path, f"{short(value)} as a count", COUNTS + kind, number)
        counts[word.lower()] = counts.get(word.lower(), 0) + int(value)
    return counts


def read_zipf(path: Path | str) -> dict[str, float]:
    """Zipf values by word in lower case."""
    values: dict[str, float] = {}
    whole = True
    for number, word, value in _rows(path, ZIPF):
        zipf = _number(value)
        if zipf is None or not 0 <= zipf <= HIGHEST:
            kind = "; word counts belong to --word-counts" if zipf is not None and zipf > HIGHEST else ""
            raise BadInput(path, f"{short(value)} as a Zipf value", ZIPF + kind, number)
        whole = whole and value.isdecimal()
        values[word.lower()] = zipf
    if whole and len(values) >= FEW:
        raise BadInput(path, f"{len(values):,} whole numbers, which are counts", f"{ZIPF}, with decimals")
    return values


def corpus_lines(path: Path | str) -> Iterator[str]:
    """The lines of a running text; after the last line, refuses a file with mostly `word TAB number` lines."""
    count = numbered = 0
    for _, line in lines(path, CORPUS):
        count, numbered = count + 1, numbered + bool(_NUMBERED.match(line))
        yield line
    if numbered > count / 2:
        problem = f"{numbered:,} of {count:,} lines that are a word, a tab and a number"
        raise BadInput(path, problem, f"{CORPUS}; word counts belong to --word-counts, Zipf values to --zipf")


def _rows(path: Path | str, expected: str) -> Iterator[tuple[int, str, str]]:
    """The number of each line, its word and the text after the last tab."""
    for number, line in lines(path, expected):
        word, tab, value = line.rpartition("\t")
        if not tab or not word.strip():
            raise BadInput(path, repr(line[:60]), expected, number)
        yield number, word.strip(), value.strip()


def _number(text: str) -> float | None:
    """The finite number in a text, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
