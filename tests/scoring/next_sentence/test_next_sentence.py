import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.next_heads import BEGINNINGS, ENDINGS, PEOPLE, trained_head, write_pairs

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Candidate, Cat
from catsofa.scoring import models, next_sentence
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.stereoset import next_sentences
from catsofa.scoring.measures.stereoset.next_sentences import check_own_head
from catsofa.scoring.next_sentence import NextSentence, direction
from catsofa.scoring.next_sentence import network as next_network
from catsofa.scoring.next_sentence.direction import STORIES
from catsofa.scoring.next_sentence.network import PairReader, _kept
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.run.store import read_scores

Tiny = Callable[[str], Path]

CATS = [
    Cat(
        kind="intersentence",
        bias_type="profession",
        target="baker",
        context=beginning.format("baker"),
        candidates=(
            Candidate(text="The baker sang.", label="stereotype"),
            Candidate(text="The baker was asleep.", label="anti-stereotype"),
            Candidate(text="The gardener sang.", label="unrelated"),
        ),
    )
    for beginning in ("My {} is kind.", "Everybody likes the {}.")
]


def test_the_longer_sentence_is_cut() -> None:
    """[CLS] five tokens [SEP] two tokens [SEP] is cut to 8: the first sentence loses its last two tokens, and the
    special tokens stay."""
    segments = [None, 0, 0, 0, 0, 0, None, 1, 1, None]
    assert _kept(segments, 8) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert _kept(segments, 10) == list(range(10))
    assert _kept(segments, 4) == [], "no room for a token of each"


def test_a_causal_model_reads_both_sentences_as_one_text(tiny: Tiny) -> None:
    """A causal model reads the start token, the first sentence, a space and the second sentence. A cut shortens the
    longer sentence."""
    model = models.load(str(tiny("gpt2")), device="cpu")
    whole = PairReader(model, 96).rows([("The baker sang.", "The roses were happy.")])[0]
    assert whole is not None
    assert model.tokenizer.decode(whole.ids) == "<|endoftext|>The baker sang. The roses were happy."
    first, second = "The baker was asleep, so nobody bought bread. " * 4, "The roses were happy."
    cut = PairReader(model, 30).rows([(first.strip(), second)])[0]
    assert cut is not None
    assert len(cut.ids) == 30
    assert model.tokenizer.decode(cut.ids).endswith(" The roses were happy.")


def test_a_pair_without_tokens_has_no_row(tiny: Tiny) -> None:
    """A pair with a blank sentence has no row."""
    reader = PairReader(models.load(str(tiny("bert")), device="cpu"), 96)
    assert [row is None for row in reader.rows([("A florin sang.", " "), ("A florin sang.", "It rained.")])] == [
        True,
        False,
    ]


def test_tiny_berts_own_head_scores_as_the_original_code(shared: Path) -> None:
    """On tiny-bert, the next-sentence probabilities of the dev candidates equal those of StereoSet's released code to
    1e-5."""
    predictions = shared / "oracles" / "stereoset_dev_tinybert_released_code_predictions.json"
    expected = {row["id"]: row["score"] for row in json.loads(predictions.read_text())["intersentence"]}
    model = models.load(str(shared / "models" / "tiny-bert"), device="cpu")
    head = NextSentence(next_network.new(model, None, 0), PairReader(model, 128))
    assert (head.network.name, head.network.next_label) == ("own", 0)
    cats = formats.read(shared / "data" / "stereoset" / "dev.json")
    some = list(islice((cat for cat in cats if cat.kind == "intersentence"), 0, None, 10))
    scores = head.score_cats(some)
    assert len(scores) == 3 * len(some) > 600
    for score in scores:
        assert score.score is not None
        assert exp(score.score) == pytest.approx(expected[score.item], rel=1e-5)


def test_known_pairs_show_which_way_round_a_head_answers(shared: Path) -> None:
    """Known pairs detect a head with swapped classes.

    For tiny-bert, class 0 means `follows`; with class 1, unrelated sentences score above meaningful ones. The pairs are
    contexts of StereoSet's dev set with a meaningful and with an unrelated sentence.
    """
    cats = [c for c in formats.read(shared / "data" / "stereoset" / "dev.json") if c.kind == "intersentence"][::20]
    labelled = [
        (cat.context, cat[label].text, label != "unrelated") for cat in cats for label in ("stereotype", "unrelated")
    ]
    model = models.load(str(shared / "models" / "tiny-bert"), device="cpu")
    network = next_network.new(model, "own", 0)
    turned = next_network.Network(model, network.head, "own", 1, network.backend)
    pairs = [(first, second) for first, second, _ in labelled]
    right, wrong = (NextSentence(n, PairReader(model, 128)).log_probabilities(pairs) for n in (network, turned))
    direction.refuse_if_wrong(right, labelled, "tiny-bert")
    with pytest.raises(ValueError, match=r"wrong way round.*next_label"):
        direction.refuse_if_wrong(wrong, labelled, "tiny-bert")
    check_own_head(model)
    with pytest.raises(ValueError, match=r"wrong way round.*next_label"):
        check_own_head(replace(model, next_label=1))


