"""A model's tokenizer as scoring needs it: each distinct text once, one start token, and what it cannot spell."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from catsofa.scoring.models.model import Model
from catsofa.scoring.models.tokens import Ids, Text, Tokens, Unscorable
from catsofa.scoring.signature import shown_name

AT_ONCE = 1024
"""Texts that are tokenised in one call."""


class Reader:
    """A model's tokenizer as scoring needs it: nothing cut, nothing padded, special tokens known by their ids."""

    def __init__(self, model: Model) -> None:
        self.name = shown_name(model.name)  # it stands in reasons, which reports show
        self._tokenizer = model.tokenizer
        self._config = model.module.config.get_text_config()
        self._body = model.body

    @cached_property
    def _backend(self) -> Any:
        """The Rust tokenizer, without the truncation and padding a tokenizer.json may carry."""
        backend = self._tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        return backend

    @cached_property
    def start(self) -> int:
        """The token before a text: the tokenizer's BOS, or its end-of-text where it has no BOS."""
        for token in (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        raise Unscorable(f"the tokenizer of {self.name} has no start token, so a text's first token has no probability")

    @cached_property
    def adds_start(self) -> bool:
        """Whether the tokenizer puts the start token before a text by itself."""
        return bool(self._backend.encode("a").ids[:1] == [self.start])

    @cached_property
    def mask(self) -> int:
        """The mask's id."""
        if self._tokenizer.mask_token_id is None:
            raise Unscorable(f"the tokenizer of {self.name} has no mask token")
        return int(self._tokenizer.mask_token_id)

    @cached_property
    def pad(self) -> int:
        """An id that fills a row; it is never read, but some models count positions by it."""
        return int(self._tokenizer.pad_token_id or 0)

    @cached_property
    def segmented(self) -> bool:
        """Whether the model is told which segment a token belongs to."""
        return "token_type_ids" in self._tokenizer.model_input_names

    @cached_property
    def limit(self) -> int:
        """The most tokens the model reads at once."""
        limits = [int(self._tokenizer.model_max_length)]
        if (found := getattr(self._config, "max_position_embeddings", None) or 0) > 0:
            table = getattr(getattr(self._body, "embeddings", None), "position_embeddings", None)
            padding = getattr(table, "padding_idx", None)
            limits.append(int(found) - (0 if padding is None else padding + 1))
        return min(limits)

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """The ids of what the tokenizer does not know; none where it can spell everything, as by bytes."""
        return unknown_ids(self._tokenizer)

    @cached_property
    def _dropped(self) -> Callable[[str], int] | None:
        """Counts the letters that the tokenizer drops; None if it drops none."""
        return dropped_by(self._tokenizer)

    def unknowns(self, tokens: Tokens, places: Iterable[int] | None = None) -> int:
        """How many of a text's tokens, or of those at these places, are unknown, and the letters that it dropped.

        Dropped letters count wherever they stood, for the tokens after them no longer tell their own places.
        """
        if self._unknown.isdisjoint(tokens.ids):
            return tokens.dropped
        own = tokens.of() if places is None else places
        return tokens.dropped + sum(tokens.ids[at] in self._unknown for at in own)

    @cached_property
    def _special(self) -> frozenset[int]:
        """Ids that must not come out of a text itself; the unknown token may."""
        special = set(self._tokenizer.all_special_ids) - self._unknown
        return frozenset(special | ({self.start} if self._tokenizer.bos_token_id is not None else set()))

    def bare(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Each distinct text's tokens, with nothing added."""
        return {text: tokens for text, tokens in self._encode(texts, special=False) if isinstance(text, str)}

    def framed(self, texts: Iterable[Text]) -> dict[Text, Tokens]:
        """Each distinct text's tokens as the model was trained to read them ([CLS] … [SEP])."""
        return dict(self._encode(texts, special=True))

    def after(self, before: str, texts: Iterable[str]) -> dict[str, Tokens]:
        """Each distinct text's tokens as the second of two texts; those of the text before it are nobody's own."""
        read = self.framed((before, text) for text in texts)
        return {
            pair[1]: replace(of, text=pair[1], segments=tuple(0 if part == 1 else None for part in of.segments))
            for pair, of in read.items()
        }

    def _encode(self, texts: Iterable[Text], special: bool) -> Iterator[tuple[Text, Tokens]]:
        """Distinct texts in order, some at a time: the tokenizer's output takes several times their room."""
        left = iter(dict.fromkeys(texts))
        while some := list(islice(left, AT_ONCE)):
            found = self._backend.encode_batch(some, add_special_tokens=special)
            yield from map(self._tokens, some, found)

    def _tokens(self, text: Text, encoding: Any) -> tuple[Text, Tokens]:
        """A text with its tokens, as a tokenizer gives them."""
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
        """The tokens, unless the text is empty, too long for the model, or spells a special token."""
        own: Sequence[int] = tokens.ids
        if None in tokens.segments:
            own = [token for token, of in zip(tokens.ids, tokens.segments, strict=True) if of is not None]
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
        """The start token once, then the text."""
        return (self.start, *self.check(tokens, added=1).ids)


def unknown_ids(tokenizer: Any) -> frozenset[int]:
    """The ids that stand for unknown text, by the tokenizer's own name for it and by its model's."""
    model = tokenizer.backend_tokenizer.model
    named = getattr(model, "unk_token", None)
    ids = {tokenizer.unk_token_id, None if named is None else model.token_to_id(named)}
    if type(model).__name__ == "Unigram":
        ids.add(json.loads(model.__getstate__())["unk_id"])
    return frozenset(int(found) for found in ids if found is not None)


def dropped_by(tokenizer: Any) -> Callable[[str], int] | None:
    """A function that counts the letters of a text which become no token; None where the tokenizer drops none.

    Only a BPE without an unknown token drops letters. The offsets of its tokens do not show which: they close the gap.
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
    """Whether texts are read as bytes, and every byte is in the vocabulary."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = frozenset(ByteLevel.alphabet())
    return letters <= vocabulary and all(letters.issuperset(piece) for piece in _pieces(backend, "a é雪\n"))


def _pieces(backend: Any, text: str) -> list[str]:
    """The pieces of a text that the tokenizer's model reads, one at a time."""
    if backend.normalizer is not None:
        text = backend.normalizer.normalize_str(text)
    if backend.pre_tokenizer is None:
        return [text]
    return [piece for piece, _ in backend.pre_tokenizer.pre_tokenize_str(text)]


def _lost(piece: str, model: Any, vocabulary: frozenset[str]) -> int:
    """The letters of a piece that the model has no token for; spaces are no letters."""
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    last = len(piece) - 1
    spelt = [(prefix if at else "") + letter + (suffix if at == last else "") for at, letter in enumerate(piece)]
    return sum(
        name not in vocabulary and not letter.isspace() and not _bytes_known(letter, model, vocabulary)
        for name, letter in zip(spelt, piece, strict=True)
    )


def _bytes_known(letter: str, model: Any, vocabulary: frozenset[str]) -> bool:
    """Whether the model spells a letter by its bytes."""
    return bool(model.byte_fallback) and all(f"<0x{byte:02X}>" in vocabulary for byte in letter.encode())
