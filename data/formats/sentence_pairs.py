"""Sentence pairs for training next-sentence prediction: large JSONL files, checked once, then read by random access."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from catsofa.data.digests import hex_digest
from catsofa.data.files import GZIP, BadInput, existing_file, jsonl, lines
from catsofa.data.records import content_id

EXPECTED = "sentence pairs as JSONL"
PARTS = ("train.jsonl", "held-out.jsonl")
"""The files of a folder of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePair:
    """Two sentences: `follows` says whether the second followed the first or comes from `other`."""

    id: str = ""
    first: str
    second: str
    follows: bool
    split: Literal["", "train", "held-out"] = ""
    document: str = ""
    other: str = ""

    def __post_init__(self) -> None:
        """Raise a ValueError for an empty sentence, and set the id."""
        if not (self.first.strip() and self.second.strip()):
            raise ValueError("an empty sentence in a pair")
        if not self.id:
            new_id = content_id("sentence pair", self.first, self.second, self.document)
            object.__setattr__(self, "id", new_id)


class SentencePairs:
    """The pairs of a file or folder; every line is checked at the start, and memory holds only file offsets."""

    def __init__(self, path: Path | str, held_out_share: float = 0.05) -> None:
        """Open the pairs; if no line names its split, this share of the documents is held out, chosen by hash."""
        self.path = Path(path)
        parts = [self.path / part for part in PARTS] if self.path.is_dir() else [self.path]
        self._files = [existing_file(part, EXPECTED).open("rb") for part in parts]
        for part, file in zip(parts, self._files, strict=True):
            if file.peek(len(GZIP)).startswith(GZIP):
                raise BadInput(part, "a file packed by gzip", "pairs that can be read at random; unpack it first")
        self._parts = parts
        places: list[NDArray[np.int64]] = []
        follows, held_out, named = bytearray(), bytearray(), 0
        for part in parts:
            for number, line in lines(part, EXPECTED):
                pair = _pair(line, part, number)
                follows.append(pair.follows)
                named += pair.split != ""
                # the same number from 0 to 1 for all pairs of a document (of a first sentence if no document is named)
                drawn = int(hex_digest(pair.document or pair.first, 8), 16) / 2**32
                held_out.append(pair.split == "held-out" if pair.split else drawn < held_out_share)
            places.append(_places(part))
        if 0 < named < len(follows):
            raise BadInput(path, f"a split on {named:,} of {len(follows):,} lines", "one on every line or on none")
        self.follows: NDArray[np.bool_] = np.frombuffer(follows, dtype=np.bool_)
        self.held_out: NDArray[np.bool_] = np.frombuffer(held_out, dtype=np.bool_)
        self._part = np.repeat(np.arange(len(parts)), [len(offsets) for offsets in places])
        self._place = np.concatenate(places)

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.follows)

    def __getitem__(self, number: int) -> SentencePair:
        """A pair by its number, from 0."""
        file = self._files[self._part[number]]
        file.seek(self._place[number])
        return _pair(file.readline().decode("utf-8"), self._parts[self._part[number]], number + 1)

    def indices(self, *, held_out: bool) -> NDArray[np.int64]:
        """The numbers of the training or held-out pairs; refuses a part without both answers."""
        chosen = np.flatnonzero(self.held_out == held_out)
        following = int(self.follows[chosen].sum())
        if following in (0, len(chosen)):
            role = "held out" if held_out else "to train on"
            problem = f"{len(chosen):,} pairs {role}, of which {following:,} follow"
            raise BadInput(self.path, problem, "some that follow and some that do not")
        return chosen

    def digest(self) -> str:
        """One SHA-256 over all files."""
        total = hashlib.sha256()
        for file in self._files:
            file.seek(0)
            total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()


def _pair(line: str, path: Path, number: int) -> SentencePair:
    """The pair on a line; raises a BadInput that names the line."""
    from pydantic import ValidationError

    try:
        return jsonl.adapter(SentencePair).validate_json(line)
    except ValidationError as error:
        problem, expected = jsonl.explain(error, SentencePair)
        raise BadInput(path, problem, expected.replace("SentencePair", "a sentence pair"), number) from None


def _places(path: Path) -> NDArray[np.int64]:
    """The byte offset of each line that is not blank."""
    places = []
    with path.open("rb") as file:
        offset = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
        file.seek(offset)
        for raw in file:
            if raw.strip():
                places.append(offset)
            offset += len(raw)
    return np.array(places, dtype=np.int64)