def test_a_model_whose_config_names_the_wrong_class_is_refused(
    learner: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model's own head is tested on pairs with a known answer before it scores a CAT."""
    pairs = write_pairs(tmp_path / "p.jsonl", 1600, 200)
    trained_head(learner("bert"), pairs, tmp_path / "out", epochs=4)
    # The head knows only the sentences of its training.
    stories = [(b.format(who), e.format(who)) for b in BEGINNINGS for e in ENDINGS for who in PEOPLE]
    monkeypatch.setattr(next_sentences, "STORIES", stories)
    body = tmp_path / "out" / "body"
    assert {
        each.score is None for each in score_records(Backend(models.load(str(body), device="cpu")), CATS, DEFAULT)
    } == {False}
    config = json.loads((body / "config.json").read_text())
    (body / "config.json").write_text(json.dumps(config | {"next_label": 1}))
    with pytest.raises(ValueError, match=r"wrong way round.*next_label"):
        score_records(Backend(models.load(str(body), device="cpu")), CATS, DEFAULT)


def test_a_trained_head_scores_the_sentences_after_a_context(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path
) -> None:
    """`nsp` of evaluate uses the head's log-probabilities for any protocol, and the signature names the head."""
    head = trained_head(learner("llama"), pairs, tmp_path / "head", epochs=8, learning_rate=3e-3)
    report = evaluate(
        str(learner("llama")), CATS, nsp=tmp_path / "head", out=tmp_path / "run", device="cpu", resamples=9
    )
    stored = {score.item: score.score for score in read_scores(tmp_path / "run")}
    assert stored == pytest.approx({score.item: score.score for score in head.score_cats(CATS)}, abs=1e-4)
    assert " with head@" in report.signature.model
    with pytest.raises(ValueError, match=r"nsp: .* → none"):
        evaluate(str(learner("llama")), CATS, out=tmp_path / "run", device="cpu", resamples=9)
    with pytest.raises(ValueError, match=r"head.*llama.*bert.*another model"):
        evaluate(str(learner("bert")), CATS, nsp=tmp_path / "head", device="cpu", resamples=9)


def test_accuracy_is_the_share_of_right_answers() -> None:
    """P 0.9 and 0.2 for following pairs and 0.2 for another are right, wrong, right. Undecided and unreadable pairs
    count half."""
    scores = np.log([0.9, 0.2, 0.2, 0.5, np.nan])
    assert direction.accuracy(scores, [True, True, False, False, True]) == pytest.approx(3 / 5)


def test_separation_is_the_share_of_right_orders() -> None:
    """Separation is the share of right orders. For 3 and 1 that follow against 2, 1 and unreadable, 3 > 2, 3 > 1 and
    half of 1 = 1 of four orders are right."""
    assert direction.separation([3, 1, 2, 1, np.nan], [True, True, False, False, False]) == 2.5 / 4


@pytest.mark.parametrize(
    ("separated", "expected"), [(0.68, "right"), (0.67, "chance"), (0.33, "chance"), (0.32, "inverted")]
)
def test_three_standard_errors_decide(separated: float, expected: str) -> None:
    """For fifty and fifty pairs the standard error is sqrt(101 / 30,000) = 0.058, so 0.326 to 0.674 is chance."""
    assert direction.verdict(separated, 50, 50) == expected


def test_the_known_stories_are_fifty_different_ones() -> None:
    """No sentence occurs in two stories, so that each second sentence follows only its own first one."""
    assert len({sentence for story in STORIES for sentence in story}) == 100


@pytest.mark.parametrize(("right", "chance"), [(36, 0.0013), (37, 0.00047), (50, 2.0**-50), (0, 1)])
def test_guessing_is_seldom_right_so_often(right: int, chance: float) -> None:
    """Of fifty coin tosses, 37 or more are heads in 0.047 % of cases, and 36 or more in 0.13 %."""
    assert direction.binomial(right, 50) == pytest.approx(chance, rel=0.05)


def test_shuffled_stories_say_how_often_chance_is_as_good() -> None:
    """Three stories are all told apart: one of six orders is as good as the true one, and all are as good or worse."""
    right, above, below = direction.shuffled(np.eye(3))
    assert (right, below) == (6, 1)
    assert above == pytest.approx(1 / 6, abs=0.02)
    assert direction.shuffled(np.zeros((5, 5))) == (0, 1, 1), "a head that calls all alike is as good as any other"


def test_random_heads_pass_as_seldom_as_the_test_says() -> None:
    """Of 60 untrained heads, with noise and a bias for some sentences, at most 3 pass the test, which has a level of
    1.1 %."""
    rng = np.random.default_rng(3)
    stories = [(str(k), str(50 + k)) for k in range(50)]
    passed = 0
    for _ in range(60):
        taste, noise = rng.normal(size=100), rng.normal(size=(100, 100)) * rng.choice([0.1, 3])
        with suppress(ValueError):
            direction.refuse_if_untrained(
                lambda pairs, taste=taste, noise=noise: [  # type: ignore[misc]
                    taste[int(a)] + taste[int(b)] + noise[int(a), int(b)] for a, b in pairs
                ],
                stories,
                "noise",
            )
            passed += 1
    assert passed <= 3


def test_a_random_next_sentence_head_is_refused(tiny: Tiny) -> None:
    """A randomly initialised BertForPreTraining head is refused with the number of right comparisons. Without CATs
    after a context the head is not tested, and a protocol without a head scores the CATs."""
    import torch

    model = models.load(str(tiny("bert-with-a-random-head")), device="cpu")
    head, refused = model.module.cls.seq_relationship.weight, 0
    for seed in range(4):  # the tokenizer differs between processes, and one random head in a hundred passes
        torch.nn.init.normal_(head.data, std=0.2, generator=torch.Generator().manual_seed(seed))
        with suppress(ValueError):
            score_records(Backend(model), CATS, DEFAULT)
            continue
        refused += 1
    assert refused >= 3
    head.data.zero_()
    with pytest.raises(ValueError, match=r"of 2,450 known.*--nsp"):
        score_records(Backend(model), CATS, DEFAULT)
    assert score_records(Backend(model), [], DEFAULT) == []
    scored = score_records(Backend(model), CATS, named("catsofa,masked_pair=pseudo"))
    assert all(score.score is not None for score in scored)


def test_a_head_whose_label_was_turned_is_refused(learner: Callable[[str], Path], tmp_path: Path) -> None:
    """A head with a swapped label is refused when it is loaded."""
    pairs = write_pairs(tmp_path / "p.jsonl", 1600, 200)
    trained_head(learner("llama"), pairs, tmp_path / "out", epochs=2, learning_rate=3e-3)
    note = tmp_path / "out" / "next_sentence.json"
    note.write_text(note.read_text().replace('"next_label": 1', '"next_label": 0'))
    with pytest.raises(ValueError, match="wrong way round"):
        next_sentence.load(tmp_path / "out", device="cpu")


def test_a_saved_head_that_guesses_scores_nothing(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """A head trained with almost no learning rate can be loaded and checked, but refuses to score CATs."""
    trained_head(learner("llama"), pairs, tmp_path / "out", epochs=1, learning_rate=1e-9)
    head = next_sentence.load(tmp_path / "out", device="cpu")
    with pytest.raises(ValueError, match=r"\d+ %.*\d+ held-out.*3 standard errors"):
        head.score_cats(CATS)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "a folder without next_sentence.json"),
        ("{", "text that is not JSON"),
        ('{"head": "round", "next_label": 1, "max_length": 9}', "another content"),
        ('{"head": "linear", "next_label": 2, "max_length": 9}', "another content"),
    ],
)
def test_a_folder_that_is_no_head_is_refused(tmp_path: Path, content: str | None, says: str) -> None:
    """The error says what the folder contains and what is expected."""
    if content is not None:
        (tmp_path / "next_sentence.json").write_text(content)
    with pytest.raises(BadInput, match=says):
        next_sentence.load(tmp_path)


def test_an_unfinished_training_is_no_head(tmp_path: Path) -> None:
    """The error for an unfinished training asks to run the training again."""
    (tmp_path / "training").mkdir()
    with pytest.raises(BadInput, match=r"training.*not ended"):
        next_sentence.load(tmp_path)
    with pytest.raises(BadInput, match="no such folder"):
        next_sentence.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "head", "says"),
    [("bart", None, "is an encoder-decoder"), ("roberta", "own", "has no trained weights for that")],
)
def test_a_model_without_such_a_head_is_refused(tiny: Tiny, name: str, head: Any, says: str) -> None:
    """An encoder-decoder cannot read two sentences at once, and RoBERTa has no head of its own."""
    with pytest.raises(ValueError, match=says):
        next_network.new(models.load(str(tiny(name)), device="cpu"), head, 0)


def test_an_unknown_head_is_named(tiny: Tiny) -> None:
    """The error for an unknown head lists the known heads."""
    with pytest.raises(ValueError, match=r"'round'.*own, linear, mlp"):
        next_network.new(models.load(str(tiny("gpt2")), device="cpu"), "round", 0)  # type: ignore[arg-type]
