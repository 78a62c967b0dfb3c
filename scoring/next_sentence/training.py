"""Trains a next-sentence head, or resumes a stopped training."""

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data.formats.sentence_pairs import SentencePairs
from catsofa.data.progress import SILENT, Progress
from catsofa.data.runs.manifests import refuse_difference
from catsofa.scoring.models.model import Model
from catsofa.scoring.next_sentence import ABOUT, NextSentence, held_out, load, network, read_about
from catsofa.scoring.next_sentence.direction import accuracy, separation
from catsofa.scoring.next_sentence.network import PairReader
from catsofa.scoring.next_sentence.recipe import Recipe
from catsofa.scoring.training.loop import WORK, Loop
from catsofa.scoring.training.recipe import Indices

ASKED = 50
"""Held-out pairs of each answer that a checkpoint keeps, and that are asked when it is loaded."""


class Training(Loop):
    """The training of one head in one folder."""

    unit = "pairs"

    def __init__(self, model: Model, pairs: SentencePairs, folder: Path, recipe: Recipe, save_every: int = 500) -> None:
        self.network = network.new(model, recipe.head, recipe.seed)
        self.pairs = pairs
        self.held_out = held_out(pairs, recipe.seed)
        self.reader = PairReader(model, recipe.max_length)
        super().__init__(
            folder,
            recipe,
            pairs.indices(held_out=False),
            self.network.parameters(),
            (model.module, self.network.head),
            {"model": model.digest, "pairs": pairs.digest()},
            save_every,
        )

    def answered(self, chosen: Indices) -> tuple[Any, list[int]]:
        """Returns the logits of the pairs that can be read, and the class of each."""
        pairs = [self.pairs[int(index)] for index in chosen]
        rows = self.reader.rows([(pair.first, pair.second) for pair in pairs])
        label = self.network.next_label
        wanted = [label if pair.follows else 1 - label for pair, row in zip(pairs, rows, strict=True) if row]
        return (self.network.logits([row for row in rows if row]) if wanted else None), wanted

    def judged(self) -> dict[str, float]:
        """Returns the accuracy over held-out pairs, and their number."""
        share = accuracy(self.judge().asked(self.held_out), [follows for *_, follows in self.held_out])
        return {"accuracy": share, "pairs": len(self.held_out)}

    def finish(self, name: str) -> NextSentence:
        """Returns the trained head with its notes: its accuracy, and pairs to ask when it is loaded."""
        known = [pair for answer in (True, False) for pair in [p for p in self.held_out if p[2] == answer][:ASKED]]
        about = {
            "base": name,
            "settings": self.settings,
            "epochs": self.epochs,
            "known": known,
            "known_separation": separation(self.judge().asked(known), [follows for *_, follows in known]),
            "catsofa": version("catsofa"),
        }
        return NextSentence(self.network, self.reader, about)

    def judge(self) -> NextSentence:
        """Returns the network in its current state, to be asked."""
        return NextSentence(self.network, self.reader)


def train(
    model: Model,
    pairs: SentencePairs,
    folder: Path | str,
    recipe: Recipe | None = None,
    *,
    save_every: int = 500,
    progress: Progress = SILENT,
) -> NextSentence:
    """Trains a head in a folder, or resumes a stopped training; a finished head is loaded."""
    folder, recipe = Path(folder), recipe or Recipe()
    training = Training(model, pairs, folder, recipe, save_every)
    if (folder / ABOUT).is_file():
        refuse_difference(folder, "next-sentence head", read_about(folder)["settings"], training.settings)
        shutil.rmtree(folder / WORK, ignore_errors=True)
        return load(folder, device=model.device)
    for _ in progress.each(training.steps(), training.total):
        pass
    done = training.finish(model.name)
    done.save(folder)
    shutil.rmtree(folder / WORK)
    return done
