"""What a tokenizer cannot spell: the ids of its unknown token, and the letters that it drops without one."""

import json
from collections.abc import Callable
from typing import Any


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
