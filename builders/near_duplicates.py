"""Texts that are nearly the same: MinHash bands find the candidates, exact Jaccard similarity decides.

The Jaccard similarity of two texts is the share of their 4-character sequences that both have. A text is a duplicate of
the earlier kept text that it is most like, if that reaches the threshold; so the first of its kind always stays.

A text is compared with the kept ones that agree with it in two bands and stand in a bucket with it. A bucket is all
texts of one key in one band; it takes the first hundred that are kept, so the work for a text has a limit. For the
texts of StereoSet, CrowS-Pairs and BiasAsker it changes nothing, at thresholds from 0.5. The sentences of one template
fill the buckets that its unchanging words decide, and meet in the others by what differs: no duplicate is false, but of
two sentences hardly more alike than any two of their template both may stay.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Cat, Refused

GRAM = 4
"""Characters in a sequence."""

HASHES = 64
"""Random orders of all sequences; two texts share the first one with the probability of their similarity."""

BANDS_MET = 2
"""Bands in which two texts must agree before they are compared: one is too often chance."""

RECALL = 0.99
"""Least probability with which a pair exactly at the threshold is found, where no bucket is full."""

BUCKET = 100
"""Kept texts that a bucket takes: so many that agree and yet all stay have the words of a template in common."""

_CHUNK = 8_000
"""Texts hashed at a time: their sequences fit the cache."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The text at `index` is nearly the one at `of`, which comes before it."""

    index: int
    of: int
    jaccard: float


def near_duplicates(texts: Iterable[str], threshold: float = 0.8, seed: int = 0) -> list[Duplicate]:
    """Every text that is at least `threshold` like an earlier one that stays, in order."""
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold is a share above 0 and up to 1, not {threshold:g}")
    listed = [_plain(text) for text in texts]
    first: dict[str, int] = {}
    again = [(i, at) for i, text in enumerate(listed) if (at := first.setdefault(text, i)) != i]
    bands = band_keys(list(first), rows_in_a_band(threshold), np.random.default_rng(seed))
    found = {d.index: d for d in _verified(list(first.items()), bands, threshold)}
    for i, at in again:
        found[i] = Duplicate(i, found[at].of, found[at].jaccard) if at in found else Duplicate(i, at, 1.0)
    return [found[i] for i in sorted(found)]


def rows_in_a_band(threshold: float) -> int:
    """The most rows with which two bands of a pair at the threshold are equal as often as the recall asks.

    All r rows are equal with the probability p = s^r; of b = 64 // r bands, none is with (1 - p)^b and exactly one with
    b·p·(1 - p)^(b-1).
    """
    for rows in (8, 4, 3, 2):
        same, bands = threshold**rows, HASHES // rows
        if 1 - (1 - same) ** bands - bands * same * (1 - same) ** (bands - 1) >= RECALL:
            return rows
    return 1


def band_keys(texts: Sequence[str], rows: int, rng: np.random.Generator) -> NDArray[np.uint64]:
    """For each text one key a band; two texts whose keys are equal in a band have `rows` minima in common."""
    bands = HASHES // rows
    multiply, add, mix = (
        rng.integers(0, 2**64, size, dtype=np.uint64) | np.uint64(1) for size in (HASHES, HASHES, rows)
    )
    keys = np.empty((len(texts), bands), dtype=np.uint64)
    for begin in range(0, len(texts), _CHUNK):
        chunk = texts[begin : begin + _CHUNK]
        minima = _minima(*_grams(chunk), multiply, add)[: bands * rows].reshape(bands, rows, len(chunk))
        keys[begin : begin + len(chunk)] = (minima * mix[None, :, None]).sum(axis=1, dtype=np.uint64).T
    return keys


