"""Items that votes leave undecided, for the owner: the task, who gave each answer, earlier decisions."""

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
"""People by answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Judgements of one item that count."""

    said: Said
    label: str
    """Label that the votes decide; empty without one."""
    undecided: bool
    """True if everybody who was asked has judged the item, and the votes do not decide."""


Tallies = Callable[[Study], Mapping[str, Tally]]
"""Returns the judgements of each item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One question about an item."""

    name: str
    item: str
    choices: tuple[str, ...]
    said: Said
    label: str
    """Label that the votes decide; empty without one."""
    undecided: bool
    """True if the owner is asked for a decision."""
    decisions: tuple[Adjudicated, ...]
    """Decisions so far, in order."""

    @property
    def decided(self) -> Adjudicated | None:
        """Decision on which all people who decided agree; None without one."""
        return agreed(self.decisions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Words of a task as people saw them, or a question with its answers."""

    words: str = ""
    headline: bool = False
    said: Said
    point: Point | None = None
    """Question whose answers are judgements; None for notes and words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Items that wait for a decision."""

    items: int
    """Number of items that votes leave undecided."""
    decided: int
    """Number of these whose undecided questions all have a decision."""
    differ: int
    """Number of these with a question that people decided differently."""
    pages: tuple[str, ...]
    """Page of each item without a decision, if the study has an owner's page."""
    todo: str
    """Instruction for the owner; empty if all items are decided."""


def waiting(study: Study, tallies: Tallies, *, has_page: bool) -> Waiting:
    """Returns the number of items that wait for a decision, and the pages of those still open."""
    tasks = {task: [each for each in points if each.undecided] for task, points in cases(study, tallies).items()}
    remaining = [task for task, points in tasks.items() if not all(point.decided for point in points)]
    ask = f"ask more people (catsofa annotate reopen {study.folder} --undecided)"
    page = f"decide on the owner's page, whose link catsofa annotate open {study.folder} prints"
    return Waiting(
        items=len(tasks),
        decided=len(tasks) - len(remaining),
        differ=sum(any(len({d.label for d in latest_of(p.decisions)}) > 1 for p in tasks[task]) for task in remaining),
        pages=tuple(f"/owner/item/{task}" for task in remaining) if has_page else (),
        todo="" if not remaining else f"{page}; or {ask}" if has_page else ask,
    )


def cases(study: Study, tallies: Tallies) -> dict[str, tuple[Point, ...]]:
    """Returns the questions of each task that has an undecided question."""
    judged, before, result = tallies(study), noted(study), dict[str, tuple[Point, ...]]()
    for token, key in study.keys.items() if any(each.undecided for each in judged.values()) else ():
        kind = study.kind_of(token)
        if key.gold or not kind.asks:
            continue
        questions = kind.asks(study.items[key.item], key.order)
        deciding, nobody = kind.deciding(questions), Tally(said={}, label="", undecided=False)
        points = []
        for name, about in questions.items():
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
            result[token] = tuple(points)
    return result


def of_gold(study: Study, token: str) -> tuple[Point, ...]:
    """Returns the questions of a gold item, with the right answers in place of the votes' labels."""
    kind, key = study.kind_of(token), study.keys[token]
    if not kind.asks:
        return ()
    by_question = _said(study, token)
    return tuple(
        Point(
            name=name,
            item=question.item,
            choices=kind.interface.questions[name].choices,
            said=by_question[name],
            label=question.right,
            undecided=False,
            decisions=(),
        )
        for name, question in kind.asks(study.items[key.item], key.order).items()
    )


def _said(study: Study, token: str) -> Mapping[str, Said]:
    """Returns the people who gave each answer, for each question of a task."""
    people = defaultdict[str, defaultdict[str, list[str]]](lambda: defaultdict(list))
    for row in latest(study):
        if row.token == token and not (row.skipped or row.void):
            for name, reply in answers(study.kind_of(token).interface, row.result).given.items():
                for choice in reply.split("|"):
                    people[name][choice].append(row.annotator)
    return people


def shown(study: Study, token: str, points: Sequence[Point]) -> list[Part]:
    """Returns the parts of a task from top to bottom as people saw it, in English, with their answers and notes."""
    kind, key = study.kind_of(token), study.keys[token]
    (task,) = blind([study.items[key.item]], kind, study.settings.secret)
    named, notes = {point.name: point for point in points}, _said(study, token)
    return [
        Part(words=Template(part.words).safe_substitute(task.data), headline=part.headline, said={})
        if isinstance(part, Line)
        else Part(said=named[part.name].said if part.name in named else notes[part.name], point=named.get(part.name))
        for part in kind.interface.parts
    ]
