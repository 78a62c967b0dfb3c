"""How often contamination is found where it was planted, and where it was not: python -m benchmarks.contamination.

Tiny GPT-2s are trained on a corpus that holds a release in the order of its file, and twins on the corpus without it;
the references of a model are three twins of other seeds. And an untrained model reads random orders of one set of
items. Both can be stopped; what is kept counts the seeds that were done.
"""

import argparse
import json
import random
import sys
from collections import Counter, deque
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import RESULTS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.contaminated import background, document, planted, tokenizer_into, trained

from catsofa.data.release import canary_of, write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.scoring.contamination import contamination
from catsofa.scoring.contamination.order import order_test
from catsofa.scoring.contamination.result import ALPHA
from catsofa.scoring.contamination.texts import text_of
from catsofa.scoring.likelihood.backend import Backend

FILE = RESULTS / "contamination.json"
ITEMS, TIMES = 40, 6
"""CATs of the planted set, and how often it stands in the corpus."""


def write(found: dict[str, Any]) -> None:
    """Keep the figures beside those of the other part."""
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(kept | found, indent=1) + "\n", encoding="utf-8")


def detection(seeds: int, folder: Path) -> None:
    """Trained models and their twins, by seed: how many each test, and all tests together, show."""
    tokenizer_into(folder / "tokenizer")
    twins = deque((trained(folder / "tokenizer", [background(at)], at) for at in range(10**6, 10**6 + 3)), 3)
    shown: dict[str, Counter[str]] = {"seen": Counter(), "unseen": Counter()}
    made: dict[str, Counter[str]] = {"seen": Counter(), "unseen": Counter()}
    for seed in range(seeds):
        cats, other = planted(ITEMS, seed), background(seed + 1000)
        write_release({"test": cats}, folder / str(seed), CardFacts(pretty_name="Planted"))
        canary = canary_of(folder / str(seed))
        assert canary is not None
        corpus = [other, *[f"{canary.line}\n{document(cats)}"] * TIMES]
        models = {"seen": trained(folder / "tokenizer", corpus, seed)}
        models["unseen"] = trained(folder / "tokenizer", [other], seed)
        for name, model in models.items():
            on = folder / str(seed)
            found = contamination(model, on, paraphrases=[planted(ITEMS, seed, 1)], references=list(twins), seed=seed)
            made[name].update(["any"] * (found.shown is not None))
            shown[name].update(["any"] * bool(found.shown))
            made[name].update(test.name for test in found.tests if test.shown is not None)
            shown[name].update(test.name for test in found.tests if test.p <= ALPHA)
        twins.append(models["unseen"])
        rows = {
            name: {test: {"tested": made[name][test], "shown": shown[name][test]} for test in sorted(made[name])}
            for name in shown
        }
        write({"detection": {"seeds": seed + 1, "items": ITEMS, "times": TIMES, **rows}})
        print(json.dumps({"seed": seed, **rows}), flush=True)


def size(orders: int, folder: Path) -> None:
    """Random orders of one set of items before an untrained model: how many p are at most 0.05."""
    tokenizer_into(folder / "tokenizer")
    backend = Backend(trained(folder / "tokenizer", [background(0)], 0, steps=0))
    items, rng, p_values = [text_of(cat) for cat in planted(ITEMS, 0)], random.Random(0), list[float]()
    for number in range(1, orders + 1):
        p_values.append(order_test(backend, rng.sample(items, len(items)), seed=number).p)
        tested = [p for p in p_values if p == p]
        write({"size": {"orders": number, "tested": len(tested), "refused": sum(p <= ALPHA for p in tested)}})
    print(FILE.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--orders", type=int, default=200)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        if options.orders:
            size(options.orders, Path(folder))
        if options.seeds:
            detection(options.seeds, Path(folder))


if __name__ == "__main__":
    main()
