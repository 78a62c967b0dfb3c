"""Scores whole sets on one device, models of real size: python -m benchmarks.gpu [--shapes gpt2 bert-large] [--small].

Weights are random, since speed does not depend on values. Each shape scores the development and test set of StereoSet
end to end, from text to stored score. Causal models also score the grid of 1.49 million probes (or --probes). The
figures are seconds, tokens per second, memory, and the share of the matmul peak on this device in this run. For
comparison, a batched forward of transformers and the arithmetic of evaluate's perplexity score part of the same texts.
--small runs everything in miniature on a CPU, to test the script before a GPU is paid for.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch  # noqa: TID253  # a benchmark of torch has nothing else to do
import transformers  # noqa: TID253

from benchmarks import machine, texts
from benchmarks.shapes import SHARED, flops
from catsofa.data.formats import read_as
from catsofa.data.records import Cat, Probe
from catsofa.scoring.executors.local import LocalScorer, about
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.models.model import ANSWERS, Kind, Model
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.session import score_all

SUBJECTS, PROBES = 131, 1_490_000
"""Subjects and probes of the grid. SoFa's released data are four smaller grids with as many probes in total.

The number of stereotypes of this grid lies between those of the four.
"""
PEERS = 2048
"""The number of texts that other tools score."""


@dataclass(frozen=True)
class Shape:
    """The kind and the size of a model."""

    kind: Kind
    layers: int
    width: int
    heads: int
    inner: int
    vocabulary: int


SHAPES = {
    "gpt2": Shape("causal", 12, 768, 12, 3072, 50257),
    "gpt2-xl": Shape("causal", 48, 1600, 25, 6400, 50257),
    "bert-large": Shape("masked", 24, 1024, 16, 4096, 30522),
    "llama-2-7b": Shape("causal", 32, 4096, 32, 11008, 32000),
}
SMALL = Shape("causal", 2, 64, 2, 128, 0)


def built(name: str, shape: Shape, device: str, dtype: torch.dtype) -> Model:
    """Returns a model with random weights, created on its device."""
    config = configured(name, shape)
    torch.manual_seed(0)
    with torch.device(device):
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            loader = transformers.AutoModelForMaskedLM if shape.kind == "masked" else transformers.AutoModelForCausalLM
            module = loader.from_config(config)
        finally:
            torch.set_default_dtype(before)
    folder = "bert-base-uncased" if shape.kind == "masked" else "gpt2"
    return Model(
        name=name,
        kind=shape.kind,
        module=module.eval().requires_grad_(False),
        tokenizer=transformers.AutoTokenizer.from_pretrained(SHARED / "models/tokenizers" / folder),
        device=device,
        dtype=str(dtype).removeprefix("torch."),
        digest="random",
        answers=frozenset(ANSWERS[shape.kind]),
    )


def configured(name: str, shape: Shape) -> Any:
    """Returns the configuration of this architecture at this size."""
    sizes = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.inner,
    }
    if shape.kind == "masked":
        return transformers.BertConfig(**sizes)
    if name.startswith("llama"):
        # only GPT-2's tokenizer is available, not Llama's: 0.5 % more products for a 7B model
        return transformers.LlamaConfig(**(sizes | {"vocab_size": max(shape.vocabulary, 50257)}), bos_token_id=50256)
    return transformers.GPT2Config(
        vocab_size=shape.vocabulary, n_embd=shape.width, n_layer=shape.layers, n_head=shape.heads
    )


def triples() -> list[Cat]:
    """Returns the available intrasentence CATs of StereoSet (development, test); without any, made-up ones."""
    cats: list[Cat] = []
    for name in ("dev.json", "test_intrasentence.json"):
        if (place := SHARED / "data/stereoset" / name).exists():
            cats += [cat for cat in read_as(place, Cat) if cat.kind == "intrasentence"]
    return cats or texts.cats(SHARED, 2106)


def grid(count: int) -> Iterator[Probe]:
    """Yields `count` probes, subject by subject."""
    predicates = texts.stereotypes(SHARED, 100_000)
    habits = max(1, min(len(predicates), count // SUBJECTS))
    subjects = (f"{who} of {place}" for place in range(10_000) for who in texts.identities(100))
    every = (Probe(category="x", identity=who, stereotype=habit) for who in subjects for habit in predicates[:habits])
    return islice(every, count)


class Kept:
    """A run that keeps scores in memory."""

    def __init__(self) -> None:
        self.scores: dict[str, float | None] = {}

    def done(self, ids: Sequence[str]) -> set[str]:
        """Returns the ids that have scores."""
        return {key for key in ids if key in self.scores}

    def chunks(self) -> list[tuple[int, float]]:
        """Returns an empty list: no chunk was scored before."""
        return []

    def self_checks(self) -> dict[str, Any]:
        """Returns an empty dictionary: no self-check ran before."""
        return {}

    def add(self, scores: Sequence[Any], *_: Any) -> None:
        """Stores scores in memory."""
        self.scores.update((score.item, score.score) for score in scores)

    folder = None

    def note(self, *_: Any, **__: Any) -> None:
        """Does nothing."""


def peak(device: str, dtype: torch.dtype) -> float:
    """Returns the TFLOP/s of a large square matrix product on this device."""
    side = 8192 if device != "cpu" else 1024
    a, b = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    seconds = [timed(lambda: a @ b, device) for _ in range(8)]
    return 2 * side**3 / min(seconds) / 1e12


def timed(work: Callable[[], Any], device: str) -> float:
    """Returns the wall-clock seconds of a call; the queue of the device is empty before and after."""
    synchronize = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    synchronize()
    begun = time.perf_counter()
    work()
    synchronize()
    return time.perf_counter() - begun


def whole(model: Model, records: Callable[[], Iterator[Any]], top: float) -> dict[str, Any]:
    """Scores one set end to end with catsofa and returns the figures."""
    backend, run = Backend(model), Kept()
    if model.device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()

    def work() -> None:
        measure, scorer = measure_of(type(next(records()))), LocalScorer(backend, DEFAULT, about=about(model))
        score_all(scorer, measure, records(), run)  # type: ignore[arg-type]  # a stand-in

    seconds, tally = timed(work, model.device), backend.tally
    states = tally.forwarded if model.kind == "causal" else tally.rows
    reached = flops(model.module, tally.forwarded, states) / seconds / 1e12
    return {
        "scores": len(run.scores),
        "unscored": sum(score is None for score in run.scores.values()),
        "seconds": seconds,
        "scored tokens a second": tally.scored / seconds,
        "forwarded tokens a second": tally.forwarded / seconds,
        "nodes a scored token": tally.forwarded / max(1, tally.scored),
        "tflops on forwarded tokens": reached,
        "percent of peak": 100 * reached / top,
        "memory GiB": torch.cuda.max_memory_allocated() / 2**30 if model.device.startswith("cuda") else None,
        "halvings": tally.halvings,
    }


@torch.inference_mode()
def forwarded(model: Model, sentences: Sequence[str], batch: int, *, longest_first: bool) -> float:
    """Returns the texts per second of padded batches with all their logits.

    Sorted by length, this is the code of a careful user of transformers. In the order of arrival, with all texts padded
    to the longest of all, this is the work of evaluate's perplexity.
    """
    tokenizer = model.tokenizer
    rows = [[tokenizer.eos_token_id, *ids] for ids in tokenizer(list(sentences))["input_ids"]]
    rows = sorted(rows, key=len, reverse=True) if longest_first else rows
    longest = max(map(len, rows))

    def work() -> None:
        for low in range(0, len(rows), batch):
            part = rows[low : low + batch]
            width = max(map(len, part)) if longest_first else longest
            ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in part], device=model.device)
            mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in part], device=model.device)
            logits = model.module(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
            losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
            (losses * mask[:, 1:]).sum(1).tolist()

    return len(rows) / timed(work, model.device)


def measure(name: str, shape: Shape, device: str, dtype: torch.dtype, probes: int, cats: list[Cat]) -> dict[str, Any]:
    """Returns the figures of one shape: catsofa on the sets, and other tools on part of them."""
    model, top = built(name, shape, device, dtype), peak(device, dtype)
    figures: dict[str, Any] = {"peak tflops": top, "dtype": str(dtype).removeprefix("torch.")}
    figures["StereoSet"] = whole(model, lambda: iter(cats), top)
    if shape.kind == "causal":
        figures["grid"] = whole(model, lambda: grid(probes), top)
        some = [probe.text for probe in grid(probes)][:: max(1, probes // PEERS)][:PEERS]
        figures["texts a second"] = {
            "ours": figures["grid"]["scores"] / figures["grid"]["seconds"],
            "transformers, sorted batches of 256": forwarded(model, some, 256, longest_first=True),
            "as evaluate's perplexity, 16": forwarded(model, some, 16, longest_first=False),
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--probes", type=int, default=PROBES)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--small", action="store_true", help="every shape in miniature, 500 probes, 20 CATs")
    parser.add_argument("--save", action="store_true", help="keep the figures in results/gpu.json")
    options = parser.parse_args()
    if options.device == "cpu" and not options.small:
        parser.error("no GPU here: a 7B model would take days; --small runs all of it in miniature")
    cats = triples()[:20] if options.small else triples()
    name = torch.cuda.get_device_name() if options.device.startswith("cuda") else "cpu"
    for each in options.shapes:
        shape = SHAPES[each]
        if options.small:
            shape = Shape(shape.kind, SMALL.layers, SMALL.width, SMALL.heads, SMALL.inner, shape.vocabulary)
        figures = measure(
            each, shape, options.device, getattr(torch, options.dtype), 500 if options.small else options.probes, cats
        )
        print(each, json.dumps(machine.rounded(figures), indent=1), flush=True)
        if options.save:
            machine.save("gpu", each, figures | {"device": name, "machine": machine.facts()})


if __name__ == "__main__":
    main()
