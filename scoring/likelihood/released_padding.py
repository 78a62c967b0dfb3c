"""Perplexity as the `evaluate` metric computes it with a tokenizer that pads on the left, for comparison alone.

The metric puts the start token before the padding, so that a text's first token is predicted from a pad, and how
far it stands from the start depends on the longest text of the call. Here one call holds the probes of a category
and another its identities.
"""

from collections.abc import Callable, Mapping, Sequence

from catsofa.data.records import Probe
from catsofa.scoring.likelihood import batches
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.causal import continuations
from catsofa.scoring.likelihood.queries import Answer, Padded
from catsofa.scoring.models.tokens import Tokens


def changes_scores(backend: Backend) -> bool:
    """Whether the tokenizer pads on the left, and the model reads from there."""
    return backend.model.kind == "causal" and backend.model.tokenizer.padding_side == "left"


def asked(backend: Backend, probes: Sequence[Probe], read: Mapping[str, Tokens]) -> Callable[[Tokens], tuple[Padded]]:
    """How a text is asked: padded to the longest text of each call it stands in."""
    longest: dict[tuple[str, str], int] = {}
    calls: dict[str, tuple[str, str]] = {}
    for probe in probes:
        for text, call in ((probe.text, (probe.category, "probes")), (probe.identity, (probe.category, "identities"))):
            calls[text] = call
            longest[call] = max(longest.get(call, 0), len(read[text].ids))
    reader = backend.reader
    tokenizer = backend.model.tokenizer
    pad = reader.start if tokenizer.pad_token_id is None else tokenizer.pad_token_id

    def ask(tokens: Tokens) -> tuple[Padded]:
        start, *ids = reader.started(tokens)
        pads = longest[calls[tokens.text]] - len(ids)
        return (Padded((start, *[pad] * pads, *ids), 1 + pads),)

    return ask


def answer(backend: Backend, questions: Sequence[Padded]) -> list[Answer]:
    """The log-probabilities of each text's tokens; rows of a batch have one length, and no padding but their own."""

    def forward(batch: list[int]) -> list[Answer]:
        asked = [questions[at] for at in batch]
        inputs = backend.padded([question.ids[:-1] for question in asked])
        seen = [[1] + [0] * (q.start - 1) + [1] * (len(q.ids) - 1 - q.start) for q in asked]
        inputs["attention_mask"] = backend.tensor(seen)
        return continuations(backend, inputs, asked)

    return backend.run("padded", [len(question.ids) - 1 for question in questions], forward, waste=batches.NONE)
