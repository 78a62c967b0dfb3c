import json
from pathlib import Path

import pytest

from catsofa.data.language.blanks import fill_of


@pytest.mark.parametrize(
    ("context", "sentence", "fill"),
    [
        ("The baker is BLANK.", "The baker is tired.", "tired"),
        ("the baker is BLANK", "The Baker is very tired of bread.", "very tired of bread"),
        ("The baker is BLANK.", "The baker is tired", "tired"),
        ("The baker is BLANK", "The baker is tired!", "tired"),
        ("The  baker is BLANK , mostly.", "The baker is tired , mostly", "tired"),
        ("BLANK bakers sing.", "Tired bakers sing.", "Tired"),
        ('They call the baker "BLANK".', 'They call the baker "tired".', "tired"),
        ("The baker moved to the BLANK", "The baker moved to the U.S.", "U.S."),
        ("The baker sold sometimes.BLANK", "The baker sold sometimes.bread", "bread"),
        ("A BLANK-aged baker sang.", "A middle-aged baker sang.", "middle"),
    ],
)
def test_the_fill_is_what_stands_in_place_of_the_blank(context: str, sentence: str, fill: str) -> None:
    """Case, spacing and closing punctuation may differ, as they do in the released files; the fill is whole."""
    assert fill_of(context, sentence) == fill


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ("The baker BLANKed the bread.", "The baker toasted the bread."),
        ("Bakers live in BLANKS.", "Bakers live in houses."),
        ("The baker is BLANK and says BLANK.", "The baker is tired and says tired."),
        ("The baker is BLANK and not Blank", "The baker is tired and not tired"),
        ("The baker is BLANK.", "A baker is tired."),
        ("The baker is BLANK today.", "The baker is tired tonight."),
        ("The baker is tired.", "The baker is tired."),
        ("The baker is BLANK.", "The baker is ."),
        ("The baker is BLANK.", "The baker is very  tired."),
        ("", "The baker is tired."),
    ],
)
def test_a_fill_that_would_be_a_guess_is_none(context: str, sentence: str) -> None:
    """Letters glued to the BLANK, two BLANKs, another sentence, nothing there, or words that cannot be pointed at."""
    assert fill_of(context, sentence) is None


def test_every_released_sentence_that_can_have_a_fill_has_the_word_at_the_blank(shared: Path) -> None:
    """The released code takes the word at BLANK's place among the words: where it is one word, both agree.

    In dev 3 of 2,106 clusters have none (2 with two BLANKs, one with letters behind), in test 9 of 6,391.
    """
    for name, without in (("dev", 3), ("test_intrasentence", 9)):
        clusters = json.loads((shared / f"data/stereoset/{name}.json").read_text())["data"]["intrasentence"]
        filled = [
            (cluster["context"], sentence["sentence"], fill_of(cluster["context"], sentence["sentence"]))
            for cluster in clusters
            for sentence in cluster["sentences"]
        ]
        assert sum(fill is None for _, _, fill in filled) == 3 * without
        for context, sentence, fill in filled:
            if fill and "BLANK" in context.split():
                assert sentence.split()[context.split().index("BLANK")].strip(".!?,;") == fill.strip(".!?,;")


def test_the_article_before_the_blank_may_follow_the_fill() -> None:
    """A builder writes "an honest answer" and "a kind answer" from one context."""
    assert fill_of("She gave a BLANK answer.", "She gave an honest answer.") == "honest"
    assert fill_of("She gave an BLANK answer.", "She gave a kind answer.") == "kind"
    assert fill_of("A BLANK baker sang.", "An old baker sang.") == "old"
    assert fill_of("She gave the BLANK answer.", "She gave an honest answer.") is None
