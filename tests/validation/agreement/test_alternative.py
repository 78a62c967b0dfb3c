import csv
import random
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from catsofa.data.records import Annotation
from catsofa.validation.agreement.alternative import alt_test, benjamini_yekutieli, p_value


def by(rater: str, labels: str) -> list[Annotation]:
    """Returns one rater's labels of the items 0, 1, …, one letter each; a dot is no label."""
    return [Annotation(item=str(n), annotator=rater, label=label) for n, label in enumerate(labels) if label != "."]


def test_the_test_by_hand_for_three_raters_on_forty_items() -> None:
    """Rater c errs on 10 of 40 items on which a and b agree; the judge errs only on the last four.

    Against c: the judge loses 4 items, c loses 10, so the shares are 36/40 and 30/40. The differences are 4 times 1, 10
    times -1 and 26 times 0: mean -.15, variance (14 - 40 * .15**2) / 39, t = (-.15 - .1) / (s / sqrt 40) = -2.728.
    Against a: the others are b and c. On the 10 items of c's error, b alone agrees with judge and a alike, a tie. The
    judge loses its own 4 errors: mean .1, exactly epsilon, so t is 0 and p is .5. Against b the same holds.
    """
    people = by("a", "x" * 40) + by("b", "x" * 40) + by("c", "y" * 10 + "x" * 30)
    judged = {str(n): "y" if n >= 36 else "x" for n in range(40)}
    result = alt_test(people, judged, judge="j", epsilon=0.1)
    assert [(d.rater, d.judge, d.human) for d in result.duels] == [("a", 0.9, 1.0), ("b", 0.9, 1.0), ("c", 0.9, 0.75)]
    assert [d.p for d in result.duels] == [pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0.00475, abs=1e-5)]
    # Benjamini-Yekutieli for three tests: the smallest p must be at most .05 / (3 * (1 + 1/2 + 1/3)) = .00909
    assert [d.won for d in result.duels] == [False, False, True]
    assert (result.winning_rate, result.advantage, result.passed) == (pytest.approx(1 / 3), pytest.approx(0.9), False)
    assert (result.recall["x"].items, result.recall["x"].share) == (40, 0.9)


def test_differences_without_variance_are_decided_by_their_mean() -> None:
    """Without variance, a judge that always ties has p = 0, and one that always loses has p = 1."""
    assert (p_value([0] * 30, 0.1), p_value([1] * 30, 0.1), p_value([0] * 30, 0)) == (0.0, 1.0, 1.0)


def test_the_correction_rejects_all_below_the_largest_p_that_fits() -> None:
    """For four tests the limits are rank * .05 / (4 * 25/12): .006, .012, .018, .024. .0115 at rank 2 also admits
    .0110."""
    assert benjamini_yekutieli([0.0115, 0.5, 0.0110, 0.9], 0.05) == {0, 2}
    assert benjamini_yekutieli([0.0121, 0.5, 0.0110, 0.9], 0.05) == set()
    assert benjamini_yekutieli([], 0.05) == set()


def test_only_raters_with_thirty_shared_items_are_tested() -> None:
    """Items with one rater or without the judge's label are ignored; the exclusions are counted."""
    people = by("a", "x" * 40) + by("b", "x" * 35) + by("c", "x" * 29)
    result = alt_test(people, {str(n): "x" for n in range(33)}, judge="j", epsilon=0.1)
    assert [(d.rater, d.items) for d in result.duels] == [("a", 33), ("b", 33)]
    assert (result.left_out, result.unjudged, result.items) == (1, 2, 33)
    assert any("only 2 raters" in warning for warning in result.warnings)


def test_numbers_are_compared_by_their_distance() -> None:
    """With numbers, the judge's 3 is nearer to the others' 1 and 2 than the rater's 5; as categories, neither
    matches."""
    people = by("a", "1" * 30) + by("b", "2" * 30) + by("c", "5" * 30)
    result = alt_test(people, {str(n): "3" for n in range(30)}, judge="j", epsilon=0.1, ordinal=True)
    assert {d.rater: (d.judge, d.human) for d in result.duels}["c"] == (1.0, 0.0)
    with pytest.raises(ValueError, match="no number"):
        alt_test(people, {str(n): "many" for n in range(30)}, judge="j", epsilon=0.1, ordinal=True)


def crowd(errors: list[float], items: int, dice: random.Random) -> tuple[list[Annotation], dict[str, str]]:
    """Returns raters with given error rates, and the truth."""
    truth = {str(n): dice.choice("xy") for n in range(items)}
    other = {"x": "y", "y": "x"}
    people = [
        Annotation(item=item, annotator=str(rater), label=other[label] if dice.random() < rate else label)
        for rater, rate in enumerate(errors)
        for item, label in truth.items()
    ]
    return people, truth


