import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Candidate, Cat
from catsofa.data.sentence_pairs import SentencePairs
from catsofa.scoring import known_pairs, models, next_network, next_sentence, next_training
from catsofa.scoring.backend import Backend
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.known_pairs import KNOWN
from catsofa.scoring.next_recipe import Order, Recipe, rate
from catsofa.scoring.next_rows import PairReader, _kept
from catsofa.scoring.next_sentence import NextSentence
from catsofa.scoring.next_training import Training, train
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.runs import read_scores
from catsofa.scoring.score_cats import score_cats

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
BEGINNINGS = ("The {} walked into the kitchen.", "My {} is kind.", "Everybody likes the {}.", "A {} gave me tomatoes.")
ENDINGS = ("The {} sang.", "Then the {} waters the roses.", "The {} was asleep.", "So the {} was happy.")
PEOPLE = ("baker", "gardener")


def _write_pairs(path: Path, count: int, held_out: int, seed: int = 0) -> Path:
    """Pairs about one person that follow, and pairs about two that do not: half and half."""
    rng = random.Random(seed)
    lines = []
    for k in range(count):
        one, other = rng.sample(PEOPLE, 2)
        follows = rng.random() < 0.5
        pair = {
            "first": rng.choice(BEGINNINGS).format(one),
            "second": rng.choice(ENDINGS).format(one if follows else other),
            "follows": follows,
            "split": "held-out" if k < held_out else "train",
            "document": f"d{k}",
        }
        lines.append(json.dumps(pair))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of 600 pairs, 100 of them held out."""
    return _write_pairs(tmp_path / "pairs.jsonl", 600, 100)


@pytest.fixture(scope="session")
def learner(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name of an architecture to a tiny model that learns quickly: small random weights, no dropout."""
    root = tmp_path_factory.mktemp("learners")

    def folder(name: str, dropout: float = 0.0) -> Path:
        made = root / f"{name}-{dropout}"
        if not made.is_dir():
            import torch

            shutil.copytree(tiny(name), made)
            module = models.load(str(made), device="cpu").module
            for option in vars(module.config):
                if option.endswith(("dropout_prob", "_pdrop", "dropout")):
                    setattr(module.config, option, dropout)
            module.config.initializer_range = 0.2
            torch.manual_seed(0)
            type(module)(module.config).save_pretrained(made)
        return made

    return folder


def _trained(model: Path, pairs: Path, out: Path, **recipe: Any) -> NextSentence:
    defaults: dict[str, Any] = {"batch": 40, "learning_rate": 1e-3, "epochs": 2, "seed": 1}
    return train(models.load(str(model), device="cpu"), SentencePairs(pairs), out, Recipe(**(defaults | recipe)))


