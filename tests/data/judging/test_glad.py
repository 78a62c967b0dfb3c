"""Tests GLAD against crowd-kit and against known abilities and difficulties."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr

from catsofa.data.judging.dawid_skene import dawid_skene
from catsofa.data.judging.glad import glad
from catsofa.data.judging.ratings import Floats
from catsofa.data.records import Annotation


def planted(
    seed: int, items: int = 300, people: int = 40, judges: int = 7
) -> tuple[list[str], Floats, Floats, list[Annotation]]:
    """Returns true labels, abilities, log easiness and answers; a person is right with σ(ability · easiness)."""
    rng = np.random.default_rng(seed)
    ability, easy, truth = rng.normal(1, 1, people), rng.normal(1, 1, items), rng.integers(3, size=items)
    answers = []
    for item in range(items):
        for person in rng.choice(people, judges, replace=False):
            right = rng.random() < 1 / (1 + np.exp(-ability[person] * np.exp(easy[item])))
            label = (truth[item] + (0 if right else rng.integers(1, 3))) % 3
            answers.append(Annotation(item=f"{item:04}", annotator=f"{person:03}", label=str(label)))
    return [str(label) for label in truth], ability, easy, answers


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_glad_of_crowd_kit(seed: int) -> None:
    """For 2,100 answers, labels agree, posteriors agree to 0.01, and the order of abilities and difficulties is the
    same."""
    import pandas as pd
    from crowdkit.aggregation import GLAD as CrowdKit

    answers = planted(seed)[3]
    ours = glad(answers)
    frame = pd.DataFrame([(a.item, a.annotator, a.label) for a in answers], columns=["task", "worker", "label"])
    theirs = CrowdKit().fit(frame)
    rows = theirs.probas_.loc[list(ours.ratings.items), list(ours.ratings.labels)].to_numpy()
    assert (rows.argmax(axis=1) == ours.posterior.argmax(axis=1)).mean() >= 0.99
    assert ours.posterior == pytest.approx(rows, abs=0.01)
    assert spearmanr(theirs.alphas_.loc[list(ours.ratings.annotators)], ours.ability).statistic > 0.99
    assert spearmanr(theirs.betas_.loc[list(ours.ratings.items)], -ours.difficulty).statistic > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_planted_abilities_and_difficulties_are_recovered(seed: int) -> None:
    """With 50 answers a person and 7 an item, people's order is recovered to .85, items' to .6, and 95 % of labels."""
    truth, ability, easy, answers = planted(seed)
    estimate = glad(answers)
    assert estimate.converged
    known = [ability[int(name)] for name in estimate.ratings.annotators]
    assert spearmanr(estimate.ability, known).statistic > 0.85
    hard = [-easy[int(name)] for name in estimate.ratings.items]
    assert spearmanr(estimate.difficulty, hard).statistic > 0.6
    labels = estimate.labels()
    assert np.mean([labels[item] == truth[int(item)] for item in estimate.ratings.items]) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("lean", "better"), [(False, "glad"), (True, "dawid-skene")])
def test_dawid_skene_is_better_where_people_share_a_mistake_and_glad_where_they_do_not(lean: bool, better: str) -> None:
    """In ten sets of 300 items with five of 60 people, the better model has over one point more items right.

    With a lean, people call label 1 label 0 in a third of cases. Without, errors are spread evenly over the wrong
    labels.
    """
    rights = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        truth, skill, slip = rng.choice(3, 300, p=[0.4, 0.35, 0.25]), rng.uniform(0.65, 0.9, 60), rng.beta(2, 4, 60)
        answers = []
        for item, true in enumerate(truth):
            for person in rng.choice(60, 5, replace=False):
                wrong = (1 - (0.9 if lean else skill[person])) / 2
                chances = np.full(3, wrong)
                chances[true] = 1 - 2 * wrong
                if lean and true == 1:
                    chances = np.array([slip[person], 0.95 - slip[person] * 0.95, 0.05 - slip[person] * 0.05])
                label = str(rng.choice(3, p=chances))
                answers.append(Annotation(item=str(item), annotator=str(person), label=label))
        labels = [model(answers).posterior.argmax(axis=1) for model in (glad, dawid_skene)]
        rights.append([(each == truth).mean() for each in labels])
    by_glad, by_ds = np.mean(rights, axis=0)
    assert (by_ds - by_glad if better == "dawid-skene" else by_glad - by_ds) > 0.01


def test_one_answer_by_hand() -> None:
    """One person answers x once and y once, so ability 1 and easiness e (the prior means) do not change.

    The posterior is σ(e) = 0.938. The slope of an answer is its posterior less σ(e), which is 0.
    """
    pair = [Annotation(item="i", annotator="p", label="x"), Annotation(item="j", annotator="p", label="y")]
    estimate = glad(pair)
    assert estimate.posterior == pytest.approx(np.array([[0.938, 0.062], [0.062, 0.938]]), abs=5e-4)
    assert (estimate.ability, estimate.difficulty) == (pytest.approx([1]), pytest.approx([np.exp(-1)] * 2))


def test_items_on_which_people_disagree_are_harder() -> None:
    """If five people agree on nine items and divide on the tenth, it is the hardest, and its label is uncertain."""
    answers = [Annotation(item=str(n), annotator=p, label="x" if n % 2 else "y") for n in range(9) for p in "abcde"]
    answers += [Annotation(item="9", annotator=p, label="xxyyz"[n]) for n, p in enumerate("abcde")]
    estimate = glad(answers)
    assert estimate.difficulty.argmax() == 9
    assert estimate.labels(0.9)["9"] is None
    assert estimate.difficulties()["9"] == pytest.approx(estimate.difficulty[9], abs=6e-5)


def test_one_label_is_certain_and_tells_nothing_apart() -> None:
    """If all answers are x, x is certain, and all abilities are equal."""
    estimate = glad([Annotation(item=str(n), annotator=p, label="x") for n in range(5) for p in "abc"])
    assert estimate.labels(0.99) == {str(n): "x" for n in range(5)}
    assert all(a == pytest.approx(b) for a, b in combinations(estimate.ability, 2))


def test_nothing_to_estimate_from_is_an_error() -> None:
    """An empty list of annotations is an error."""
    with pytest.raises(ValueError, match="no annotations"):
        glad([])


def test_25000_judgements_converge() -> None:
    """GLAD converges within its limit of steps for 5,000 items with five answers each."""
    answers = planted(5, items=5000, people=200, judges=5)[3]
    assert glad(answers).converged