@pytest.mark.parametrize("label", ["nan", "inf", "1e400", "high"])
def test_what_is_no_finite_number_is_refused_from_judge_and_from_people(label: str) -> None:
    """A label that is no finite number is refused, because its distances to other ratings are meaningless."""
    numbers = [Annotation(item=str(n), annotator=name, label=str(n % 3)) for n in range(40) for name in "abc"]
    for people, judged in (
        (numbers, {str(n): label for n in range(40)}),
        ([*numbers[1:], Annotation(item="0", annotator="a", label=label)], {str(n): "1" for n in range(40)}),
    ):
        with pytest.raises(ValueError, match="no number"):
            alt_test(people, judged, judge="model", epsilon=0.1, ordinal=True)


def test_items_that_a_judge_leaves_out_are_a_warning() -> None:
    """A judge that answers only some items is compared on these alone, with a warning."""
    people = [Annotation(item=str(n), annotator=name, label="x") for n in range(60) for name in "abc"]
    result = alt_test(people, {str(n): "x" for n in range(40)}, judge="model", epsilon=0.1)
    assert result.unjudged == 20
    assert any("20 items that people rated" in warning for warning in result.warnings)


@pytest.mark.parametrize(("error", "passes"), [(0.0, True), (0.15, True), (0.5, False)])
def test_a_simulated_judge_passes_if_it_errs_no_more_than_people(error: float, passes: bool) -> None:
    """Six raters err in 15 % of 300 items. In 20 of 20 crowds, an equal or better judge passes, and a coin fails."""
    for seed in range(20):
        dice = random.Random(seed)
        people, truth = crowd([0.15] * 6, 300, dice)
        judged = {i: ("y" if label == "x" else "x") if dice.random() < error else label for i, label in truth.items()}
        result = alt_test(people, judged, judge="j", epsilon=0.2)
        assert result.passed is passes
        if error == 0.15:
            assert result.advantage == pytest.approx(sum(d.human for d in result.duels) / 6, abs=0.06)


def test_at_the_edge_of_the_hypothesis_few_judges_win() -> None:
    """A judge that loses by exactly epsilon wins against one rater in about 5 % of 400 draws (limit 9 %) by the t test.

    The rater and two others never err; the judge errs in 20 % of items, and epsilon is .2.
    """
    dice = random.Random(1)
    wins = sum(p_value([float(dice.random() < 0.2) for _ in range(100)], 0.2) <= 0.05 for _ in range(400))
    assert wins / 400 < 0.09


def test_released_ratings_let_the_majority_pass_and_no_coin(shared: Path) -> None:
    """In StereoSet, the gold label is the optimal judge (rate and advantage 1); a random and a constant label fail."""
    people = []
    gold = {}
    with (shared / "data" / "stereoset" / "annotations_long.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            people.append(Annotation(item=row["sentence_id"], annotator=row["human_id"], label=row["label"]))
            gold[row["sentence_id"]] = row["gold_label"]
    best = alt_test(people, gold, judge="gold", epsilon=0.1)
    assert len(best.duels) == 299  # 300 raters have 30 labels; one of them labelled an item twice
    assert (best.winning_rate, best.advantage) == (1.0, 1.0)
    dice = random.Random(0)
    coin = {item: dice.choice(("stereotype", "anti-stereotype", "unrelated")) for item in gold}
    assert not alt_test(people, coin, judge="coin", epsilon=0.1).passed
    assert not alt_test(people, dict.fromkeys(gold, "unrelated"), judge="constant", epsilon=0.1).passed


def test_released_ratings_of_offensiveness_are_tested_as_numbers(shared: Path) -> None:
    """In POPQUORN, the others' median passes, and a random rating fails."""
    people = []
    ratings = defaultdict(list)
    with (shared / "data" / "popquorn" / "offensiveness.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            people.append(Annotation(item=row["instance_id"], annotator=row["user_id"], label=row["offensiveness"]))
            ratings[row["instance_id"]].append(float(row["offensiveness"]))
    middle = alt_test(
        people, {i: str(median(r)) for i, r in ratings.items()}, judge="median", epsilon=0.1, ordinal=True
    )
    dice = random.Random(0)
    coin = alt_test(people, {i: str(dice.randint(1, 5)) for i in ratings}, judge="coin", epsilon=0.1, ordinal=True)
    assert (middle.passed, coin.passed) == (True, False)
    assert len(middle.duels) == 262
    assert (middle.winning_rate, middle.advantage) == (pytest.approx(261 / 262), pytest.approx(0.9715, abs=1e-4))
    assert any("kappa is 0.13" in warning for warning in middle.warnings)
