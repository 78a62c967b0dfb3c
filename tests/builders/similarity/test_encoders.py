"""Tests models that compare sentences: sentence encoders and cross-encoders."""

import json
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import bert, inference

from catsofa.builders.similarity.encoders import (
    CARRIER,
    WEIGHTS,
    CrossEncoder,
    InferenceModel,
    SentenceEncoder,
    minilm,
    sentence_encoder,
)
from catsofa.data.files import BadInput, json_files
from catsofa.data.files.checksums import sha256_of
from catsofa.scoring.likelihood.cpu_kernels import speed_up


def test_any_sentence_transformers_folder_is_an_encoder(static_model: Path) -> None:
    """Rows have length one, the same words have the same vector, and the signature changes with the files."""
    encoder = sentence_encoder(str(static_model))
    vectors = encoder.encode(["The gardener is patient", "patient is the gardener", "a kind nurse", ""])
    assert np.linalg.norm(vectors[:3], axis=1) == pytest.approx(1, abs=1e-6)
    assert vectors[0] @ vectors[1] == pytest.approx(1, abs=1e-6)
    assert vectors[0] @ vectors[2] < 0.5
    assert encoder.signature.startswith("static@")
    before = encoder.signature
    (static_model / "note.txt").write_text("changed")
    assert SentenceEncoder(str(static_model)).signature != before
    (static_model / "note.txt").unlink()


def test_a_model_that_cannot_be_had_is_said(tmp_path: Path) -> None:
    """A missing folder and one without a model are errors."""
    with pytest.raises(BadInput, match="no such folder"):
        SentenceEncoder(str(tmp_path / "nowhere")).encode(["a"])
    with pytest.raises(ValueError, match="cannot be loaded"):
        SentenceEncoder(str(tmp_path)).encode(["a"])


def test_the_installed_package_carries_the_published_weights() -> None:
    """The default encoder is the package's model, and its weights have the published SHA-256."""
    assert sha256_of(Path(minilm(), "model.safetensors")) == WEIGHTS


