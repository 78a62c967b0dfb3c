"""Measures the cost of several protocols together and one by one: python -m benchmarks.multiverse.

Models have random weights and a real shape and vocabulary. The figures are the CPU seconds of one thread and the
forwarded tokens of one chunk. A family contains protocols with queries in common. The joint pass of a family is
compared with its most expensive protocol.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # a benchmark of torch has nothing else to do

from benchmarks import machine, shapes, texts
from catsofa.scoring.executors.local import LocalScorer, about
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models import load
from catsofa.scoring.protocols import named

FILE = machine.RESULTS / "multiverse.json"
PSEUDO = "catsofa,masked=pseudo"
FAMILIES = {
    "CATs, causal, after a start token": ("gpt2", texts.cats, ("catsofa", "stereoset-acl")),
    "CATs, causal, without one": ("gpt2", texts.cats, ("stereoset-v1", "stereoset-code", "bias-bench", "repro-004")),
    "CATs, masked, left to right": ("bert", texts.cats, ("catsofa", "stereoset-v1", "stereoset-acl", "repro-004")),
    "CATs, masked, released rows": ("bert", texts.cats, ("stereoset-code", "bias-bench")),
    "CATs, masked, pseudo-likelihood": ("bert", texts.cats, (PSEUDO, f"{PSEUDO},pseudo=plain", f"{PSEUDO},length=sum")),
    "pairs, masked, pseudo-likelihood": ("bert", texts.pairs, ("catsofa", "bias-bench", "crows-pairs")),
}
"""Name to the shape of the model, the function that returns its records, and the protocols."""


def cost(folder: Path, records: list[Any], names: tuple[str, ...]) -> tuple[int, float]:
    """Returns the forwarded tokens and the CPU seconds of one pass by these protocols, with a newly loaded model."""
    backend = Backend(load(str(folder)))
    scorer = LocalScorer(backend, *map(named, names), about=about(backend.model))
    list(scorer.score([records[:1]], None))  # warm-up: one-time preparation of the model
    before = backend.tally.forwarded
    seconds = machine.cpu_seconds(lambda: list(scorer.score([records], None)))
    return backend.tally.forwarded - before, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--size", choices=shapes.SIZES, default="small")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures: dict[str, Any] = {"machine": machine.facts(), "items": options.items, "size": options.size, "families": {}}
    with tempfile.TemporaryDirectory() as work:
        folders = {shape: getattr(shapes, shape)(options.size, Path(work, shape)) for shape in ("gpt2", "bert")}
        for name, (shape, source, protocols) in FAMILIES.items():
            records = list(source(shapes.SHARED, options.items))
            alone = {one: cost(folders[shape], records, (one,)) for one in protocols}
            tokens, seconds = cost(folders[shape], records, protocols)
            dearest, slowest = max(each for each, _ in alone.values()), max(each for _, each in alone.values())
            figures["families"][name] = {
                "tokens": {each: count for each, (count, _) in alone.items()} | {"together": tokens},
                "cpu_s": {each: round(cpu, 2) for each, (_, cpu) in alone.items()} | {"together": round(seconds, 2)},
                "times_the_dearest": {"tokens": round(tokens / dearest, 2), "cpu_s": round(seconds / slowest, 2)},
            }
            print(name, json.dumps(figures["families"][name]), flush=True)
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
