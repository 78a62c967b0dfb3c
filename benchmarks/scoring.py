"""How fast texts are scored: python -m benchmarks.scoring [--size small] [--repeats 3] [--items 200].

Random weights of a real shape and vocabulary, since speed does not depend on values. Every way scores the same texts
in the same run, text to number, on one thread; CPU seconds, so that neighbours on the machine count less, the ways
taken in turn, medians. The loop is what the papers' released code does: a text (or a mask) a forward, all logits.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch  # noqa: TID253  # a benchmark of torch has nothing else to do
import transformers  # noqa: TID253

from catsofa.data.formats import read_as
from catsofa.data.records import LABELS, Candidate, Cat, Pair, Probe, Score
from catsofa.scoring.backend import Backend
from catsofa.scoring.models import ANSWERS, Model
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.score_cats import score_cats
from catsofa.scoring.score_pairs import score_pairs
from catsofa.scoring.score_probes import score_probes

RESULTS = Path(__file__).parent / "results"
SHARED = Path(os.environ.get("CATSOFA_SHARED", Path(__file__).parent.parent.parent / "shared"))
SHAPES = {"small": (4, 256, 4), "base": (12, 768, 12)}
"""Layers, width, heads."""


def causal(size: str) -> Model:
    layers, width, heads = SHAPES[size]
    tokenizer = transformers.AutoTokenizer.from_pretrained(SHARED / "models/tokenizers/gpt2")
    config = transformers.GPT2Config(n_layer=layers, n_embd=width, n_head=heads)
    return loaded("causal", transformers.GPT2LMHeadModel(config), tokenizer)


def masked(size: str) -> Model:
    layers, width, heads = SHAPES[size]
    tokenizer = transformers.AutoTokenizer.from_pretrained(SHARED / "models/tokenizers/bert-base-uncased")
    config = transformers.BertConfig(
        num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads, intermediate_size=4 * width
    )
    return loaded("masked", transformers.BertForMaskedLM(config), tokenizer)


def loaded(kind: Any, module: Any, tokenizer: Any) -> Model:
    torch.manual_seed(0)
    return Model(
        name="random",
        kind=kind,
        module=module.eval().requires_grad_(False),
        tokenizer=tokenizer,
        device="cpu",
        dtype="float32",
        digest="random",
        answers=frozenset(ANSWERS[kind]),
    )


def in_bf16(model: Model) -> Model:
    return replace(model, module=type(model.module)(model.module.config).eval().bfloat16(), dtype="bfloat16")


def cats(items: int) -> list[Cat]:
    """The first intrasentence CATs of the released set, or as many made up."""
    place = SHARED / "data/stereoset/dev.json"
    if place.exists():
        return [cat for cat in read_as(place, Cat) if cat.kind == "intrasentence" and cat.candidates[0].fill][:items]
    words = ["kind", "stubborn", "friendly", "asleep", "clever", "quiet", "tidy", "late"]
    found = []
    for at in range(items):
        context = f"The {words[at % 8]} zorb from house number {at} was BLANK today."
        fills = [words[(at + step) % 8] for step in (1, 2, 3)]
        one, two, three = (
            Candidate(text=context.replace("BLANK", fill), fill=fill, label=label)
            for fill, label in zip(fills, LABELS, strict=True)
        )
        found.append(
            Cat(kind="intrasentence", bias_type="x", target="zorb", context=context, candidates=(one, two, three))
        )
    return found


def pairs(items: int) -> list[Pair]:
    place = SHARED / "data/crows/crows_pairs_anonymized.csv"
    if place.exists():
        return list(read_as(place, Pair))[:items]
    return [
        Pair(
            more=f"The zorb in house {n} was late.",
            less=f"The florin in house {n} was late.",
            direction="stereo",
            bias_type="x",
        )
        for n in range(items)
    ]


def probes(identities: int, stereotypes: int) -> list[Probe]:
    verbs = ["bake", "water", "love", "visit", "paint", "sell", "repair", "collect"]
    things = [
        "bread",
        "roses",
        "tomatoes",
        "meetings",
        "houses",
        "shoes",
        "lakes",
        "books",
        "tables",
        "soup",
        "shirts",
        "letters",
    ]
    who = [
        f"{kind} {group}"
        for kind in ("young", "old", "quiet", "clever", "tall")
        for group in [
            "gardeners",
            "bakers",
            "florists",
            "pilots",
            "tailors",
            "farmers",
            "librarians",
            "plumbers",
            "dentists",
            "painters",
            "singers",
            "drivers",
            "miners",
            "nurses",
            "cooks",
            "clerks",
            "actors",
            "judges",
            "guards",
            "sailors",
        ]
    ]
    what = [
        f"{verb} {thing} {when}"
        for when in ("at night", "on holidays", "without end")
        for verb in verbs
        for thing in things
    ]
    return [Probe(category="x", identity=i, stereotype=s) for i in who[:identities] for s in what[:stereotypes]]


def loop_causal(model: Model, texts: Sequence[str]) -> list[float]:
    """A text a forward, every logit, as the released code does with its start token put first."""
    found = []
    for text in texts:
        ids = [model.tokenizer.eos_token_id, *model.tokenizer.encode(text)]
        with torch.no_grad():
            logs = model.module(torch.tensor([ids])).logits[0].log_softmax(-1)
        found.append(float(np.mean([logs[at - 1, ids[at]].item() for at in range(1, len(ids))])))
    return found


def loop_masked(model: Model, of: Sequence[Cat]) -> list[float]:
    """A mask a forward, all logits, each of the three fillers by itself, as the released code does."""
    tokenizer = model.tokenizer
    found = []
    for cat in of:
        for candidate in cat.candidates:
            pieces = tokenizer.encode(candidate.fill, add_special_tokens=False)
            logs = []
            for known in range(len(pieces)):
                text = cat.context.replace("BLANK", tokenizer.decode(pieces[:known]) + tokenizer.mask_token)
                ids = tokenizer.encode(text)
                with torch.no_grad():
                    logits = model.module(torch.tensor([ids])).logits[0].log_softmax(-1)
                logs.append(logits[ids.index(tokenizer.mask_token_id), pieces[known]].item())
            found.append(float(np.mean(logs)))
    return found


def loop_pairs(model: Model, of: Sequence[Pair]) -> list[float]:
    """A masked token a forward over the shared tokens, as metric.py does."""
    from difflib import SequenceMatcher

    found = []
    for pair in of:
        ids = [model.tokenizer.encode(text) for text in (pair.more, pair.less)]
        order = (0, 1) if pair.direction == "stereo" else (1, 0)
        blocks = SequenceMatcher(None, ids[order[0]], ids[order[1]]).get_matching_blocks()
        for side in (0, 1):
            begin = "a" if order[0] == side else "b"
            places = [getattr(block, begin) + step for block in blocks for step in range(block.size)][1:-1]
            total = 0.0
            for at in places:
                row = torch.tensor([ids[side]])
                row[0, at] = model.tokenizer.mask_token_id
                with torch.no_grad():
                    total += model.module(row).logits[0, at].log_softmax(-1)[ids[side][at]].item()
            found.append(total)
    return found


Way = Callable[[], Sequence[float]]


def numbers(scores: Sequence[Score]) -> list[float]:
    return [np.nan if score.score is None else score.score for score in scores]


def works(size: str, items: int) -> dict[str, dict[str, Way]]:
    """Each work by name: its ways, the loop first."""
    gpt, bert = causal(size), masked(size)
    texts = [candidate.text for cat in cats(items) for candidate in cat.candidates]
    grid = probes(*((20, 40) if size == "base" else (100, 200)))
    some = grid[:: max(1, len(grid) // (3 * items))]
    ways: dict[str, dict[str, Way]] = {
        "StereoSet, causal": {
            "loop": lambda: loop_causal(gpt, texts),
            **ours(gpt, lambda backend: numbers(score_cats(backend, cats(items), DEFAULT))),
        },
        "StereoSet, masked": {
            "loop": lambda: loop_masked(bert, cats(items)),
            **ours(bert, lambda backend: numbers(score_cats(backend, cats(items), DEFAULT))),
        },
        "CrowS-Pairs, masked": {
            "loop": lambda: loop_pairs(bert, pairs(items // 4)),
            **ours(bert, lambda backend: numbers(score_pairs(backend, pairs(items // 4), named("crows-pairs")))),
        },
        "SoFa grid, causal": {
            "loop": lambda: loop_causal(gpt, [probe.text for probe in some]),
            **ours(gpt, lambda backend: numbers(score_probes(backend, grid, DEFAULT))),
        },
    }
    return ways


def ours(model: Model, score: Callable[[Backend], Sequence[float]]) -> dict[str, Way]:
    """Our ways: as the engine chooses, in plain batches, and in bfloat16."""
    half = in_bf16(model)

    def plain() -> Sequence[float]:
        backend = Backend(model)
        backend.packs = False
        return score(backend)

    return {"ours": lambda: score(Backend(model)), "ours, no trees": plain, "ours, bf16": lambda: score(Backend(half))}


def measure(ways: dict[str, Way], repeats: int) -> dict[str, Any]:
    """Scores a CPU second of each way, and how far each is from the loop."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    found: dict[str, Sequence[float]] = {}
    for _ in range(repeats):
        for way, run in ways.items():
            begun = time.process_time()
            found[way] = run()
            seconds[way].append(time.process_time() - begun)
    rates = {way: len(found[way]) / statistics.median(taken) for way, taken in seconds.items()}
    same = len(found["ours"]) == len(found["loop"])
    off = float(np.nanmax(np.abs(np.array(found["ours"]) - np.array(found["loop"])))) if same else None
    times = {way: round(rate / rates["loop"], 1) for way, rate in rates.items()}
    return {"scores a CPU second": {w: round(r, 1) for w, r in rates.items()}, "times the loop": times, "furthest": off}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SHAPES, default="small")
    parser.add_argument("--items", type=int, default=150, help="CATs; a quarter as many pairs")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="works whose name begins so")
    parser.add_argument("--save", action="store_true", help="keep the numbers in results/")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    found = {
        name: measure(ways, asked.repeats)
        for name, ways in works(asked.size, asked.items).items()
        if name.startswith(asked.only)
    }
    machine = {"processor": platform.processor() or platform.machine(), "torch": torch.__version__, "threads": 1}
    result = {"size": asked.size, "items": asked.items, "repeats": asked.repeats, "machine": machine, "works": found}
    text = json.dumps(result, indent=1)
    print(text)
    if asked.save:
        (RESULTS / f"scoring-{asked.size}.json").write_text(f"{text}\n")


if __name__ == "__main__":
    main()