def _grams(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """A number for each 4-character sequence of all texts, and where each text's begin; short texts are filled up."""
    padded = [text + " " * (GRAM - 1) for text in texts]
    points = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    numbers = points.copy()
    for shift in range(1, GRAM):
        numbers[: len(points) - shift] = numbers[: len(points) - shift] * np.uint64(0x100000001B3) + points[shift:]
    lengths = np.array([len(text) for text in padded])
    starts = np.cumsum(lengths) - lengths
    last = np.repeat(starts + lengths - GRAM, lengths) >= np.arange(len(points))
    kept = np.cumsum(last) - 1
    return numbers[last], kept[starts]


def _minima(
    grams: NDArray[np.uint64], starts: NDArray[np.intp], multiply: NDArray[np.uint64], add: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The least hash of each text's sequences under each hash function, a·x + b modulo 2⁶⁴ with an odd a."""
    found = np.empty((HASHES, len(starts)), dtype=np.uint64)
    hashed = np.empty_like(grams)
    for number in range(HASHES):
        np.multiply(grams, multiply[number], out=hashed)
        hashed += add[number]
        np.minimum.reduceat(hashed, starts, out=found[number])
    return found


def _verified(texts: Sequence[tuple[str, int]], bands: NDArray[np.uint64], threshold: float) -> list[Duplicate]:
    """The candidates that are as alike as they must be, by their sequences."""
    kept: dict[tuple[int, int], list[int]] = defaultdict(list)
    grams: dict[int, frozenset[str]] = {}
    found = []
    for at, shared in _candidates(bands):
        buckets = [kept[band, int(bands[at, band])] for band in shared]
        met = np.array(list(set().union(*buckets)), dtype=np.intp)
        likely = met[(bands[met] == bands[at]).sum(axis=1) >= BANDS_MET].tolist()
        own = _gram_set(texts[at][0])
        best = max(((_jaccard(own, grams[other]), -other) for other in likely), default=(0.0, 0))
        if best[0] >= threshold:
            found.append(Duplicate(texts[at][1], texts[-best[1]][1], best[0]))
        else:
            grams[at] = own
            for bucket in buckets:
                if len(bucket) < BUCKET:
                    bucket.append(at)
    return found


def _candidates(bands: NDArray[np.uint64]) -> Iterator[tuple[int, list[int]]]:
    """Each text that shares the keys of enough bands with others, in order, and those bands."""
    shared = np.zeros(bands.shape, dtype=bool)
    for band in range(bands.shape[1]):
        order = np.argsort(bands[:, band])
        same = np.diff(bands[order, band]) == 0
        shared[order[1:][same], band] = shared[order[:-1][same], band] = True
    for at in np.flatnonzero(shared.sum(axis=1) >= BANDS_MET).tolist():
        yield at, np.flatnonzero(shared[at]).tolist()


def _gram_set(text: str) -> frozenset[str]:
    """The 4-character sequences of a text."""
    padded = text + " " * (GRAM - 1)
    return frozenset(padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Sequences that both have, by sequences that either has."""
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def _plain(text: str) -> str:
    """A text in lower case, with single spaces; one space if there is nothing else."""
    return " ".join(text.lower().split()) or " "


def without_near_duplicates(
    records: Iterable[Any], text_of: Callable[[Any], str], threshold: float = 0.8, seed: int = 0
) -> Iterator[Any]:
    """Each record that stays, and a refusal for each that is nearly an earlier one."""
    listed = list(records)
    duplicates = {d.index: d for d in near_duplicates(map(text_of, listed), threshold, seed)}
    for index, record in enumerate(listed):
        if index not in duplicates:
            yield record
            continue
        found = duplicates[index]
        source = {"of": listed[found.of].id}
        yield Refused(id=record.id, reason="near_duplicate", text=text_of(record), score=found.jaccard, source=source)


def text_of(record: Any) -> str:
    """The text by which a record is told from others: a CAT's context and stereotype, a pair's first sentence."""
    if isinstance(record, Cat):
        return f"{record.context} {record['stereotype'].text}"
    for name in ("more", "text", "statement", "identity", "term"):
        if isinstance(text := getattr(record, name, None), str):
            return text
    raise ValueError(f"a {type(record).__name__} has no text to compare")
