"""Measures how often the tests find planted and absent contamination: python -m benchmarks.contamination.

Tiny GPT-2s are trained on a corpus that contains a release in the order of its file, and twins on the corpus without
it. The references of a model are the twins of the five seeds before. Each test also runs under its null hypothesis:
random orders of one set, random GUIDs in place of a canary, and each of six twins against the other five. After an
interruption, the same call resumes with the first seed that the results lack.
"""

import argparse
import json
import random
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import RESULTS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.contaminated import STEPS, background, document, planted, tokenizer_into, trained

from catsofa.data.digests import hex_digest
from catsofa.data.release import canary_of, write_release
from catsofa.data.release.dataset_card import Canary, CardFacts
from catsofa.data.statistics import ALPHA
from catsofa.scoring.contamination import contamination
from catsofa.scoring.contamination.canary import canary_test
from catsofa.scoring.contamination.completion import reproduced
from catsofa.scoring.contamination.order import order_test
from catsofa.scoring.contamination.references import against
from catsofa.scoring.contamination.texts import log_likelihoods, text_of
from catsofa.scoring.contamination.wording import preferences
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models.model import Model
from catsofa.scoring.statistics.intervals import wilson

FILE = RESULTS / "contamination.json"
ITEMS, TIMES, BACKGROUND = 40, 40, 300
"""The number of CATs in the planted set, its number of copies in the corpus, and the other items in each wording."""
REFERENCES = 5


def kept() -> dict[str, Any]:
    """Returns the stored figures."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def write(**figures: Any) -> None:
    """Stores figures beside those of the other parts."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(kept() | figures, indent=1) + "\n", encoding="utf-8")


class Models:
    """Trains the models of each seed; the same seed gives the same model."""

    def __init__(self, folder: Path) -> None:
        """Trains the tokenizer of all models into `folder`."""
        self.tokenizer = folder / "tokenizer"
        tokenizer_into(self.tokenizer)
        self.twin = lru_cache(REFERENCES + 1)(self._twin)

    def _twin(self, seed: int, steps: int = STEPS) -> Model:
        """Returns a model trained only on other texts."""
        return trained(self.tokenizer, [background(1000 + seed, BACKGROUND)], 1000 + seed, steps)

    def seen(self, seed: int, text: str) -> Model:
        """Returns a model trained on this text too."""
        return trained(self.tokenizer, [background(1000 + seed, BACKGROUND), *[text] * TIMES], seed)

    def twins(self, seed: int) -> list[Model]:
        """Returns the twin of a seed, and the twins of the seeds before."""
        return [self.twin(seed + REFERENCES - back) for back in range(REFERENCES + 1)]


def detection(seeds: int, models: Models, folder: Path) -> None:
    """Tests trained models and their twins per seed; stores p-values, the joint result, and the loss on the set."""
    done = kept().get("seeds", {})
    for seed in range(seeds):
        if str(seed) in done:
            continue
        cats, paraphrases, release = planted(ITEMS, seed), planted(ITEMS, seed, 1), folder / str(seed)
        write_release({"test": cats}, release, CardFacts(pretty_name="Planted"))
        canary = canary_of(release)
        assert canary is not None
        twin, *references = models.twins(seed)
        row: dict[str, Any] = {}
        for name, model in {"seen": models.seen(seed, f"{canary.line}\n{document(cats)}"), "unseen": twin}.items():
            result = contamination(model, release, paraphrases=[paraphrases], references=references, seed=seed)
            row[name] = {
                "p": {test.name: test.p if test.p == test.p else None for test in result.tests},
                "values": {test.name: test.value.value for test in result.tests},
                "any": result.shown,
                "loss": loss(model, cats),
            }
        sides = [Backend(model) for model in (twin, *references)]
        row["rotated"] = {
            "wording": [preferences(one, [(a, [b]) for a, b in zip(cats, paraphrases, strict=True)]) for one in sides],
            "completion": [reproduced(one, [text_of(cat).text for cat in cats]) for one in sides],
        }
        for name, per_model in row["rotated"].items():
            turns = [[per_model[place], *per_model[:place], *per_model[place + 1 :]] for place in range(len(per_model))]
            clusters, how = [cat.target for cat in cats], {"share": name == "completion", "seed": seed}
            tests = [against(name, "", clusters, own, rest, {}, **how) for own, *rest in turns]
            row["rotated"][name] = [test.p if test.p == test.p else None for test in tests]
        done[str(seed)] = row
        write(seeds=done, summary=summary(done), design=design())
        print(json.dumps({"seed": seed, **row}), flush=True)


def design() -> dict[str, int]:
    """Returns the design of the training corpora."""
    return {"items": ITEMS, "times": TIMES, "background": 2 * BACKGROUND, "steps": STEPS, "references": REFERENCES}


def loss(model: Model, cats: Any) -> float:
    """Returns the loss on the set in nats per token, in texts of six items that fit the context window."""
    texts = [document(cats[low : low + 6]) for low in range(0, len(cats), 6)]
    tokens = sum(len(model.tokenizer(text)["input_ids"]) for text in texts)
    return float(-log_likelihoods(Backend(model), texts).sum() / tokens)


def summary(done: Mapping[str, Any]) -> dict[str, Any]:
    """Returns how many models each test flags, and all tests together after Holm, with Wilson's interval in percent."""
    figures: dict[str, Any] = {}
    for side in ("seen", "unseen"):
        rows = [row[side] for row in done.values()]
        for test in rows[0]["p"]:
            figures[f"{side} {test}"] = counted([row["p"][test] for row in rows])
        figures[f"{side} any"] = counted([None if row["any"] is None else 1.0 - row["any"] for row in rows])
    for test in ("wording", "completion"):
        figures[f"rotated {test}"] = counted([p for row in done.values() for p in row["rotated"][test]])
    return figures


def counted(p_values: list[float | None]) -> dict[str, Any]:
    """Returns the number of p-values that are at most 0.05, with Wilson's interval in percent."""
    tested = [p for p in p_values if p is not None]
    shown = sum(p <= ALPHA for p in tested)
    low, high = wilson(100 * shown / len(tested), len(tested)) if tested else (0.0, 100.0)
    return {"tested": len(tested), "shown": shown, "low": low, "high": high}


def size(orders: int, models: Models) -> None:
    """Measures the test size: random orders of one set and random GUIDs, for an untrained and an unrelated model."""
    items, figures = [text_of(cat) for cat in planted(ITEMS, 0)], dict[str, Any]()
    for name, steps in (("trained elsewhere", STEPS), ("untrained", 0)):
        backend, rng = Backend(models.twin(0, steps)), random.Random(0)
        p_values = list[float | None]()
        for number in range(orders):
            p = order_test(backend, rng.sample(items, len(items)), seed=number).p
            p_values.append(p if p == p else None)
            figures[f"order, {name}"] = counted(p_values)
            write(size=figures)
        guids = [hex_digest(f"canary {number}", 32) for number in range(orders // 5)]
        guids = [f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for one in guids]
        tests = [canary_test(backend, Canary(f"canary GUID {guid}", guid), place) for place, guid in enumerate(guids)]
        figures[f"canary, {name}"] = counted([test.p for test in tests if test.p == test.p])
        write(size=figures)
    print(json.dumps(figures, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--orders", type=int, default=200)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        models = Models(Path(folder))
        if options.seeds:
            detection(options.seeds, models, Path(folder))
        if options.orders:
            size(options.orders, models)


if __name__ == "__main__":
    main()
