"""Questions for a whole text: left to right, with one mask at a time, or in the gap of an encoder-decoder."""

from collections.abc import Iterable

from catsofa.scoring.choices import FirstToken, Pseudo
from catsofa.scoring.items import Item, over_length
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Continuation, Fill, Ids, Infill
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.tokens import Tokens, Unscorable
from catsofa.scoring.protocols import Protocol

Asked = tuple[Continuation | Fill | Infill, ...]
SENTINEL = "<extra_id_0>"
"""Token that marks a gap for a T5."""


def left_to_right(reader: Reader, tokens: Tokens, first_token: FirstToken) -> Asked:
    """Returns questions for a text's tokens, each given those before it; `first_token` sets the first one's context.

    `bos`: the start token. `uncond`: the start token, which the other tokens then do not get. `skip`: no context, as in
    a model's own loss, which leaves out the first token that its tokenizer gives (the start token, if it adds one).
    """
    if begins_with_start(reader, first_token):
        return (Continuation(reader.started(tokens)),)
    ids = reader.check(tokens).ids
    if first_token == "uncond":
        rest = (Continuation(ids),) if len(ids) > 1 else ()
        return (Continuation((reader.start, ids[0])), *rest)
    if len(ids) < 2:
        raise Unscorable("one token, and this protocol leaves the first one out")
    return (Continuation(ids),)


def begins_with_start(reader: Reader, first_token: FirstToken) -> bool:
    """Returns True if all tokens of a text are one question behind the start token."""
    return first_token == "bos" or (first_token == "skip" and reader.adds_start)


def behind_masks(reader: Reader, tokens: Tokens, positions: Iterable[int], pseudo: Pseudo) -> Asked:
    """Returns a question for each of these tokens behind a mask; `within-word` also masks the rest of its word."""
    reader.check(tokens)
    return tuple(
        Fill(_hidden(reader, tokens, position, pseudo), (position,), (tokens.ids[position],), tokens.types)
        for position in positions
    )


def _hidden(reader: Reader, tokens: Tokens, position: int, pseudo: Pseudo) -> Ids:
    """Returns the token ids with this position masked."""
    end = position + 1
    if pseudo == "within-word":
        while (
            end < len(tokens.ids)
            and tokens.words[end] == tokens.words[position]
            and tokens.segments[end] == tokens.segments[position]
        ):
            end += 1
    return (*tokens.ids[:position], *[reader.mask] * (end - position), *tokens.ids[end:])


def into_gap(backend: Backend, tokens: Tokens, gap: Iterable[int], *, alone: bool = False) -> Infill:
    """Returns a question for the tokens `gap` of a text, for an encoder-decoder, given the rest unless `alone`.

    The encoder reads the text with a gap token in place of the words. A model with a mask token (BART) writes the text
    from its beginning, so the words also depend on those before them; a model with sentinels (T5) writes the gap alone.
    """
    places = list(gap)
    low, high = places[0], places[-1] + 1
    own = backend.reader.check(tokens).of()
    before, after = (own[0], own[-1] + 1) if alone else (low, high)
    mark, rewrites = _mark(backend)
    prefix: Ids = (_start(backend), *(tokens.ids[:before] if rewrites else (mark,)))
    return Infill(
        source=(*tokens.ids[:before], mark, *tokens.ids[after:]),
        ids=(*prefix, *tokens.ids[low:high]),
        start=len(prefix),
    )


def _start(backend: Backend) -> int:
    """Returns the decoder's start token; raises Unscorable if the configuration has none.

    T5Gemma has none, and its training included no gaps.
    """
    start = getattr(backend.model.module.config, "decoder_start_token_id", None)
    if start is None:
        raise Unscorable(
            f"{backend.reader.name} does not say with which token its decoder starts (decoder_start_token_id in "
            "config.json), as models that fill gaps do; use a T5 or BART, or a causal model"
        )
    return int(start)


def _mark(backend: Backend) -> tuple[int, bool]:
    """Returns the token that marks a gap, and True if the decoder writes the text before the gap again."""
    tokenizer = backend.model.tokenizer
    if tokenizer.mask_token_id is not None:
        return int(tokenizer.mask_token_id), True
    if SENTINEL in tokenizer.get_vocab():
        return int(tokenizer.convert_tokens_to_ids(SENTINEL)), False
    raise Unscorable(
        f"{backend.reader.name} was not trained to fill gaps: its tokenizer has neither a mask token nor {SENTINEL}"
    )


def read(backend: Backend, texts: Iterable[str]) -> dict[str, Tokens]:
    """Returns the tokens of whole texts as this kind of model reads them; tokenises each distinct text once."""
    if backend.model.kind in ("causal", "permutation"):
        return backend.reader.bare(texts)
    return {tokens.text: tokens for tokens in backend.reader.framed(texts).values()}


def asked(backend: Backend, tokens: Tokens, protocol: Protocol) -> Asked:
    """Returns questions for every token of a text, in order, by the method for this kind of model."""
    if backend.model.kind == "masked":
        return behind_masks(backend.reader, tokens, tokens.of(), protocol.pseudo)
    if backend.model.kind == "sequence-to-sequence":
        return (into_gap(backend, tokens, tokens.of()),)
    return left_to_right(backend.reader, tokens, protocol.first_token)


def item(backend: Backend, tokens: Tokens, protocol: Protocol, key: str, task: str) -> Item:
    """Returns a whole text as an item: the mean or the sum over its tokens."""
    questions = asked(backend, tokens, protocol)
    return Item(key, task, questions, over_length(protocol.length), count(questions), backend.reader.unknowns(tokens))


def count(questions: Asked) -> int:
    """Returns the number of tokens that these questions ask for."""
    return sum(len(q.targets) if isinstance(q, Fill) else len(q.ids) - q.start for q in questions)