@pytest.mark.parametrize("weights", [b"other weights", None])
def test_a_package_with_other_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: bytes | None
) -> None:
    """Other or missing weights in the package are refused with the file and the published SHA-256."""
    model = tmp_path / CARRIER / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    if weights:
        (model / "model.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, CARRIER, raising=False)
    with pytest.raises(ValueError, match=WEIGHTS) as refused:
        sentence_encoder()
    assert str(model / "model.safetensors") in str(refused.value)


@pytest.mark.parametrize(("dtype", "least"), [("float32", 0.999999), ("bfloat16", 0.999)])
def test_sentences_are_encoded_as_sentence_transformers_encodes_them(dtype: Any, least: float) -> None:
    """Each vector equals the library's, sped up or not. A text that the library would truncate has no vector."""
    from sentence_transformers import SentenceTransformer

    texts = [" ".join(["A gardener who is patient"] * n) + " sings" * k for n in (1, 3, 40, 90, 2) for k in (0, 1)]
    plain = SentenceTransformer(minilm(), device="cpu").encode(texts, normalize_embeddings=True)
    for faster in (None, speed_up):
        rows = sentence_encoder(dtype=dtype, speed_up=faster).encode(texts)
        whole = np.isfinite(rows).all(axis=1)
        assert whole.tolist() == [True] * 6 + [False] * 2 + [True] * 2
        assert (rows * plain).sum(axis=1)[whole].min() > least
        assert np.linalg.norm(rows[whole], axis=1) == pytest.approx(1, abs=1e-6)
    assert sentence_encoder(dtype=dtype).encode([]).shape[0] == 0
    assert sentence_encoder().signature != sentence_encoder(dtype="bfloat16").signature


def test_semhash_static_finds_what_was_found_before(shared: Path) -> None:
    """For contexts with their BLANK, the mean is 0.724 (p5 0.476) for partition 1 and 0.673 (0.430) for partition 2."""
    encoder = sentence_encoder(str(shared / "models/semhash-static-st"))
    for number, mean, p5 in ((1, 0.724, 0.476), (2, 0.673, 0.430)):
        document = json_files.read(shared / f"data/paraphrase/partition_{number}_corrected.json", "StereoSet JSON")
        items = document["data"]["intrasentence"]
        one, other = (encoder.encode([item[name] for item in items]) for name in ("context", "source_context"))
        cosine = np.einsum("ij,ij->i", one, other)
        assert (cosine.mean(), np.percentile(cosine, 5)) == pytest.approx((mean, p5), abs=0.001)


def test_a_cross_encoder_reads_two_sentences_at_once(tmp_path: Path) -> None:
    """A cross-encoder with one output gives a similarity from 0 to 1."""
    alike = CrossEncoder(str(bert(tmp_path / "sts"))).score([("he is kind .", "he is not kind .")])
    assert all(0 <= value <= 1 for value in alike)


ORDERS = [*permutations(("contradiction", "Entailment", "neutral"))]


@pytest.mark.parametrize(("kind", "order"), [*(("bert", order) for order in ORDERS), ("deberta", ORDERS[3])])
def test_a_model_of_inference_is_read_by_its_labels(tmp_path: Path, kind: str, order: tuple[str, ...]) -> None:
    """The labels may have any order and case."""
    model = inference(tmp_path / "model", kind, **{name: number for number, name in enumerate(order)})
    one, other = InferenceModel(str(model)).read(
        [("he is kind .", "he is kind ."), ("he is kind .", "he is not kind .")]
    )
    assert min(one.entailment, other.contradiction) > 0.8
    assert max(one.contradiction, other.entailment) < 0.2


def test_a_model_that_tells_entailment_only_finds_no_contradiction(tmp_path: Path) -> None:
    """A model with two labels gives no contradiction."""
    model = inference(tmp_path / "two", entailment=0, not_entailment=1)
    (reading,) = InferenceModel(str(model)).read([("he is kind .", "he is not kind .")])
    assert reading.entailment < 0.2
    assert reading.contradiction is None


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ("yes no maybe", "a label 'entailment' is needed"),
        ("entailment neutral other", "a label 'contradiction' is needed"),
        ("entailment neutral contradiction", "id2label in its config.json has the order of its training"),
    ],
)
def test_labels_that_the_weights_contradict_are_refused(tmp_path: Path, labels: str, complaint: str) -> None:
    """A swapped label map is refused, because it would read every contradiction as an entailment."""
    model = inference(tmp_path / "model", mapped=labels, contradiction=0, neutral=1, entailment=2)
    with pytest.raises(ValueError, match=complaint):
        InferenceModel(str(model)).read([("he is kind .", "he is kind .")])


def test_two_label_maps_that_differ_are_refused(tmp_path: Path) -> None:
    """Two contradictory label maps are refused, because the order of the weights is unknown."""
    folder = inference(tmp_path / "model", contradiction=0, entailment=1, neutral=2)
    config = json_files.read(folder / "config.json", "JSON")
    config["label2id"] = {"contradiction": 1, "entailment": 0, "neutral": 2}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"one order.*id2label"):
        InferenceModel(str(folder)).read([("he is kind .", "he is kind .")])


@pytest.mark.parametrize("name", ["nobody/no-model", "nobody/no-model@0123abc"])
def test_a_name_that_no_hub_has_says_what_to_give(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Offline or with a misspelt name, with or without a revision, the error says what to give."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"sentence-transformers folder.*hub"):
        InferenceModel(name).read([("he is kind .", "he is kind .")])


def test_a_cross_encoder_that_nobody_has_trained_is_refused(tmp_path: Path) -> None:
    """A language model without a trained head is refused, because its random head gives similarities by chance."""
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    folder = bert(tmp_path / "bert")
    words = len(AutoTokenizer.from_pretrained(folder))
    small = BertConfig(vocab_size=words, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    BertForMaskedLM(small).save_pretrained(folder)
    with pytest.raises(BadInput, match=r"BertForMaskedLM.*trained head"):
        CrossEncoder(str(folder)).score([("he is kind.", "he is kind.")])
