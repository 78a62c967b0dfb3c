"""A network that tells if one sentence follows another: a model's body, and a head over its states of a pair."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from catsofa.scoring import models
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Follows
from catsofa.scoring.models.files import disk_errors
from catsofa.scoring.models.model import Model
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.tokens import Tokens

Pair = tuple[str, str]


class PairReader:
    """Reads two sentences for a model: as two segments, or for a causal model as one text with a space between."""

    def __init__(self, model: Model, max_length: int) -> None:
        self.reader = Reader(model)
        self._joined = model.kind == "causal"
        self._start = (self.reader.start,) if self._joined and model.tokenizer.bos_token_id is not None else ()
        self.max_length = min(max_length, self.reader.limit)

    def rows(self, pairs: Sequence[Pair]) -> list[Follows | None]:
        """Returns the row of each pair; None if one side has no tokens or the special tokens are too many."""
        if self._joined:
            texts = [f"{first} {second}" for first, second in pairs]
            bare = self.reader.bare(texts)
            return [self._joined_row(bare[text], len(pair[0])) for text, pair in zip(texts, pairs, strict=True)]
        framed = self.reader.framed(pairs)
        return [self._framed_row(framed[pair]) for pair in pairs]

    def _joined_row(self, tokens: Tokens, boundary: int) -> Follows | None:
        """Returns the start token, if any, then both texts; a token across the boundary is of the second."""
        positions = _kept([int(end > boundary) for _, end in tokens.offsets], self.max_length - len(self._start))
        return Follows((*self._start, *(tokens.ids[position] for position in positions)), ()) if positions else None

    def _framed_row(self, tokens: Tokens) -> Follows | None:
        """Returns both texts with the special tokens around them."""
        positions = _kept(tokens.segments, self.max_length)
        return (
            Follows(
                tuple(tokens.ids[position] for position in positions),
                tuple(tokens.types[position] for position in positions),
            )
            if positions
            else None
        )


def _kept(segments: Sequence[int | None], most: int) -> list[int]:
    """Returns the positions that remain if the longer text is cut from its end until all fit; empty if a side is lost.

    Special tokens always remain.
    """
    places = [[position for position, segment in enumerate(segments) if segment == text] for text in (0, 1)]
    for _ in range(len(segments) - most):
        max(places, key=len).pop()
        if not all(places):
            break
    if not all(places):
        return []
    return sorted({*places[0], *places[1], *(position for position, segment in enumerate(segments) if segment is None)})


HeadName = Literal["own", "linear", "mlp"]
HEADS: tuple[HeadName, ...] = get_args(HeadName)
OURS = 1
"""The class that means "follows" in a head of `catsofa nsp train`; a model's own head names its class."""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A body and a head; `own` is the head a model was trained with, the others read the mean of its states."""

    model: Model
    head: Any
    name: HeadName
    next_label: int
    backend: Backend

    def logits(self, rows: Sequence[Follows]) -> Any:
        """Returns two numbers for each row, in full precision."""
        inputs = self.backend.padded([row.ids for row in rows], [row.types for row in rows])
        output = self.model.body(**inputs)
        if self.name == "own":
            return self.head(output.pooler_output).float()
        states, mask = output.last_hidden_state, inputs.get("attention_mask")
        if mask is None:
            return self.head(states.mean(1)).float()
        weights = mask.to(states.dtype)[..., None]
        return self.head((states * weights).sum(1) / weights.sum(1)).float()

    def parts(self) -> dict[str, Any]:
        """Returns the trained modules by name."""
        return {"body": self.model.body, "head": self.head}

    def parameters(self) -> dict[str, Any]:
        """Returns the trained weights by name; weights that two parts share appear once."""
        unique: dict[str, Any] = {}
        for part, module in self.parts().items():
            for name, weights in module.named_parameters():
                if not any(weights is other for other in unique.values()):
                    unique[f"{part}.{name}"] = weights
        return unique

    def save(self, folder: Path) -> None:
        """Writes the body (with its own head, if it has one) and the head, loadable offline."""
        from safetensors.torch import save_file
        from transformers.utils import logging

        whole = self.model.module if self.name == "own" else self.model.body
        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        with disk_errors():
            try:
                whole.save_pretrained(folder / "body")
            finally:
                if bars:
                    logging.enable_progress_bar()
            self.model.tokenizer.save_pretrained(folder / "body")
            if self.name != "own":
                weights = {name: w.contiguous() for name, w in self.head.state_dict().items()}
                save_file(weights, folder / "head.safetensors")


def new(model: Model, head: HeadName | None, seed: int) -> Network:
    """Creates a network to train, with the model's own next-sentence head or a new one, linear by default."""
    import torch

    if model.kind == "sequence-to-sequence":
        raise ValueError(f"{model.name} is an encoder-decoder; a next-sentence head needs one network that reads both")
    name = head or ("own" if "next-sentence" in model.answers else "linear")
    if name == "own":
        model.need("next-sentence", "A head of its own")
        return _network(model, model.module.cls.seq_relationship, name, model.next_label)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        created = _head(name, _width(model))
    return _network(model, created, name, OURS)


def load(folder: Path, name: HeadName, next_label: int, *, device: str | None, dtype: str) -> Network:
    """Loads a saved network."""
    from safetensors.torch import load_file

    model = models.load(str(folder / "body"), device=device, dtype=dtype)
    if name == "own":
        model.need("next-sentence", "This checkpoint")
        return _network(model, model.module.cls.seq_relationship, name, next_label)
    head = _head(name, _width(model))
    head.load_state_dict(load_file(folder / "head.safetensors"))
    head.eval().requires_grad_(False)
    return _network(model, head, name, next_label)


def _network(model: Model, head: Any, name: HeadName, next_label: int) -> Network:
    """Assembles body and head on the model's device."""
    if hasattr(model.body.config, "use_cache"):
        model.body.config.use_cache = False
    reference = next(model.body.parameters())
    return Network(model, head.to(reference.device, reference.dtype), name, next_label, Backend(model))


def _width(model: Model) -> int:
    """Returns the size of a state."""
    return int(model.body.config.get_text_config().hidden_size)


def _head(name: str, width: int) -> Any:
    """Creates a head: one linear layer, or two with a hidden layer as wide as the states."""
    from torch import nn

    if name == "linear":
        return nn.Linear(width, 2)
    if name == "mlp":
        return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2))
    raise ValueError(f"no head {name!r}; the heads are {', '.join(HEADS)}")
