"""Tests of the scores of a paraphrase, and of where they put it."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from helpers.builders.known_angles import Angles, cat

from catsofa.builders.similarity import Cut, Models, Pair, Placed, Similarity, place, similarities
from catsofa.builders.similarity.character_overlap import chrf
from catsofa.builders.similarity.encoders import Reading
from catsofa.data.records import Refused


def test_mean_and_least_cosine_over_the_three_candidates() -> None:
    """Angles of 0, 60 and 90 degrees between original and paraphrase: cosines 1, 0.5 and 0, mean 0.5, least 0."""
    original, paraphrase = cat("a", "He is BLANK."), cat("a", "He seems BLANK.")
    encoder = Angles({"He seems patient.": 0, "He seems hasty.": 60, "He seems gravel.": 90})
    pairs = [Pair(1, paraphrase, original), Pair(2, paraphrase, original)]
    first, second = similarities(pairs, Models(encoder=encoder))
    assert first == second
    assert (first.mean, first.least) == pytest.approx((0.5, 0.0), abs=1e-6)
    assert len(encoder.asked) == 6, "each text is encoded once"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("abc", "abd", 100 * (2 / 3 + 1 / 2 + 0) / 3),
        ("ab", "abcdef", 100 * 5 * (4 / 15) / (4 + 4 / 15)),
        ("a b c", "abc", 100),
        ("a", "b", 0),
        ("", "abc", 0),
    ],
)
def test_chrf_by_hand(one: str, other: str, expected: float) -> None:
    """abc and abd share 2 of 3 letters, 1 of 2 pairs, 0 of 1 triple. Of abcdef, ab has 2/6 and 1/5: R = 4/15, P = 1."""
    assert chrf(one, other) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ({"mean": 0.75, "chrf": 40}, "partition"),
        ({"mean": 0.7499, "chrf": 40}, "review"),
        ({"mean": 0.60, "chrf": 40}, "review"),
        ({"mean": 0.5999, "chrf": 40}, "dissimilar"),
        ({"mean": 0.99, "chrf": 85.1}, "same_sentence"),
        ({"mean": 0.70, "chrf": 40, "cross": 0.8}, "partition"),
        ({"mean": 0.70, "chrf": 40, "cross": 0.6}, "review"),
        ({"mean": 0.50, "chrf": 40, "cross": 0.9}, "dissimilar"),
        ({"mean": 0.90, "chrf": 40, "contradiction": 0.6}, "review"),
        ({"mean": 0.90, "chrf": 40, "contradiction": 0.4}, "partition"),
        ({"mean": 0.90, "chrf": 40, "contradiction": 0.91}, "contradiction"),
        ({"mean": 0.70, "chrf": 40, "contradiction": 0.1, "entailment": 0.5}, "partition"),
        ({"mean": 0.90, "chrf": 40, "contradiction": 0.1, "entailment": 0.4}, "review"),
    ],
)
def test_where_a_score_puts_a_paraphrase(found: dict[str, float], where: str) -> None:
    """The floor is 0.60, the review line 0.75, the chrF limit 85.

    A cross-encoder can lift a paraphrase over the line. A sure contradiction is refused, a likely one goes to review.
    Entailment in both directions lifts over the line; less goes to review.
    """
    pair = Pair(2, cat("a", "He is BLANK."), cat("a", "He seems BLANK."))
    (placed,) = place([(pair, Similarity(**{"least": 0.1, **found}))], Cut(), "m")
    if isinstance(placed, Placed):
        assert (placed.queue, placed.partition, placed.cat.id) == (where, 2, "a")
        assert placed.cat.extra["similarity"]["mean"] == found["mean"]
    else:
        assert (placed.reason, placed.id, placed.score) == (where, "a/2", found["mean"])


@pytest.mark.parametrize(
    ("alarms", "found", "where"),
    [
        (["negation"], {}, "review"),
        (["negation"], {"entailment": 0.9}, "review"),
        (["negation"], {"contradiction": 0.6}, "contradiction"),
        (["hedge"], {"entailment": 0.9}, "review"),
        (["added"], {}, "review"),
        (["added"], {"entailment": 0.9}, "partition"),
        (["described"], {"things": 0.4}, "review"),
        (["described"], {"things": 0.5}, "partition"),
        (["described", "target"], {"things": 0.5}, "review"),
    ],
)
def test_a_paraphrase_with_an_alarm_goes_to_people(alarms: list[str], found: dict[str, float], where: str) -> None:
    """An alarm sends even a similar paraphrase to review. The models clear two kinds of alarm; with another, a likely
    contradiction is refused."""
    noted = {"alarms": [{"kind": kind, "words": ["voice", "tone"]} for kind in alarms]}
    pair = Pair(1, replace(cat("a", "He is BLANK."), extra=noted), cat("a", "He seems BLANK."))
    (placed,) = place([(pair, Similarity(mean=0.99, least=0.99, chrf=40, **found))], Cut(), "m")
    assert (placed.queue if isinstance(placed, Placed) else placed.reason) == where
    if isinstance(placed, Refused):
        assert placed.source["alarms"] == alarms
    elif where == "review":
        assert set(placed.cat.extra["doubts"]) <= {*alarms}


def test_warnings_of_earlier_versions_go_to_people_too() -> None:
    """A paraphrase of an earlier version, with warnings instead of alarms, goes to review."""
    pair = Pair(1, replace(cat("a", "He is BLANK."), extra={"warnings": ["negation"]}), cat("a", "He seems BLANK."))
    (placed,) = place([(pair, Similarity(mean=0.99, least=0.99, chrf=40))], Cut(), "m")
    assert isinstance(placed, Placed)
    assert placed.queue == "review"


def test_what_two_slots_describe_is_compared_as_words() -> None:
    """The cosine of an alarm's two words is 0.5 at 60 degrees. A paraphrase without the alarm has none."""
    alarm = {"alarms": [{"kind": "described", "words": ["voice", "tone"]}]}
    plain = cat("a", "He is BLANK.")
    first, second = similarities(
        [Pair(1, plain, plain), Pair(2, replace(plain, extra=alarm), plain)], Models(encoder=Angles({"tone": 60}))
    )
    assert first.things is None
    assert second.things == pytest.approx(0.5, abs=1e-6)


