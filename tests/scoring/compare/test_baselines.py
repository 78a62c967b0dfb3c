import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from helpers.records import cat

from catsofa.data.records import Cat, Score
from catsofa.scoring.choices import Ties
from catsofa.scoring.compare import baselines
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.stereoset import measures

CATS = [cat(f"{term}{n}", target=f"t{term}") for term in range(30) for n in range(10)]


def three(cats: list[Cat], scores: Iterator[Score], ties: Ties = "half") -> tuple[float, ...]:
    """Returns lms, ss and icat of a baseline."""
    result = measures(outcomes(cats, {score.item: score.score for score in scores}, ties=ties), resamples=0)
    return result.lms.value, result.ss.value, result.icat.value


def test_the_ideal_and_the_stereotyped_model() -> None:
    """StereoSet, section 6: the ideal model has 100, 50 and 100, the stereotyped one ss 100 and icat 0."""
    assert three(CATS, baselines.ideal(CATS)) == (100, 50, 100)
    assert three(CATS, baselines.stereotyped(CATS)) == (100, 100, 0)


def test_the_random_model_is_near_fifty_and_seeded() -> None:
    """On 300 CATs the random model has 50, 50 and 50 within 7 points; a seed gives the same scores again."""
    assert three(CATS, baselines.random(CATS)) == pytest.approx((50, 50, 50), abs=7)
    assert list(baselines.random(CATS, seed=1)) == list(baselines.random(CATS, seed=1))
    assert list(baselines.random(CATS, seed=1)) != list(baselines.random(CATS, seed=2))


def test_the_unigram_model_prefers_the_frequent_word() -> None:
    """Counts of 7, 3 and 0 of 10, with one added to each, give log 8/13, log 4/13 and log 1/13."""
    frequency = baselines.smoothed({"tidy": 7, "untidy": 3})
    scores = [score.score for score in baselines.unigram([cat("a")], frequency)]
    assert scores == pytest.approx([math.log(8 / 13), math.log(4 / 13), math.log(1 / 13)])
    assert three([cat("a")], baselines.unigram([cat("a")], frequency)) == (100, 100, 0)


def test_several_words_are_averaged_and_none_is_unscored() -> None:
    """The score is the mean log frequency of the words; a filler without a letter has none."""
    first = cat("a").candidates[0]
    candidate = type(first)(id="x", label="unrelated", fill="tidy, un-tidy!", text="One is tidy, un-tidy!")
    assert baselines.words("Tidy, un-tidy! It’s") == ["tidy", "un-tidy", "it’s"]
    assert baselines.mean_log_frequency(candidate, {"tidy": -1.0, "un-tidy": -3.0}.__getitem__) == -2
    silent = type(first)(id="x", label="unrelated", fill="…", text="One is …")
    assert baselines.mean_log_frequency(silent, lambda word: 0.0) is None


def test_the_sentiment_model_prefers_the_most_negative() -> None:
    """Any classifier of texts works; the score is the probability of the negative classes."""

    def classify(texts: Sequence[str]) -> list[Mapping[str, float]]:
        return [{"NEGATIVE": 0.9 if "untidy" in text else 0.2, "POSITIVE": 0.1} for text in texts]

    scores = list(baselines.sentiment([cat("a")], classify))
    assert [score.score for score in scores] == [0.2, 0.9, 0.2]
    scores = list(baselines.sentiment([cat("a")], classify, negative=["negative", "Positive"]))
    assert [score.score for score in scores] == pytest.approx([0.3, 1.0, 0.3])
    with pytest.raises(ValueError, match=r"NEGATIVE, POSITIVE.*label_0"):
        list(baselines.sentiment([cat("a")], classify, negative=["LABEL_0"]))


def test_any_text_classification_model_is_a_classifier(tmp_path: Path) -> None:
    """A real pipeline over a tiny random model gives two labels for each text, with probabilities that sum to 1."""
    import transformers

    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tidy", "is"]))
    config = transformers.BertConfig(
        vocab_size=7, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(vocab=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    rows = list(baselines.classifier(str(tmp_path))(["tidy is tidy", "is"]))
    assert [set(row) for row in rows] == [{"LABEL_0", "LABEL_1"}] * 2
    assert [sum(row.values()) for row in rows] == pytest.approx([1, 1])


def test_a_model_without_a_trained_classifier_is_refused(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """A model without a trained head is refused, because a random head would make sentiment chance."""
    with pytest.raises(ValueError, match=r"text-classification.*not trained"):
        baselines.classifier(str(tiny("bert")))
    with pytest.raises(ValueError, match=r"no config\.json"):
        baselines.classifier(str(tmp_path))
