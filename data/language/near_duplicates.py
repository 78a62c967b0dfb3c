"""Near-duplicates: long texts that share most of their letters, and short texts with the same meaning.

Long texts are compared by their four-letter pieces: the similarity is the Jaccard index of the two sets of pieces.
Short texts are near-duplicates if their words mean the same (`same_meaning.core`), if one misspells the other, or if
their vectors (if any) are near. A negation, number, modal, name or opposite in only one of two texts prevents a match.
The builders' filter, proposals, lint, splits and the leakage check use this module.

The rules of meaning and spelling are for English. Texts in another language are compared by their pieces; short ones
must have the same words. A figure in only one text prevents a match, and so does a negation, a quantity or a word for
people in the lists of the language's folder. Texts in two languages are never near-duplicates.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.language.near_vectors import Vectors, near_vectors
from catsofa.data.language.same_meaning import Core, core, one_word_apart, plainly, respelt, same_claim, same_quantity
from catsofa.data.language.words import words
from catsofa.data.languages.texts import ENGLISH, set_apart, spaced
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat, Identity, Pair, Statement, Stereotype, Term

NEAR = 0.8
"""Minimum Jaccard similarity of two long near-duplicates."""
ALIKE = 0.85
"""Minimum cosine similarity of two short near-duplicates, if no difference in their words prevents the match."""
ONE_WORD_ALIKE = 0.9
"""The same for texts that differ in one word: "Mimps are polite" and "Mimps are friendly" have 0.88."""
SHORT = 8
"""Maximum words of a short text."""
Encode = Callable[[Sequence[str]], Vectors]
"""A function from texts to vectors: one row of length one per text."""
PIECE = 4
BITS = 256
"""Bits of a text's bitmap."""
ROUNDING = 1e-9
MANY = 65_536
"""Number of texts above which MinHash sketches are used: the rarest pieces of so many texts are no longer rare."""
MISSED = 1e-3
"""Maximum share of pairs at the threshold that sketches may miss; more similar pairs are missed less often."""
ROWS, MOST_BANDS = 5, 128
"""Numbers per band of a sketch, and the number of bands above which the rarest pieces are cheaper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicate:
    """Two contents, by their positions (`first` comes first), and their similarity."""

    first: int
    second: int
    similarity: float


COMPARED = (Cat, Pair, Stereotype, Statement)
"""The record types that lint and splits compare; probes are left out, since they are similar by design."""


def content(record: Any) -> str:
    """The text by which two records of a kind are compared: context and options, both sentences, or the text."""
    match record:
        case Cat():
            options = (c.fill or c.text for c in (record["stereotype"], record["anti-stereotype"]))
            return " ".join([record.context, *options])
        case Pair():
            return f"{record.more} {record.less}"
        case Stereotype():
            return record.text
        case Statement():
            return record.statement
        case Identity():
            return record.identity
        case Term():
            return record.term
    raise ValueError(
        f"{type(record).__name__} records are not compared for what they say; give CATs, pairs, statements or "
        "stereotypes, and compare the stereotypes or the identities before probes are made of them"
    )


def near_duplicates(
    texts: Sequence[str],
    near: float = NEAR,
    progress: Progress = SILENT,
    encode: Encode | None = None,
    languages: Sequence[str] = (),
) -> Iterator[NearDuplicate]:
    """Every pair of near-duplicate texts; `encode` computes the vectors of short English texts.

    `languages` has the language code of each text; by default all texts are English.
    """
    detector = _Detector(texts, near, encode, languages)
    for place in progress.each(range(len(texts))):
        yield from sorted(detector.like(place), key=lambda pair: pair.first)
        detector.add(place)


def copies(
    texts: Sequence[str],
    near: float = NEAR,
    progress: Progress = SILENT,
    encode: Encode | None = None,
    languages: Sequence[str] = (),
) -> Iterator[NearDuplicate]:
    """Every text (`second`) that is near an earlier kept text, with the most similar kept text (`first`)."""
    detector = _Detector(texts, near, encode, languages)
    for place in progress.each(range(len(texts))):
        if best := max(detector.like(place), key=lambda pair: (pair.similarity, -pair.first), default=None):
            yield best
        else:
            detector.add(place)


def near_duplicates_between(
    texts: Sequence[str],
    other_texts: Sequence[str],
    near: float = NEAR,
    progress: Progress = SILENT,
    languages: Sequence[str] = (),
) -> Iterator[NearDuplicate]:
    """The pairs of one text in `texts` (`first`) and one in `other_texts` (`second`); `languages` covers both lists."""
    for pair in near_duplicates([*texts, *other_texts], near, progress, languages=languages):
        if pair.first < len(texts) <= pair.second:
            yield NearDuplicate(first=pair.first, second=pair.second - len(texts), similarity=pair.similarity)


class _Detector:
    """The texts added so far, indexed by letters, words and vectors."""

    def __init__(self, texts: Sequence[str], near: float, encode: Encode | None, languages: Sequence[str]) -> None:
        self.texts = texts
        self.languages = languages or [ENGLISH] * len(texts)
        english = [language == ENGLISH for language in self.languages]
        pairs = list(zip(texts, english, strict=True))
        self.letters = _Index([(is_english and plainly(text).strip()) or text for text, is_english in pairs], near)
        self.short = [_size(text, code) <= SHORT for text, code in zip(texts, self.languages, strict=True)]
        self.said: dict[Core, list[int]] = defaultdict(list)
        self.added: set[int] = set()
        short = np.flatnonzero([a and b for a, b in zip(self.short, english, strict=True)])
        neighbours = near_vectors(encode([texts[place] for place in short]), ALIKE) if encode and len(short) else {}
        self.near = {int(short[own]): [(int(short[p]), c) for p, c in matches] for own, matches in neighbours.items()}

    def like(self, place: int) -> Iterator[NearDuplicate]:
        """The near-duplicates of this text among the texts added so far."""
        text, language, similarities = self.texts[place], self.languages[place], dict[int, float]()
        for pair in self.letters.like(place):
            other = self.texts[pair.first]
            short = self.short[place] or self.short[pair.first]
            if language != self.languages[pair.first]:
                continue
            if language != ENGLISH:
                same = words(text) == words(other) if short else not set_apart(text, other, language)
            else:
                same = respelt(text, other) if short else same_quantity(text, other)
            if same:
                similarities[pair.first] = pair.similarity
        if self.short[place] and language == ENGLISH:
            by_core = dict.fromkeys(self.said.get(core(text), ()), 1.0)
            by_vector = {
                first: cosine
                for first, cosine in self.near.get(place, ())
                if first in self.added and (cosine >= ONE_WORD_ALIKE or not one_word_apart(text, self.texts[first]))
            }
            for first, similarity in (by_vector | by_core).items():
                if same_claim(text, self.texts[first]):
                    similarities[first] = max(similarity, similarities.get(first, 0.0))
        for first, similarity in similarities.items():
            yield NearDuplicate(first=first, second=place, similarity=similarity)

    def add(self, place: int) -> None:
        """Let later texts be compared with this one."""
        self.letters.add(place)
        self.added.add(place)
        if self.short[place] and self.languages[place] == ENGLISH:
            self.said[core(self.texts[place])].append(place)


def _size(text: str, language: str) -> float:
    """The number of words of a text; in languages without spaces, half the number of characters."""
    return len(words(text)) if spaced(language) else sum(letter.isalnum() for letter in text) / 2


class _Index:
    """The texts added so far, indexed by keys that similar texts share.

    For few texts, the keys are the rarest pieces: two similar texts share one of their ceil((1 - near) * size) + 1
    rarest pieces (the prefix filter of Bayardo et al. 2007), so no similar pair is missed. For many texts, the keys
    are the bands of a MinHash sketch (Broder 1997): a pair at the threshold shares one with a probability of at
    least 1 - MISSED. If two texts differ in d pieces, at most d bits of their bitmaps differ (Sandes et al. 2020).
    Only pairs that pass both filters are compared by all their pieces.
    """

    def __init__(self, texts: Sequence[str], near: float) -> None:
        if not 0 < near <= 1:
            raise ValueError(f"near is a share above 0 and up to 1, not {near:g}")
        self.near = near
        self.pieces, self.starts = _pieces(texts)
        self.sizes = np.diff(self.starts)
        # 256 bits for each text; each piece flips one bit
        bits = np.zeros((len(self.starts) - 1, BITS // 64), dtype=np.uint64)
        place = (self.pieces.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56)
        flipped = np.uint64(1) << (place & np.uint64(63))
        for word in range(bits.shape[1] if len(bits) else 0):
            own = np.where(place >> np.uint64(6) == word, flipped, np.uint64(0))
            bits[:, word] = np.bitwise_xor.reduceat(own, self.starts[:-1])
        self.bits = bits
        bands = ceil(log(MISSED) / log(1 - near**ROWS)) if near < 1 else 1
        sketched = len(texts) > MANY and bands <= MOST_BANDS
        self.bands = _bands(self.pieces, self.starts, bands) if sketched else None
        self.places: dict[int, list[int]] = defaultdict(list)

    def of(self, place: int) -> list[int]:
        """The pieces of a text, rarest first."""
        own: list[int] = self.pieces[self.starts[place] : self.starts[place + 1]].tolist()
        return own

    def shared(self, place: int) -> list[int]:
        """The keys that a similar text shares: bands that another text also has, or the rarest pieces."""
        if self.bands is not None:
            return [band for band in self.bands[place].tolist() if band >= 0]
        own = self.of(place)
        return own[: len(own) - ceil(self.near * len(own) - ROUNDING) + 1]

    def like(self, place: int) -> Iterator[NearDuplicate]:
        """The texts added so far whose similarity to this one reaches the threshold."""
        tried: set[int] = set()
        for key in self.shared(place):
            tried.update(self.places.get(key, ()))
        if not tried:
            return
        pieces = frozenset(self.of(place))
        size = len(pieces)
        likely = np.fromiter(tried, dtype=np.int64, count=len(tried))
        differ = np.bitwise_count(self.bits[likely] ^ self.bits[place]).sum(axis=1)
        most = (size + self.sizes[likely]) * (1 - self.near) / (1 + self.near) + ROUNDING
        for first in likely[differ <= most].tolist():
            both = len(pieces.intersection(self.of(first)))
            similarity = both / (size + int(self.sizes[first]) - both)
            if similarity >= self.near:
                yield NearDuplicate(first=first, second=place, similarity=similarity)

    def add(self, place: int) -> None:
        """Let later texts be compared with this one."""
        for key in self.shared(place):
            self.places[key].append(place)


def _bands(pieces: NDArray[np.int64], starts: NDArray[np.int64], bands: int) -> NDArray[np.int64]:
    """A number for each band of each text's sketch: equal bands share a number, -1 if no other text has the band."""
    rng, kinds = np.random.default_rng(0), int(pieces.max()) + 1
    numbers = np.empty((len(starts) - 1, bands), dtype=np.int64)
    used = 0
    for band in range(bands):
        mixed: NDArray[np.uint64] = np.zeros(len(starts) - 1, dtype=np.uint64)
        for _ in range(ROWS):
            order = rng.permutation(kinds).astype(np.uint32)
            least = np.minimum.reduceat(order[pieces], starts[:-1]).astype(np.uint64)
            mixed = (mixed ^ least) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        _, own, texts = np.unique(mixed, return_inverse=True, return_counts=True)
        numbers[:, band] = np.where(texts[own] > 1, own + used, -1)
        used += len(texts)
    return numbers


