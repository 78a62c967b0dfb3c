import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.records import cats

from catsofa.data.files import jsonl
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.models import load
from catsofa.scoring.run.score_files import report_on

Tiny = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "kind", "answers"),
    [
        ("gpt2", "causal", {"left-to-right", "vectors"}),
        ("llama", "causal", {"left-to-right", "vectors"}),
        ("mamba", "causal", {"left-to-right", "vectors"}),
        ("t5", "sequence-to-sequence", {"infilling", "vectors"}),
        ("bert", "masked", {"masked", "next-sentence", "vectors"}),
        ("bert-without-next-sentence", "masked", {"masked", "vectors"}),
        ("bert-encoder", "masked", {"vectors"}),
        ("roberta", "masked", {"masked", "vectors"}),
        ("bart", "sequence-to-sequence", {"infilling", "vectors"}),
        ("xlnet", "permutation", {"left-to-right", "masked", "vectors"}),
    ],
)
def test_a_model_can_be_asked_what_its_trained_weights_hold(
    tiny: Tiny, name: str, kind: str, answers: set[str]
) -> None:
    """A head that the checkpoint lacks would be random, so the model does not offer its answers."""
    model = load(str(tiny(name)))
    assert (model.kind, model.answers) == (kind, answers)
    assert not any(part.training for part in model.module.modules())


def test_the_small_real_models_are_what_they_are(shared: Path) -> None:
    """stories260K is a causal Llama. tiny-bert has a masked and a next-sentence head, and dropout in its config."""
    stories, bert = (load(str(shared / "models" / name)) for name in ("stories260K", "tiny-bert"))
    assert stories.answers == {"left-to-right", "vectors"}
    assert bert.answers == {"masked", "next-sentence", "vectors"}
    assert not bert.module.training


def test_a_question_without_a_trained_head_is_refused(tiny: Tiny) -> None:
    """The error names the purpose, the model, and the answers that the model can give."""
    model = load(str(tiny("bert-without-next-sentence")))
    with pytest.raises(ValueError, match=r"StereoSet.*sentence follows another"):
        model.need("next-sentence", "StereoSet")


def test_the_digest_changes_with_the_weights_and_not_with_notes(tiny: Tiny, tmp_path: Path) -> None:
    """Two folders are the same model if the files that determine a score have the same bytes."""
    copy = tmp_path / "copy"
    shutil.copytree(tiny("gpt2"), copy)
    (copy / "notes.md").write_text("trained on a Tuesday")
    first = load(str(tiny("gpt2")))
    assert load(str(copy)).digest == first.digest
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    assert load(str(copy)).digest != first.digest


def damaged(tiny: Tiny, tmp_path: Path, how: Callable[[Path], None]) -> Path:
    """Returns a copy of the tiny GPT-2 with one defect."""
    folder = tmp_path / "broken"
    shutil.copytree(tiny("gpt2"), folder)
    how(folder)
    return folder


def _cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


def _other_shape(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"n_embd": 64}))


def _fewer_layers(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"n_layer": 3}))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (lambda folder: (folder / "config.json").unlink(), "holds no config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json of .* cannot be loaded"),
        (lambda folder: (folder / "model.safetensors").unlink(), "the weights of .* cannot be loaded"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer"),
        (_cut, "damaged or cut short"),
        (_other_shape, "shapes"),
        (_fewer_layers, "incomplete: 12 weights are missing, transformer.h.2"),
    ],
)
def test_a_broken_folder_is_one_sentence(tiny: Tiny, tmp_path: Path, how: Callable[[Path], None], says: str) -> None:
    """The error names the missing or damaged file, on one line and without a traceback."""
    with pytest.raises(ValueError, match=says) as error:
        load(str(damaged(tiny, tmp_path, how)))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_pickled_weights_are_not_read_unless_asked(tiny: Tiny, tmp_path: Path) -> None:
    """Pickled weights are refused without `allow_pickle`, because reading a pickle can run any code."""
    import torch
    from safetensors.torch import load_file

    def pickle(folder: Path) -> None:
        torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()

    folder = damaged(tiny, tmp_path, pickle)
    with pytest.raises(ValueError, match="weights of"):
        load(str(folder))
    assert load(str(folder), allow_pickle=True).kind == "causal"


