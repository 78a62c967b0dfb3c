"""Tests models in memory: networks with their tokenizers, pipelines, functions of texts and paths."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.records import PAIRS, PROBES, TEST, cats

from catsofa.scoring.evaluate import evaluate

Tiny = Callable[[str], Path]
NETWORKS = {"gpt2": "CausalLM", "llama": "CausalLM", "bert": "MaskedLM", "bart": "Seq2SeqLM", "xlnet": "CausalLM"}


def in_memory(folder: Path, head: str) -> tuple[Any, Any]:
    """Returns the network of a folder and its tokenizer, as a user loads them."""
    import transformers

    loader = getattr(transformers, f"AutoModelFor{head}" if head else "AutoModel")
    return loader.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_in_memory_is_the_model_of_its_folder(tiny: Tiny, name: str) -> None:
    """A network in memory and its folder give the same numbers and the same signature."""
    pair = in_memory(tiny(name), NETWORKS[name])
    data = [cat for cat in cats() if cat.kind == "intrasentence"]
    assert evaluate(pair, data, resamples=10).to_dict() == evaluate(tiny(name), data, resamples=10).to_dict()


def test_an_encoder_in_memory_is_that_of_its_folder(tiny: Tiny) -> None:
    """An encoder in memory and its folder give the same associations and the same signature."""
    loaded, named = (
        evaluate(model, [TEST]).to_dict() for model in (in_memory(tiny("bert-encoder"), ""), tiny("bert-encoder"))
    )
    assert loaded["results"] == named["results"]
    assert loaded["signature"]["model"].split()[0] == named["signature"]["model"].split()[0]


def test_a_pipeline_is_its_model(tiny: Tiny) -> None:
    """A causal pipeline of transformers gives the same report as its model."""
    transformers = pytest.importorskip("transformers")
    pipeline = transformers.pipeline("text-generation", model=str(tiny("gpt2")))
    assert evaluate(pipeline, PAIRS).to_dict() == evaluate(tiny("gpt2"), PAIRS).to_dict()


def test_changed_weights_or_tokenizers_have_another_hash(tiny: Tiny, tmp_path: Path) -> None:
    """A model after a training step is marked as changed, and scores the same as the folder where it is saved."""
    import torch

    network, tokenizer = in_memory(tiny("gpt2"), "CausalLM")
    whole = evaluate((network, tokenizer), PAIRS).signature.model
    with torch.no_grad():
        network.transformer.wte.weight.mul_(1.5)
    changed = evaluate((network, tokenizer), PAIRS)
    assert changed.signature.model != whole
    assert "changed in memory" in changed.signature.model
    assert evaluate((network, tokenizer), PAIRS).signature == changed.signature
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert evaluate(tmp_path, PAIRS).to_dict()["results"] == changed.to_dict()["results"]


def one_layer(network: Any) -> None:
    """Removes the second layer."""
    network.transformer.h = network.transformer.h[:1]


def one_layer_twice(network: Any) -> None:
    """Replaces the second layer by the first."""
    network.transformer.h[1] = network.transformer.h[0]


def no_activation(network: Any) -> None:
    """Replaces the activation function between two products."""
    import torch

    network.transformer.h[0].mlp.act = torch.nn.Identity()


def other_norm(network: Any) -> None:
    """Changes a number that is not stored in a weight."""
    network.transformer.ln_f.eps = 1.0


@pytest.mark.parametrize("change", [one_layer, one_layer_twice, no_activation, other_norm])
def test_a_network_of_other_parts_than_its_folder_has_another_hash(tiny: Tiny, change: Callable[[Any], None]) -> None:
    """Every remaining weight equals that of the file, but the scores differ, and so does the hash."""
    network, tokenizer = in_memory(tiny("gpt2"), "CausalLM")
    whole = evaluate((network, tokenizer), PAIRS, resamples=10)
    change(network)
    changed = evaluate((network, tokenizer), PAIRS, resamples=10)
    assert changed.items()["score_more"].tolist() != whole.items()["score_more"].tolist()
    assert changed.signature.model.partition(" ")[0] != whole.signature.model
    assert "changed in memory" in changed.signature.model


def test_a_network_whose_code_was_changed_is_refused(tiny: Tiny) -> None:
    """A forward hook and a replaced forward are refused, because their effect cannot be hashed."""
    network, tokenizer = in_memory(tiny("gpt2"), "CausalLM")
    hook = network.transformer.h[0].register_forward_hook(lambda part, inputs, outputs: None)
    with pytest.raises(ValueError, match=r"forward hooks.*transformer\.h\.0"):
        evaluate((network, tokenizer), PAIRS)
    hook.remove()
    network.transformer.forward = network.transformer.forward
    with pytest.raises(ValueError, match=r"forward that replaces.*transformer"):
        evaluate((network, tokenizer), PAIRS)


def test_a_network_that_accelerate_trains_in_half_precision_is_scored_in_its_own(tiny: Tiny) -> None:
    """Accelerate wraps a network's forward in bfloat16; the numbers are those of the weights in memory."""
    accelerate = pytest.importorskip("accelerate")
    # the state is shared by the process, and other tests may have set it
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    network, tokenizer = in_memory(tiny("gpt2"), "CausalLM")
    whole = evaluate((network, tokenizer), PAIRS, resamples=10)
    prepared = accelerate.Accelerator(mixed_precision="bf16", cpu=True).prepare(network)
    wrapped = vars(prepared)["forward"]
    assert evaluate((prepared, tokenizer), PAIRS, resamples=10).to_dict() == whole.to_dict()
    assert vars(prepared)["forward"] is wrapped
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)


