"""Other tools at the same work, each in an environment where it runs: started by `benchmarks.scoring --peers PYTHON`.

Reads one JSON request a line and answers with CPU seconds and scores, so that the ways can be timed in turn within one
run. A model is loaded before the clock starts. Imports nothing of catsofa.
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
    """Log-likelihoods of whole texts after the prefix token, over their tokens."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=folder, device="cpu", dtype=dtype, batch_size=batch)

    def work(texts: list[str]) -> Scores:
        asked = [
            Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=at)
            for at, text in enumerate(texts)
        ]
        sums = [found for found, _ in model.loglikelihood(asked, disable_tqdm=True)]
        return [found / len(model.tok_encode(text)) for found, text in zip(sums, texts, strict=True)]

    return work


@cache
def perplexity(folder: str, batch: int, dtype: str) -> Callable[[list[str]], Scores]:
    """The perplexity of evaluate, whose script EVALUATE_PERPLEXITY names; its loading of the model is not timed."""
    import evaluate
    import transformers

    metric = evaluate.load(os.environ.get("EVALUATE_PERPLEXITY", "perplexity"), module_type="measurement")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, torch_dtype=dtype)
    evaluate.logging.disable_progress_bar()

    def work(texts: list[str]) -> Scores:
        with patch.object(transformers.AutoModelForCausalLM, "from_pretrained", lambda *_, **__: model):
            found = metric.compute(data=texts, model_id=folder, batch_size=batch, device="cpu")["perplexities"]
        return [-math.log(value) for value in found]

    return work


@cache
def minicons(folder: str, batch: int, dtype: str) -> Callable[[list[str]], Scores]:
    """The pseudo-log-likelihood of each text, one mask a token, summed."""
    from minicons import scorer

    model = scorer.MaskedLMScorer(folder, "cpu", torch_dtype=dtype)

    def work(texts: list[str]) -> Scores:
        found: Scores = []
        for low in range(0, len(texts), batch):
            found += model.sequence_score(
                texts[low : low + batch], reduction=lambda of: of.sum(0).item(), PLL_metric="original"
            )
        return found

    return work


WAYS = {"lm_eval": lm_eval, "evaluate": perplexity, "minicons": minicons}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Seconds and scores of one request."""
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
            found = answer(json.loads(line))
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