@pytest.mark.parametrize("name", ["./no/such/folder", "/no/such/folder", "a/b/c", "what is this"])
def test_what_is_neither_a_folder_nor_a_hub_id_is_said_at_once(name: str) -> None:
    """A mistyped path is refused without waiting for the network."""
    began = time.perf_counter()
    with pytest.raises(ValueError, match="no folder"):
        load(name)
    assert time.perf_counter() - began < 5


def test_without_the_hub_a_name_that_is_not_cached_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error says that no such folder exists, that the hub is offline, and that the cache does not contain the
    model."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match=rf"nobody/nothing@main.*{re.escape(str(tmp_path))}.*HF_HUB_OFFLINE"):
        load("nobody/nothing@main")


def test_an_unknown_dtype_or_device_is_refused(tiny: Tiny) -> None:
    """An unknown dtype or device is refused with an error that names it."""
    with pytest.raises(ValueError, match="no dtype 'float31'"):
        load(str(tiny("gpt2")), dtype="float31")
    with pytest.raises(ValueError, match="device 'gpu'"):
        load(str(tiny("gpt2")), device="gpu")


def test_half_precision_is_in_the_identity(tiny: Tiny) -> None:
    """The identity contains the dtype, because numbers in bfloat16 differ."""
    assert load(str(tiny("gpt2")), dtype="bf16").identity()["dtype"] == "bfloat16"


def test_an_adapter_beside_a_model_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    """An adapter is refused, because the installed packages would decide whether it is read. The error advises merging
    it."""
    model = shutil.copytree(tiny("gpt2"), tmp_path / "model")
    (model / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with pytest.raises(ValueError, match=r"adapter_config\.json.*merge_and_unload"):
        load(str(model))


def test_layers_that_the_network_does_not_use_are_named_beside_the_numbers(tiny: Tiny, tmp_path: Path) -> None:
    """A config with one layer less leaves tensors unused; the reports of the call and of the run name them.

    Tensors that GPT-2's own class lists as ignorable are not named.
    """
    model = shutil.copytree(tiny("gpt2"), tmp_path / "model")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"n_layer": config["n_layer"] - 1}))
    data = tmp_path / "cats.jsonl"
    jsonl.write(cats(), data)
    report = evaluate(str(model), data, out=tmp_path / "run", resamples=0)
    again = report_on(tmp_path / "run", data)
    assert ["11 (transformer.h.1." in each.warnings[0] for each in (report, again)] == [True, True]
    assert not load(str(tiny("gpt2"))).unused


@pytest.mark.parametrize(
    ("name", "weight", "warns"),
    [
        ("gpt2", "transformer.h.0.attn.lora_A.weight", True),
        ("gpt2", "h.7.mlp.c_fc.weight", True),
        ("gpt2", "transformer.h.0.attn.masked_bias", False),
        ("gpt2", "score.weight", False),
        ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq", False),
        ("llama", "model.vision_tower.layers.0.mlp.weight", False),
        ("roberta", "roberta.pooler.dense.weight", False),
        ("bert-encoder", "bert.embeddings.position_ids", False),
        ("t5", "encoder.block.9.layer.0.SelfAttention.q.weight", True),
    ],
)
def test_only_weights_of_the_networks_own_layers_count_as_unused(
    tiny: Tiny, tmp_path: Path, name: str, weight: str, warns: bool
) -> None:
    """Heads, poolers, other networks, and tables of positions or masks do not count as unused, because they affect no
    score."""
    import torch
    from safetensors.torch import load_file, save_file

    model = shutil.copytree(tiny(name), tmp_path / "model")
    weights = load_file(model / "model.safetensors")
    save_file(weights | {weight: torch.ones(3)}, model / "model.safetensors", metadata={"format": "pt"})
    assert bool(load(str(model)).unused) is warns
