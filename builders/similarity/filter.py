"""Filters a folder of paraphrases by similarity; the scores stay on disk, so another cut needs no model."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from catsofa.builders.similarity import Cut, Models, Pair, Placed, Similarity, key_of, place, similarities
from catsofa.data.files import BadInput, atomic_write, jsonl
from catsofa.data.files.append_log import AppendLog
from catsofa.data.formats import read_as
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat
from catsofa.data.runs.ray_cluster import Cluster, Workers

CHUNK = 64
"""Pairs scored at a time, a few seconds of work; the scores are saved after each chunk."""

SCORES = "similarity.jsonl"
_PART = re.compile(r"(?:partition|review)_(\d+)")
"""The name of a file with paraphrases."""
NEEDED = ("key", "mean", "least", "chrf")

Scored = tuple[Pair, Similarity]
"""A pair with its score."""


def read_pairs(folder: Path | str, originals: Path | str) -> list[Pair]:
    """Reads every paraphrase of a folder (`partition_1.jsonl`, `review_1.jsonl`, …) with its original, joined by id."""
    by_id = {cat.id: cat for cat in read_as(originals, Cat)}
    named = ((_PART.fullmatch(path.stem), path) for path in Path(folder).glob("*.jsonl"))
    pairs = []
    for partition, path in sorted((int(match[1]), path) for match, path in named if match):
        for cat in jsonl.read(path, Cat) if path.stat().st_size else ():
            if cat.id not in by_id:
                raise BadInput(path, f"a CAT {cat.id!r} that is not in {originals}", "paraphrases of the CATs in it")
            pairs.append(Pair(partition, cat, by_id[cat.id]))
    if not pairs:
        raise BadInput(folder, "no paraphrases", "a folder with partition_1.jsonl, as `build paraphrases` writes it")
    return pairs


class Scores(AppendLog):
    """The scores of a folder, by key; scores from other folders are copied.

    A score without a checksum, from an earlier version, is computed again.
    """

    def __init__(self, path: Path | str, *paths: Path) -> None:
        super().__init__(path, "scores of similarity")
        self.known: dict[str, Similarity] = {}
        for line in self.read(*NEEDED, unchecked=False):
            self._keep(line)
        self.reused = 0
        for other in paths:
            if other.is_file() and other.resolve() != self.path.resolve():
                with AppendLog(other, self.expected) as log:
                    lines = log.read(*NEEDED, unchecked=False)
                    new = [line for line in lines if line["key"] not in self.known]
                for line in self.append(*new):
                    self._keep(line)

    def of(self, pairs: Iterable[Pair], models: Models) -> Iterator[tuple[Pair, Similarity]]:
        """Yields each pair with its similarity; unknown scores are computed chunk by chunk."""
        waiting = iter(pairs)
        while chunk := list(islice(waiting, CHUNK)):
            keys = [key_of(pair, models.signature) for pair in chunk]
            self.reused += sum(key in self.known for key in keys)
            if missing := self.missing(chunk, models.signature):
                self.add(missing, similarities(list(missing.values()), models))
            yield from zip(chunk, (self.known[key] for key in keys), strict=True)

    def missing(self, pairs: Iterable[Pair], signature: str) -> dict[str, Pair]:
        """Returns the pairs without a score by these models, by key."""
        keyed = {key_of(pair, signature): pair for pair in pairs}
        return {key: pair for key, pair in keyed.items() if key not in self.known}

    def add(self, keys: Iterable[str], scores: Iterable[Similarity]) -> None:
        """Saves the scores of the pairs with these keys, on disk first."""
        for line in self.append(*({"key": key} | asdict(one) for key, one in zip(keys, scores, strict=True))):
            self._keep(line)

    def _keep(self, line: dict[str, Any]) -> None:
        """Adds a line to the known scores."""
        self.known[line["key"]] = Similarity(
            mean=line["mean"],
            least=line["least"],
            chrf=line["chrf"],
            cross=line.get("cross"),
            contradiction=line.get("contradiction"),
            entailment=line.get("entailment"),
            things=line.get("things"),
        )


def score_on(cluster: Cluster, pairs: Iterable[Pair], folder: Path | str, out: Path | str, models: Models) -> None:
    """Computes on a cluster the scores that neither folder has, so that filtering loads no model here."""
    with (
        Scores(Path(out) / SCORES, Path(folder) / SCORES) as scores,
        Workers(partial(_start, models), cluster) as workers,
    ):
        waiting = iter(pairs)
        chunks = (scores.missing(chunk, models.signature) for chunk in iter(lambda: list(islice(waiting, CHUNK)), []))
        for missing, results in workers.map(chunk for chunk in chunks if chunk):
            scores.add(missing, results)


def _start(models: Models) -> tuple[str, Callable[[dict[str, Pair]], list[Similarity]]]:
    """Returns, in a worker, the signature of the models, and the function that compares a chunk of pairs."""
    return models.signature, lambda missing: similarities(list(missing.values()), models)


def filter_pairs(
    pairs: Iterable[Pair], folder: Path | str, out: Path | str, models: Models, cut: Cut, *, progress: Progress = SILENT
) -> Counter[str]:
    """Writes `out` with partitions, review queues, refusals and scores; returns the counts of each.

    Scores in either folder are reused, so a second call with another cut loads no model.
    """
    out = Path(out)
    if out.resolve() == Path(folder).resolve():
        raise ValueError(f"{out} holds the paraphrases to filter; name another folder to write")
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        scores = stack.enter_context(Scores(out / SCORES, Path(folder) / SCORES))
        listed = list(pairs)
        files = {
            (queue, number): stack.enter_context(atomic_write(out / f"{queue}_{number}.jsonl"))
            for queue in ("partition", "review")
            for number in sorted({pair.partition for pair in listed})
        }
        turned_away = stack.enter_context(atomic_write(out / "refused.jsonl"))
        for result in place(progress.each(scores.of(listed, models)), cut, models.signature):
            if isinstance(result, Placed):
                counts[f"{result.queue}_{result.partition}"] += 1
                files[result.queue, result.partition].write(jsonl.dumps(result.cat) + b"\n")
            else:
                counts[result.reason] += 1
                turned_away.write(jsonl.dumps(result) + b"\n")
        counts["scores reused"] = scores.reused
    for path in out.glob("*.jsonl"):  # of an earlier run with more partitions
        if _PART.fullmatch(path.stem) and path.stem not in {f"{queue}_{number}" for queue, number in files}:
            path.unlink()
    return counts
