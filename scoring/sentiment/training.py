"""Fine-tunes a masked model or an encoder into a text classifier, or resumes a stopped training."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files import BadInput, json_files
from catsofa.data.progress import SILENT, Progress
from catsofa.data.runs.manifests import refuse_difference
from catsofa.scoring.models import quiet
from catsofa.scoring.models.files import disk_errors, find
from catsofa.scoring.models.model import Model
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.sentiment.texts import Texts
from catsofa.scoring.training import recipe
from catsofa.scoring.training.loop import WORK, Loop
from catsofa.scoring.training.recipe import Indices

ABOUT = "sentiment.json"
EXPECTED = "the note of a classifier as `catsofa sentiment train` writes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(recipe.Recipe):
    """Recipe of the classifier of StereoSet's Table 2 (Nadeem et al. 2020); Adam is AdamW without weight decay."""

    epochs: int = 7
    learning_rate: float = 1e-4
    batch: int = 32
    weight_decay: float = 0.0


class Training(Loop):
    """The training of one classifier in one folder."""

    unit = "texts"

    def __init__(self, model: Model, texts: Texts, folder: Path, recipe: Recipe, save_every: int = 500) -> None:
        self.texts, self.tokenizer = texts, model.tokenizer
        self.module = new(model, texts.classes, recipe.seed)
        self._longest = min(recipe.max_length, Reader(model).limit)
        identity = {"model": model.digest, "texts": texts.digest()}
        weights = dict(self.module.named_parameters())
        super().__init__(folder, recipe, texts.indices(held_out=False), weights, (self.module,), identity, save_every)

    def answered(self, chosen: Indices) -> tuple[Any, list[int]]:
        """Returns the logits of texts, cut to the longest length that is read, and the class of each."""
        chosen_texts = [self.texts.texts[index] for index in chosen]
        limits = {"truncation": True, "max_length": self._longest, "padding": True, "return_tensors": "pt"}
        logits = self.module(**self.tokenizer(chosen_texts, **limits).to(self._device)).logits.float()
        return logits, self.texts.labels[chosen].tolist()

    def judged(self) -> dict[str, float]:
        """Returns the accuracy over held-out texts, and their number."""
        import torch

        held_out, right = self.texts.indices(held_out=True), 0
        by_length = held_out[np.argsort([len(self.texts.texts[index]) for index in held_out], kind="stable")]
        with torch.inference_mode():
            for start in range(0, len(by_length), self.recipe.batch):
                logits, wanted = self.answered(by_length[start : start + self.recipe.batch])
                right += int((logits.argmax(-1).cpu() == torch.tensor(wanted)).sum())
        return {"accuracy": right / len(held_out), "texts": len(held_out)}

    def save(self, folder: Path, name: str) -> dict[str, Any]:
        """Writes the classifier for transformers, then the notes about it; returns the notes."""
        held_out = self.texts.indices(held_out=True)
        trained = {self.texts.texts[index] for index in self.texts.indices(held_out=False)}
        self.tokenizer.backend_tokenizer.no_truncation()
        self.tokenizer.backend_tokenizer.no_padding()
        self.tokenizer.model_max_length = self._longest
        with quiet(), disk_errors():
            self.module.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        about = {
            "base": name,
            "classes": list(self.texts.classes),
            "settings": self.settings,
            "epochs": self.epochs,
            "commonest_class": float(np.bincount(self.texts.labels[held_out]).max() / len(held_out)),
            "held_out_texts_trained_on": sum(self.texts.texts[index] in trained for index in held_out),
            "catsofa": version("catsofa"),
        }
        json_files.write(about, folder / ABOUT)
        return about


def new(model: Model, classes: Sequence[str], seed: int) -> Any:
    """Returns the network of a masked model or an encoder under a new head with one class for each name."""
    import torch
    from transformers import AutoModelForSequenceClassification

    if model.kind not in ("masked", "encoder"):
        raise ValueError(f"{model.name} is a {model.kind} model; name a masked model or an encoder, such as BERT")
    source, names = find(model.name), dict(enumerate(classes))
    with quiet(), source.errors("the weights"), torch.inference_mode(False), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = AutoModelForSequenceClassification.from_pretrained(
            source.place,
            revision=source.revision,
            id2label=names,
            label2id={label: number for number, label in names.items()},
            dtype=torch.float32,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # the checkpoint may have the head of another classifier
        )
    return module.eval().to(model.device)


def train(
    model: Model,
    texts: Texts,
    folder: Path | str,
    recipe: Recipe | None = None,
    *,
    save_every: int = 500,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Trains a classifier in a folder, or resumes a stopped training; returns the notes about it."""
    folder = Path(folder)
    training = Training(model, texts, folder, recipe or Recipe(), save_every)
    if (folder / ABOUT).is_file():
        about: dict[str, Any] = json_files.read(folder / ABOUT, EXPECTED)
        if not isinstance(about, dict) or not {"settings", "epochs", "classes"} <= about.keys():
            raise BadInput(folder / ABOUT, "another content", EXPECTED)
        refuse_difference(folder, "classifier", about["settings"], training.settings)
    else:
        for _ in progress.each(training.steps(), training.total):
            pass
        about = training.save(folder, model.name)
    shutil.rmtree(folder / WORK, ignore_errors=True)
    return about
