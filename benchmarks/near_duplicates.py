"""Measures near-duplicate detection in 10,000, 100,000 and 1,000,000 sentences, against all pairs and datasketch.

python -m benchmarks.near_duplicates [--count 100000]
"""

import argparse
import importlib.util
import json
import random
import resource
import time
from collections.abc import Callable
from math import log10
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS
from catsofa.data.language.near_duplicates import copies
from catsofa.data.language.near_vectors import Vectors, near_vectors

FILE = RESULTS / "near_duplicates.json"
PAIRS_OF, SKETCHED = 2_000, 20_000
"""Numbers of texts for the two other ways: all pairs grow with the square of the count, datasketch linearly."""
COPIES = 50
"""One text in this many is an earlier text with one changed word."""


def sentences(count: int) -> list[str]:
    """Returns sentences of six to eleven invented words."""
    rng = random.Random(0)
    sounds = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
    words = ["".join(rng.choices(sounds, k=rng.randint(1, 4))) for _ in range(5000)]
    texts: list[str] = []
    for number in range(count):
        if number % COPIES == COPIES - 1:
            changed = rng.choice(texts).split()
            changed[rng.randrange(len(changed))] += "x"
            texts.append(" ".join(changed))
        else:
            texts.append(" ".join(rng.choices(words, k=rng.randint(6, 11))))
    return texts


def all_pairs(texts: list[str]) -> int:
    """Counts near-duplicates by comparing each text with every earlier text."""
    grams = [frozenset(text[i : i + 4] for i in range(len(text) - 3)) for text in texts]
    return sum(
        any(len(one & other) >= 0.8 * len(one | other) for other in grams[:place]) for place, one in enumerate(grams)
    )


def with_datasketch(texts: list[str]) -> int:
    """Counts near-duplicates with bulk MinHash and LSH, with 64 hashes and the threshold 0.8."""
    from datasketch import MinHash, MinHashLSH

    grams = [{text[i : i + 4].encode() for i in range(len(text) - 3)} for text in texts]
    index, count = MinHashLSH(threshold=0.8, num_perm=64), 0
    for place, sketch in enumerate(MinHash.bulk(grams, num_perm=64)):
        near = index.query(sketch)
        if any(len(grams[place] & grams[other]) >= 0.8 * len(grams[place] | grams[other]) for other in near):
            count += 1
        else:
            index.insert(place, sketch)
    return count


def vectors(count: int) -> Vectors:
    """Returns vectors around 200 topics; one in twenty is close to another vector."""
    rng = np.random.default_rng(0)
    topics, rows = rng.standard_normal((200, 256), np.float32), rng.standard_normal((count, 256), np.float32)
    rows += topics[rng.integers(200, size=count)]
    near = count // 20
    rows[:near] = rows[rng.integers(count, size=near)] + 0.3 * rng.standard_normal((near, 256), np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def seconds(work: Callable[[Any], object], data: object) -> float:
    """Returns the CPU seconds of `work` on `data`."""
    begin = time.process_time()
    work(data)
    return time.process_time() - begin


def main() -> None:
    """Times the three ways, and prints and stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    count = parser.parse_args().count
    texts = sentences(count)
    counted: list[int] = []
    by_size = [
        (
            seconds(lambda all_texts: counted.append(len(list(copies(all_texts)))), sentences(size)),
            seconds(lambda rows: near_vectors(rows, 0.85), vectors(size)),
        )
        for size in (count // 10, count, 10 * count)
    ]
    ours = by_size[1][0]
    figures: dict[str, object] = {
        "sentences": count,
        "changed_copies": count // COPIES,
        "duplicates": counted[1],
        "core_seconds": round(ours, 1),
        "core_seconds_a_tenth_once_ten_times": [round(words, 1) for words, _ in by_size],
        "core_seconds_of_vectors": [round(rows, 1) for _, rows in by_size],
        "growth_exponent_to_ten_times": round(log10(sum(by_size[2]) / sum(by_size[1])), 2),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "all_pairs_ratio": round(seconds(all_pairs, texts[:PAIRS_OF]) * (count / PAIRS_OF) ** 2 / ours),
    }
    if importlib.util.find_spec("datasketch"):
        theirs = seconds(with_datasketch, texts[:SKETCHED]) * count / SKETCHED
        figures["datasketch_ratio"] = round(theirs / ours, 1)
    print(json.dumps(figures, indent=1))
    if count == 100_000:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
