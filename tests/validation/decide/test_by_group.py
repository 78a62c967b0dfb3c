"""Tests decisions by group of annotators: by hand, with planted differences, and on real ratings against pandas."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from catsofa.data.files import csv_files
from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits
from catsofa.validation.columns import Column, column
from catsofa.validation.decide.by_group import ByGroup, by_group


def said(item: str, labels: dict[str, str]) -> list[Annotation]:
    """Returns a judgement by each person of each group: `{"d": "xxy"}` is two x and a y by d0, d1 and d2."""
    return [
        Annotation(item=item, annotator=f"{group}{n}", label=label, extra={"home": group})
        for group, cast in labels.items()
        for n, label in enumerate(cast)
    ]


def found(rows: list[Annotation], k: int = 3) -> ByGroup:
    """Returns the decisions by home."""
    return by_group(rows, column(rows, "home"), k=k, permutations=19)


def test_votes_label_and_difficulty_of_each_item_by_group() -> None:
    """Three Dravians say x, x, y: the label is x, and 2 of 3 pairs differ. Three Pellorans say y: no pair differs."""
    parts = found([*said("i", {"d": "xxy", "p": "yyy"}), *said("j", {"d": "xxx", "p": "xxx"})])
    dravian, pelloran = parts.items["i"]["d"], parts.items["i"]["p"]
    assert (dravian.people, dravian.votes, dravian.label) == (3, {"x": 2, "y": 1}, "x")
    assert dravian.difficulty == pytest.approx(2 / 3)
    assert dravian.shares["x"] == (2 / 3, score_limits(2 / 3, 3, WIDE))
    assert (pelloran.votes, pelloran.label, pelloran.difficulty) == ({"y": 3}, "y", 0)
    assert (parts.differ, parts.differing) == (1, ("i",))
    group = parts.groups["d"]
    assert (group.people, group.judgements, group.items, group.decided) == (3, 6, 2, 2)
    assert (group.shares["x"][0], group.difficulty[0]) == pytest.approx((5 / 6, 1 / 3))
    low, high = group.shares["x"][1]
    assert low < 5 / 6 < high


def test_a_tie_within_a_group_is_no_label() -> None:
    """Two of four votes are no majority."""
    assert found([*said("i", {"d": "xxyy", "p": "yyy"}), *said("j", {"d": "xxx"})]).items["i"]["d"].label is None


def test_nothing_is_shown_of_fewer_than_k_people_of_a_group_at_an_item() -> None:
    """With two Dravians at item i, their cell is hidden, and so are the two from which it would follow. Only item j
    differs."""
    parts = found([*said("i", {"d": "xx", "p": "yyy"}), *said("j", {"d": "xxx", "p": "yyy"})])
    assert "i" not in parts.items
    assert (parts.differ, parts.differing, parts.hidden, parts.k) == (1, (), 3, 3)


def test_a_column_of_items_is_refused() -> None:
    """A column of items is refused, because groups need a column of people."""
    rows = said("i", {"d": "x", "p": "y"})
    with pytest.raises(ValueError, match=r"'home' describes items.*annotators"):
        by_group(rows, Column(name="home", describes="items", values={"i": "d"}))


def judged(seed: int, planted: float) -> list[Annotation]:
    """Returns forty items by 24 people, 10 each; on a share of the items, Dravians give the opposite label."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(40):
        truth, differs = rng.random() < 0.5, rng.random() < planted
        for n in rng.choice(24, 10, replace=False):
            yes = (truth ^ (differs and bool(n % 2))) ^ (rng.random() < 0.2)
            extra = {"home": "Dravian" if n % 2 else "Pelloran"}
            rows.append(Annotation(item=f"i{item}", annotator=f"p{n}", label="yes" if yes else "no", extra=extra))
    return rows


def study(seed: int, planted: float) -> ByGroup:
    """Returns the result of a simulated study."""
    rows = judged(seed, planted)
    return by_group(rows, column(rows, "home"), permutations=99, seed=seed)


