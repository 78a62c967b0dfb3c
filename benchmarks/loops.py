"""The plain loop of the papers' released code: one forward per text or per mask, with all logits of every position.

The tokens that the loop forwards are the unit of work for all ways.
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
    """One forward: its ids, the queried positions, and the target token of each."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    targets: tuple[int, ...]


Rows = list[list[Row]]
"""The forwards of each score."""


LOADERS = {"masked": transformers.AutoModelForMaskedLM, "causal": transformers.AutoModelForCausalLM}


def alone(folder: str, kind: Kind, dtype: str = "float32", loader: Any = None) -> Model:
    """Returns a separate model for the loop, as transformers loads it; catsofa changes none of its matrix products."""
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
    """Returns each score: its log-probabilities reduced to one number."""
    return [float(reduce([value for row in rows for value in answers(model, row)])) for rows in scores]


def answers(model: Model, row: Row) -> list[float]:
    """Returns the log-probabilities of the targets of a row."""
    with torch.no_grad():
        logs = model.module(torch.tensor([row.ids])).logits[0].float().log_softmax(-1)
    return [logs[place, target].item() for place, target in zip(row.places, row.targets, strict=True)]


def tokens(scores: Rows) -> int:
    """Returns the number of forwarded tokens."""
    return sum(len(row.ids) for rows in scores for row in rows)


def causal(tokenizer: Any, texts: Iterable[str]) -> Rows:
    """Returns the forward of each text after the start token."""
    forwards = []
    for text in texts:
        ids = (tokenizer.eos_token_id, *tokenizer.encode(text))
        forwards.append([Row(ids, tuple(range(len(ids) - 1)), ids[1:])])
    return forwards


def fillers(tokenizer: Any, cat: Cat) -> Rows:
    """Returns the forwards of each filler: its pieces from left to right, each behind a mask."""
    forwards = []
    for candidate in cat.candidates:
        pieces, rows = tokenizer.encode(candidate.fill, add_special_tokens=False), []
        for count, piece in enumerate(pieces):
            text = cat.context.replace("BLANK", tokenizer.decode(pieces[:count]) + tokenizer.mask_token)
            ids = tuple(tokenizer.encode(text))
            rows.append(Row(ids, (ids.index(tokenizer.mask_token_id),), (piece,)))
        forwards.append(rows)
    return forwards


def shared_tokens(tokenizer: Any, pair: Pair) -> Rows:
    """Returns for each sentence a forward per token that both sentences share, as in metric.py."""
    ids = [tokenizer.encode(text) for text in (pair.more, pair.less)]
    order = (0, 1) if pair.direction == "stereo" else (1, 0)
    blocks = SequenceMatcher(None, ids[order[0]], ids[order[1]]).get_matching_blocks()
    forwards = []
    for side in (0, 1):
        begin = "a" if order[0] == side else "b"
        places = [getattr(block, begin) + step for block in blocks for step in range(block.size)][1:-1]
        forwards.append(masked(tokenizer, ids[side], places))
    return forwards


def every_token(tokenizer: Any, pair: Pair) -> Rows:
    """Returns for each sentence a forward per token."""
    ids = [tokenizer.encode(text) for text in (pair.more, pair.less)]
    return [masked(tokenizer, each, range(1, len(each) - 1)) for each in ids]


def masked(tokenizer: Any, ids: Sequence[int], places: Iterable[int]) -> list[Row]:
    """Returns a row for each position, with a mask at the position."""
    return [
        Row((*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]), (place,), (ids[place],)) for place in places
    ]


def mean(values: list[float]) -> float:
    """Returns the mean by numpy."""
    return float(np.mean(values))
