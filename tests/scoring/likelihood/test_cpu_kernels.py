from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.scoring.likelihood import cpu_kernels, memory
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Fill, Infill, Question
from catsofa.scoring.models import load
from catsofa.scoring.models.model import Model

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
IDS = [[3, 30, 40, 50]]


def logits(model: Model) -> Any:
    """Returns the logits of a model for one row, in inference mode."""
    with torch.inference_mode():
        output = model.module(input_ids=torch.tensor(IDS))
    return getattr(output, "prediction_logits", getattr(output, "logits", None)).float().clone()


@pytest.fixture(params=[True, False], ids=["packing pays", "MKL is as fast"])
def pays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Sets whether packing pays on this processor; returns the setting."""
    monkeypatch.setattr(cpu_kernels, "pays", lambda dtype: request.param)
    return bool(request.param)


@pytest.fixture(params=["gpt2", "llama", "bert"])
def model(tiny: Tiny, pays: bool, request: pytest.FixtureRequest) -> Model:
    """Returns a tiny model; skips the test if this build of torch has no packed products."""
    loaded = load(str(tiny(request.param)))
    if not cpu_kernels._works(next(part for part in loaded.module.modules() if cpu_kernels._weight(part) is not None)):
        pytest.skip("this build of torch has no packed products")
    return loaded


def test_packed_weights_give_what_the_plain_ones_give(model: Model, pays: bool) -> None:
    """Packed weights (products and GELU) give the same logits as plain weights, up to rounding."""
    before = logits(model)
    assert cpu_kernels.speed_up(model.module) == pays
    torch.testing.assert_close(logits(model), before, atol=1e-5, rtol=1e-5)


def test_gelu_is_made_in_the_product_that_feeds_it_wherever_that_product_is_packed(model: Model) -> None:
    """The GELU of each layer of GPT-2 and BERT is computed in its packed product; Llama's gated SiLU is not."""
    cpu_kernels.speed_up(model.module)
    activations = {part for part in model.module.modules() if type(part).__name__ in cpu_kernels.GELU}
    fed = {part for part in activations if hasattr(part, "_plain_forward")}
    assert len(fed) == (0 if model.module.config.model_type == "llama" else model.module.config.num_hidden_layers)


def test_weights_that_were_changed_are_never_met_by_old_copies(model: Model) -> None:
    """If weights are changed in place or cast to another type, the packed copies are not used."""
    cpu_kernels.speed_up(model.module)
    before = logits(model)
    for part in model.module.modules():
        if cpu_kernels._weight(part) is not None and part is not model.module.get_output_embeddings():
            with torch.no_grad():
                part.weight.mul_(0.5)
    changed = logits(model)
    assert (changed - before).abs().max() > 1e-2
    model.module.double()
    torch.testing.assert_close(logits(model), changed, atol=1e-4, rtol=1e-4)


def test_training_goes_through_the_models_own_weights(model: Model) -> None:
    """Gradients flow to the model's own weights outside inference mode."""
    cpu_kernels.speed_up(model.module)
    model.module.requires_grad_(True)
    output = model.module(input_ids=torch.tensor(IDS))
    getattr(output, "prediction_logits", getattr(output, "logits", None)).sum().backward()
    linear = next(part for part in model.module.modules() if cpu_kernels._weight(part) is not None)
    assert linear.weight.grad is not None
    assert linear.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", ["gpt2", "bert-without-next-sentence", "t5"])
def test_inference_mode_around_a_call_changes_no_number(tiny: Tiny, pays: bool, name: str) -> None:
    """A model loaded or called in inference mode gives the same answers, and its weights remain ordinary tensors."""
    ids = (0, 30, 40, 50)
    fill: Question = Fill(ids, (2,), (40,))
    question = {"gpt2": Continuation(ids), "t5": Infill((3, 30, 40, 2), (0, 3, 30, 40), 2)}.get(name, fill)
    (outside,) = ask(Backend(load(str(tiny(name)))), [question])
    with torch.inference_mode():
        model = load(str(tiny(name)))
        assert not any(weight.is_inference() for weight in model.module.parameters())
        np.testing.assert_allclose(ask(Backend(model), [question])[0], outside, atol=1e-5)
    np.testing.assert_allclose(ask(Backend(model), [question])[0], outside, atol=1e-5)