def _pieces(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct pieces of each text as numbers, rarest first, and the start of each text in that array."""
    if not texts:
        return np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    lines = [_line(text) for text in texts]
    letters = np.frombuffer("".join(lines).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    number = np.unique(letters, return_inverse=True)[1].astype(np.uint64)
    count = number.max() + np.uint64(1)
    lengths = np.array([len(line) for line in lines])
    ends = np.cumsum(lengths)
    whole = np.arange(len(number)) <= np.repeat(ends - PIECE, lengths)
    code = number.copy()
    for shift in range(1, PIECE):
        code[:-shift] = code[:-shift] * count + number[shift:]
    text = np.repeat(np.arange(len(lines)), lengths)[whole]
    piece = np.unique(code[whole], return_inverse=True)[1]
    kinds = int(piece.max()) + 1
    once = np.unique(text * kinds + piece)
    text, piece = once // kinds, once % kinds
    common = np.bincount(piece, minlength=kinds)
    rank = np.empty(kinds, dtype=np.int64)
    rank[np.argsort(common, kind="stable")] = np.arange(kinds)
    ranked = np.sort(text * kinds + rank[piece])
    starts = np.zeros(len(lines) + 1, dtype=np.int64)
    np.cumsum(np.bincount(text, minlength=len(lines)), out=starts[1:])
    return ranked % kinds, starts


def _line(text: str) -> str:
    """A text's words in lower case with a space at each end; for a text without words, the text itself."""
    line = " ".join(words(text)) or " ".join(text.split())
    return f" {line} ".ljust(PIECE, "\0")