def _weights(folder: Path) -> dict[str, str]:
    """The hash of every file of weights."""
    files = [*folder.glob("body/*.safetensors"), *folder.glob("*.safetensors")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_the_defaults_are_the_papers_recipe() -> None:
    """Nadeem et al. 2020, A.4: learning rate 1e-5, 10 epochs, 80 pairs a batch, 256 tokens, warm-up to step 500."""
    recipe = Recipe()
    assert (recipe.learning_rate, recipe.epochs, recipe.batch, recipe.max_length) == (1e-5, 10, 80, 256)
    assert rate(recipe, 499, 1_000_000) == pytest.approx(1e-5)
    assert rate(recipe, 249, 1_000_000) == pytest.approx(0.5e-5)


def test_the_learning_rate_goes_up_and_then_down_to_nothing() -> None:
    """100 steps with a warm-up of 10: a tenth at the first, all at the tenth, half at the middle of the way down."""
    recipe = Recipe(learning_rate=1.0, warm_up=10)
    rates = [rate(recipe, step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1
    assert rates[55] == 0.5
    assert rates[99] == pytest.approx(1 / 90)
    assert rate(recipe, 0, 5) == 1, "the warm-up is at most a tenth of all steps"


def test_every_epoch_goes_through_all_pairs_in_its_own_order() -> None:
    """103 pairs in batches of 10: eleven batches, the last of three, each pair once."""
    order = Order(np.arange(103), Recipe(batch=10, seed=4))
    assert order.per_epoch == 11
    first, second = (np.concatenate([order.batch(epoch * 11 + k) for k in range(11)]) for epoch in (0, 1))
    assert sorted(first) == sorted(second) == list(range(103))
    assert list(first) != list(second)
    assert list(order.batch(3)) == list(first[30:40]), "an earlier batch is the same when it is asked for again"


@pytest.mark.parametrize("bad", [{"epochs": 0}, {"batch": 0}, {"learning_rate": 0}, {"warm_up": -1}])
def test_a_recipe_that_cannot_be_followed_is_refused(bad: Any) -> None:
    """No epochs, empty batches, no learning."""
    with pytest.raises(ValueError, match=r"at least 1|above 0"):
        Recipe(**bad)


def test_the_longer_sentence_is_cut() -> None:
    """[CLS] five tokens [SEP] two tokens [SEP] into 8: the first loses its last two, the special tokens stay."""
    segments = [None, 0, 0, 0, 0, 0, None, 1, 1, None]
    assert _kept(segments, 8) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert _kept(segments, 10) == list(range(10))
    assert _kept(segments, 4) == [], "no room for a token of each"


def test_a_causal_model_reads_both_sentences_as_one_text(tiny: Tiny) -> None:
    """The start token, the first sentence, a space, the second; a cut takes from the longer one."""
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
    """A sentence of blanks is nothing to read."""
    reader = PairReader(models.load(str(tiny("bert")), device="cpu"), 96)
    assert [row is None for row in reader.rows([("A florin sang.", " "), ("A florin sang.", "It rained.")])] == [
        True,
        False,
    ]


def test_tiny_berts_own_head_scores_as_the_original_code(shared: Path) -> None:
    """StereoSet's released code on tiny-bert: the next-sentence probabilities of its dev candidates to 1e-5."""
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
    """tiny-bert's class 0 means `follows`: with class 1 unrelated sentences stand above meaningful ones.

    The pairs are contexts of StereoSet's dev set with a meaningful and with an unrelated sentence.
    """
    cats = [c for c in formats.read(shared / "data" / "stereoset" / "dev.json") if c.kind == "intersentence"][::20]
    known = [
        (cat.context, cat[label].text, label != "unrelated") for cat in cats for label in ("stereotype", "unrelated")
    ]
    model = models.load(str(shared / "models" / "tiny-bert"), device="cpu")
    network = next_network.new(model, "own", 0)
    turned = next_network.Network(model, network.head, "own", 1, network.backend)
    asked = [(first, second) for first, second, _ in known]
    right, wrong = (NextSentence(n, PairReader(model, 128)).log_probabilities(asked) for n in (network, turned))
    known_pairs.refuse_if_wrong(right, known, "tiny-bert")
    with pytest.raises(ValueError, match="the wrong way round: its next_label names the other class"):
        known_pairs.refuse_if_wrong(wrong, known, "tiny-bert")
    invented = NextSentence(network, PairReader(model, 128)).asked(KNOWN)
    assert known_pairs.separation(invented, [follows for *_, follows in KNOWN]) > 0.5


def test_a_model_whose_config_names_the_wrong_class_is_refused(
    learner: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a CAT is scored by a model's own head, the head is asked pairs whose answer is known."""
    pairs = _write_pairs(tmp_path / "p.jsonl", 1600, 200)
    _trained(learner("bert"), pairs, tmp_path / "out", epochs=4)
    known = next_sentence.load(tmp_path / "out", device="cpu").known
    monkeypatch.setattr(next_sentence, "KNOWN", tuple(known))
    body = tmp_path / "out" / "body"
    assert {
        found.score is None for found in score_cats(Backend(models.load(str(body), device="cpu")), CATS, DEFAULT)
    } == {False}
    config = json.loads((body / "config.json").read_text())
    (body / "config.json").write_text(json.dumps(config | {"next_label": 1}))
    with pytest.raises(
        ValueError, match="so its answers are the wrong way round: its next_label names the other class"
    ):
        score_cats(Backend(models.load(str(body), device="cpu")), CATS, DEFAULT)


def test_a_trained_head_scores_the_sentences_after_a_context(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path
) -> None:
    """`nsp` of evaluate: the head's log-probabilities, whatever the protocol would do, and a signature that says so."""
    head = _trained(learner("llama"), pairs, tmp_path / "head", epochs=1)
    found = evaluate(
        str(learner("llama")), CATS, nsp=tmp_path / "head", out=tmp_path / "run", device="cpu", resamples=9
    )
    kept = {score.item: score.score for score in read_scores(tmp_path / "run")}
    assert kept == pytest.approx({score.item: score.score for score in head.score_cats(CATS)}, abs=1e-4)
    assert " with head@" in found.signature.model
    with pytest.raises(ValueError, match=r"nsp: .* → none"):
        evaluate(str(learner("llama")), CATS, out=tmp_path / "run", device="cpu", resamples=9)
    with pytest.raises(ValueError, match=r"the head was trained on .*llama.*, and .*bert.* is another model"):
        evaluate(str(learner("bert")), CATS, nsp=tmp_path / "head", device="cpu", resamples=9)


def test_accuracy_is_the_share_of_right_answers() -> None:
    """P 0.9 and 0.2 of following pairs, 0.2 of another are right, wrong, right; undecided and unreadable are half."""
    scores = np.log([0.9, 0.2, 0.2, 0.5, np.nan])
    assert known_pairs.accuracy(scores, [True, True, False, False, True]) == pytest.approx(3 / 5)


def test_separation_is_the_share_of_right_orders() -> None:
    """Following 3 and 1, others 2, 1 and unreadable: of four orders 3 > 2, 3 > 1 and half of 1 = 1 are right."""
    assert known_pairs.separation([3, 1, 2, 1, np.nan], [True, True, False, False, False]) == 2.5 / 4


@pytest.mark.parametrize(
    ("separated", "expected"), [(0.68, "right"), (0.67, "chance"), (0.33, "chance"), (0.32, "inverted")]
)
def test_three_standard_errors_decide(separated: float, expected: str) -> None:
    """Fifty and fifty have an error of sqrt(101 / 30,000) = 0.058: 0.326 to 0.674 is chance."""
    assert known_pairs.verdict(separated, 50, 50) == expected


def test_the_known_pairs_are_balanced() -> None:
    """Fifty follow, fifty do not, and no sentence stands among both with the same second."""
    assert sum(follows for *_, follows in KNOWN) == 50
    assert len({(first, second) for first, second, _ in KNOWN}) == 100


@pytest.mark.parametrize(("name", "head", "speed"), [("bert", "own", 1e-3), ("llama", "linear", 2e-3)])
def test_a_head_learns_which_sentence_follows(
    learner: Callable[[str], Path], tmp_path: Path, name: str, head: str, speed: float
) -> None:
    """Sentences follow when they are about the same person: far above chance on held-out pairs, loaded offline."""
    pairs = _write_pairs(tmp_path / "p.jsonl", 1600, 200)
    trained = _trained(learner(name), pairs, tmp_path / "out", epochs=5, learning_rate=speed)
    assert trained.network.name == head
    assert trained.network.next_label == (0 if head == "own" else 1)
    assert trained.about["epochs"][-1]["accuracy"] > 0.8
    loaded = next_sentence.load(tmp_path / "out", device="cpu")
    asked = [("My baker is kind.", "The baker sang."), ("My baker is kind.", "The gardener sang.")]
    same, other = loaded.log_probabilities(asked)
    assert same > log(0.5) > other
    assert trained.log_probabilities(asked) == pytest.approx([same, other], abs=1e-5)
    assert not (tmp_path / "out" / "training").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epochs"), [("gpt2", 8), ("roberta", 10), ("xlnet", 4)])
def test_heads_of_other_architectures_learn_too(
    learner: Callable[[str], Path], tmp_path: Path, name: str, epochs: int
) -> None:
    """A linear head over the mean of the states of GPT-2, RoBERTa and XLNet."""
    pairs = _write_pairs(tmp_path / "p.jsonl", 1600, 200)
    trained = _trained(learner(name), pairs, tmp_path / "out", epochs=epochs, learning_rate=1.5e-3)
    assert trained.about["epochs"][-1]["accuracy"] > 0.7


@pytest.mark.parametrize("head", ["own", "linear"])
def test_a_training_that_was_stopped_comes_to_the_same_weights(
    learner: Callable[..., Path], pairs: Path, tmp_path: Path, head: str
) -> None:
    """Stopped twice between saved states, with dropout: every weight is the same to the last bit."""
    model = learner("bert", 0.1)
    recipe = Recipe(batch=40, learning_rate=1e-3, epochs=2, head=head)  # type: ignore[arg-type] # the parameters are the literals
    undisturbed = train(models.load(str(model), device="cpu"), SentencePairs(pairs), tmp_path / "a", recipe)
    for steps in (5, 9):
        training = Training(models.load(str(model), device="cpu"), SentencePairs(pairs), tmp_path / "b", recipe, 3)
        began = training.steps()
        numbers = [step.number for step in islice(began, steps)]
        began.close()
        assert numbers[0] == {5: 1, 9: 4}[steps], "it goes on after the last state that was saved"
    resumed = train(models.load(str(model), device="cpu"), SentencePairs(pairs), tmp_path / "b", recipe, save_every=3)
    assert _weights(tmp_path / "a") == _weights(tmp_path / "b")
    assert resumed.about == undisturbed.about


def test_a_finished_head_is_loaded_and_not_trained_again(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path
) -> None:
    """The same command a second time takes no step."""
    before = _trained(learner("bert"), pairs, tmp_path / "out", epochs=1)
    stamp = (tmp_path / "out" / "next_sentence.json").stat().st_mtime_ns
    again = _trained(learner("bert"), pairs, tmp_path / "out", epochs=1)
    assert (tmp_path / "out" / "next_sentence.json").stat().st_mtime_ns == stamp
    assert again.log_probabilities([("A florin sang.", "It rained.")]) == pytest.approx(
        before.log_probabilities([("A florin sang.", "It rained.")]), abs=1e-5
    )


@pytest.mark.parametrize("done", [True, False])
def test_another_recipe_is_not_mixed_into_a_training(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path, done: bool
) -> None:
    """A changed learning rate is refused with the difference, in a finished folder and in one half done."""
    if done:
        _trained(learner("bert"), pairs, tmp_path / "out", epochs=1)
    else:
        recipe = Recipe(batch=40, learning_rate=1e-3, epochs=1, seed=1)
        training = Training(
            models.load(str(learner("bert")), device="cpu"), SentencePairs(pairs), tmp_path / "out", recipe, 2
        )
        list(islice(training.steps(), 4))
    with pytest.raises(ValueError, match=r"recipe\.learning_rate: 0\.001 → 0\.002"):
        _trained(learner("bert"), pairs, tmp_path / "out", epochs=1, learning_rate=2e-3)


def test_two_processes_do_not_train_in_one_folder(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """The second is told so, and the first is not disturbed."""
    recipe = Recipe(batch=40, learning_rate=1e-3, epochs=1)
    first, second = (
        Training(models.load(str(learner("bert")), device="cpu"), SentencePairs(pairs), tmp_path / "out", recipe)
        for _ in range(2)
    )
    steps = first.steps()
    next(steps)
    with pytest.raises(BadInput, match="that another run is writing"):
        next(second.steps())
    assert next(steps).number == 2


def test_a_batch_in_parts_is_the_same_batch(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """Without dropout four parts of ten have the gradients of one of forty, to rounding."""
    one, four = (
        _trained(learner("llama"), pairs, tmp_path / str(parts), epochs=1, accumulation=parts, learning_rate=1e-4)
        for parts in (1, 4)
    )
    asked = [(first, second) for first, second, _ in KNOWN[:10]]
    assert four.log_probabilities(asked) == pytest.approx(one.log_probabilities(asked), abs=2e-3)


def test_half_precision_trains(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """bf16 in the forward pass, fp32 weights; fp16 needs a GPU and says so."""
    trained = _trained(learner("llama"), pairs, tmp_path / "out", epochs=1, head="mlp", precision="bf16")
    assert trained.about["settings"]["precision"] == "bf16"
    assert next(iter(trained.network.parameters().values())).dtype.is_floating_point
    assert str(next(iter(trained.network.parameters().values())).dtype) == "torch.float32"
    with pytest.raises(ValueError, match="fp16 is for GPUs"):
        _trained(learner("llama"), pairs, tmp_path / "other", precision="fp16")


def test_a_state_cut_short_is_not_taken_for_a_whole_one(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path
) -> None:
    """A folder that a kill left half written is swept away; a damaged one is refused by name."""
    recipe = Recipe(batch=40, learning_rate=1e-3, epochs=1)

    def training() -> Training:
        return Training(
            models.load(str(learner("bert")), device="cpu"), SentencePairs(pairs), tmp_path / "out", recipe, 2
        )

    began = training().steps()
    list(islice(began, 5))
    began.close()
    work = tmp_path / "out" / "training"
    (work / ".step-00000006.abc.partial" / "new").mkdir(parents=True)
    (work / ".step-00000006.abc.partial" / "new" / "state.json").write_text('{"step": 6')
    again = training().steps()
    assert next(again).number == 5
    again.close()
    assert sorted(path.name for path in work.iterdir()) == ["log.jsonl", "step-00000004"]
    weights = work / "step-00000004" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(BadInput, match="step-00000004: found a damaged state"):
        next(training().steps())


def test_a_head_whose_label_was_turned_is_refused(learner: Callable[[str], Path], tmp_path: Path) -> None:
    """The known pairs are asked before anything is scored."""
    pairs = _write_pairs(tmp_path / "p.jsonl", 1600, 200)
    _trained(learner("llama"), pairs, tmp_path / "out", epochs=2, learning_rate=3e-3)
    note = tmp_path / "out" / "next_sentence.json"
    note.write_text(note.read_text().replace('"next_label": 1', '"next_label": 0'))
    with pytest.raises(ValueError, match="the wrong way round"):
        next_sentence.load(tmp_path / "out", device="cpu")


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
    """One sentence with what stands there and what should."""
    if content is not None:
        (tmp_path / "next_sentence.json").write_text(content)
    with pytest.raises(BadInput, match=says):
        next_sentence.load(tmp_path)


def test_an_unfinished_training_is_no_head(tmp_path: Path) -> None:
    """It says to run the training again."""
    (tmp_path / "training").mkdir()
    with pytest.raises(BadInput, match="a training that has not ended; run it again to go on"):
        next_sentence.load(tmp_path)
    with pytest.raises(BadInput, match="no such folder"):
        next_sentence.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "head", "says"),
    [("bart", None, "is an encoder-decoder"), ("roberta", "own", "has no trained weights for that")],
)
def test_a_model_without_such_a_head_is_refused(tiny: Tiny, name: str, head: Any, says: str) -> None:
    """An encoder-decoder reads no two sentences at once, and RoBERTa has no head of its own."""
    with pytest.raises(ValueError, match=says):
        next_network.new(models.load(str(tiny(name)), device="cpu"), head, 0)


def test_an_unknown_head_is_named(tiny: Tiny) -> None:
    """With the heads there are."""
    with pytest.raises(ValueError, match="no head 'round'; the heads are own, linear, mlp"):
        next_network.new(models.load(str(tiny("gpt2")), device="cpu"), "round", 0)  # type: ignore[arg-type] # the mistake is the point


def _run(folder: Path, model: Path, pairs: Path, out: str) -> "subprocess.Popen[bytes]":
    command = [str(Path(sys.executable).with_name("catsofa")), "nsp", "train", str(model), "--pairs", str(pairs)]
    options = ["--out", out, "--epochs", "3", "--batch", "20", "--lr", "1e-3", "--save-every", "4", "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, *options], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.slow
def test_killed_at_any_instant_it_ends_as_if_undisturbed(
    learner: Callable[..., Path], pairs: Path, tmp_path: Path
) -> None:
    """SIGKILL at random instants of the real command, then once to the end: the same bytes."""
    model = learner("bert", 0.1)
    assert _run(tmp_path, model, pairs, "undisturbed").wait(300) == 0
    rng = random.Random(5)
    kills = 0
    for _ in range(6):
        process = _run(tmp_path, model, pairs, "killed")
        log_file = tmp_path / "killed" / "training" / "log.jsonl"
        before = log_file.stat().st_size if log_file.exists() else 0
        while process.poll() is None and not (log_file.exists() and log_file.stat().st_size > before):
            time.sleep(0.02)
        time.sleep(rng.random() * 0.6)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills >= 2
    process = _run(tmp_path, model, pairs, "killed")
    assert process.wait(300) == 0, process.stderr.read() if process.stderr else ""
    assert _weights(tmp_path / "undisturbed") == _weights(tmp_path / "killed")
    notes = [json.loads((tmp_path / out / "next_sentence.json").read_text()) for out in ("undisturbed", "killed")]
    assert notes[0] == notes[1]


def test_the_command_line_trains_checks_and_scores(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """From another folder, by relative names; the log-probabilities leave as a prediction file."""
    from typer.testing import CliRunner

    from catsofa.cli import app

    out = tmp_path / "head"
    runner = CliRunner()
    options = ["--out", str(out), "--epochs", "1", "--batch", "40", "--lr", "1e-3", "--device", "cpu"]
    told = runner.invoke(app, ["nsp", "train", str(learner("llama")), "--pairs", str(pairs), *options])
    assert told.exit_code == 0, told.output
    assert "of 100 held-out pairs" in told.output
    assert "class 1 means that the second sentence follows" in told.output
    checked = runner.invoke(app, ["nsp", "check", str(out), "--pairs", str(pairs), "--json"])
    assert set(json.loads(checked.stdout)) == {
        "accuracy",
        "low",
        "high",
        "pairs",
        "next_label",
        "separation",
        "verdict",
    }
    cat = {
        "kind": "intersentence",
        "bias_type": "profession",
        "target": "baker",
        "context": "My baker is kind.",
        "candidates": [
            {"text": "The baker sang.", "label": "stereotype"},
            {"text": "The baker was asleep.", "label": "anti-stereotype"},
            {"text": "The gardener sang.", "label": "unrelated"},
        ],
    }
    (tmp_path / "cats.jsonl").write_text(json.dumps(cat) + "\n")
    scored = runner.invoke(
        app, ["nsp", "score", str(out), "--on", str(tmp_path / "cats.jsonl"), "--out", str(tmp_path / "p.json")]
    )
    assert scored.exit_code == 0, scored.output
    assert len(json.loads((tmp_path / "p.json").read_text())["intersentence"]) == 3


def test_next_training_is_exported_lazily() -> None:
    """Importing the training must not import torch: `catsofa --help` stays quick."""
    code = "import sys, catsofa.scoring.next_training; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert next_training.WORK == "training"
