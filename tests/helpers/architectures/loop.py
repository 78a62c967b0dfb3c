"""Scores by a plain loop: one text a forward, the model's own logits, without the engine.

Each function returns the sum of the log-probabilities behind a score, and their number.
"""

from collections.abc import Iterable
from copy import deepcopy
from difflib import SequenceMatcher
from functools import cache, cached_property
from typing import Any

from helpers.architectures.family import Kind

from catsofa.data.records import Candidate, Cat, Pair, Probe

Total = tuple[float, int]
BLANK = "BLANK"


class Plain:
    """A model and its tokenizer, asked one row at a time."""

    def __init__(self, kind: Kind, module: Any, tokenizer: Any) -> None:
        self.kind, self.module, self.tokenizer = kind, module, tokenizer
        self._logs = cache(self._uncached_logs)

    def _uncached_logs(self, ids: tuple[int, ...], types: tuple[int, ...] = (), written: tuple[int, ...] = ()) -> Any:
        """Returns the log-probabilities at each position of one row, in double precision."""
        import torch

        inputs = {"input_ids": torch.tensor([ids])}
        if types and "token_type_ids" in self.tokenizer.model_input_names:
            inputs["token_type_ids"] = torch.tensor([types])
        if written:
            inputs["decoder_input_ids"] = torch.tensor([written])
        if self.kind == "permutation":
            # position i is predicted from earlier positions, which XLNet takes as two masks
            inputs["perm_mask"] = torch.ones(len(ids), len(ids)).triu()[None]
            inputs["target_mapping"] = torch.eye(len(ids))[None]
        with torch.no_grad():
            # a copy each time: some models remember the length of earlier texts
            output = deepcopy(self.module)(**inputs)
        logits = output.prediction_logits if hasattr(output, "prediction_logits") else output.logits
        return logits[0].double().log_softmax(-1)

    @cached_property
    def start(self) -> int:
        """The start token."""
        return int(self.tokenizer.bos_token_id)

    def read(self, text: str, second: str | None = None, *, bare: bool = False) -> Any:
        """Returns the tokens of one text, or of two texts."""
        return self.tokenizer(
            text, second, return_offsets_mapping=True, return_token_type_ids=True, add_special_tokens=not bare
        )

    # from left to right

    def after(self, ids: Iterable[int], first: int = 0) -> Total:
        """Returns the total of the tokens from `first` on, each after the start token and all earlier tokens."""
        row = (self.start, *ids)
        if self.kind == "permutation":
            logs = self._logs(row)
            return sum(float(logs[at, row[at]]) for at in range(first + 1, len(row))), len(row) - first - 1
        logs = self._logs(row[:-1])
        return sum(float(logs[at - 1, row[at]]) for at in range(first + 1, len(row))), len(row) - first - 1

    # behind masks

    def fill(self, ids: list[int], types: list[int], position: int, target: int) -> float:
        """Returns the log-probability of a token at a position of a row."""
        return float(self._logs(tuple(ids), tuple(types))[position, target])

    def hidden_one_by_one(self, read: Any, positions: Iterable[int]) -> Total:
        """Returns the total of these tokens, each masked together with the rest of its word after it."""
        ids, words, parts = read["input_ids"], read.word_ids(), read.sequence_ids()
        total, count = 0.0, 0
        for position in positions:
            row, end = list(ids), position
            while end < len(ids) and words[end] == words[position] and parts[end] == parts[position]:
                row[end] = self.tokenizer.mask_token_id
                end += 1
            total += self.fill(row, read["token_type_ids"], position, ids[position])
            count += 1
        return total, count

    # into a gap

    def gap(self, read: Any, low: int, high: int, *, alone: bool = False) -> Total:
        """Returns the total of the tokens from `low` to `high` as the decoder writes them when the encoder reads the
        rest.
        """
        ids = tuple(read["input_ids"])
        own = [index for index, part in enumerate(read.sequence_ids()) if part is not None]
        before, after = (own[0], own[-1] + 1) if alone else (low, high)
        start = getattr(self.module.config, "decoder_start_token_id", 0)
        if self.tokenizer.mask_token_id is not None:
            mark, written = self.tokenizer.mask_token_id, (start, *ids[:before])
        else:
            mark = self.tokenizer.convert_tokens_to_ids("<extra_id_0>")
            written = (start, mark)
        logs = self._logs((*ids[:before], mark, *ids[after:]), (), (*written, *ids[low : high - 1]))
        steps = range(high - low)
        return sum(float(logs[len(written) - 1 + k, ids[low + k]]) for k in steps), high - low


