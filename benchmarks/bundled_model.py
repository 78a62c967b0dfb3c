"""Trains the model of `filter similarity --inference bundled` and measures it: python -m benchmarks.bundled_model.

`train` reads contexts as in tests/builders/data: `original`, `fillers`, sentences that keep the meaning (`keeps`) and
sentences that change it (all other fields). It writes the adapter after each epoch. The same files and seed give the
same weights up to rounding on another machine. `measure` counts what the gate's rules and the model accept.
"""

import argparse
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # a program that trains has nothing else to do
from safetensors.torch import save_file
from torch import Tensor, nn  # noqa: TID253  # the same
from torch.nn.functional import binary_cross_entropy_with_logits, dropout  # noqa: TID253  # the same
from torch.nn.utils import clip_grad_norm_  # noqa: TID253  # the same
from transformers import AutoModel, AutoTokenizer  # noqa: TID253  # the same

from benchmarks.labelled_pairs import KEEPS, LabelledPair, alike, labelled_pairs, placed
from catsofa.builders.similarity import Cut, Models, similarities
from catsofa.builders.similarity.bundled import ADAPTER, SCALE, THRESHOLDS, BundledModel, logits
from catsofa.builders.similarity.encoders import WEIGHTS, minilm, sentence_encoder
from catsofa.scoring.statistics.intervals import wilson

TRAINED_ON = ("training_pairs.toml", "fresh_pairs.toml", "tuning_pairs.toml")
MEASURED_ON = {
    "threshold": ("four_authors_pairs.toml", slice(0, None, 2)),
    "held out": ("four_authors_pairs.toml", slice(1, None, 2)),
    "labelled set": ("meaning_pairs.toml", slice(None)),
    "held-out pairs": ("held_out_pairs.toml", slice(None)),
    "later pairs": ("second_fresh_pairs.toml", slice(None)),
    "hard pairs": ("hard_pairs.toml", slice(1, None, 2)),
}
"""Name of a set of pairs that the model was not trained on, its file and the contexts; the first set the thresholds."""
EPOCHS, RATE, BATCH, WARM, DECAY, SEED = 6, 1e-3, 32, 40, 0.01, 0
RANK, HIDDEN, DROPOUT, LONGEST = 16, 64, 0.05, 160
BUCKET = 20
"""Number of batches whose pairs are sorted by length together."""


class Adapted(nn.Module):
    """A frozen linear layer with a trained update of low rank."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, states: Tensor) -> Tensor:
        """Returns the output of the layer plus that of the update."""
        return self.layer(states) + SCALE * (dropout(states, DROPOUT, self.training) @ self.down.T @ self.up.T)


class Network(nn.Module):
    """all-MiniLM-L6-v2 with an update of every linear layer, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(minilm(), dtype=torch.float32).requires_grad_(False)
        for parent in list(self.encoder.encoder.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(parent, name, Adapted(child))
        width = self.encoder.config.hidden_size
        self.head = nn.Sequential(nn.Linear(4 * width, HIDDEN), nn.GELU(), nn.Linear(2 * HIDDEN, 1))

    def forward(self, tokens: Any) -> Tensor:
        """Returns the logit of each pair."""
        return logits(self.encoder, dict(self.head.named_parameters()), tokens)

    def save(self, out: Path) -> None:
        """Writes the trained weights in half precision, with the digest of the weights that they belong to."""
        trained = {name: one.detach().half() for name, one in self.named_parameters() if one.requires_grad}
        save_file(trained, out, {"base": WEIGHTS})


def batches(pairs: Sequence[LabelledPair], rng: random.Random) -> Iterator[tuple[list[str], list[str], Tensor]]:
    """Yields batches of filled pairs of similar length, in random order; each pair in a random direction."""
    rows = []
    for pair in pairs:
        two = pair.filled(rng.choice([*pair.fillers, "BLANK"]))
        rng.shuffle(two)
        rows.append((*two, float(pair.keeps)))
    rng.shuffle(rows)
    wide, ordered = BATCH * BUCKET, []
    for start in range(0, len(rows), wide):
        ordered += sorted(rows[start : start + wide], key=lambda row: len(row[0]) + len(row[1]))
    groups = [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]
    rng.shuffle(groups)
    for group in groups:
        yield [row[0] for row in group], [row[1] for row in group], torch.tensor([row[2] for row in group])


def train(pairs: Sequence[LabelledPair], out: Path) -> None:
    """Trains the adapter on pairs, and writes it after each epoch."""
    torch.manual_seed(SEED)
    network, tokenizer, rng = Network(), AutoTokenizer.from_pretrained(minilm()), random.Random(SEED)
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY)
    kept = sum(pair.keeps for pair in pairs)
    balance = torch.tensor((len(pairs) - kept) / kept)
    total, step = EPOCHS * math.ceil(len(pairs) / BATCH), 0
    network.train()
    for epoch in range(EPOCHS):
        losses = []
        for ones, others, labels in batches(pairs, rng):
            limits = {"padding": True, "truncation": True, "max_length": LONGEST, "return_tensors": "pt"}
            loss = binary_cross_entropy_with_logits(
                network(tokenizer(ones, others, **limits)), labels, pos_weight=balance
            )
            for group in optimizer.param_groups:
                group["lr"] = RATE * min((step + 1) / WARM, max(0.02, 1 - step / total))
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(weights, 1.0)
            optimizer.step()
            losses.append(loss.item())
            step += 1
            if step % 10 == 0:
                print(f"step {step} of {total}: loss {sum(losses[-10:]) / len(losses[-10:]):.3f}", flush=True)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {sum(losses) / len(losses):.4f}", flush=True)
        network.save(out)


