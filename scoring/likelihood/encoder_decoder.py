"""Encoder-decoders: the words of a gap given the text around it, which is what they were trained to write.

The encoder reads the text with a mark in place of the words. A model with a mask token (BART) writes the text from
its beginning, so the words are also given those before them; one with sentinels (T5) writes the gap alone.
"""

from collections.abc import Iterable, Sequence

from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.causal import continuations
from catsofa.scoring.likelihood.queries import Answer, Ids, Infill
from catsofa.scoring.models.tokens import Tokens, Unscorable

SENTINEL = "<extra_id_0>"


def into_gap(backend: Backend, tokens: Tokens, gap: Iterable[int], *, alone: bool = False) -> Infill:
    """The tokens `gap` of a text, given the rest of it; `alone` gives nothing of the rest."""
    places = list(gap)
    low, high = places[0], places[-1] + 1
    own = backend.reader.check(tokens).of()
    before, after = (own[0], own[-1] + 1) if alone else (low, high)
    mark, rewrites = _mark(backend)
    written: Ids = (_start(backend), *(tokens.ids[:before] if rewrites else (mark,)))
    return Infill(
        source=(*tokens.ids[:before], mark, *tokens.ids[after:]),
        ids=(*written, *tokens.ids[low:high]),
        start=len(written),
    )


def _start(backend: Backend) -> int:
    """The token with which the decoder starts; T5Gemma's configuration has none, and no gap was in its training."""
    start = getattr(backend.model.module.config, "decoder_start_token_id", None)
    if start is None:
        raise Unscorable(
            f"{backend.model.name} does not say with which token its decoder starts (decoder_start_token_id in "
            "config.json), as models that fill gaps do; use a T5 or BART, or a causal model"
        )
    return int(start)


def _mark(backend: Backend) -> tuple[int, bool]:
    """The token that stands for a gap, and whether the decoder writes the text before it again."""
    tokenizer = backend.model.tokenizer
    if tokenizer.mask_token_id is not None:
        return int(tokenizer.mask_token_id), True
    if SENTINEL in tokenizer.get_vocab():
        return int(tokenizer.convert_tokens_to_ids(SENTINEL)), False
    raise Unscorable(
        f"{backend.model.name} was not trained to fill gaps: its tokenizer has neither a mask token nor {SENTINEL}"
    )


def answer(backend: Backend, questions: Sequence[Infill]) -> list[Answer]:
    """The log-probabilities of each gap's tokens."""

    def forward(batch: list[int]) -> list[Answer]:
        asked = [questions[at] for at in batch]
        inputs = backend.padded([question.source for question in asked])
        # what fills up a decoder's row stands after every asked token, which cannot see it
        inputs["decoder_input_ids"] = backend.tensor([question.ids[:-1] for question in asked], backend.reader.pad)
        return continuations(backend, inputs, asked)

    return backend.run("infills", [len(q.source) + len(q.ids) - 1 for q in questions], forward)
