"""Tests whether people of one group agree more with each other than with people of other groups."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from catsofa.data.judging.ratings import Floats, Indices, Ratings, numbered
from catsofa.data.records import Annotation
from catsofa.validation.columns import Column
from catsofa.validation.judgements import answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The shares of agreeing pairs of answers, within one group and between two groups."""

    within: float
    between: float
    p: float
    """One-sided p value: the share of permutations of people over groups with at least this difference."""
    people: int
    permutations: int


def difference(
    annotations: Iterable[Annotation], column: Column, *, permutations: int = 999, seed: int = 0
) -> Difference | None:
    """The difference between the groups of a column about annotators; None without pairs of both kinds."""
    ratings = Ratings.of(a for a in answers(annotations) if column.value(a) is not None)
    group = numbered(column.values[person] for person in ratings.annotators)[1]
    one, other, pairs, agreeing = _pairs(ratings)

    def shares(groups: Indices) -> tuple[float, float]:
        same = groups[one] == groups[other]
        inside, outside = pairs[same].sum(), pairs[~same].sum()
        if not inside or not outside:
            return np.nan, np.nan
        return float(agreeing[same].sum() / inside), float(agreeing[~same].sum() / outside)

    within, between = shares(group)
    if np.isnan(within):
        return None
    rng, least = np.random.default_rng(seed), within - between - 1e-12
    drawn = (shares(rng.permutation(group)) for _ in range(permutations))
    larger = sum(not (inside - outside < least) for inside, outside in drawn)
    p = (1 + larger) / (1 + permutations)
    return Difference(within=within, between=between, p=p, people=len(group), permutations=permutations)


def _pairs(ratings: Ratings) -> tuple[Indices, Indices, Floats, Floats]:
    """The pairs of people with common items, the number of these items, and the number with equal labels."""
    order = np.argsort(ratings.item, kind="stable")
    item, person, label = ratings.item[order], ratings.annotator[order], ratings.label[order]
    keys, agrees, people = [np.empty(0, np.intp)], [np.empty(0, bool)], max(1, len(ratings.annotators))
    step = 1
    while step < len(item) and (same := item[step:] == item[:-step]).any():
        one, other = person[:-step][same], person[step:][same]
        keys.append((np.minimum(one, other) * people + np.maximum(one, other))[one != other])
        agrees.append((label[:-step][same] == label[step:][same])[one != other])
        step += 1
    codes, places = np.unique(np.concatenate(keys), return_inverse=True)
    pairs = np.asarray(np.bincount(places, minlength=len(codes)), np.float64)
    agreeing = np.asarray(np.bincount(places, weights=np.concatenate(agrees), minlength=len(codes)), np.float64)
    return codes // people, codes % people, pairs, agreeing
