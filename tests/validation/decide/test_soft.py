"""Tests soft labels: shares, intervals and posteriors, by hand and against crowds with known truth."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.simulated_people import crowd

from catsofa.data.judging.dawid_skene import dawid_skene
from catsofa.data.judging.glad import glad
from catsofa.data.records import Annotation
from catsofa.validation.decide.soft import SoftLabel, as_extra, soft_labels
from catsofa.validation.decide.votes import decide_by_posterior, vote


def judged(item: str, labels: str, question: str = "") -> list[Annotation]:
    """Returns one judgement per letter, each by the next person."""
    extra = {"question": question} if question else {}
    return [Annotation(item=item, annotator=f"p{n}", label=label, extra=extra) for n, label in enumerate(labels)]


def limits(soft: SoftLabel) -> tuple[float, float, float]:
    """Returns the share and its interval."""
    return soft.share, soft.low, soft.high


def test_a_share_has_the_limits_of_wilson() -> None:
    """4 of 5: (.8 + z²/10 ± z·√(.032 + z²/100)) / (1 + z²/5) with z = 1.96. 0 of 5 has the upper limit z²/5 / (1 +
    z²/5)."""
    labels = soft_labels(vote([*judged("i", "xxxxy"), *judged("j", "yyyyy")]))
    assert limits(labels["i"].labels["x"]) == (0.8, 0.3755, 0.9638)
    assert limits(labels["j"].labels["x"]) == (0, 0, 0.4345)


def test_posteriors_are_those_of_dawid_and_skene_and_of_glad() -> None:
    """For 300 simulated items with three labels, posteriors equal the models' to the stored digits."""
    _, answers = crowd(2, items=300)
    soft, estimate = soft_labels(vote(answers)), dawid_skene(answers)
    items, labels = estimate.ratings.items, estimate.ratings.labels
    ours = [[soft[item].labels[label].posterior for label in labels] for item in items]
    assert np.array(ours, dtype=float) == pytest.approx(estimate.posterior, abs=6e-5)
    beside = glad(answers)
    theirs = [[soft[item].labels[label].glad for label in labels] for item in items]
    assert np.array(theirs, dtype=float) == pytest.approx(beside.posterior, abs=6e-5)
    assert [soft[item].difficulty for item in items] == pytest.approx(beside.difficulty, abs=6e-5)


def test_dawid_and_skene_are_estimated_once() -> None:
    """Votes, posteriors and soft labels of one question share an estimate; two questions have one each."""
    votes = vote([*judged("i", "xxy"), *judged("j", "yyy")])
    assert decide_by_posterior(votes).counted.estimate("") is votes.counted.estimate()
    counted = vote([*judged("i:same", "aab", "same"), *judged("i:fits", "ccc", "fits")]).counted
    assert counted.estimate("same").ratings.items == ("i:same",)
    assert counted.estimate().ratings.items == ("i:same", "i:fits")


@pytest.mark.parametrize("seed", range(3))
def test_of_items_with_a_posterior_of_so_much_so_many_are_right(seed: int) -> None:
    """For 1,500 items and 60 people, 12 of them random, the mean posterior of the best label is the share of right
    labels."""
    truth, answers = crowd(seed)
    best = {
        item: max(soft.labels.items(), key=lambda one: one[1].posterior or 0)
        for item, soft in soft_labels(vote(answers)).items()
    }
    expected = np.mean([one.posterior or 0 for _, one in best.values()])
    assert np.mean([label == truth[item] for item, (label, _) in best.items()]) == pytest.approx(expected, abs=0.02)


def test_questions_have_labels_of_their_own() -> None:
    """An item with two questions is two items with separate labels."""
    labels = soft_labels(vote([*judged("i:same", "aab", "same"), *judged("i:fits", "ccc", "fits")]))
    assert {item: set(soft.labels) for item, soft in labels.items()} == {"i:same": {"a", "b"}, "i:fits": {"c"}}


def test_who_may_name_several_labels_has_shares_and_no_posterior() -> None:
    """`x|y` is a vote for each, so shares may sum to more than one, and no model gives a posterior."""
    answers = [replace(one, label="x|y") if one.annotator == "p0" else one for one in judged("i", "xxy")]
    soft = soft_labels(vote(answers))["i"]
    none = {"posterior": None, "glad": None}
    x = {"share": 0.6667, "interval": [0.2077, 0.9385], **none}
    assert as_extra(soft) == {"soft": {"x": x, "y": x}, "difficulty": None}
    assert soft.labels["y"] == SoftLabel(share=0.6667, low=0.2077, high=0.9385, **none)
