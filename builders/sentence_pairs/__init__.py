"""Next-sentence pairs for training: a sentence with its successor, and with a sentence of another document.

A hash of the text assigns each document to train or held-out, and its negatives come from the same split. So no
document, and no copy of one, is in both.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from catsofa.builders.sentence_pairs.documents import Document, sentences
from catsofa.data.files import atomic_write, jsonl
from catsofa.data.formats.sentence_pairs import SentencePair
from catsofa.data.records import Refused

Split = Literal["train", "held-out"]
SPLITS: tuple[Split, ...] = get_args(Split)

WINDOW = 1000
"""Documents held in memory at a time; the negatives of each are drawn from the others."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_MARKUP = re.compile(r"#{1,6} |\|")
_END = re.compile(r"[.!?…。！？][\"'”’)\]」』）]*$")
TRIES = 1000
"""Maximum draws of a negative; with two documents, one draw in two hits the document itself."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on pairs: words in a sentence, and positives of one document."""

    shortest: int = 4
    longest: int = 60
    per_document: int | None = None

    def allow(self, sentence: str) -> bool:
        """Returns True if a sentence has an allowed length; two characters of a script without spaces are one word."""
        return self.shortest <= max(len(sentence.split()), len(_UNSPACED.findall(sentence)) // 2) <= self.longest


def split_of(text: str, held_out: float, seed: int = 0) -> Split:
    """Returns the split of a document, by its text and the seed alone."""
    return "held-out" if int.from_bytes(_digest(text, seed), "big") / 2**64 < held_out else "train"


def _digest(text: str, seed: int) -> bytes:
    """Returns eight hash bytes of a text and a seed, independent of white space."""
    return sha256(f"{seed}\n{' '.join(text.split())}".encode("utf-8", "surrogatepass")).digest()[:8]


def build(
    documents: Iterable[Document], *, held_out: float = 0.1, seed: int = 0, limits: Limits | None = None
) -> Iterator[SentencePair | Refused]:
    """Yields a positive and a negative for each sentence and its successor; the same seed gives the same pairs.

    The pairs are streamed. A document is refused if it is a duplicate, has no two usable sentences in a row, or is
    alone in its split.
    """
    if not 0 <= held_out < 1:
        raise ValueError(f"the held-out share is at least 0 and below 1; found {held_out}")
    limits = limits or Limits()
    sides = {split: _Side(split, limits, np.random.default_rng([seed, i])) for i, split in enumerate(SPLITS)}
    digests: set[bytes] = set()
    for document in documents:
        digest = _digest(document.text, seed)
        if digest in digests:
            yield Refused(id=document.name, reason="duplicate")
            continue
        digests.add(digest)
        yield from sides[split_of(document.text, held_out, seed)].take(document)
    for side in sides.values():
        yield from side.finish()


def _prose(texts: Sequence[str]) -> Iterator[int]:
    """Yields the numbers of the texts that are no heading and no row of a table.

    Where most texts end with a stop, one without a stop is a heading.
    """
    ended = [_END.search(text) is not None for text in texts]
    stops = 2 * sum(ended) >= len(texts)
    for number, text in enumerate(texts):
        if not _MARKUP.match(text) and (ended[number] or not stops):
            yield number


@dataclass(frozen=True, slots=True)
class _Part:
    """A document's sentences in order, the starts of its positives, and the sentences usable as negatives."""

    name: str
    sentences: tuple[str, ...]
    starts: tuple[int, ...]
    usable: tuple[int, ...]


@dataclass(slots=True)
class _Side:
    """The documents of one split that wait for others to draw negatives from."""

    split: Split
    limits: Limits
    rng: np.random.Generator
    waiting: list[_Part] = field(default_factory=list)
    last: list[_Part] = field(default_factory=list)

    def take(self, document: Document) -> Iterator[SentencePair | Refused]:
        """Adds a document; when the window is full, yields the pairs of all documents in it."""
        texts = tuple(sentences(document.text))
        usable = tuple(i for i in _prose(texts) if self.limits.allow(texts[i]))
        following = set(usable)
        starts = tuple(i for i in usable if i + 1 in following)
        if not starts:
            yield Refused(id=document.name, reason="too_few_sentences")
            return
        self.waiting.append(_Part(document.name, texts, starts, usable))
        if len(self.waiting) >= WINDOW:
            yield from self._pairs()
            self.last, self.waiting = self.waiting, []

    def finish(self) -> Iterator[SentencePair | Refused]:
        """Yields the pairs of the documents that still wait."""
        if len(self.waiting) + len(self.last) < 2:
            yield from (Refused(id=part.name, reason="alone_on_its_side") for part in self.waiting)
            return
        yield from self._pairs()

    def _pairs(self) -> Iterator[SentencePair]:
        """Yields the pairs of the waiting documents.

        Negatives are drawn from the waiting documents. If only one waits, they also come from the window before.
        """
        pool = self.waiting if len(self.waiting) > 1 else [*self.last, *self.waiting]
        for part in self.waiting:
            for start in self._chosen(part.starts):
                yield self._pair(part, start, part.sentences[start + 1])
                yield self._negative(part, start, pool)

    def _chosen(self, starts: tuple[int, ...]) -> list[int]:
        """Returns the positives of a document: all, or as many at random as the limit allows, in their order."""
        most = self.limits.per_document
        if most is None or len(starts) <= most:
            return list(starts)
        return sorted(int(start) for start in self.rng.choice(starts, most, replace=False))

    def _negative(self, part: _Part, start: int, pool: list[_Part]) -> SentencePair:
        """Returns the sentence with one of another document, but never its own successor.

        All other documents are equally likely.
        """
        for _ in range(TRIES):
            other = pool[self.rng.integers(len(pool))]
            second = other.sentences[int(self.rng.choice(other.usable))]
            if other is not part and second != part.sentences[start + 1]:
                return self._pair(part, start, second, other.name)
        raise ValueError(f"every other document beside {part.name!r} repeats its sentences; no negatives can be made")

    def _pair(self, part: _Part, start: int, second: str, other: str = "") -> SentencePair:
        """Returns a pair; a negative names the other document."""
        first = part.sentences[start]
        return SentencePair(
            first=first, second=second, follows=not other, split=self.split, document=part.name, other=other
        )


def write(outcomes: Iterable[SentencePair | Refused], folder: Path | str) -> Counter[str]:
    """Writes train.jsonl, held-out.jsonl and refused.jsonl, all complete or none; returns the counts."""
    counts: Counter[str] = Counter()
    with ExitStack() as opened:
        files = {
            name: opened.enter_context(atomic_write(Path(folder) / f"{name}.jsonl")) for name in (*SPLITS, "refused")
        }
        for record in outcomes:
            counts[record.split if isinstance(record, SentencePair) else record.reason] += 1
            files[record.split if isinstance(record, SentencePair) else "refused"].write(jsonl.dumps(record) + b"\n")
    return counts
