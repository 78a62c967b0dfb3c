"""Language-model scores of the words around a slot and in it, as functions for builders."""

from collections.abc import Sequence
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

from catsofa.scoring.signature import shown_name

if TYPE_CHECKING:
    from catsofa.builders.cats.acceptability import Around, Likelihood
    from catsofa.builders.cats.suggestions import Gap, Guesser
    from catsofa.scoring.likelihood.queries import Answer
    from catsofa.scoring.models.model import Model


def around(name: str) -> "tuple[Likelihood, dict[str, Any]]":
    """Returns a function for the mean log-probability of the words around a fill, and the identity of its model."""
    from catsofa.scoring import models
    from catsofa.scoring.items import guarded, sentences
    from catsofa.scoring.items.around import item
    from catsofa.scoring.items.score import answered
    from catsofa.scoring.likelihood.backend import Backend
    from catsofa.scoring.protocols import named

    backend, pseudo = Backend(models.load(name)), named("catsofa").pseudo
    if not backend.model.answers & {"left-to-right", "masked"}:
        raise ValueError(f"{name} is neither a causal nor a masked language model; name one that is")

    def mean_log_probability(texts: "Sequence[Around]") -> list[float]:
        parsed = sentences.read(backend, (text.text for text in texts))
        items = [
            guarded(
                str(number), "", partial(item, backend, parsed[text.text], text.fill, text.target, str(number), pseudo)
            )
            for number, text in enumerate(texts)
        ]
        return [nan if score.score is None else score.score for score in answered(backend, items)]

    return mean_log_probability, named_by(backend.model)


def guesser(name: str) -> "tuple[Guesser, dict[str, Any]]":
    """Returns the single-token words of a masked model with a function for their scores in gaps, and its identity."""
    from catsofa.builders.cats.suggestions import Guesser
    from catsofa.scoring import models
    from catsofa.scoring.items.around import gap, single_tokens
    from catsofa.scoring.likelihood.backend import Backend
    from catsofa.scoring.likelihood.engine import ask

    backend = Backend(models.load(name))
    backend.model.need("masked", "A suggestion")
    ids = single_tokens(backend.reader, backend.model.tokenizer.get_vocab())

    def log_probabilities(gaps: "Sequence[Gap]") -> "list[Answer]":
        return [*ask(backend, [gap(backend.reader, *each, ids) for each in gaps])]

    return Guesser(list(ids), log_probabilities), named_by(backend.model)


def named_by(model: "Model") -> dict[str, Any]:
    """Returns the model entry of a record's source: its name without the path, and the settings behind its numbers."""
    return model.identity() | {"model": shown_name(model.name)}
