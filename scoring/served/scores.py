"""Scores records with a model that returns log-probabilities of texts: on a server, in vLLM, or your own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from typing import Protocol as Interface

from catsofa.data.records import Score
from catsofa.scoring.items.texts import Answer, Query, Texts
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.protocols import Protocol


class TextModel(Interface):
    """Interface of a model that returns the log-probabilities of texts."""

    @property
    def name(self) -> str:
        """Name for messages."""

    @property
    def starts(self) -> bool:
        """True if the first token of a text without context is conditioned on a start token."""

    @property
    def space(self) -> bool | None:
        """True if a sentence has its in-context tokens with a space before it, False if without; None if neither."""

    def loglikelihood(self, queries: Sequence[Query]) -> Sequence[Answer]:
        """Returns the answer to each query, in order."""


def score(model: TextModel, records: Sequence[Any], protocol: Protocol) -> list[Score]:
    """Returns the scores of records, with the keys of a local model's scores; asks each distinct query once."""
    refuse(model, protocol)
    measure, texts = measure_of(type(records[0]), protocol), Texts(protocol, model.space)
    queries = list(dict.fromkeys(query for record in records for query in measure.queries(record, texts)))
    answered = replace(texts, answers=dict(zip(queries, model.loglikelihood(queries), strict=True)))
    return [result for record in records for result in measure.scores(record, answered)]


def refuse(model: TextModel, protocol: Protocol) -> None:
    """Raises ValueError for a protocol that this model cannot follow."""
    name = model.name
    if protocol.first_token == "bos" and not model.starts:
        raise ValueError(
            f"the server of {name} gives a text's first token no probability; name the model's start token with "
            "--start, or choose a protocol that leaves the first token out"
        )
    if protocol.first_token == "skip" and model.starts:
        raise ValueError(
            f"{protocol.name} scores texts without a start token, and the server of {name} puts one before each"
        )
    if protocol.first_token == "uncond":
        raise ValueError(f"{protocol.name} scores a first token in a pass of its own, which no server offers")
