"""Items that votes leave undecided, as the owner sees them: the task, who said what, earlier decisions."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from catsofa.annotation.results.adjudications import agreed, latest_of, noted
from catsofa.annotation.results.answers import latest
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import Line, answers
from catsofa.annotation.study.kinds import blind
from catsofa.data.judging.adjudicated import Adjudicated

Said = Mapping[str, Sequence[str]]
"""Who gave each answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The judgements of one item that count."""

    said: Said
    label: str
    """The label that the votes decide; empty without one."""
    undecided: bool
    """Whether everybody who was asked has judged the item and the votes do not decide."""


Tallies = Callable[[Study], Mapping[str, Tally]]
"""The judgements of each item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One question about an item."""

    name: str
    item: str
    choices: tuple[str, ...]
    said: Said
    label: str
    """The label that the votes decide; empty without one."""
    undecided: bool
    """Whether the owner is asked for a decision."""
    decisions: tuple[Adjudicated, ...]
    """What was decided, in order."""

    @property
    def decided(self) -> Adjudicated | None:
        """The decision on which everybody agrees who decided."""
        return agreed(self.decisions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Words of a task as people saw them, or a question with its answers."""

    words: str = ""
    headline: bool = False
    said: Said
    point: Point | None = None
    """The question, where its answers are judgements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many items wait for a decision."""

    items: int
    """Items that votes leave undecided."""
    decided: int
    """Of them, those whose undecided questions all have a decision."""
    differ: int
    """Of them, those of which people decided a question differently."""
    pages: tuple[str, ...]
    """Where each item without a decision is decided, if the study has an owner's page."""
    todo: str
    """What to do."""


def waiting(study: Study, tallies: Tallies, *, has_page: bool) -> Waiting:
    """The items that wait for a decision, and where it is made."""
    tasks = {task: [each for each in points if each.undecided] for task, points in cases(study, tallies).items()}
    left = [task for task, points in tasks.items() if not all(point.decided for point in points)]
    ask = f"ask more people (catsofa annotate reopen {study.folder} --undecided)"
    page = f"decide on the owner's page, whose link catsofa annotate open {study.folder} prints"
    return Waiting(
        items=len(tasks),
        decided=len(tasks) - len(left),
        differ=sum(any(len({d.label for d in latest_of(p.decisions)}) > 1 for p in tasks[task]) for task in left),
        pages=tuple(f"/owner/item/{task}" for task in left) if has_page else (),
        todo="" if not left else f"{page}; or {ask}" if has_page else ask,
    )


def cases(study: Study, tallies: Tallies) -> dict[str, tuple[Point, ...]]:
    """The questions of each task that has an undecided one."""
    judged, before, found = tallies(study), noted(study), dict[str, tuple[Point, ...]]()
    for token, key in study.keys.items() if any(each.undecided for each in judged.values()) else ():
        kind = study.kind_of(token)
        if key.gold or not kind.asks:
            continue
        asked = kind.asks(study.items[key.item], key.order)
        deciding, nobody = kind.deciding(asked), Tally(said={}, label="", undecided=False)
        points = []
        for name, about in asked.items():
            tally = judged.get(about.item, nobody)
            points.append(
                Point(
                    name=name,
                    item=about.item,
                    choices=kind.interface.questions[name].choices,
                    said=tally.said,
                    label=tally.label,
                    undecided=tally.undecided and name in deciding,
                    decisions=tuple(before.get(about.item, ())),
                )
            )
        if any(point.undecided for point in points):
            found[token] = tuple(points)
    return found


def of_gold(study: Study, token: str) -> tuple[Point, ...]:
    """The questions of a gold item, with the right answers in place of what votes decide."""
    kind, key = study.kind_of(token), study.keys[token]
    if not kind.asks:
        return ()
    said = _said(study, token)
    return tuple(
        Point(
            name=name,
            item=asked.item,
            choices=kind.interface.questions[name].choices,
            said=said[name],
            label=asked.right,
            undecided=False,
            decisions=(),
        )
        for name, asked in kind.asks(study.items[key.item], key.order).items()
    )


def _said(study: Study, token: str) -> Mapping[str, Said]:
    """Who gave each answer to each question of a task."""
    found = defaultdict[str, defaultdict[str, list[str]]](lambda: defaultdict(list))
    for row in latest(study):
        if row.token == token and not (row.skipped or row.void):
            for name, given in answers(study.kind_of(token).interface, row.result).given.items():
                for said in given.split("|"):
                    found[name][said].append(row.annotator)
    return found


def shown(study: Study, token: str, points: Sequence[Point]) -> list[Part]:
    """A task from top to bottom as people saw it, in English, with what they answered and noted."""
    kind, key = study.kind_of(token), study.keys[token]
    (task,) = blind([study.items[key.item]], kind, study.settings.secret)
    named, notes = {point.name: point for point in points}, _said(study, token)
    return [
        Part(words=Template(part.words).safe_substitute(task.data), headline=part.headline, said={})
        if isinstance(part, Line)
        else Part(said=named[part.name].said if part.name in named else notes[part.name], point=named.get(part.name))
        for part in kind.interface.parts
    ]
