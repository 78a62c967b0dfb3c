"""Tests Dawid-Skene against crowd-kit and against simulated crowds with known truth."""

import numpy as np
import pytest
from crowdkit.aggregation import DawidSkene as CrowdKit
from helpers.simulated_people import crowd

from catsofa.data.judging.dawid_skene import dawid_skene, spam_scores
from catsofa.data.records import Annotation
from catsofa.validation.decide.votes import vote


def right(labels: dict[str, str | None], truth: dict[str, str]) -> float:
    """Returns the share of all items with the true label; a missing label counts as wrong."""
    return sum(labels.get(item) == label for item, label in truth.items()) / len(truth)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("rounds", [1, 5, 30])
def test_the_posterior_is_that_of_crowd_kit(rounds: int) -> None:
    """After the same number of rounds, every posterior equals crowd-kit's to 1e-6 if each person has met each label."""
    _, answers = crowd(0, items=600, people=20, spammers=4)
    import pandas as pd

    ours = dawid_skene(answers, smoothing=0, rounds=rounds, tolerance=-1)
    frame = pd.DataFrame([(a.item, a.annotator, a.label) for a in answers], columns=["task", "worker", "label"])
    theirs = CrowdKit(n_iter=rounds, tol=-np.inf).fit(frame).probas_
    expected = theirs.loc[list(ours.ratings.items), list(ours.ratings.labels)].to_numpy()
    assert ours.posterior == pytest.approx(expected, abs=1e-6)


def test_one_round_by_hand() -> None:
    """One E-step with two items, where p and q agree on i (x) and differ on j, gives i x with 0.9 and j an even chance.

    Vote shares: i (1, 0), j (1/2, 1/2); prior (3/4, 1/4). p says x twice: P(x|x) = P(x|y) = 1. q says x to i and y to
    j: P(x|x) = 1 / 1.5 = 2/3, P(y|x) = 1/3, P(x|y) = 0, P(y|y) = 1. So i is 3/4 * 2/3 against 1/4 * 0, that is (1, 0),
    and j is 3/4 * 1/3 against 1/4 * 1, that is (1/2, 1/2).
    """
    answers = [("i", "p", "x"), ("i", "q", "x"), ("j", "p", "x"), ("j", "q", "y")]
    annotations = [Annotation(item=item, annotator=person, label=label) for item, person, label in answers]
    estimate = dawid_skene(annotations, smoothing=0, rounds=1)
    assert estimate.posterior == pytest.approx(np.array([[1, 0], [0.5, 0.5]]), abs=1e-6)
    assert estimate.labels() == {"i": "x", "j": None}


@pytest.mark.parametrize("seed", range(3))
def test_it_beats_the_majority_where_some_people_spam(seed: int) -> None:
    """With 20 random answerers among 60 people, and 1,500 items with five answers, Dawid-Skene is over six points more
    accurate."""
    truth, answers = crowd(seed, spammers=20)
    majority = {item: decision.label for item, decision in vote(answers).decisions.items()}
    assert right(dawid_skene(answers).labels(), truth) - right(majority, truth) > 0.06


def test_people_are_as_skilled_as_estimated() -> None:
    """With 500 answers a person, the diagonal of the confusion matrix equals the person's true skill to 0.06."""
    _, answers = crowd(1, items=3000, people=30, spammers=0)
    estimate = dawid_skene(answers)
    skills = np.random.default_rng(1).uniform(0.7, 0.95, size=30)
    diagonal = estimate.confusion.diagonal(axis1=1, axis2=2).mean(axis=1)
    by_name = dict(zip(estimate.ratings.annotators, diagonal, strict=True))
    assert [by_name[f"person {n}"] for n in range(30)] == pytest.approx(skills.tolist(), abs=0.06)


def test_the_spam_score_by_hand() -> None:
    """An always right person scores 1, a constant one 0; the half-right one ((1-.5)^2 + (.5-1)^2 + ...)/2 = 0.25."""
    always_right, same, half = np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5]])
    assert spam_scores(np.stack([always_right, same, half])) == pytest.approx([1, 0, 0.25])


def test_it_stops_when_the_likelihood_stands_still() -> None:
    """Convergence is reported, and further rounds change the posterior by less than 0.01."""
    _, answers = crowd(2)
    estimate = dawid_skene(answers)
    assert estimate.converged
    assert estimate.posterior == pytest.approx(dawid_skene(answers, tolerance=-1, rounds=300).posterior, abs=0.01)
    assert not dawid_skene(answers, rounds=2, tolerance=0).converged


def test_nothing_to_estimate_from_is_an_error() -> None:
    """No annotations are an error. A threshold below one half is refused, because two labels could reach it."""
    with pytest.raises(ValueError, match="no annotations"):
        dawid_skene([])
    with pytest.raises(ValueError, match="labels may tie"):
        dawid_skene([Annotation(item="i", annotator="a", label="x")]).labels(sure=0.3)
