"""WinoBias: numbered sentences in two files, with the stereotypical pronoun (pro) and with the other pronoun (anti).

Sentences are matched by number, and the two must differ only in pronouns. The input is a folder, or either file, which
is read with the file beside it. The brackets around an occupation and its pronoun are removed.
"""

import re
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

from catsofa.data.files import BadInput, existing_file, lines
from catsofa.data.files.faults import each
from catsofa.data.formats import Format
from catsofa.data.formats.pairs import mostly, read_only
from catsofa.data.records import Pair

EXPECTED = "WinoBias (NUMBER A sentence with [an occupation] and [its pronoun])"
PRO, ANTI = "pro_stereotyped_", "anti_stereotyped_"
PRONOUNS = frozenset(("he", "she", "him", "her", "his", "hers", "himself", "herself"))
_LINE = re.compile(r"(\d+) ([^\[\]]*(?:\[[^\[\]]+\][^\[\]]*)+)")
_BRACKETS = str.maketrans("", "", "[]")


def read(path: Path) -> Iterator[Pair]:
    """The pairs of a file and its counterpart, or of all pairs of files in a folder, by name."""
    files = sorted(path.glob(f"{PRO}*")) if path.is_dir() else [path.with_name(path.name.replace(ANTI, PRO))]
    if not files:
        raise BadInput(path, f"a folder without {PRO}*", EXPECTED)
    return chain.from_iterable(map(_pairs, files))


def _pairs(pro: Path) -> Iterator[Pair]:
    """The pairs of two files."""
    name = pro.name.removeprefix(PRO)
    anti = pro.with_name(ANTI + name)
    for file in (pro, anti):
        existing_file(file, f"sentences of WinoBias, {PRO}{name} beside {ANTI}{name}")
    anti_sentences = dict(each(lambda line, text: _sentence(text, anti, line), lines(anti, EXPECTED)))

    def pair(line: int, text: str) -> Pair:
        number, more = _sentence(text, pro, line)
        if number not in anti_sentences:
            raise BadInput(pro, f"sentence {number}, which {anti.name} lacks", "each sentence in both files", line)
        words = zip_longest(more.split(), anti_sentences[number].split(), fillvalue="")
        if not (changed := [pair for pair in words if pair[0] != pair[1]]) or any(
            word.strip(".,").lower() not in PRONOUNS for both in changed for word in both
        ):
            problem = f"sentence {number}, which differs from that of {anti.name} in more or less than pronouns"
            raise BadInput(pro, problem, "the same sentence with other pronouns", line)
        return Pair(
            id=f"{name.replace('.txt', '')}-{number}",
            more=more,
            less=anti_sentences[number],
            direction="stereo",
            bias_type="gender",
        )

    return mostly(pair, lines(pro, EXPECTED), pro)


def _sentence(text: str, path: Path, line: int) -> tuple[str, str]:
    """The number of a sentence, and its text without brackets."""
    if not (match := _LINE.fullmatch(text.strip())):
        raise BadInput(path, "a line without number or brackets", EXPECTED, line)
    return match[1], match[2].translate(_BRACKETS).strip()


def matches(path: Path, head: bytes) -> bool:
    """Returns whether a folder has files of both sides, or all complete first lines of a file number and brackets."""
    if path.is_dir():
        return any(path.glob(f"{PRO}*")) and any(path.glob(f"{ANTI}*"))
    whole = head.decode("utf-8", "replace").rpartition("\n")[0].splitlines()
    return bool(whole) and all(_LINE.fullmatch(text.strip()) for text in whole if text.strip())


FORMAT = Format(
    name="winobias",
    holds=(Pair,),
    about="WinoBias, the two files of a type",
    matches=matches,
    read=read,
    write=read_only("winobias"),
    loses=lambda pair: (),
    suffix=None,
)
