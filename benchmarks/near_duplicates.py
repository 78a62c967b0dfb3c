"""Near-duplicates among 100,000 sentences, against all pairs and against datasketch where it is installed.

python -m benchmarks.near_duplicates [--count 100000]
"""

import argparse
import importlib.util
import json
import random
import resource
import time
from collections.abc import Callable

from benchmarks.machine import RESULTS
from catsofa.data.language.near_duplicates import copies

FILE = RESULTS / "near_duplicates.json"
PAIRS_OF, SKETCHED = 2_000, 20_000
"""Texts that the two others are timed on: all pairs grow with the square of the count, datasketch in proportion."""
COPIES = 50
"""One text in so many is an earlier one with a word changed."""


def sentences(count: int) -> list[str]:
    """Sentences of six to eleven invented words."""
    rng = random.Random(0)
    sounds = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
    words = ["".join(rng.choices(sounds, k=rng.randint(1, 4))) for _ in range(5000)]
    made: list[str] = []
    for number in range(count):
        if number % COPIES == COPIES - 1:
            changed = rng.choice(made).split()
            changed[rng.randrange(len(changed))] += "x"
            made.append(" ".join(changed))
        else:
            made.append(" ".join(rng.choices(words, k=rng.randint(6, 11))))
    return made


def all_pairs(texts: list[str]) -> int:
    """Each text against each before it."""
    grams = [frozenset(text[i : i + 4] for i in range(len(text) - 3)) for text in texts]
    return sum(any(len(one & other) >= 0.8 * len(one | other) for other in grams[:at]) for at, one in enumerate(grams))


def with_datasketch(texts: list[str]) -> int:
    """MinHash in bulk and LSH, the same 64 hashes and threshold."""
    from datasketch import MinHash, MinHashLSH

    grams = [{text[i : i + 4].encode() for i in range(len(text) - 3)} for text in texts]
    index, found = MinHashLSH(threshold=0.8, num_perm=64), 0
    for at, sketch in enumerate(MinHash.bulk(grams, num_perm=64)):
        near = index.query(sketch)
        if any(len(grams[at] & grams[other]) >= 0.8 * len(grams[at] | grams[other]) for other in near):
            found += 1
        else:
            index.insert(at, sketch)
    return found


def seconds(work: Callable[[list[str]], object], texts: list[str]) -> float:
    """Processor seconds that `work` takes on the texts."""
    begin = time.process_time()
    work(texts)
    return time.process_time() - begin


def main() -> None:
    """Time the three, print them and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    count = parser.parse_args().count
    texts = sentences(count)
    counted: list[int] = []
    ours = seconds(lambda all_texts: counted.append(len(list(copies(all_texts)))), texts)
    found: dict[str, object] = {
        "sentences": count,
        "changed_copies": count // COPIES,
        "duplicates": counted[0],
        "core_seconds": round(ours, 1),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "all_pairs_ratio": round(seconds(all_pairs, texts[:PAIRS_OF]) * (count / PAIRS_OF) ** 2 / ours),
    }
    if importlib.util.find_spec("datasketch"):
        theirs = seconds(with_datasketch, texts[:SKETCHED]) * count / SKETCHED
        found["datasketch_ratio"] = round(theirs / ours, 1)
    print(json.dumps(found, indent=1))
    if count == 100_000:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
