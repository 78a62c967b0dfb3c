"""Decisions by group of annotators: votes, label and difficulty of each item, and items with differing labels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catsofa.data.judging.ratings import Floats, Indices, Ratings, numbered
from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits, students
from catsofa.data.suppression import LEAST, small_cells
from catsofa.validation.agreement.groups import Difference, difference
from catsofa.validation.agreement.intervals import Limits, share_limits
from catsofa.validation.columns import Column
from catsofa.validation.judgements import answers

Share = tuple[float, Limits]
"""A share with the limits of its 95 % confidence interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The judgements of one group on one item."""

    people: int
    votes: Mapping[str, int]
    shares: Mapping[str, Share]
    """The share of each label, with Wilson limits."""
    label: str | None
    """The label of more than half of the judgements, or None."""
    difficulty: float
    """The share of pairs of judgements that differ; NaN for one judgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The judgements of one group on all items."""

    people: int
    judgements: int
    items: int
    decided: int
    """The number of items with a label from more than half of the judgements."""
    shares: Mapping[str, Share]
    """The share of each label; the limits treat the people of the group as a sample."""
    difficulty: Share
    """The mean difficulty of the items with at least two judgements; the limits are over the people too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByGroup:
    """The groups, their cells that may be shown, and the differences between their decisions."""

    groups: Mapping[str, Group]
    items: Mapping[str, Mapping[str, Cell]]
    """Cells by item and group; cells of fewer than `k` people, and cells that would reveal these, are left out."""
    k: int
    hidden: int
    """The number of cells with judgements that are not shown."""
    differing: tuple[str, ...]
    """Items to which at least two shown groups give different labels."""
    differ: int
    """The number of all items to which at least two groups, each of at least k people, give different labels."""
    by_chance: float
    """The expected `differ` if the same people were assigned to groups at random: the mean over permutations."""
    difference: Difference | None


def by_group(
    annotations: Iterable[Annotation], column: Column, *, k: int = LEAST, permutations: int = 999, seed: int = 0
) -> ByGroup:
    """The decisions of each group of a column about annotators; hides cells of fewer than `k` people."""
    if column.describes != "annotators":
        raise ValueError(
            f"the column {column.name!r} describes items; expected one that describes annotators: constant for each "
            "person, with two values or more among the judges of some items"
        )
    rows = [a for a in answers(annotations) if column.value(a) is not None]
    ratings = Ratings.of(rows)
    names, group = numbered(column.values[person] for person in ratings.annotators)
    people = _people(ratings, group, len(names))
    table = {item: dict(zip(names, row, strict=True)) for item, row in zip(ratings.items, people.tolist(), strict=True)}
    hidden = small_cells(table, k)
    counts = _counts(ratings, group, len(names))
    label, unlike, cells = _labels(counts), _unlike(counts), dict[str, dict[str, Cell]]()
    for item, name in np.argwhere(people).tolist():
        if (place := (ratings.items[item], names[name])) not in hidden:
            votes = {ratings.labels[n]: int(counts[item, name, n]) for n in np.flatnonzero(counts[item, name])}
            judged = sum(votes.values())
            cells.setdefault(place[0], {})[place[1]] = Cell(
                people=int(people[item, name]),
                votes=votes,
                shares={each: (n / judged, score_limits(n / judged, judged, WIDE)) for each, n in votes.items()},
                label=ratings.labels[label[item, name]] if label[item, name] >= 0 else None,
                difficulty=float(unlike[item, name]),
            )
    rng = np.random.default_rng(seed)
    drawn = (rng.permutation(group) for _ in range(min(permutations, 199)))  # fewer permutations are enough for a mean
    chance = [int(_differ(ratings, each, len(names), k).sum()) for each in drawn]
    differ = _differ(ratings, group, len(names), k)
    shown = {item: {cell.label for cell in row.values()} - {None} for item, row in cells.items()}
    return ByGroup(
        groups={name: _group(ratings, group == n, counts[:, n]) for n, name in enumerate(names)},
        items=cells,
        k=k,
        hidden=sum(table[item][name] > 0 for item, name in hidden),
        differing=tuple(item for item in ratings.items if len(shown.get(item, ())) > 1),
        differ=int(differ.sum()),
        by_chance=float(np.mean(chance)),
        difference=difference(rows, column, permutations=permutations, seed=seed),
    )


