"""Tests of the bundled model, which tells if two sentences mean the same."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import a_cat
from typer.testing import CliRunner

from benchmarks.bundled_model import MEASURED_ON, TRAINED_ON, Network, measure
from benchmarks.labelled_pairs import KEEPS, labelled_pairs
from catsofa.builders.similarity import Cut, Models, Pair, Placed, Refused, Similarity, bundled, place, similarities
from catsofa.builders.similarity.bundled import ADAPTER, DIGEST, THRESHOLDS, BundledModel, logits
from catsofa.builders.similarity.encoders import OPPOSITE, SAME, WEIGHTS, minilm, sentence_encoder
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.files.checksums import sha256_of

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def model() -> BundledModel:
    """Returns the model, loaded once."""
    return BundledModel()


def test_the_adapter_is_the_documented_file() -> None:
    """The documentation names the SHA-256 of the adapter, and the file names that of the weights it was trained on."""
    from safetensors import safe_open

    assert sha256_of(ADAPTER) == DIGEST
    assert DIGEST in (DOCS / "measures" / "meaning.md").read_text("utf-8")
    assert ADAPTER.stat().st_size < 2_000_000
    with safe_open(ADAPTER, "pt") as file:
        assert file.metadata() == {"base": WEIGHTS}


def test_no_pair_that_measures_the_model_trained_it() -> None:
    """Training and measuring share no sentence."""
    trained = {pair.sentence for name in TRAINED_ON for pair in labelled_pairs(name)}
    assert len(trained) > 4_000
    for file, part in MEASURED_ON.values():
        assert not trained & {pair.sentence for pair in labelled_pairs(file, part)}


def test_a_sentence_is_nearer_to_itself_than_to_its_negation(model: BundledModel) -> None:
    """Short sentences, unlike those of the training, have low numbers, but negation lowers them."""
    readings = model.read([*SAME, *OPPOSITE])
    same, opposite = readings[: len(SAME)], readings[len(SAME) :]
    assert min(one.entailment for one in same) > max(one.entailment for one in opposite)


def test_a_pair_has_the_same_number_alone_and_among_longer_pairs(model: BundledModel) -> None:
    """Padding and order change no number beyond 1e-4; no pairs give no readings."""
    pairs = [*SAME, *OPPOSITE, ("A zorb is late. " * 9, "A florin is late. " * 12)]
    together = [reading.entailment for reading in model.read(pairs)]
    assert together == pytest.approx([model.read([pair])[0].entailment for pair in pairs], abs=1e-4)
    assert model.read([]) == []


def test_a_pair_that_is_too_long_is_unscored_and_refused(model: BundledModel) -> None:
    """A pair above 512 tokens has no number, so the filter refuses it instead of judging a part of it."""
    (reading,) = model.read([("zorb " * 300, "zorb " * 300)])
    assert reading.entailment != reading.entailment
    long = a_cat("A zorb is BLANK. " + "It rains here. " * 150, "late", "early", "round", sentences=False)
    pair = Pair(1, replace(long, context="Zorbs are BLANK. " + "It rains here. " * 150), long)
    models = Models(encoder=sentence_encoder(), inference=model)
    (placed,) = place(zip([pair], similarities([pair], models), strict=True), Cut(), models.signature)
    assert isinstance(placed, Refused)
    assert placed.reason == "unscored"


def test_the_merged_adapter_computes_what_was_trained(model: BundledModel) -> None:
    """The network of the training gives the same logits as the merged weights."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    network = Network()
    network.load_state_dict({name: one.float() for name, one in load_file(ADAPTER).items()}, strict=False)
    tokenizer = AutoTokenizer.from_pretrained(minilm())
    pairs = [*SAME, *OPPOSITE]
    tokens = tokenizer([a for a, _ in pairs], [b for _, b in pairs], padding=True, return_tensors="pt")
    encoder, head, _ = model._loaded
    with torch.inference_mode():
        assert torch.allclose(network.eval()(tokens), logits(encoder, head, tokens), atol=1e-3)


