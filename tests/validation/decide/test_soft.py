"""Soft labels: shares, their intervals and posteriors, by hand and against crowds whose truth is known."""

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
    """Each letter is the label by the next person."""
    extra = {"question": question} if question else {}
    return [Annotation(item=item, annotator=f"p{n}", label=label, extra=extra) for n, label in enumerate(labels)]


def limits(soft: SoftLabel) -> tuple[float, float, float]:
    """The share and its interval."""
    return soft.share, soft.low, soft.high


def test_a_share_has_the_limits_of_wilson() -> None:
    """4 of 5: (.8 + z²/10 ± z·√(.032 + z²/100)) / (1 + z²/5) with z = 1.96; 0 of 5 has z²/5 / (1 + z²/5) above it."""
    found = soft_labels(vote([*judged("i", "xxxxy"), *judged("j", "yyyyy")]))
    assert limits(found["i"].labels["x"]) == (0.8, 0.3755, 0.9638)
    assert limits(found["j"].labels["x"]) == (0, 0, 0.4345)


def test_posteriors_are_those_of_dawid_and_skene_and_of_glad() -> None:
    """Of 300 simulated items by three labels, to the digits that are kept."""
    _, answers = crowd(2, items=300)
    found, estimate = soft_labels(vote(answers)), dawid_skene(answers)
    items, labels = estimate.ratings.items, estimate.ratings.labels
    ours = [[found[item].labels[label].posterior for label in labels] for item in items]
    assert np.array(ours, dtype=float) == pytest.approx(estimate.posterior, abs=6e-5)
    beside = glad(answers)
    theirs = [[found[item].labels[label].glad for label in labels] for item in items]
    assert np.array(theirs, dtype=float) == pytest.approx(beside.posterior, abs=6e-5)
    assert [found[item].difficulty for item in items] == pytest.approx(beside.difficulty, abs=6e-5)


def test_dawid_and_skene_are_estimated_once() -> None:
    """Votes, posteriors and soft labels of one question share an estimate; of two questions each has its own."""
    votes = vote([*judged("i", "xxy"), *judged("j", "yyy")])
    assert decide_by_posterior(votes).counted.estimate("") is votes.counted.estimate()
    asked = vote([*judged("i:same", "aab", "same"), *judged("i:fits", "ccc", "fits")]).counted
    assert asked.estimate("same").ratings.items == ("i:same",)
    assert asked.estimate().ratings.items == ("i:same", "i:fits")


@pytest.mark.parametrize("seed", range(3))
def test_of_items_with_a_posterior_of_so_much_so_many_are_right(seed: int) -> None:
    """1,500 items, 60 people, 12 of whom answer blindly: the mean posterior of the best label is the share right."""
    truth, answers = crowd(seed)
    best = {
        item: max(soft.labels.items(), key=lambda one: one[1].posterior or 0)
        for item, soft in soft_labels(vote(answers)).items()
    }
    expected = np.mean([one.posterior or 0 for _, one in best.values()])
    assert np.mean([label == truth[item] for item, (label, _) in best.items()]) == pytest.approx(expected, abs=0.02)


def test_questions_have_labels_of_their_own() -> None:
    """An item that was asked two questions is two items; the labels of one are none of the other's."""
    found = soft_labels(vote([*judged("i:same", "aab", "same"), *judged("i:fits", "ccc", "fits")]))
    assert {item: set(soft.labels) for item, soft in found.items()} == {"i:same": {"a", "b"}, "i:fits": {"c"}}


def test_who_may_name_several_labels_has_shares_and_no_posterior() -> None:
    """`x|y` is a vote for each: shares may sum to more than one, and Dawid and Skene have no model of that."""
    answers = [replace(one, label="x|y") if one.annotator == "p0" else one for one in judged("i", "xxy")]
    soft = soft_labels(vote(answers))["i"]
    none = {"posterior": None, "glad": None}
    x = {"share": 0.6667, "interval": [0.2077, 0.9385], **none}
    assert as_extra(soft) == {"soft": {"x": x, "y": x}, "difficulty": None}
    assert soft.labels["y"] == SoftLabel(share=0.6667, low=0.2077, high=0.9385, **none)
