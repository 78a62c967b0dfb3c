from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.scoring.likelihood import cpu_kernels
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Fill, Infill, Question
from catsofa.scoring.models import load
from catsofa.scoring.models.model import Model

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
IDS = [[3, 30, 40, 50]]


def logits(model: Model) -> Any:
    """What a model says of one row, under inference mode."""
    with torch.inference_mode():
        output = model.module(input_ids=torch.tensor(IDS))
    return getattr(output, "prediction_logits", getattr(output, "logits", None)).float().clone()


@pytest.fixture(params=[True, False], ids=["packing pays", "MKL is as fast"])
def pays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether this processor is one on which packing gains something."""
    monkeypatch.setattr(cpu_kernels, "pays", lambda dtype: request.param)
    return bool(request.param)


@pytest.fixture(params=["gpt2", "llama", "bert"])
def model(tiny: Tiny, pays: bool, request: pytest.FixtureRequest) -> Model:
    """A tiny model as it is loaded; skipped where this build of torch has no packed products."""
    found = load(str(tiny(request.param)))
    if not cpu_kernels._works(next(part for part in found.module.modules() if cpu_kernels._weight(part) is not None)):
        pytest.skip("this build of torch has no packed products")
    return found


def test_packed_weights_give_what_the_plain_ones_give(model: Model, pays: bool) -> None:
    """Products and GELU: the same numbers but for the last bits."""
    before = logits(model)
    assert cpu_kernels.speed_up(model.module) == pays
    torch.testing.assert_close(logits(model), before, atol=1e-5, rtol=1e-5)


def test_gelu_is_made_in_the_product_that_feeds_it_wherever_that_product_is_packed(model: Model) -> None:
    """GPT-2's and BERT's layers each; a SiLU that multiplies another product stays as it is."""
    cpu_kernels.speed_up(model.module)
    of = {part for part in model.module.modules() if type(part).__name__ in cpu_kernels.GELU}
    fed = {part for part in of if hasattr(part, "_plain_forward")}
    assert len(fed) == (0 if model.module.config.model_type == "llama" else model.module.config.num_hidden_layers)


def test_weights_that_were_changed_are_never_met_by_old_copies(model: Model) -> None:
    """Written in place, or cast to another type: the copy is passed over."""
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
    """Outside inference mode gradients flow as they always did."""
    cpu_kernels.speed_up(model.module)
    model.module.requires_grad_(True)
    output = model.module(input_ids=torch.tensor(IDS))
    getattr(output, "prediction_logits", getattr(output, "logits", None)).sum().backward()
    linear = next(part for part in model.module.modules() if cpu_kernels._weight(part) is not None)
    assert linear.weight.grad is not None
    assert linear.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", ["gpt2", "bert-without-next-sentence", "t5"])
def test_inference_mode_around_a_call_changes_no_number(tiny: Tiny, pays: bool, name: str) -> None:
    """A model loaded or asked inside inference mode answers as outside of it, and its weights stay ordinary ones."""
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
    """They do not count their changes, neither before packing nor when they replace packed ones."""
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
    """An empty layer, as a pruned model has: nothing to pack, and the other layers are packed all the same."""
    empty = torch.nn.Linear(inputs, outputs)
    module = torch.nn.ModuleDict({"empty": empty, "full": torch.nn.Linear(8, 8)})
    module.get_output_embeddings = lambda: None
    cpu_kernels.speed_up(module)
    assert hasattr(module["full"], "_plain_forward") == pays
    assert empty(torch.zeros(2, inputs)).shape == (2, outputs)


def test_a_model_too_large_to_copy_is_left_as_it_is(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the memory of a large model may not be there."""
    monkeypatch.setattr(cpu_kernels, "MOST_BYTES", 1000)
    model = load(str(tiny("gpt2")))
    assert not cpu_kernels.speed_up(model.module)
    assert not any(hasattr(part, "_plain_forward") for part in model.module.modules())


def test_a_model_that_is_partly_on_disk_is_scored_as_it_is(tiny: Tiny) -> None:
    """With a device map weights may be anywhere: no copies, the same numbers."""
    parts = ["wte", "wpe", "drop", "ln_f", "h.0"]
    places = {**{f"transformer.{part}": "cpu" for part in parts}, "lm_head": "cpu", "transformer.h.1": "disk"}
    divided = load(str(tiny("gpt2")), device_map=places)
    assert not cpu_kernels.speed_up(divided.module)
    asked = [Continuation((0, 30, 40, 50)), Continuation((0, 30, 60))]
    for one, other in zip(ask(Backend(divided), asked), ask(Backend(load(str(tiny("gpt2")))), asked), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_quantised_loading_says_what_it_lacks(tiny: Tiny) -> None:
    """Without bitsandbytes a quantised load is one sentence that names it, before anything is computed."""
    if find_spec("bitsandbytes"):
        pytest.skip("bitsandbytes is installed")
    with pytest.raises(ValueError, match=r"cannot be loaded.*bitsandbytes"):
        load(str(tiny("gpt2")), quantisation={"load_in_4bit": True})