class Reader:
    """An inference model with known readings."""

    signature = "reader"

    def __init__(self, said: dict[tuple[str, str], tuple[float, float]]) -> None:
        self.said = said

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Returns the known reading of each pair; unknown pairs are surely entailed."""
        return [Reading(*self.said.get(pair, (1.0, 0.0))) for pair in pairs]


def test_inference_counts_at_its_worst() -> None:
    """The least entailment and the largest contradiction over both directions and two fills are kept."""
    original, paraphrase = cat("a", "He is BLANK."), cat("a", "He may be BLANK.")
    readings = {
        ("He may be patient.", "He is patient."): (0.2, 0.1),
        ("He is hasty.", "He may be hasty."): (0.9, 0.3),
    }
    (similarity,) = similarities(
        [Pair(1, paraphrase, original)], Models(encoder=Angles({}), inference=Reader(readings))
    )
    assert (similarity.entailment, similarity.contradiction) == (0.2, 0.3)


@pytest.mark.parametrize("name", ["mean", "least", "cross", "contradiction", "entailment"])
def test_a_paraphrase_a_model_answered_nan_about_is_refused_as_unscored(name: str) -> None:
    """NaN lies under no floor, so a paraphrase with a NaN score is refused. The refusal contains no NaN."""
    pair = Pair(2, cat("a", "He is BLANK."), cat("a", "He seems BLANK."))
    numbers = {"mean": 0.9, "least": 0.9, "chrf": 40.0, "cross": 0.9, "contradiction": 0.1, "entailment": 0.9}
    (placed,) = place([(pair, Similarity(**(numbers | {name: math.nan})))], Cut(), "m")
    assert isinstance(placed, Refused)
    assert placed.reason == "unscored"
    assert placed.score == (None if name == "mean" else 0.9)
    assert name not in placed.source["similarity"]


def test_the_lines_must_be_in_order() -> None:
    """A floor above the review line is refused."""
    with pytest.raises(ValueError, match="above the review line"):
        Cut(floor=0.8, review=0.7)


@pytest.mark.parametrize(
    ("floor", "review", "wrong"),
    [(60, 75, r"floor \(60\) is a cosine"), (0.6, 75, r"review line \(75\) is a cosine"), (0.9, 0.8, "above the rev")],
)
def test_a_line_is_a_cosine_and_the_floor_the_lower_one(floor: float, review: float, wrong: str) -> None:
    """A percentage is refused as a cosine. Two lines in the wrong order get a different error."""
    with pytest.raises(ValueError, match=wrong):
        Cut(floor=floor, review=review)
