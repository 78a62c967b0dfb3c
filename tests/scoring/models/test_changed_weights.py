"""Tests that a model whose weights changed in memory is identified by their digest, not by the hash of its files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.records import PAIRS, TEST, cats
from tokenizers.normalizers import Lowercase

from catsofa import evaluate
from catsofa.scoring.models import load
from catsofa.scoring.models.weights_digest import weights_digest

Tiny = Callable[[str], Path]


def swapped(module: Any) -> None:
    """Swaps two rows, which keeps their sum."""
    module.get_input_embeddings().weight.data[[1, 2]] = module.get_input_embeddings().weight.data[[2, 1]]


def rounded(module: Any) -> None:
    """Rounds every weight to bfloat16."""
    import torch

    module.to(torch.bfloat16).to(torch.float32)


def replaced(module: Any) -> None:
    """Replaces the embeddings with another table."""
    import torch

    module.set_input_embeddings(torch.nn.Embedding(*module.get_input_embeddings().weight.shape))


CHANGES: list[Callable[[Any], Any]] = [
    lambda module: [weight.data.mul_(-1) for weight in module.parameters() if weight.ndim > 1],
    rounded,
    lambda module: module.get_input_embeddings().weight.data[0, 0].add_(1e-3),
    swapped,
    replaced,
]


@pytest.mark.parametrize("change", CHANGES)
def test_changed_weights_are_another_model(tiny: Tiny, tmp_path: Path, change: Callable[[Any], Any]) -> None:
    """The run of the unchanged model is not resumed, and the signature does not name the hash of the files."""
    model = load(str(tiny("gpt2")))
    before = evaluate(model, PAIRS, out=tmp_path / "run", resamples=10)
    assert evaluate(model, PAIRS, out=tmp_path / "run", resamples=10).signature == before.signature
    change(model.module)
    with pytest.raises(ValueError, match=r"digest: sha256:\w+ → memory:\w+"):
        evaluate(model, PAIRS, out=tmp_path / "run", resamples=10)
    after = evaluate(model, PAIRS, out=tmp_path / "changed", resamples=10).signature.model
    assert after.endswith(" changed in memory")
    assert before.signature.model not in after


@pytest.mark.parametrize("name", ["gpt2", "bert", "mamba", "rwkv"])
def test_scoring_changes_no_digest(tiny: Tiny, name: str) -> None:
    """The engine's changes to a network, and the network's own changes, do not change the digest."""
    model = load(str(tiny(name)))
    labels = {evaluate(model, records, resamples=10).signature.model for records in (cats(), PAIRS, cats()[:2])}
    assert len(labels) == 1
    assert "memory" not in labels.pop()


def test_a_network_that_rewrites_its_weights_scores_alike_each_time(tiny: Tiny, tmp_path: Path) -> None:
    """RWKV divides weights at its first forward. Later calls and a fresh copy of the model give the same numbers."""
    model = load(str(tiny("rwkv")))
    before = weights_digest(model.module)
    reports = [evaluate(model, PAIRS, resamples=10).to_dict() for _ in range(2)]
    assert weights_digest(model.module) != before
    assert reports[0] == reports[1] == evaluate(str(tiny("rwkv")), PAIRS, resamples=10).to_dict()
    model.module.rwkv.blocks[1].attention.output.weight.data.mul_(2)
    assert "changed in memory" in evaluate(model, PAIRS, resamples=10).signature.model


def test_vectors_of_changed_weights_are_another_model(tiny: Tiny) -> None:
    """SEAT identifies changed weights in the same way as the other measures."""
    model = load(str(tiny("gpt2")))
    model.module.get_input_embeddings().weight.data.add_(0.5)
    assert "changed in memory" in evaluate(model, [TEST], resamples=10).signature.model


def test_the_digest_of_weights_is_the_same_in_every_process(tiny: Tiny) -> None:
    """The digest is the same in every process, so that a model changed again in the same way can be resumed."""
    one, other = (load(str(tiny("gpt2"))) for _ in range(2))
    assert weights_digest(one.module) == weights_digest(other.module)
    for model in (one, other):
        swapped(model.module)
    assert one.as_it_is().digest == other.as_it_is().digest != one.digest


def _lower(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.normalizer = Lowercase()


@pytest.mark.parametrize("change", [_lower, lambda tokenizer: tokenizer.add_tokens(["Zorb"])])
def test_a_changed_tokenizer_is_another_model(tiny: Tiny, change: Callable[[Any], Any]) -> None:
    """The weights are the same, and they read other tokens."""
    model = load(str(tiny("gpt2")))
    assert not evaluate(model, PAIRS, resamples=10).signature.model.endswith(" changed in memory")
    change(model.tokenizer)
    assert evaluate(model, PAIRS, resamples=10).signature.model.endswith(" changed in memory")


def test_a_changed_configuration_is_another_model(tiny: Tiny) -> None:
    """A changed configuration gives another model, because a network may read its configuration at each forward."""
    model = load(str(tiny("gpt2")))
    before = evaluate(model, PAIRS, resamples=10).signature.model
    model.module.config.layer_norm_epsilon = 0.1
    after = evaluate(model, PAIRS, resamples=10).signature.model
    assert after.endswith(" changed in memory")
    model.module.config.layer_norm_epsilon = 0.2
    assert evaluate(model, PAIRS, resamples=10).signature.model not in (before, after)


def turned(module: Any) -> None:
    """Slows the rotation of positions, in a buffer that no checkpoint contains."""
    module.model.rotary_emb.inv_freq.mul_(0.5)


def rebuilt(module: Any) -> None:
    """Replaces the activation of a layer."""
    import torch

    module.model.layers[0].mlp.act_fn = torch.nn.ReLU()


@pytest.mark.parametrize("change", [turned, rebuilt])
def test_a_changed_buffer_or_part_is_another_model(tiny: Tiny, change: Callable[[Any], Any]) -> None:
    """A changed buffer or activation gives another model, since both change numbers. Scoring alone changes no
    digest."""
    model = load(str(tiny("llama")))
    before = evaluate(model, PAIRS, resamples=10)
    assert evaluate(model, PAIRS, resamples=10).signature == before.signature
    change(model.module)
    assert evaluate(model, PAIRS, resamples=10).signature.model.endswith(" changed in memory")


def test_forward_hooks_of_others_are_refused_until_they_are_removed(tiny: Tiny) -> None:
    """Foreign forward hooks are refused, for vectors too, because they change numbers in an unknown way."""
    model = load(str(tiny("gpt2")))
    before = evaluate(model, PAIRS, resamples=10)
    hook = model.module.transformer.h[0].register_forward_hook(lambda part, inputs, output: output)
    for records in (PAIRS, [TEST]):
        with pytest.raises(ValueError, match=r"forward hooks .*transformer\.h\.0 first"):
            evaluate(model, records, resamples=10)
    hook.remove()
    assert evaluate(model, PAIRS, resamples=10).signature == before.signature


@pytest.mark.parametrize(("name", "protocol", "on"), [("bert", "aula", PAIRS), ("gpt2", "catsofa", [TEST])])
def test_a_model_that_gave_attentions_or_states_can_be_scored_again(
    tiny: Tiny, name: str, protocol: str, on: Any
) -> None:
    """Hooks that transformers leaves to collect attentions or states change no number, and the model keeps its
    digest."""
    model = load(str(tiny(name)))
    before = evaluate(model, PAIRS, resamples=10)
    evaluate(model, on, protocol=protocol, resamples=10)
    assert evaluate(model, PAIRS, resamples=10).to_dict() == before.to_dict()
