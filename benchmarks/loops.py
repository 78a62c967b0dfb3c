"""The loop as the papers' released code runs it: a text, or a mask, a forward, every logit of every position.

The tokens that it forwards are the unit in which every way's work is counted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import torch  # noqa: TID253  # a benchmark of torch has nothing else to do
import transformers  # noqa: TID253

from catsofa.data.records import Cat, Pair
from catsofa.scoring.models.model import Kind, Model


@dataclass(frozen=True, slots=True)
class Row:
    """One forward: its ids, and at which places which tokens are asked."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    targets: tuple[int, ...]


Rows = list[list[Row]]
"""For each score, the forwards that it takes."""


LOADERS = {"masked": transformers.AutoModelForMaskedLM, "causal": transformers.AutoModelForCausalLM}


def alone(folder: str, kind: Kind, dtype: str = "float32", loader: Any = None) -> Model:
    """A model of its own for the loop, as transformers loads it; catsofa changes none of its products."""
    loader = loader or LOADERS[kind]
    return Model(
        name=folder,
        kind=kind,
        module=loader.from_pretrained(folder, dtype=getattr(torch, dtype)).eval(),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        device="cpu",
        dtype=dtype,
        digest="",
        answers=frozenset(),
    )


def score(model: Model, scores: Rows, reduce: Callable[[list[float]], Any]) -> list[float]:
    """Each score, its log-probabilities reduced to one number."""
    return [float(reduce([value for row in rows for value in answers(model, row)])) for rows in scores]


def answers(model: Model, row: Row) -> list[float]:
    """The log-probabilities that a row asks for."""
    with torch.no_grad():
        logs = model.module(torch.tensor([row.ids])).logits[0].float().log_softmax(-1)
    return [logs[place, target].item() for place, target in zip(row.places, row.targets, strict=True)]


def tokens(scores: Rows) -> int:
    """Forwarded tokens."""
    return sum(len(row.ids) for rows in scores for row in rows)


def causal(tokenizer: Any, texts: Iterable[str]) -> Rows:
    """Each text after the start token."""
    found = []
    for text in texts:
        ids = (tokenizer.eos_token_id, *tokenizer.encode(text))
        found.append([Row(ids, tuple(range(len(ids) - 1)), ids[1:])])
    return found


def fillers(tokenizer: Any, cat: Cat) -> Rows:
    """Each filler's pieces from left to right, each filler by itself."""
    found = []
    for candidate in cat.candidates:
        pieces, rows = tokenizer.encode(candidate.fill, add_special_tokens=False), []
        for known, piece in enumerate(pieces):
            text = cat.context.replace("BLANK", tokenizer.decode(pieces[:known]) + tokenizer.mask_token)
            ids = tuple(tokenizer.encode(text))
            rows.append(Row(ids, (ids.index(tokenizer.mask_token_id),), (piece,)))
        found.append(rows)
    return found


def shared_tokens(tokenizer: Any, pair: Pair) -> Rows:
    """For each sentence, a mask for each token that its pair shares, as metric.py has it."""
    ids = [tokenizer.encode(text) for text in (pair.more, pair.less)]
    order = (0, 1) if pair.direction == "stereo" else (1, 0)
    blocks = SequenceMatcher(None, ids[order[0]], ids[order[1]]).get_matching_blocks()
    found = []
    for side in (0, 1):
        begin = "a" if order[0] == side else "b"
        places = [getattr(block, begin) + step for block in blocks for step in range(block.size)][1:-1]
        found.append(masked(tokenizer, ids[side], places))
    return found


def every_token(tokenizer: Any, pair: Pair) -> Rows:
    """For each sentence, a mask for each of its tokens."""
    ids = [tokenizer.encode(text) for text in (pair.more, pair.less)]
    return [masked(tokenizer, each, range(1, len(each) - 1)) for each in ids]


def masked(tokenizer: Any, ids: Sequence[int], places: Iterable[int]) -> list[Row]:
    """A row for each place, with a mask there."""
    return [Row((*ids[:at], tokenizer.mask_token_id, *ids[at + 1 :]), (at,), (ids[at],)) for at in places]


def mean(values: list[float]) -> float:
    """The mean, as numpy has it."""
    return float(np.mean(values))