def own_positions(read: Any, part: int = 0) -> list[int]:
    """Returns the positions of one text's own tokens."""
    return [position for position, sequence in enumerate(read.sequence_ids()) if sequence == part]


def positions_within(read: Any, text: str, begin: int, end: int) -> list[int]:
    """Returns the positions of the tokens that contain letters between two characters."""
    offsets = read["offset_mapping"]
    inside = [at for at in own_positions(read) if text[max(offsets[at][0], begin) : min(offsets[at][1], end)].strip()]
    # "▁" alone before the first letter begins the word
    while inside[0] - 1 in own_positions(read) and offsets[inside[0] - 1][1] == offsets[inside[0]][0] == begin:
        if text[slice(*offsets[inside[0] - 1])].strip():
            break
        inside.insert(0, inside[0] - 1)
    return inside


def inside(plain: Plain, cat: Cat, candidate: Candidate, pseudo: bool) -> Total:
    """Returns the total of a candidate of an intrasentence CAT."""
    text = candidate.text
    if plain.kind in ("causal", "permutation"):
        return plain.after(plain.read(text, bare=True)["input_ids"])
    begin = cat.context.index(BLANK)
    read = plain.read(text)
    places = positions_within(read, text, begin, begin + len(candidate.fill or ""))
    if plain.kind == "sequence-to-sequence":
        return plain.gap(read, places[0], places[-1] + 1)
    if pseudo:
        return plain.hidden_one_by_one(read, [at for at in own_positions(read) if at not in places])
    ids, types, total = read["input_ids"], read["token_type_ids"], 0.0
    for place in places:
        row = [*ids[:place], plain.tokenizer.mask_token_id, *ids[places[-1] + 1 :]]
        total += plain.fill(row, [*types[: place + 1], *types[places[-1] + 1 :]], place, ids[place])
    return total, len(places)


def after(plain: Plain, cat: Cat, candidate: Candidate) -> Total:
    """Returns the total of an intersentence candidate: with the context less without it, or the context's
    pseudo-likelihood.
    """
    if plain.kind == "masked":
        read = plain.read(cat.context, candidate.text)
        return plain.hidden_one_by_one(read, own_positions(read))
    text = f"{cat.context} {candidate.text}"
    read = plain.read(text, bare=plain.kind != "sequence-to-sequence")
    places = positions_within(read, text, len(cat.context) + 1, len(text))
    if plain.kind == "sequence-to-sequence":
        with_context, alone = (plain.gap(read, places[0], places[-1] + 1, alone=alone) for alone in (False, True))
    else:
        ids = read["input_ids"]
        with_context, alone = plain.after(ids, places[0]), plain.after(ids[places[0] :])
    return with_context[0] - alone[0], with_context[1]


def whole(plain: Plain, text: str) -> Total:
    """Returns the total of a whole text."""
    if plain.kind in ("causal", "permutation"):
        return plain.after(plain.read(text, bare=True)["input_ids"])
    read = plain.read(text)
    own = own_positions(read)
    if plain.kind == "sequence-to-sequence":
        return plain.gap(read, own[0], own[-1] + 1)
    return plain.hidden_one_by_one(read, own)


def side(plain: Plain, pair: Pair, name: str) -> Total:
    """Returns one sentence's total; for masked models over the shared tokens, in the order of the released code."""
    text = pair.more if name == "more" else pair.less
    if plain.kind != "masked":
        return whole(plain, text)
    names = ["more", "less"] if pair.direction == "stereo" else ["less", "more"]
    reads = [plain.read(pair.more if n == "more" else pair.less) for n in names]
    blocks = SequenceMatcher(None, reads[0]["input_ids"], reads[1]["input_ids"]).get_matching_blocks()
    index = names.index(name)
    shared = [block[index] + step for block in blocks for step in range(block.size)]
    own = own_positions(reads[index])
    return plain.hidden_one_by_one(reads[index], [place for place in shared if place in own])


def probe(plain: Plain, record: Probe) -> Total:
    """Returns the total of a probe as a whole text."""
    return whole(plain, record.text)
