"""Tests lint rules that use a parser, an encoder, a language model or a sentiment classifier."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.records import a_cat, a_pair
from numpy.typing import NDArray

from catsofa.data import formats
from catsofa.data.records import Probe
from catsofa.lint_resources import given, zipf
from catsofa.validation.lint import lint
from catsofa.validation.lint.contrast import possible
from catsofa.validation.lint.models import about_anybody
from catsofa.validation.lint.rule import Given


def messages(rule: str, *records: Any, **tools: Any) -> list[str]:
    """Returns the messages of one rule."""
    return [finding.message for finding in lint(records, Given(**tools), select=[rule]).findings]


@dataclass(frozen=True)
class Word:
    """A word as a parser returns it."""

    idx: int
    pos_: str


class Parts:
    """A parser with the parts of speech of a few words."""

    def __init__(self, **parts: str) -> None:
        self.parts = parts

    def pipe(self, texts: Iterable[str]) -> Iterable[list[Word]]:
        """Yields the last word of each text, without the full stop."""
        for text in texts:
            word = text.rstrip(".").split()[-1]
            yield [Word(text.index(word), self.parts[word])]


@pytest.mark.parametrize(
    ("stereotype", "anti", "parts", "differ"),
    [
        ("bakers", "lazy", {"bakers": "NOUN", "lazy": "ADJ"}, True),
        ("tired", "lazy", {"tired": "VERB", "lazy": "ADJ"}, False),
        ("snarky", "lazy", {"snarky": "NOUN", "lazy": "ADJ"}, False),
        ("qwxzy", "lazy", {"qwxzy": "NOUN", "lazy": "ADJ"}, False),
    ],
)
def test_l5_needs_tagger_and_dictionary_to_agree(
    stereotype: str, anti: str, parts: dict[str, str], differ: bool
) -> None:
    """A participle counts as an adjective. A tag that the dictionary does not confirm is no finding."""
    findings = messages("L5", a_cat(stereotype=stereotype, anti=anti), parser=Parts(**parts))
    assert findings == ([f"{stereotype!r} is read as NOUN, {anti!r} as ADJ"] if differ else [])


def test_the_dictionary_takes_participles_for_adjectives() -> None:
    """`singing` is a verb and a noun in any dictionary, and also an adjective; an unknown word has no part of
    speech."""
    assert {"VERB", "ADJ"} <= possible("singing")
    assert possible("qwxz") == frozenset()


def likelihoods(**scores: float) -> Any:
    """Returns a language model that scores a text by a word in it."""

    def likelihood(texts: Sequence[str]) -> list[float]:
        return [next(value for word, value in scores.items() if word in text.lower()) for text in texts]

    return likelihood


def test_l15_finds_a_group_that_stands_out() -> None:
    """For surprisals 1, 1, 2, 2 and 9, the third quartile is 2 and the spread 1, so 9 exceeds the limit of 3.5."""
    surprises = {"zorbs": -1.0, "florins": -1.0, "elves": -2.0, "dwarves": -2.0, "quinquaginta": -9.0}
    probes = [Probe(category="c", identity=name, stereotype="sing") for name in surprises]
    assert messages("L15", *probes, likelihood=likelihoods(**surprises)) == [
        "'quinquaginta' has 9.00 nats per token, three quarters of c 2.00"
    ]


def test_l17_takes_the_target_away() -> None:
    """`Late` is preferred for zorbs and for a person, which is a finding. If it is preferred only with the target,
    there is none."""
    cat = a_cat(stereotype="late", anti="early")
    scores = {"zorb was late": -1.0, "zorb was early": -2.0, "person was late": -1.5, "person was early": -3.0}
    assert messages("L17", cat, likelihood=likelihoods(**scores)) == [
        "preferred by 1.00 nats per token with the target, by 1.50 without it"
    ]
    scores["person was late"] = -4.0
    assert not messages("L17", cat, likelihood=likelihoods(**scores))
    follows = a_cat("The zorb came.", "He was late.", "He was early.", "Roses grow.")
    alone = {"zorb came. he was late": -1.0, "zorb came. he was early": -2.0, "he was late": -1.0, "he was early": -1.0}
    assert not messages("L17", follows, likelihood=likelihoods(**alone))


def test_a_set_without_cats_asks_no_model() -> None:
    """Pairs have no context and no target to remove, so neither the encoder nor the model is called."""

    def never(texts: Sequence[str]) -> list[float]:
        raise AssertionError("nothing is to be asked")

    class Never:
        """An encoder that must not be called."""

        def encode(self, texts: Sequence[str], /) -> NDArray[np.float64]:
            """Raises AssertionError."""
            raise AssertionError("nothing is to be asked")

    pair = a_pair("Zorbs sing.", "Florins sing.")
    assert not [m for rule in ("L15", "L17") for m in messages(rule, pair, likelihood=never)]
    assert not messages("L19", pair, a_cat(), encoder=Never())


def test_anybody_stands_for_the_target() -> None:
    """The target becomes "person" or "people", with a capital at the start of a sentence."""
    assert about_anybody("Zorbs like a zorb.", "zorb") == "People like a person."
    assert about_anybody("The Norwegian sang.", "Norwegian") == "The person sang."


def test_l18_compares_moods() -> None:
    """None of 12 stereotypes and all 12 opposites are positive: p = 2 / 2^12. Six each way is no difference."""
    pairs = [a_pair(f"Zorbs are bad {n}.", f"Zorbs are good {n}.", id=str(n)) for n in range(12)]
    findings = messages("L18", *pairs, sentiment=lambda texts: ["good" in text for text in texts])
    assert findings == ["0 % of the stereotypes are positive, 100 % of their opposites (p = 0.00049)"]
    assert not messages("L18", *pairs, sentiment=lambda texts: [True] * len(texts))
    assert not messages("L18", *pairs, sentiment=lambda texts: [n % 4 in (0, 3) for n in range(len(texts))])


def test_l19_asks_an_encoder() -> None:
    """The unrelated sentence is closer to the context than both others, and close in absolute terms."""

    class Topics:
        """An encoder with vectors by a text's first word."""

        def encode(self, texts: Sequence[str], /) -> NDArray[np.float64]:
            """Returns similar vectors for "The" and "Roses", and another for "He"."""
            return np.array([{"The": [1.0, 0.2], "He": [0.1, 1.0], "Roses": [1.0, 0.0]}[t.split()[0]] for t in texts])

    cat = a_cat("The zorb came.", "He was late.", "He was early.", "Roses grow.")
    assert messages("L19", cat, encoder=Topics()) == [
        "closer to the context (0.98) than both other options (0.29, 0.29)"
    ]
    assert not messages("L19", a_cat("The zorb came.", "He was late.", "The early one.", "He grows."), encoder=Topics())


