"""The float32 twin of a model in half precision is the model that its files give in float32."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch  # noqa: TID253  # the weights are what is tested

from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.models import in_float32, load
from catsofa.scoring.models.model import Model

Tiny = Callable[[str], Path]
NAMES = (
    "gpt2",
    "llama",
    "bloom",
    "gemma2",
    "mamba",
    "bert",
    "bert-with-a-random-head",
    "albert",
    "t5",
    "bart",
)
READ_AGAIN = {("t5", "float16")}
"""Architectures that keep some weights in float32 in memory."""


def stored_in(dtype: torch.dtype, source: Path, folder: Path) -> Path:
    """Writes a model with weights of this type."""
    model = load(str(source))
    model.module.to(dtype).save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


def parts(model: Model) -> dict[str, torch.Tensor]:
    """Returns the trained weights of a network, and all its buffers."""
    named = {**dict(model.module.named_parameters()), **dict(model.module.named_buffers())}
    return {name: part for name, part in named.items() if not name.startswith(("cls", "lm_head"))}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", NAMES)
def test_stored_half_weights_are_not_read_again(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, dtype: str
) -> None:
    """Weights and tables equal those of the files in float32 to the bit, in every architecture."""
    folder = str(stored_in(getattr(torch, dtype), tiny(name), tmp_path))
    half, full = load(folder, dtype=dtype), load(folder)
    if (name, dtype) not in READ_AGAIN:
        monkeypatch.setattr(in_float32, "load", None)
    twin = in_float32.in_float32(half)
    assert (twin.dtype, twin.digest, twin.answers, twin.kind) == ("float32", full.digest, half.answers, full.kind)
    assert parts(twin).keys() == parts(full).keys()
    for place, part in parts(full).items():
        assert torch.equal(parts(twin)[place], part), place
    assert half.dtype == dtype


def test_weights_that_were_cut_on_loading_are_read_again(tiny: Tiny) -> None:
    """Files in float32 hold more than the weights in memory do."""
    half, full = load(str(tiny("gpt2")), dtype="bf16"), load(str(tiny("gpt2")))
    twin = in_float32.in_float32(half)
    for place, part in parts(full).items():
        assert torch.equal(parts(twin)[place], part), place


def test_the_error_is_the_same_with_and_without_reading(
    tiny: Tiny, tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report in bfloat16 has the same numbers whether the sample's weights come from memory or from the files."""
    folder = str(stored_in(torch.bfloat16, tiny("llama"), tmp_path))
    one = evaluate(folder, files / "cats.jsonl", dtype="bf16", resamples=10).to_dict()
    monkeypatch.setattr(in_float32, "_is_stored_as", lambda *_: False)
    other = evaluate(folder, files / "cats.jsonl", dtype="bf16", resamples=10).to_dict()
    assert one["precision"]["checked"] == 36
    assert one == other
