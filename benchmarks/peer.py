"""Runs other tools in their own environment; started by `benchmarks.scoring --peers PYTHON`.

Reads one JSON request per line and answers with CPU seconds and scores, so that the ways can alternate within one run.
The model is loaded before the clock starts. Imports nothing from catsofa.
"""

import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

Scores = list[float]


@cache
def lm_eval(folder: str, batch: int, dtype: str) -> Callable[[list[str]], Scores]:
    """Returns a function that scores texts by lm_eval: the log-likelihood per token, after the prefix token."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=folder, device="cpu", dtype=dtype, batch_size=batch)

    def work(texts: list[str]) -> Scores:
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=number)
            for number, text in enumerate(texts)
        ]
        sums = [value for value, _ in model.loglikelihood(requests, disable_tqdm=True)]
        return [value / len(model.tok_encode(text)) for value, text in zip(sums, texts, strict=True)]

    return work


@cache
def perplexity(folder: str, batch: int, dtype: str) -> Callable[[list[str]], Scores]:
    """Returns a function that scores texts by the perplexity of evaluate; the time excludes loading the model.

    The environment variable EVALUATE_PERPLEXITY names the script of the metric.
    """
    import evaluate
    import transformers

    metric = evaluate.load(os.environ.get("EVALUATE_PERPLEXITY", "perplexity"), module_type="measurement")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, torch_dtype=dtype)
    evaluate.logging.disable_progress_bar()

    def work(texts: list[str]) -> Scores:
        with patch.object(transformers.AutoModelForCausalLM, "from_pretrained", lambda *_, **__: model):
            perplexities = metric.compute(data=texts, model_id=folder, batch_size=batch, device="cpu")["perplexities"]
        return [-math.log(value) for value in perplexities]

    return work


@cache
def minicons(folder: str, batch: int, dtype: str) -> Callable[[list[str]], Scores]:
    """Returns a function that scores texts by minicons: the summed pseudo-log-likelihood, with one mask per token."""
    from minicons import scorer

    model = scorer.MaskedLMScorer(folder, "cpu", torch_dtype=dtype)

    def work(texts: list[str]) -> Scores:
        sums: Scores = []
        for low in range(0, len(texts), batch):
            sums += model.sequence_score(
                texts[low : low + batch], reduction=lambda logs: logs.sum(0).item(), PLL_metric="original"
            )
        return sums

    return work


WAYS = {"lm_eval": lm_eval, "evaluate": perplexity, "minicons": minicons}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Returns the CPU seconds and the scores of one request."""
    import torch

    torch.set_float32_matmul_precision(request["matmul"])
    work = WAYS[request["way"]](request["model"], request["batch"], request["dtype"])
    begun = time.process_time()
    scores = work(request["texts"])
    return {"seconds": time.process_time() - begun, "scores": scores, "version": version(request["way"])}


def main() -> None:
    import torch

    torch.set_num_threads(1)
    out = sys.stdout
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):
            reply = answer(json.loads(line))
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
