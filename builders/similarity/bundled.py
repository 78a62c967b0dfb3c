"""The bundled model: a number for whether two English sentences mean the same, from all-MiniLM-L6-v2 and an adapter.

`benchmarks.bundled_model` trained the adapter (LoRA, Hu et al. 2021) on sentences about invented groups, and measures
it. It is no model of natural language inference: it only tells whether the meaning is the same. The number is no
probability beyond its training: free paraphrases get larger numbers than near copies.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import exp, nan
from pathlib import Path
from typing import Any

from catsofa.builders.similarity.encoders import MINILM, PAIRS, WEIGHTS, Reading, load, minilm
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of

NAME = "bundled"
"""The value of `--inference` that chooses this model."""
ADAPTER = Path(__file__).with_name("bundled.safetensors")
DIGEST = "7da82d4a832779b1b875552ec060353a483f5a29c0d70473e8a2ceaf987b2810"
"""SHA-256 of the adapter."""
THRESHOLDS = {"unsure": 0.018, "certain": 0.95}
"""The thresholds of `Cut` for this model, set on pairs of authors whom the training did not see."""
SCALE = 2.0
"""Factor of the adapter's updates."""


class BundledModel:
    """Reads two sentences as entailment if they mean the same; a pair that is too long is not read (NaN)."""

    @cached_property
    def signature(self) -> str:
        """The name and the hash of the adapter."""
        _check_adapter()
        return f"{NAME}@{DIGEST[:12]}"

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Returns a number from 0 to 1 for each pair, as `entailment`: large if the sentences mean the same."""
        import torch

        encoder, head, tokenizer = self._loaded
        lengths = [len(ids) for ids in tokenizer(*_sides(pairs), verbose=False)["input_ids"]] if pairs else []
        readable = [number for number, length in enumerate(lengths) if length <= tokenizer.model_max_length]
        order = sorted(readable, key=lambda number: -lengths[number])
        numbers = [nan] * len(pairs)
        with torch.inference_mode():
            for start in range(0, len(order), PAIRS):
                batch = order[start : start + PAIRS]
                tokens = tokenizer(*_sides([pairs[n] for n in batch]), padding=True, return_tensors="pt")
                for number, logit in zip(batch, logits(encoder, head, tokens).tolist(), strict=True):
                    numbers[number] = logit
        return [Reading(1 / (1 + exp(-logit)), None) for logit in numbers]

    @cached_property
    def _loaded(self) -> tuple[Any, dict[str, Any], Any]:
        """The network, the weights of its head, and the tokenizer."""
        _check_adapter()
        return load(_load, MINILM)  # type: ignore[no-any-return]


def _check_adapter() -> None:
    """Raises BadInput if the adapter is not the file that was trained."""
    if not ADAPTER.is_file() or sha256_of(ADAPTER) != DIGEST:
        raise BadInput(ADAPTER, "another file than the adapter of the bundled model", "catsofa as it was installed")


def _sides(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Returns the first sentences and the second sentences of pairs."""
    return [one for one, _ in pairs], [other for _, other in pairs]


def logits(encoder: Any, head: Mapping[str, Any], tokens: Mapping[str, Any]) -> Any:
    """Returns the logit of each pair: each token is compared with the tokens of the other sentence that it resembles.

    This is the comparison of Parikh et al. (2016), over states that have read both sentences.
    """
    import torch

    states, mask = encoder(**tokens).last_hidden_state, tokens["attention_mask"].bool()
    side = tokens["token_type_ids"].bool()
    visible = (side.unsqueeze(2) != side.unsqueeze(1)) & mask.unsqueeze(1)
    alike = (states @ states.transpose(1, 2) / states.shape[-1] ** 0.5).masked_fill(~visible, -1e9)
    other = alike.softmax(-1) @ states
    compared = torch.cat([states, other, (states - other).abs(), states * other], -1)
    hidden = torch.nn.functional.gelu(compared @ head["0.weight"].T + head["0.bias"])
    shown = mask.unsqueeze(-1)
    mean = (hidden * shown).sum(1) / shown.sum(1)
    highest = hidden.masked_fill(~shown, -1e9).amax(1)
    return torch.cat([mean, highest], -1) @ head["2.weight"][0] + head["2.bias"]


def _load() -> tuple[Any, dict[str, Any], Any]:
    """Loads all-MiniLM-L6-v2 from its package or the hub, and adds the adapter's updates to its weights.

    Raises ValueError unless the weights are the published ones, which the adapter was trained on.
    """
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import cached_file

    folder = minilm()
    if folder == MINILM and (digest := sha256_of(Path(cached_file(folder, "model.safetensors")))) != WEIGHTS:
        raise ValueError(f"its weights have SHA-256 {digest}; the adapter was trained on {WEIGHTS}")
    encoder = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    adapter = {name: weight.float() for name, weight in load_file(ADAPTER).items()}
    with torch.no_grad():
        for name in [name.removesuffix(".up") for name in adapter if name.endswith(".up")]:
            update = adapter[f"{name}.up"] @ adapter[f"{name}.down"]
            encoder.get_submodule(name.removeprefix("encoder.")).weight += SCALE * update
    head = {name.removeprefix("head."): weight for name, weight in adapter.items() if name.startswith("head.")}
    return encoder, head, AutoTokenizer.from_pretrained(folder)