def _people(ratings: Ratings, group: Indices, groups: int) -> Indices:
    """The number of different people of each group who judged each item: items by groups."""
    pairs = np.unique(ratings.item * len(group) + ratings.annotator)
    places = pairs // len(group) * groups + group[pairs % len(group)]
    return np.bincount(places, minlength=len(ratings.items) * groups).reshape(-1, groups)


def _counts(ratings: Ratings, group: Indices, groups: int) -> Indices:
    """The number of times that each group gave each label to each item: items by groups by labels."""
    places = (ratings.item * groups + group[ratings.annotator]) * len(ratings.labels) + ratings.label
    size = len(ratings.items) * groups * len(ratings.labels)
    return np.bincount(places, minlength=size).reshape(-1, groups, len(ratings.labels))


def _labels(counts: Indices) -> Indices:
    """The label of more than half of the judgements, or -1: items by groups."""
    clear = 2 * counts.max(axis=2) > counts.sum(axis=2)
    return np.where(clear, counts.argmax(axis=2), -1)


def _unlike(counts: Indices) -> Floats:
    """The share of pairs of judgements that differ, NaN for fewer than two judgements: items by groups."""
    n = counts.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - (counts * (counts - 1)).sum(axis=2) / (n * (n - 1)), np.float64)


def _differ(ratings: Ratings, group: Indices, groups: int, k: int) -> NDArray[np.bool_]:
    """For each item, whether at least two groups, each of at least k people, give different labels."""
    label = _labels(_counts(ratings, group, groups))
    mask = (label >= 0) & (_people(ratings, group, groups) >= k)
    least = np.where(mask, label, len(ratings.labels)).min(axis=1)
    return np.asarray(np.where(mask, label, -1).max(axis=1) > least)


def _group(ratings: Ratings, member: NDArray[np.bool_], counts: Indices) -> Group:
    """The Group of these members; `counts` is the number of times they gave each label to each item."""
    mine = member[ratings.annotator]
    places = ratings.annotator[mine] * len(ratings.labels) + ratings.label[mine]
    label_counts = np.bincount(places, minlength=len(member) * len(ratings.labels)).reshape(len(member), -1)[member]
    each = np.asarray(label_counts.sum(axis=1), np.float64)
    return Group(
        people=int(member.sum()),
        judgements=int(mine.sum()),
        items=len(np.unique(ratings.item[mine])),
        decided=int((2 * counts.max(axis=1) > counts.sum(axis=1)).sum()),
        shares={
            name: (
                float(label_counts[:, n].sum() / each.sum()),
                share_limits(np.asarray(label_counts[:, n], np.float64), each),
            )
            for n, name in enumerate(ratings.labels)
        },
        difficulty=_difficulty(ratings, mine, counts),
    )


def _difficulty(ratings: Ratings, mine: NDArray[np.bool_], counts: Indices) -> Share:
    """The mean difficulty of a group's items, with Student's t limits from the jackknife over its people."""
    unlike, n = _unlike(counts[:, None])[:, 0], counts.sum(axis=1)
    mask = n > 1
    whole, items = float(unlike[mask].sum()), int(mask.sum())
    # effect of leaving out a judgement's person: its item gets less or more difficult, or drops out
    item, label, person = ratings.item[mine], ratings.label[mine], numbered(map(str, ratings.annotator[mine]))[1]
    judges_left = n[item] - 1
    alike = (counts * (counts - 1)).sum(axis=1)[item] - 2 * (counts[item, label] - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(judges_left > 1, 1 - alike / (judges_left * (judges_left - 1)), 0)
        change = np.where(judges_left > 0, without - unlike[item], 0)
        people = int(person.max(initial=-1)) + 1
        sums = whole + np.bincount(person, weights=change, minlength=people)
        means = sums / (items - np.bincount(person, weights=judges_left == 1, minlength=people))
        mean = whole / items if items else np.nan
        error = np.sqrt((people - 1) / people * ((means - means.mean()) ** 2).sum()) if people > 1 else np.nan
    reach = students(people) * error if np.isfinite(error) else np.nan
    return float(mean), (max(0.0, mean - reach), min(1.0, mean + reach)) if reach == reach else (np.nan, np.nan)
