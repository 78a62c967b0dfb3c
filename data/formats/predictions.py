"""StereoSet prediction files: `{intrasentence: [{id, score}], intersentence: [...]}`, one score per sentence.

An entry of `catsofa export` has more fields, which other programs ignore: `tokens`, `reason`, and the `logarithm` of a
score that is a probability. The logarithm is then read as the score, so that a file has the ties of its run.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from catsofa.data.files import json_files, jsonl
from catsofa.data.files.json_files import Node
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.records import KINDS, Score

EXPECTED = "StereoSet predictions"
LOGARITHM = "logarithm"
BESIDE: Mapping[str, type] = {"tokens": int, "reason": str}
"""Fields of a score that an entry has if they are not empty."""
HIGHEST = 700.0
"""Logarithms are capped here, since the exponential of a larger number overflows."""
_HEAD = re.compile(rb'\s*\{\s*"int(?:ra|er)sentence"\s*:\s*\[')


def read(path: Path) -> Iterator[Score]:
    """Each score, in file order; null and NaN mean unscored."""
    document = Node(json_files.read(path, EXPECTED, nan=True), path, EXPECTED)
    if unknown := document.others(*KINDS):
        document.refuse(f"the field {min(unknown)!r}", f"the tasks {' and '.join(KINDS)} of {EXPECTED}")
    places: dict[str, str] = {}
    for task in document.fields():
        for entry in document.items(task):
            score = _score(entry, task)
            if score.item in places:
                entry.refuse(
                    f"id {score.item!r} a second time (first at {places[score.item]})", f"{EXPECTED}, an id once"
                )
            places[score.item] = entry.where
            yield score
    if not places:
        document.refuse("not one score", f"at least one, in {EXPECTED}")


def write(scores: Iterable[Score], path: Path) -> int:
    """Write one document with both tasks; an unscored item is null, which no evaluation can mistake for a number."""
    tasks: dict[str, list[Any]] = {}
    ids = jsonl.Seen(path, EXPECTED)
    for number, score in enumerate(scores, start=1):
        ids.add(score.item, number)
        if score.task not in KINDS:
            raise ValueError(
                f"the score of {score.item!r} is of task {score.task!r}; "
                f"StereoSet predictions hold {' and '.join(KINDS)}"
            )
        tasks.setdefault(score.task, []).append(_entry(score))
    if not tasks:
        raise ValueError(f"there is no score to write to {path}")
    json_files.write(tasks | {kind: [] for kind in KINDS if kind not in tasks}, path, nan=True)
    return sum(map(len, tasks.values()))


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the first field is a task with a list."""
    return bool(_HEAD.match(head))


def loses(score: Score) -> Iterator[str]:
    """The fields of a score that are lost."""
    return lost(score, _score(Node(_entry(score), "", EXPECTED), score.task))


def _score(entry: Node, task: str) -> Score:
    """An entry of a task as a Score."""
    score = entry.number_or_none("score")
    beside = {name: entry.value[name] for name, kind in BESIDE.items() if type(entry.value.get(name)) is kind}
    names = ("id", "score", *beside)
    if LOGARITHM in entry.value and (logarithm := entry.number_or_none(LOGARITHM)) is not None:
        if score is None or not math.isclose(score, math.exp(min(logarithm, HIGHEST)), rel_tol=1e-9):
            entry.refuse(f"the score {score} beside the {LOGARITHM} {logarithm}", "a score and its logarithm")
        score, names = logarithm, (*names, LOGARITHM)
    return Score(item=entry.text("id"), score=score, task=task, extra=entry.others(*names), **beside)


def _entry(score: Score) -> dict[str, Any]:
    """A Score as an entry."""
    fields = {"id": score.item, "score": score.score} | {
        name: value for name in BESIDE if (value := getattr(score, name))
    }
    return fields | {name: value for name, value in score.extra.items() if name not in fields}


FORMAT = Format(
    name="predictions",
    holds=(Score,),
    about=EXPECTED,
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".json",
)