def measure(pairs: Sequence[LabelledPair], model: BundledModel) -> dict[str, Counter[str]]:
    """Returns the outcomes of each kind of pair: by the rules alone, by rules and model, and by the whole command.

    By rules and model, no cosine and no overlap of letters (chrF) refuses or queues a pair.
    """
    as_cats = [pair.as_paraphrase() for pair in pairs]
    outcomes: dict[str, Counter[str]] = {}
    compared = similarities(as_cats, Models(encoder=sentence_encoder(), inference=model))
    for pair, cats, similarity in zip(pairs, as_cats, compared, strict=True):
        counts, cut = outcomes.setdefault(pair.kind, Counter()), Cut(**THRESHOLDS)
        assert similarity.entailment is not None
        counts[pair.by_rules()] += 1
        outcome = placed(pair, (cats, alike(similarity.entailment)), cut)
        counts[f"{'refused' if outcome == 'target_lost' else outcome} with the model"] += 1
        counts[f"{placed(pair, (cats, similarity), cut)} by the command"] += 1
    return outcomes


def show(name: str, outcomes: dict[str, Counter[str]]) -> None:
    """Prints the outcomes of the pairs of a file, over all kinds and for each kind that changes the meaning."""
    changed = sum((counts for kind, counts in outcomes.items() if kind not in KEEPS), Counter[str]())
    kept = sum((counts for kind, counts in outcomes.items() if kind in KEEPS), Counter[str]())
    for how in ("", " with the model"):
        parts = [
            (f"accepted{how}", changed, "changed"),
            (f"review{how}", kept, "kept"),
            (f"refused{how}", kept, "kept"),
        ]
        for outcome, counts, which in parts:
            total = sum(counts[f"{one}{how}"] for one in ("accepted", "review", "refused"))
            low, high = wilson(100 * counts[outcome] / total, total)
            print(f"{name}: {which}, {outcome}: {counts[outcome]} of {total} [{low:.1f}, {high:.1f}] %")
    for which, counts in (("changed", changed), ("kept", kept)):
        print(f"{name}: {which}: {dict(sorted(counts.items()))}")
    for kind, counts in sorted(outcomes.items()):
        print(f"{name}: {kind}: {dict(sorted(counts.items()))}")


def main() -> None:
    """Trains the model, or measures it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train", "measure"])
    parser.add_argument("--out", type=Path, default=ADAPTER, help="Output file for the adapter.")
    arguments = parser.parse_args()
    if arguments.what == "train":
        train([pair for name in TRAINED_ON for pair in labelled_pairs(name)], arguments.out)
        return
    for name, (file, part) in MEASURED_ON.items():
        show(name, measure(list(labelled_pairs(file, part)), BundledModel()))


if __name__ == "__main__":
    main()
