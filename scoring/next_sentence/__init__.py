"""A trained next-sentence head: load it, ask it, and check its answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files import BadInput, json_files
from catsofa.data.formats.sentence_pairs import SentencePairs
from catsofa.data.records import Cat, Score
from catsofa.scoring.likelihood.queries import Answer
from catsofa.scoring.likelihood.self_check import Batching
from catsofa.scoring.next_sentence import network as next_network
from catsofa.scoring.next_sentence.direction import Known, refuse_if_guessing, refuse_if_wrong
from catsofa.scoring.next_sentence.network import HEADS, Network, Pair, PairReader

ABOUT = "next_sentence.json"
EXPECTED = "a next-sentence head as `catsofa nsp train` writes it"
TASK = "intersentence"
EVALUATED = 20_000
"""Most held-out pairs for an accuracy."""
UNREADABLE = "the next-sentence head cannot read this pair: one side has no tokens"


@dataclass(frozen=True, slots=True, eq=False)
class NextSentence:
    """A trained head, and the notes about its training."""

    network: Network
    reader: PairReader
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def batching(self) -> Batching:
        """Findings of the self-check."""
        return self.network.backend.batching

    def log_probabilities(self, pairs: Sequence[Pair]) -> list[float]:
        """Returns log P(the second sentence follows the first) of each pair; NaN for a pair that cannot be read."""
        import torch

        rows = self.reader.rows(pairs)
        readable = [row for row in rows if row is not None]

        def forward(batch: list[int]) -> list[Answer]:
            logits = self.network.logits([readable[number] for number in batch])
            return list(torch.log_softmax(logits.double().cpu(), -1)[:, self.network.next_label, None].numpy())

        values = iter(self.network.backend.run("pairs of sentences", [len(row.ids) for row in readable], forward))
        return [nan if row is None else float(next(values)[0]) for row in rows]

    def asked(self, known: Sequence[Known]) -> list[float]:
        """Returns the log-probabilities of pairs with known answers."""
        return self.log_probabilities([(first, second) for first, second, _ in known])

    def score_cats(self, cats: Iterable[Cat]) -> list[Score]:
        """Returns log P(follows) of each candidate of intersentence CATs after its context, by the candidate's id.

        Raises ValueError if the head does not tell its own held-out pairs apart better than chance.
        """
        if (separated := self.about.get("known_separation")) is not None and self.known:
            refuse_if_guessing(separated, self.known, self.network.model.name)
        candidates = [(cat.context, c.text, c.id) for cat in cats if cat.kind == TASK for c in cat.candidates]
        values = self.log_probabilities([(context, text) for context, text, _ in candidates])
        return [
            Score(item=item, task=TASK, score=None, reason=UNREADABLE)
            if np.isnan(value)
            else Score(item=item, task=TASK, score=value, tokens=1)
            for (*_, item), value in zip(candidates, values, strict=True)
        ]

    @property
    def known(self) -> list[Known]:
        """Held-out pairs that were saved with the head."""
        return [(first, second, follows) for first, second, follows in self.about.get("known", [])]

    def save(self, folder: Path) -> None:
        """Writes the network, then the notes about it: a folder without notes is not a head."""
        self.network.save(folder)
        json_files.write({**self.about, **self._shape()}, folder / ABOUT)

    def _shape(self) -> dict[str, Any]:
        """Returns the facts needed to load the network."""
        network = self.network
        return {"head": network.name, "next_label": network.next_label, "max_length": self.reader.max_length}


def load(folder: Path | str, *, device: str | None = None, dtype: str = "float32", check: bool = True) -> NextSentence:
    """Loads the head in a folder; with `check`, asks its known pairs to detect a wrong label or a damaged file."""
    folder = Path(folder)
    about = read_about(folder)
    network = next_network.load(folder, about["head"], about["next_label"], device=device, dtype=dtype)
    head = NextSentence(network, PairReader(network.model, about["max_length"]), about)
    if check and head.known:
        refuse_if_wrong(head.asked(head.known), head.known, str(folder), about.get("known_separation"))
    return head


def held_out(pairs: SentencePairs, seed: int = 0) -> list[Known]:
    """Returns held-out pairs in random order, at most `EVALUATED` of them."""
    chosen = np.random.default_rng([seed, 2**31]).permutation(pairs.indices(held_out=True))[:EVALUATED]
    return [(pair.first, pair.second, pair.follows) for pair in (pairs[int(index)] for index in chosen)]


def read_about(folder: Path) -> dict[str, Any]:
    """Reads the notes about a head."""
    if not folder.is_dir():
        raise BadInput(folder, "no such folder" if not folder.exists() else "a file", EXPECTED)
    if not (folder / ABOUT).is_file():
        unfinished = (folder / "training").is_dir()
        problem = "a training that has not ended; run it again to go on" if unfinished else f"a folder without {ABOUT}"
        raise BadInput(folder, problem, EXPECTED)
    about = json_files.read(folder / ABOUT, EXPECTED)
    fits = isinstance(about, dict) and about.get("head") in HEADS and about.get("next_label") in (0, 1)
    if not fits or not isinstance(about.get("max_length"), int):
        raise BadInput(folder / ABOUT, "another content", f"{EXPECTED}: head, next_label 0 or 1, max_length")
    found_about: dict[str, Any] = about
    return found_about