def test_files_and_corpora_are_given_by_name(tmp_path: Path) -> None:
    """Lists have one word a line and comments. One word of four is 250 million in a billion: Zipf 8.4."""
    (tmp_path / "names.txt").write_text("# names\nJon\n\nAnn\n")
    (tmp_path / "corpus.txt").write_text("The zorb. The florin.\n")
    tools = given(names=tmp_path / "names.txt", corpus=str(tmp_path / "corpus.txt"))
    assert tools.names == {"jon", "ann"}
    assert tools.frequency is not None
    assert tools.frequency("zorb") == pytest.approx(8.39794)
    assert tools.frequency("elf") == 0
    assert zipf("wordfreq")("the") == pytest.approx(7.73)
    with pytest.raises(ValueError, match="pipeline 'nothing-here'"):
        given(spacy_model="nothing-here")


@pytest.mark.slow
def test_real_models_can_be_given(shared: Path) -> None:
    """With a spaCy pipeline, a language model and an encoder, the rules run on released items and have findings."""
    models = shared / "models"
    cats = list(formats.read(shared / "data/stereoset/dev.json"))
    parsed = given(spacy_model=str(models / "spacy-en-small"), encoder=str(models / "semhash-static-st"))
    says = [finding.message for finding in lint(cats, parsed, select=["L5", "L19"]).findings]
    assert sum("is read as" in message for message in says) > 20
    assert sum("closer to the context" in message for message in says) == 10
    scored = lint(cats[:50] + cats[-50:], given(model=str(models / "stories260K")), select=["L15", "L17"])
    assert scored.ran == ["L15", "L17"]
    assert scored.counts()["L17"] > 20
