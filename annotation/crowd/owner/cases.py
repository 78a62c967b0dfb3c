"""Items that votes leave undecided, as the owner sees them: text, votes without names, earlier decisions."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Template

from catsofa.annotation.results.adjudications import noted
from catsofa.annotation.results.answers import latest
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import Line, answers
from catsofa.annotation.study.kinds import blind
from catsofa.data.judging.adjudicated import Adjudicated

Undecided = Callable[[Study], Mapping[str, Mapping[str, int]]]
"""The items that everybody who was asked has judged and the votes do not decide: how many chose each label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One undecided question about an item."""

    name: str
    item: str
    choices: tuple[str, ...]
    votes: Mapping[str, int]
    decisions: tuple[Adjudicated, ...]
    """What the owner decided, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The task as people saw it, and what they said beside the labels."""

    lines: tuple[str, ...]
    notes: Mapping[str, int]
    """How many people gave each answer to a question that decides nothing."""


def cases(study: Study, undecided: Undecided) -> dict[str, tuple[Point, ...]]:
    """The undecided questions by task."""
    open_items, before, found = undecided(study), noted(study), dict[str, tuple[Point, ...]]()
    for token, key in study.keys.items() if open_items else ():
        kind = study.kind_of(token)
        if key.gold or not kind.asks:
            continue
        asked = kind.asks(study.items[key.item], key.order)
        points = tuple(
            Point(
                name=name,
                item=asked[name].item,
                choices=kind.interface.questions[name].choices,
                votes=open_items[asked[name].item],
                decisions=tuple(before.get(asked[name].item, ())),
            )
            for name in kind.deciding(asked)
            if asked[name].item in open_items
        )
        if points:
            found[token] = points
    return found


def shown(study: Study, token: str) -> Shown:
    """A task as people saw it, in English, and what they noted."""
    kind, key = study.kind_of(token), study.keys[token]
    assert kind.asks is not None, "a text that is to be written has no votes"
    (task,) = blind([study.items[key.item]], kind, study.settings.secret)
    asked = kind.asks(study.items[key.item], key.order)
    lines = [
        Template(part.words).safe_substitute(task.data)
        if isinstance(part, Line)
        else f"{part.name.replace('_', ' ')}: {', '.join(part.choices)}"
        for part in kind.interface.parts
    ]
    notes = Counter[str]()
    for row in latest(study):
        if row.token == token and not (row.skipped or row.void):
            given = answers(kind.interface, row.result).given
            notes.update(said for name in given.keys() - asked.keys() for said in given[name].split("|"))
    return Shown(lines=tuple(lines), notes=notes)