def test_weights_made_in_inference_mode_are_not_packed(tiny: Tiny, pays: bool) -> None:
    """Weights created in inference mode are not packed, because such tensors have no version counter. This holds before
    packing and when they replace packed weights."""
    question = Continuation((0, 30, 40, 50))
    for packed_first in (False, True):
        model = load(str(tiny("gpt2")))
        if packed_first:
            (before,) = ask(Backend(model), [question])
        with torch.inference_mode():
            halves = {name: weight * 0.5 for name, weight in model.module.state_dict().items()}
            model.module.load_state_dict(halves, assign=True)
            (inside,) = ask(Backend(model), [question])
        np.testing.assert_allclose(ask(Backend(model), [question])[0], inside, atol=1e-5)
    assert np.abs(before - inside).max() > 1e-2


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize(("inputs", "outputs"), [(0, 8), (8, 0)])
def test_a_product_of_no_width_is_left_as_it_is(pays: bool, inputs: int, outputs: int) -> None:
    """An empty layer, as in a pruned model, is not packed; the other layers are."""
    empty = torch.nn.Linear(inputs, outputs)
    module = torch.nn.ModuleDict({"empty": empty, "full": torch.nn.Linear(8, 8)})
    module.get_output_embeddings = lambda: None
    cpu_kernels.speed_up(module)
    assert hasattr(module["full"], "_plain_forward") == pays
    assert empty(torch.zeros(2, inputs)).shape == (2, outputs)


@pytest.mark.parametrize(("free", "packs"), [(10**9, True), (1000, False)])
def test_a_large_model_is_packed_if_its_copy_fits_into_half_of_the_free_memory(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, free: int, packs: bool
) -> None:
    """Above the limit, a model is packed only if memory is left; otherwise it is left as it is."""
    monkeypatch.setattr(cpu_kernels, "MOST_BYTES", 1000)
    monkeypatch.setattr(memory, "half_of_free", lambda device: free)
    model = load(str(tiny("gpt2")))
    backend = Backend(model)
    assert any(hasattr(part, "_plain_forward") for part in backend.model.module.modules()) == packs


@pytest.mark.parametrize("intel", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_exponential_is_the_same_on_every_processor(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, intel: bool
) -> None:
    """A sum over a vocabulary differs by less than 1e-6 of it; infinities and NaN stay what they are."""
    monkeypatch.setattr(cpu_kernels, "_is_intel", lambda: intel)
    logits = torch.randn(64, 30_000, generator=torch.Generator().manual_seed(0)).to(dtype) * 6
    below = logits - logits.amax(-1, keepdim=True)
    summed = cpu_kernels.exponential(below.clone()).sum(-1)
    torch.testing.assert_close(summed.double(), below.double().exp().sum(-1), rtol=1e-6, atol=0)
    edges = torch.tensor([-torch.inf, -1e4, 0.0, 1e4, torch.nan], dtype=dtype)
    assert cpu_kernels.exponential(edges)[:4].tolist() == [0, 0, 1, torch.inf]
    assert edges[4].isnan()


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Free memory is the least of what the system has and what the container may still use; `max` is no limit."""
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    2000 kB\n")
    monkeypatch.setattr(memory, "SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    assert memory.half_of_free("cpu") == 1_024_000
    (tmp_path / "memory.current").write_text("600000\n")
    for most, half in (("max", 1_024_000), ("1000000", 200_000), ("500000", 0)):
        (tmp_path / "memory.max").write_text(f"{most}\n")
        assert memory.half_of_free("cpu") == half


def test_a_model_that_is_partly_on_disk_is_scored_as_it_is(tiny: Tiny) -> None:
    """A model with a device map is not packed and gives the same numbers."""
    parts = ["wte", "wpe", "drop", "ln_f", "h.0"]
    places = {**{f"transformer.{part}": "cpu" for part in parts}, "lm_head": "cpu", "transformer.h.1": "disk"}
    divided = load(str(tiny("gpt2")), device_map=places)
    assert not cpu_kernels.speed_up(divided.module)
    texts = [Continuation((0, 30, 40, 50)), Continuation((0, 30, 60))]
    for one, other in zip(ask(Backend(divided), texts), ask(Backend(load(str(tiny("gpt2")))), texts), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_quantised_loading_says_what_it_lacks(tiny: Tiny) -> None:
    """A quantised load without bitsandbytes raises an error that names bitsandbytes."""
    if find_spec("bitsandbytes"):
        pytest.skip("bitsandbytes is installed")
    with pytest.raises(ValueError, match=r"cannot be loaded.*bitsandbytes"):
        load(str(tiny("gpt2")), quantisation={"load_in_4bit": True})
