"""Pools a model's states to one vector per text."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.choices import Pooling
from catsofa.scoring.likelihood import batches, early_exit, gpu
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.self_check import EXIT, Batching
from catsofa.scoring.models.model import Model
from catsofa.scoring.models.tokens import Tokens, Unscorable

Matrix = NDArray[np.float32]


def default_pooling(model: Model) -> Pooling:
    """Returns SEAT's pooling for this kind of model: the last token, [CLS], or the mean."""
    if model.kind == "causal":
        return "last"
    return "cls" if model.kind != "sequence-to-sequence" and model.tokenizer.cls_token_id is not None else "mean"


class PooledStates:
    """Encodes texts: pools the states of one layer over all tokens of a text, with special tokens if it has them."""

    def __init__(self, model: Model, pooling: Pooling, layer: int, special_tokens: bool) -> None:
        model.need("vectors", "Encoding")
        layers = int(model.module.config.get_text_config().num_hidden_layers)
        if not -layers - 1 <= layer <= layers:
            raise ValueError(f"{model.name} has layers 0 (the embeddings) to {layers}, or -1 for the last; not {layer}")
        if pooling == "cls" and model.kind == "causal":
            raise ValueError(f"{model.name} reads from left to right, so its first state has seen one token; use last")
        self._backend = Backend(model)
        self._network = model.body.get_encoder() if model.kind == "sequence-to-sequence" else model.body
        self._pooling, self._layer, self._special = pooling, layer, special_tokens
        self.unknown: set[str] = set()
        """Texts read so far with a token that the tokenizer does not know."""

    @property
    def batching(self) -> Batching:
        """Findings of the self-check."""
        return self._backend.batching

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Returns one row per text; NaN for a text that is empty or longer than the model reads."""
        reader = self._backend.reader
        encoded = reader.framed(texts).items() if self._special else reader.bare(texts).items()
        tokens = {text: encoding for text, encoding in encoded if isinstance(text, str) and self._readable(encoding)}
        readable = list(tokens)
        self.unknown.update(text for text, encoding in tokens.items() if reader.unknowns(encoding))

        def forward(batch: list[int]) -> Sequence[Any]:
            return self._pooled([tokens[readable[index]] for index in batch])

        lengths = [len(tokens[text].ids) for text in readable]
        vectors = self._backend.run("vectors", lengths, forward, waste=batches.NONE, vectors=True)
        rows = dict(zip(readable, vectors, strict=True))
        nothing = np.full(len(next(iter(rows.values()), [])), np.nan, dtype=np.float32)
        return np.stack([rows.get(text, nothing) for text in texts])

    def _readable(self, tokens: Tokens) -> bool:
        """Returns True if the model can read the whole text."""
        try:
            self._backend.reader.check(tokens)
        except Unscorable:
            return False
        return True

    def _pooled(self, batch: Sequence[Tokens]) -> Sequence[Any]:
        """Returns the vectors of texts that are forwarded together, on the model's device."""
        inputs = self._backend.padded([text.ids for text in batch], [text.types for text in batch])
        if self._layer == -1 and self._pooling in ("cls", "last"):
            places = range(len(batch)), [self._place(text) for text in batch]
            positions = tuple(gpu.moved(list(indices), inputs["input_ids"].device) for indices in places)
            gate = self._gate if self._backend.uses(EXIT) else None
            return list(early_exit.states_at(self._network, gate, inputs, positions).float())
        if self._layer == -1:
            states = self._network(**inputs).last_hidden_state
        else:
            states = self._network(**inputs, output_hidden_states=True).hidden_states[self._layer]
        return [self._pool(row[: len(text.ids)].float(), text) for row, text in zip(states, batch, strict=True)]

    def _pool(self, states: Any, text: Tokens) -> Any:
        """Pools the states of a text to one vector."""
        match self._pooling:
            case "mean":
                return states.mean(0)
            case "max":
                return states.amax(0)
            case _:
                return states[self._place(text)]

    @cached_property
    def _gate(self) -> Any:
        """Early-exit cut of the network: of its last layer, only the states that are used are computed."""
        sample = self._backend.sample(6)
        return early_exit.find_without_head(self._network, self._backend.padded([sample, sample[::-1]]))

    def _place(self, text: Tokens) -> int:
        """Returns the position of the last token or of [CLS]; 0 if no [CLS] was added."""
        if self._pooling == "last":
            return len(text.ids) - 1
        cls = self._backend.model.tokenizer.cls_token_id
        return text.ids.index(cls) if self._special and cls in text.ids else 0