def test_other_weights_on_the_hub_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The adapter fits the published weights of all-MiniLM-L6-v2 alone."""
    (tmp_path / "model.safetensors").write_bytes(b"other")
    monkeypatch.setattr(bundled, "minilm", lambda: bundled.MINILM)
    monkeypatch.setattr("transformers.utils.cached_file", lambda *_: str(tmp_path / "model.safetensors"))
    with pytest.raises(ValueError, match=f"SHA-256 .*{WEIGHTS}"):
        BundledModel().read(SAME)


@pytest.mark.parametrize("content", [None, b"", b"no weights"])
def test_an_altered_or_missing_adapter_is_one_sentence(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other weights would give other numbers under the same name."""
    if content is not None:
        (tmp_path / ADAPTER.name).write_bytes(content)
    monkeypatch.setattr(bundled, "ADAPTER", tmp_path / ADAPTER.name)
    with pytest.raises(BadInput, match=ADAPTER.name):
        BundledModel().read(SAME)


@pytest.mark.parametrize(
    ("entailment", "cosine", "queue"),
    [(0.01, 0.9, "review"), (0.2, 0.9, "partition"), (0.2, 0.7, "review"), (0.6, 0.7, "partition")],
)
def test_between_both_thresholds_the_cosine_decides(entailment: float, cosine: float, queue: str) -> None:
    """Below `unsure` a pair goes to people, from 0.5 on it does not; between them a low cosine sends it there."""
    reads = Similarity(mean=cosine, least=cosine, chrf=40, entailment=entailment, contradiction=0.0)
    (placed,) = place([(Pair(1, a_cat(), a_cat()), reads)], Cut(**THRESHOLDS), "bundled")
    assert isinstance(placed, Placed)
    assert placed.queue == queue


@pytest.mark.parametrize(
    ("kinds", "entailment", "queue"),
    [
        (["added"], 0.6, "partition"),
        (["hedge"], 0.94, "review"),
        (["hedge", "quantifier", "turned", "time"], 0.95, "partition"),
        (["hedge", "negation"], 0.99, "review"),
        (["target"], 0.99, "review"),
        (["disclaimer"], 0.99, "review"),
        (["question"], 0.99, "review"),
    ],
)
def test_only_a_certain_model_clears_alarms_about_the_meaning(kinds: list[str], entailment: float, queue: str) -> None:
    """From `certain` on, a hedge goes to no one; a negation, another target and a disclaimer always go to people."""
    warned = replace(a_cat(), extra={"alarms": [{"kind": kind, "words": ["x"]} for kind in kinds]})
    reads = Similarity(mean=0.9, least=0.9, chrf=40, entailment=entailment, contradiction=0.0)
    (placed,) = place([(Pair(1, warned, a_cat()), reads)], Cut(**THRESHOLDS), "bundled")
    assert isinstance(placed, Placed)
    assert placed.queue == queue
    assert bool(placed.cat.extra.get("doubts")) is (queue == "review")
    (named,) = place([(Pair(1, warned, a_cat()), reads)], Cut(), "another model")
    assert isinstance(named, Placed)
    assert named.queue == ("partition" if kinds == ["added"] else "review")


@pytest.mark.parametrize(("language", "options"), [("fr", ()), ("fr", ("--model", "any"))])
def test_other_languages_are_refused(language: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """The model reads English."""
    jsonl.write([replace(a_cat(), language=language)], tmp_path / "z.jsonl")
    command = ["filter", "similarity", str(tmp_path), "--original", str(tmp_path / "z.jsonl"), "--out", "o"]
    done = CliRunner().invoke(app, [*command, "--inference", "bundled", *options])
    assert "fr" in str(done.exception)
    assert ("bundled" if options else "MiniLM") in str(done.exception)


@pytest.mark.slow
def test_the_figures_of_the_documentation_are_those_of_the_held_out_pairs(model: BundledModel) -> None:
    """Of the held-out half of four authors' pairs, the rules and the model accept at most what the page says."""
    file, part = MEASURED_ON["held out"]
    outcomes = measure(list(labelled_pairs(file, part)), model)
    changed = sum((counts for kind, counts in outcomes.items() if kind not in KEEPS), Counter[str]())
    kept = sum((counts for kind, counts in outcomes.items() if kind in KEEPS), Counter[str]())
    assert (changed["accepted"], kept["review"]) == (60, 192)
    assert changed["accepted with the model"] <= 17
    assert kept["review with the model"] <= 147
