"""Tests differences between groups of people: planted ones are found, and others at 5 % of seeds."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from catsofa.data.files import csv_files
from catsofa.data.records import Annotation
from catsofa.validation.agreement.groups import Difference, difference
from catsofa.validation.columns import Column


def judged(seed: int, planted: float) -> tuple[list[Annotation], Column]:
    """Returns forty items with five of twenty people each; the groups give opposite answers on a share of the items."""
    rng = np.random.default_rng(seed)
    group = {f"p{n}": "Dravian" if n % 2 else "Pelloran" for n in range(20)}
    judgements = []
    for item in range(40):
        truth, opposite = rng.random() < 0.5, rng.random() < planted
        for n in rng.choice(20, 5, replace=False):
            answer = truth ^ (opposite and bool(n % 2)) ^ (rng.random() < 0.2)
            judgements.append(Annotation(item=f"i{item}", annotator=f"p{n}", label="yes" if answer else "no"))
    return judgements, Column(name="group", describes="annotators", values=group)


def test_groups_that_never_agree_with_each_other() -> None:
    """For two and two people on one item, agreement is 1 within and 0 between; two of six divisions are as extreme."""
    judgements = [Annotation(item="i", annotator=person, label="x" if person in "ab" else "y") for person in "abcd"]
    column = Column(name="g", describes="annotators", values={"a": "1", "b": "1", "c": "2", "d": "2"})
    result = difference(judgements, column)
    assert result
    assert (result.within, result.between, result.people) == (1.0, 0.0, 4)
    assert result.p == pytest.approx(1 / 3, abs=0.05)


def test_a_planted_difference_is_found_and_none_at_more_than_five_percent_of_seeds() -> None:
    """With opposite answers on 80 % of items, p ≤ 0.05 at 19 of 20 seeds. Without a difference, at 1 to 17 of 200."""
    low = [_p(seed, 0.8) <= 0.05 for seed in range(20)]
    assert sum(low) >= 19
    assert 1 <= sum(_p(seed, 0.0) <= 0.05 for seed in range(200)) <= 17  # 99 % of binomial(200, 0.05)


def _p(seed: int, planted: float) -> float:
    """Returns the p-value of one simulated study."""
    result = difference(*judged(seed, planted), permutations=99, seed=seed)
    assert result
    return result.p


def test_without_two_groups_there_is_nothing_to_compare() -> None:
    """One group, or groups that share no item, give None."""
    judgements = [Annotation(item=f"i{n}", annotator=person, label="x") for n, person in enumerate("aabb")]
    for values in ({"a": "1", "b": "1"}, {"a": "1", "b": "2"}):
        assert difference(judgements, Column(name="g", describes="annotators", values=values)) is None


@pytest.mark.slow
def test_groups_of_popquorn_agree_as_a_plain_loop_counts(shared: Path) -> None:
    """For 13,036 ratings of 1,500 comments by 262 people, agreement within and between genders equals a plain
    loop's."""
    path = shared / "data" / "popquorn" / "offensiveness.csv"
    if not path.exists():
        pytest.skip("no POPQUORN")
    rows = [row for _, row in csv_files.rows(path, (), "POPQUORN")]
    gender = {row["user_id"]: row["gender"] for row in rows}
    judgements = [Annotation(item=r["instance_id"], annotator=r["user_id"], label=r["offensiveness"]) for r in rows]
    result = difference(judgements, Column(name="gender", describes="annotators", values=gender), permutations=19)
    by_item: dict[str, list[Annotation]] = {}
    for each in judgements:
        by_item.setdefault(each.item, []).append(each)
    counts = {True: [0, 0], False: [0, 0]}
    for item_judgements in by_item.values():
        for one, other in combinations(item_judgements, 2):
            if one.annotator != other.annotator:
                tally = counts[gender[one.annotator] == gender[other.annotator]]
                tally[0] += one.label == other.label
                tally[1] += 1
    assert isinstance(result, Difference)
    assert (result.within, result.between) == pytest.approx([n / total for n, total in (counts[True], counts[False])])