def test_the_limits_of_difficulty_are_those_of_leaving_each_person_out() -> None:
    """Jackknife by hand over 12 Dravians: Student's t with 11 degrees of freedom is 2.201."""
    rows = [row for row in judged(3, 0.3) if row.extra["home"] == "Dravian"]

    def mean(judgements: list[Annotation]) -> float:
        per_item: dict[str, list[str]] = {}
        for row in judgements:
            per_item.setdefault(row.item, []).append(row.label)
        shares = [np.mean([a != b for a, b in combinations(labels, 2)]) for labels in per_item.values() if labels[1:]]
        return float(np.mean(shares))

    people = sorted({row.annotator for row in rows})
    left_out = np.array([mean([row for row in rows if row.annotator != one]) for one in people])
    reach = 2.2009852 * np.sqrt(11 / 12 * ((left_out - left_out.mean()) ** 2).sum())
    value, limits = study(3, 0.3).groups["Dravian"].difficulty
    assert value == pytest.approx(mean(rows))
    assert limits == pytest.approx((mean(rows) - reach, mean(rows) + reach))


def test_a_planted_difference_is_found_and_chance_alone_is_not() -> None:
    """A difference on 30 % of items gives p ≤ 0.05 at 19 of 20 seeds or more. Without one, at 1 to 11 of 100 (99 % of
    binomial(100, .05))."""
    planted = [study(seed, 0.3) for seed in range(20)]
    assert sum(part.difference is not None and part.difference.p <= 0.05 for part in planted) >= 19
    assert np.mean([part.differ for part in planted]) > 1.5 * np.mean([part.by_chance for part in planted])
    null = [study(seed, 0.0) for seed in range(100)]
    assert 1 <= sum(part.difference is not None and part.difference.p <= 0.05 for part in null) <= 11
    assert np.mean([part.differ - part.by_chance for part in null]) == pytest.approx(0, abs=0.5)


@pytest.mark.slow
def test_popquorn_by_gender_is_what_pandas_counts(shared: Path) -> None:
    """For 13,036 ratings, people, judgements, shares and difficulty of each gender and the votes of each item equal
    pandas' counts."""
    pd = pytest.importorskip("pandas")
    path = shared / "data" / "popquorn" / "offensiveness.csv"
    if not path.exists():
        pytest.skip("no POPQUORN")
    rows = [row for _, row in csv_files.rows(path, (), "POPQUORN")]
    ratings = [
        Annotation(
            item=r["instance_id"], annotator=r["user_id"], label=r["offensiveness"], extra={"gender": r["gender"]}
        )
        for r in rows
    ]
    parts = by_group(ratings, column(ratings, "gender"), permutations=19)
    frame = pd.read_csv(path, dtype=str)
    for gender, mine in frame.groupby("gender"):
        group, cells = parts.groups[gender], mine.groupby("instance_id")["offensiveness"]
        assert (group.people, group.judgements, group.items) == (
            mine["user_id"].nunique(),
            len(mine),
            mine["instance_id"].nunique(),
        )
        assert {name: share for name, (share, _) in group.shares.items() if share} == pytest.approx(
            mine["offensiveness"].value_counts(normalize=True).to_dict()
        )
        unlike = 1 - cells.agg(lambda x: ((c := x.value_counts()) * (c - 1)).sum() / (len(x) * (len(x) - 1) or np.nan))
        assert group.difficulty[0] == pytest.approx(unlike.mean())
        assert group.decided == (cells.agg(lambda x: x.value_counts().max() / len(x)) > 0.5).sum()
    cells = frame.groupby(["instance_id", "gender"])
    people, votes = cells["user_id"].nunique().to_dict(), cells["offensiveness"].value_counts().to_dict()
    shown = {(item, gender): cell for item, row in parts.items.items() for gender, cell in row.items()}
    assert len(shown) > 1000
    assert all(cell.people == people[place] >= 3 for place, cell in shown.items())
    assert {(*place, label): n for place, cell in shown.items() for label, n in cell.votes.items()} == {
        place: n for place, n in votes.items() if place[:2] in shown
    }
