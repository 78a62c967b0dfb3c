"""Tokenizes texts for scoring: each distinct text once, with one start token, and counts of unknown tokens."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.models.model import Model
from catsofa.scoring.models.seams import Joined, Seams
from catsofa.scoring.models.tokens import Ids, Text, Tokens, Unscorable
from catsofa.scoring.signature import shown_name

AT_ONCE, REPEATED = 1024, 1 << 14
"""The number of texts in one tokenizer call, and of repeated texts that are remembered."""


class Reader:
    """The tokenizer of a model for scoring, without truncation or padding, and with the ids of special tokens."""

    def __init__(self, model: Model) -> None:
        self.name = shown_name(model.name)  # part of reasons, which reports show
        self._tokenizer = model.tokenizer
        self._config = model.module.config.get_text_config()
        self._body = model.body
        self._repeated = dict[str, Tokens]()

    @cached_property
    def _backend(self) -> Any:
        """The Rust tokenizer, without the truncation and padding that a tokenizer.json may set."""
        backend = self._tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        return backend

    @cached_property
    def start(self) -> int:
        """The start token id: the tokenizer's BOS, or its end-of-text token without a BOS."""
        for token in (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        raise Unscorable(f"the tokenizer of {self.name} has no start token, so a text's first token has no probability")

    @cached_property
    def adds_start(self) -> bool:
        """True if the tokenizer itself adds the start token before a text."""
        return bool(self._backend.encode("a").ids[:1] == [self.start])

    @cached_property
    def mask(self) -> int:
        """The id of the mask token."""
        if self._tokenizer.mask_token_id is None:
            raise Unscorable(f"the tokenizer of {self.name} has no mask token")
        return int(self._tokenizer.mask_token_id)

    @cached_property
    def pad(self) -> int:
        """The id that fills rows; models do not read it, but some use it to count positions."""
        return int(self._tokenizer.pad_token_id or 0)

    @cached_property
    def segmented(self) -> bool:
        """True if the model takes the segment of each token as input."""
        return "token_type_ids" in self._tokenizer.model_input_names

    @cached_property
    def limit(self) -> int:
        """The maximum number of tokens in one input of the model."""
        limits = [int(self._tokenizer.model_max_length)]
        if (positions := getattr(self._config, "max_position_embeddings", None) or 0) > 0:
            table = getattr(getattr(self._body, "embeddings", None), "position_embeddings", None)
            padding = getattr(table, "padding_idx", None)
            limits.append(int(positions) - (0 if padding is None else padding + 1))
        return min(limits)

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """The ids of unknown tokens; empty if the tokenizer can spell every text, for example by bytes."""
        return unknown_ids(self._tokenizer)

    @cached_property
    def _dropped(self) -> Callable[[str], int] | None:
        """A function that counts the letters that the tokenizer drops; None if it drops none."""
        return dropped_by(self._tokenizer)

    def unknowns(self, tokens: Tokens, places: Iterable[int] | None = None) -> int:
        """The number of unknown tokens in a text, or at these positions, plus the number of dropped letters.

        All dropped letters of the text count, since the offsets after a dropped letter are no longer right.
        """
        if self._unknown.isdisjoint(tokens.ids):
            return tokens.dropped
        own = tokens.of() if places is None else places
        return tokens.dropped + sum(tokens.ids[place] in self._unknown for place in own)

    @cached_property
    def _special(self) -> frozenset[int]:
        """Special token ids that a text itself must not produce; the unknown token is allowed."""
        special = set(self._tokenizer.all_special_ids) - self._unknown
        return frozenset(special | ({self.start} if self._tokenizer.bos_token_id is not None else set()))

    def bare(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Distinct text to its tokens, without special tokens."""
        return {text: tokens for text, tokens in self._encode(texts, special=False) if isinstance(text, str)}

    def repeated(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of texts that are asked for again and again, without special tokens."""
        if len(self._repeated) > REPEATED:
            self._repeated.clear()
        self._repeated.update(self.bare(text for text in texts if text not in self._repeated))
        return [self._repeated[text] for text in texts]

    def in_parts(self, beginnings: Sequence[str], rests: Sequence[str]) -> Joined | None:
        """The tokens of texts that can be tokenized in two parts, without special tokens; None if this saves nothing.

        `beginnings` and `rests` are the parts of each text.
        """
        return None if self._dropped else self._seams.read(beginnings, rests)

    def shares(self, parts: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The number of tokens of each part of a text, the unknown ones, and whether one of them is special."""
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        unknown = [
            0 if self._unknown.isdisjoint(ids) else sum(token in self._unknown for token in ids) for ids in parts
        ]
        special = [not self._special.isdisjoint(ids) for ids in parts]
        return sizes, np.array(unknown, dtype=np.int64), np.array(special, dtype=np.bool_)

    @cached_property
    def _seams(self) -> Seams:
        """The parts of texts that were tokenized apart."""
        return Seams(self, self._tokenizer)

    def framed(self, texts: Iterable[Text]) -> dict[Text, Tokens]:
        """Distinct text to its tokens with the special tokens of training ([CLS] … [SEP])."""
        return dict(self._encode(texts, special=True))

    def after(self, before: str, texts: Iterable[str]) -> dict[str, Tokens]:
        """Distinct text to its tokens as the second of two texts; tokens of the first text get segment None."""
        by_pair = self.framed((before, text) for text in texts)
        return {
            pair[1]: replace(tokens, text=pair[1], segments=tuple(0 if part == 1 else None for part in tokens.segments))
            for pair, tokens in by_pair.items()
        }

    def _encode(self, texts: Iterable[Text], special: bool) -> Iterator[tuple[Text, Tokens]]:
        """Tokenize distinct texts in order, in batches, since the output needs several times their memory."""
        remaining = iter(dict.fromkeys(texts))
        while some := list(islice(remaining, AT_ONCE)):
            encodings = self._backend.encode_batch(some, add_special_tokens=special)
            yield from map(self._tokens, some, encodings)

    def _tokens(self, text: Text, encoding: Any) -> tuple[Text, Tokens]:
        """A text with its tokens, from the encoding of the tokenizer."""
        texts = (text,) if isinstance(text, str) else text
        return text, Tokens(
            text=texts[0],
            ids=tuple(encoding.ids),
            offsets=tuple(encoding.offsets),
            words=tuple(encoding.word_ids),
            types=tuple(encoding.type_ids),
            segments=tuple(encoding.sequence_ids),
            dropped=sum(map(self._dropped, texts)) if self._dropped else 0,
        )

    def check(self, tokens: Tokens, added: int = 0, allow: int | None = None) -> Tokens:
        """The tokens, unchanged; a text that is empty, too long or spells a special token raises `Unscorable`."""
        own: Sequence[int] = tokens.ids
        if None in tokens.segments:
            own = [token for token, segment in zip(tokens.ids, tokens.segments, strict=True) if segment is not None]
        if not own:
            raise Unscorable("the text has no tokens")
        if len(tokens.ids) + added > self.limit:
            raise Unscorable(f"{len(tokens.ids) + added} tokens; {self.name} reads at most {self.limit}")
        if not self._special.isdisjoint(own):
            spelt = (self._special & set(own)) - {allow}
            if spelt:
                token = self._tokenizer.convert_ids_to_tokens(min(spelt))
                raise Unscorable(f"the text spells the special token {token}")
        return tokens

    def started(self, tokens: Tokens) -> Ids:
        """The ids of the start token and the text, after `check`."""
        return (self.start, *self.check(tokens, added=1).ids)


def unknown_ids(tokenizer: Any) -> frozenset[int]:
    """The ids of unknown tokens, as the tokenizer and as its underlying model define them."""
    model = tokenizer.backend_tokenizer.model
    named = getattr(model, "unk_token", None)
    ids = {tokenizer.unk_token_id, None if named is None else model.token_to_id(named)}
    if type(model).__name__ == "Unigram":
        ids.add(json.loads(model.__getstate__())["unk_id"])
    return frozenset(int(token_id) for token_id in ids if token_id is not None)


def dropped_by(tokenizer: Any) -> Callable[[str], int] | None:
    """A function that counts the letters of a text without a token; None if the tokenizer drops no letters.

    Only a BPE without an unknown token drops letters. Token offsets do not show them, since offsets close the gap.
    """
    backend = tokenizer.backend_tokenizer
    model = backend.model
    if type(model).__name__ != "BPE" or model.unk_token is not None:
        return None
    vocabulary = frozenset(tokenizer.get_vocab())
    if model.byte_fallback and vocabulary.issuperset(f"<0x{byte:02X}>" for byte in range(256)):
        return None
    if _by_bytes(backend, vocabulary):
        return None
    added = sorted((str(token) for token in backend.get_added_tokens_decoder().values()), key=len, reverse=True)

    def dropped(text: str) -> int:
        for token in added:
            text = text.replace(token, " ")
        return sum(_lost(piece, model, vocabulary) for piece in _pieces(backend, text))

    return dropped


def _by_bytes(backend: Any, vocabulary: frozenset[str]) -> bool:
    """Returns True if the tokenizer reads texts as bytes and has every byte in its vocabulary."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = frozenset(ByteLevel.alphabet())
    return letters <= vocabulary and all(letters.issuperset(piece) for piece in _pieces(backend, "a é雪\n"))


def _pieces(backend: Any, text: str) -> list[str]:
    """The pieces of a text after normalization and pre-tokenization."""
    if backend.normalizer is not None:
        text = backend.normalizer.normalize_str(text)
    if backend.pre_tokenizer is None:
        return [text]
    return [piece for piece, _ in backend.pre_tokenizer.pre_tokenize_str(text)]


def _lost(piece: str, model: Any, vocabulary: frozenset[str]) -> int:
    """The number of letters in a piece for which the model has no token; spaces do not count."""
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    last = len(piece) - 1
    spelt = [
        (prefix if place else "") + letter + (suffix if place == last else "") for place, letter in enumerate(piece)
    ]
    return sum(
        name not in vocabulary and not letter.isspace() and not _bytes_known(letter, model, vocabulary)
        for name, letter in zip(spelt, piece, strict=True)
    )


def _bytes_known(letter: str, model: Any, vocabulary: frozenset[str]) -> bool:
    """Returns True if the model can spell a letter by its bytes."""
    return bool(model.byte_fallback) and all(f"<0x{byte:02X}>" in vocabulary for byte in letter.encode())