def test_a_network_is_given_back_as_it_was(tiny: Tiny) -> None:
    """Evaluation keeps training mode and gradients, and leaves no hooks or packed products; training can continue."""
    network, tokenizer = in_memory(tiny("gpt2"), "CausalLM")
    network.train()
    network.transformer.wte.weight.requires_grad_(False)
    before = [(part, {name: id(value) for name, value in vars(part).items()}) for part in network.modules()]
    grads = [weight.requires_grad for weight in network.parameters()]
    evaluate((network, tokenizer), PAIRS)
    assert [(part, {name: id(value) for name, value in vars(part).items()}) for part in network.modules()] == before
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in network.modules())
    assert [weight.requires_grad for weight in network.parameters()] == grads
    ids = tokenizer("the zorb hums", return_tensors="pt")["input_ids"]
    network(input_ids=ids, labels=ids).loss.backward()


def letters(text: str) -> float:
    """Returns log 2 times minus the number of letters."""
    return -0.6931471805599453 * len(text.replace(" ", ""))


def test_a_function_gives_the_log_probability_of_a_text() -> None:
    """A function scores pairs, probes and CATs of both tasks; after a context, it scores what a text adds."""
    result = evaluate(letters, PAIRS, resamples=10)
    longer = [len(pair.more.replace(" ", "")) - len(pair.less.replace(" ", "")) for pair in PAIRS]
    rows = result.items()
    assert list(rows["outcome"]) == [
        "tie" if not more else "anti-stereotype" if more > 0 else "stereotype" for more in longer
    ]
    assert result.signature.model == "letters@unhashed"
    assert any("no digest" in warning for warning in result.warnings)
    assert set(evaluate(letters, cats(), resamples=0).items()["reason"]) == {""}
    assert evaluate(letters, PROBES, resamples=0).items()["variance"].notna().all()


def test_a_function_needs_a_digest_for_a_folder(tmp_path: Path) -> None:
    """A function without a digest is refused, because a resumed run must not mix two functions."""
    with pytest.raises(ValueError, match="without a digest"):
        evaluate(letters, PAIRS, out=tmp_path / "run")

    def hashed(text: str) -> float:
        return letters(text)

    hashed.digest = "1"  # type: ignore[attr-defined]
    assert evaluate(hashed, PAIRS, out=tmp_path / "run").signature.model == "hashed@1"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda tiny: in_memory(tiny, "CausalLM")[0], "without its tokenizer"),
        (lambda tiny: in_memory(tiny, "CausalLM")[::-1], r"expected \(model, tokenizer\)"),
        (lambda tiny: (1, 2, 3), r"found the model \(int, int, int\)"),
        (lambda tiny: 3, "found 3 as the model"),
        (lambda tiny: [str(tiny), str(tiny)], "found 2 models in a list"),
        (lambda tiny: lambda text: "much", "<lambda>: found 'much' for .*one number"),
        (lambda tiny: lambda text: [-1.0 for _ in text], r"<lambda>: found \[-1.*one number"),
        (lambda tiny: lambda text: 0.5, "expected a log-probability"),
    ],
)
def test_what_is_no_model_is_refused(tiny: Tiny, model: Callable[[Path], Any], said: str) -> None:
    """The error says what was found and what is expected."""
    with pytest.raises(ValueError, match=said):
        evaluate(model(tiny("gpt2")), PAIRS)


def test_a_model_in_memory_is_not_loaded_otherwise(tiny: Tiny) -> None:
    """A dtype for a model in memory is refused, because it would have no effect."""
    with pytest.raises(ValueError, match=r"loaded already.*dtype"):
        evaluate(in_memory(tiny("gpt2"), "CausalLM"), PAIRS, dtype="bfloat16")
