"""Measures the speed of SEAT's p-values and encodings: python -m benchmarks.seat [--tests FOLDER] [--size base].

p-values: the 15 released sentence tests at their sizes, against a loop over 100,000 shuffled splits. The error of the
computed p-values is measured against exact counting. Encoding: random weights of BERT's size over the same tests,
against one forward per sentence and test in the same precision, as in the papers' code. Times are CPU seconds of one
thread.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import transformers  # noqa: TID253  # a benchmark of models has nothing else to do
from numpy.typing import NDArray

from benchmarks import loops, machine, shapes
from catsofa.data import formats
from catsofa.data.records import AssociationTest
from catsofa.scoring import models, vectors
from catsofa.scoring.measures.seat import encode_once
from catsofa.scoring.measures.seat.permutation_test import p_value

SHARED = Path(os.environ.get("CATSOFA_SHARED", Path(__file__).parent.parent.parent / "shared"))
TARGETS = (350, 64, 330, 256, 195, 128, 128, 195, 64, 80, 72, 72, 56, 56, 18)
"""The number of targets on each side of the released sentence tests."""
SPLITS = 100_000
SHAPES = {"base": (12, 768, 12, 3072), "small": (4, 256, 4, 1024)}
"""Layers, width, heads, inner width."""

Scores = NDArray[np.float64]


def scores(n: int, rng: np.random.Generator, shift: float = 0.2) -> tuple[Scores, Scores]:
    return rng.normal(shift, 1, n), rng.normal(0, 1, n)


def loop(x: Scores, y: Scores) -> float:
    """Returns the p-value by the loop of the papers: shuffle in place, sum over the first half, count."""
    both, n = np.concatenate([x, y]), len(x)
    places, observed, hits = np.arange(2 * n), x.sum(), 1
    for _ in range(SPLITS - 1):
        np.random.shuffle(places)
        hits += both[places[:n]].sum() >= observed
    return hits / SPLITS


def p_values(repeats: int) -> dict[str, Any]:
    data = [scores(n, np.random.default_rng(n)) for n in TARGETS]
    ways: dict[str, Callable[[Scores, Scores], Any]] = {
        "loop": loop,
        "sampled": lambda x, y: p_value(x, y, exact_limit=0),
        "without sampling": lambda x, y: p_value(x, y, method="characteristic"),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, run in ways.items():
            start = time.process_time()
            for x, y in data:
                run(x, y)
            seconds[way].append(time.process_time() - start)
    medians = {way: statistics.median(values) for way, values in seconds.items()}
    errors = []
    for seed in range(20):
        x, y = scores(21, np.random.default_rng(seed))
        exact = p_value(x, y, exact_limit=comb(42, 21)).p
        errors.append(abs(p_value(x, y, method="characteristic").p - exact))
    ratios = {way: medians["loop"] / median for way, median in medians.items()}
    return {"tests": len(data), "seconds": medians, "ratio": ratios, "largest error at 21 a side": max(errors)}


def made_up(count: int = 15) -> list[AssociationTest]:
    """Returns made-up tests of bleached sentences, for use without the released ones."""
    from catsofa.data.records import WordSet

    def words(part: str, size: int) -> WordSet:
        templates = ("This is {}.", "That is {}.", "There is {}.", "Here is {}.", "{} is here.")
        return WordSet(name=part, items=tuple(templates[k % 5].format(f"{part} {k // 5}") for k in range(size)))

    sets = {part: words(part, 200) for part in ("music", "garden", "warm", "cold", "near", "far")}
    pairs = [("music", "garden", "warm", "cold"), ("music", "garden", "near", "far"), ("near", "far", "warm", "cold")]
    return [
        AssociationTest(id=f"t{k}", **dict(zip("xyab", (sets[p] for p in pairs[k % 3]), strict=True)))
        for k in range(count)
    ]


def encoding(tests: list[AssociationTest], size: str, sample: int, dtype: str, share: int) -> dict[str, Any]:
    import torch

    torch.set_num_threads(1)
    listed = [text for t in tests for words in (t.x, t.y, t.a, t.b) for text in words.items]
    distinct = list(dict.fromkeys(listed))
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), size, distinct)
        model = loops.alone(folder, "masked", dtype, transformers.AutoModel)
        some = [listed[k] for k in np.random.default_rng(0).integers(len(listed), size=sample)]
        start = time.process_time()
        alone = [one_forward(model, text) for text in some]
        per_sentence = (time.process_time() - start) / sample
        encoder = vectors.of_model(models.load(folder, device="cpu", dtype=dtype), pooling="cls")
        encoder.encode(distinct[:1])
        timed = distinct[::share]
        start = time.process_time()
        rows = encode_once(timed, encoder)
        ours = (time.process_time() - start) * len(distinct) / len(timed)
        rows |= encode_once(some, encoder)
        tokens = sum(len(ids) for ids in model.tokenizer(distinct)["input_ids"])
        least = shapes.body_flops(model.module.config, tokens, len(distinct))
    peak = max(machine.peak(dtype).values())
    apart = max(float(np.abs(rows[text] - row).max()) for text, row in zip(some, alone, strict=True))
    return {
        "encodes": len(listed),
        "distinct": len(distinct),
        "loop": dtype,
        "loop per sentence, seconds": per_sentence,
        "ours, all, seconds": ours,
        "ratio of batching alone": per_sentence * len(distinct) / ours,
        "ratio": per_sentence * len(listed) / ours,
        "percent_of_peak": 100 * least / ours / 1e9 / peak,
        "largest difference": apart,
    }


def one_forward(model: models.Model, text: str) -> NDArray[np.float32]:
    """Returns the vector of one sentence from its own forward with gradients, as in the papers' encoders."""
    row: NDArray[np.float32] = (
        model.module(**model.tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0].detach().float().numpy()
    )
    return row


def save_model(folder: Path, size: str, texts: list[str]) -> None:
    """Saves a BERT of random weights with a tokenizer trained on the texts."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(texts, vocab_size=4000, show_progress=False)
    tokenizer.save_model(str(folder))
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    layers, width, heads, inner = SHAPES[size]
    config = transformers.BertConfig(
        vocab_size=30522,
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=inner,
    )
    transformers.utils.logging.disable_progress_bar()
    transformers.BertModel(config).save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=Path, default=SHARED / "data" / "seat", help="folder of released SEAT tests")
    parser.add_argument("--size", choices=SHAPES, default="small")
    parser.add_argument("--sample", type=int, default=200, help="sentences the batch-1 loop is timed on")
    parser.add_argument("--share", type=int, default=1, help="time ours on one distinct sentence in so many")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dtypes", default="float32,bfloat16", help="of the encodings")
    parser.add_argument("--only", choices=("p-values", "encoding"), help="one of the two")
    options = parser.parse_args()
    figures = {}
    if options.only != "encoding":
        figures["p-values"] = p_values(options.repeats)
    if options.only != "p-values":
        tests = made_up()
        if options.tests.is_dir():
            tests = [test for test in formats.read(options.tests) if test.id.startswith("sent-weat")]
        for dtype in options.dtypes.split(","):
            name = f"encoding, {options.size}, {dtype}"
            figures[name] = encoding(tests, options.size, options.sample, dtype, options.share)
    for name, part in figures.items():
        machine.save("seat", name, part | {"machine": machine.facts()})
    print(json.dumps(machine.rounded(figures), indent=1))


if __name__ == "__main__":
    main()
