from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catsofa.scoring.models import load
from catsofa.scoring.models.reader import Reader

Tiny = Callable[[str], Path]
WORDS = {"[UNK]": 0, "<s>": 1, "Zorbs": 2, "are": 3, "kind": 4, ".": 5}
LETTERS = {letter: number for number, letter in enumerate("aeiou .▁")}
BYTES = {f"<0x{byte:02X}>": 8 + byte for byte in range(256)}


def count(tiny: Tiny, made: Any, text: str, **names: str) -> int:
    """Returns the number of unknown tokens of a text, as scoring counts them with this tokenizer."""
    from transformers import PreTrainedTokenizerFast

    known = Reader(replace(load(str(tiny("llama"))), tokenizer=PreTrainedTokenizerFast(tokenizer_object=made, **names)))
    assert known.unknowns(known.framed([text])[text]) == known.unknowns(known.bare([text])[text])
    return known.unknowns(known.bare([text])[text])


@pytest.mark.parametrize("names", [{}, {"unk_token": "[UNK]"}])
def test_an_unknown_token_that_only_the_model_of_a_tokenizer_names_counts(tiny: Tiny, names: dict[str, str]) -> None:
    """Two of four words are unknown, whether or not transformers knows the name of the unknown token. The same holds
    for a unigram model."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    assert count(tiny, words, "Zorbs are blue blickets.", **names) == 2
    pieces = Tokenizer(models.Unigram([("[UNK]", 0.0), ("a", -1.0), ("r", -2.0)], unk_id=0))
    assert count(tiny, pieces, "arkar", **names) == 1


@pytest.mark.parametrize(
    ("vocabulary", "text", "lost"),
    [
        (LETTERS, "The cook was kind.", 9),
        (LETTERS, "ae io.\n\tu", 0),
        (LETTERS, "É a\u0301", 0),
        (LETTERS, "<s>a", 0),
        (LETTERS | BYTES, "The cook was kind.", 0),
    ],
)
def test_letters_that_a_tokenizer_drops_count(tiny: Tiny, vocabulary: dict[str, int], text: str, lost: int) -> None:
    """Letters that a BPE without an unknown token drops are counted; accents and capitals that its normalizer removes
    are not."""
    from tokenizers import Tokenizer, models, normalizers

    bpe = Tokenizer(models.BPE(vocabulary, [], byte_fallback="<0x00>" in vocabulary))
    bpe.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    assert count(tiny, bpe, text, bos_token="<s>") == lost


def test_bytes_that_a_tokenizer_drops_count(tiny: Tiny) -> None:
    """Dropped bytes are counted: é is two bytes, and a vocabulary without the first drops it; a full vocabulary drops
    none."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    for left_out, lost in (("Ã", 1), ("", 0)):
        names = [letter for letter in alphabet if letter != left_out]
        bpe = Tokenizer(models.BPE({letter: number for number, letter in enumerate(names)}, []))
        bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        assert count(tiny, bpe, "Zorbs bake é.") == lost


def test_dropped_letters_of_both_texts_of_a_pair_count(tiny: Tiny) -> None:
    """The count covers both texts of a pair: two letters of the context and three of the next sentence."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE(LETTERS, [])))
    reader = Reader(replace(load(str(tiny("llama"))), tokenizer=tokenizer))
    tokens = reader.framed([("zaz", "zezz")])["zaz", "zezz"]
    assert reader.unknowns(tokens, tokens.of(1)) == 5


@pytest.mark.parametrize("name", ["gpt2", "roberta", "bloom", "qwen2"])
def test_tokenizers_of_bytes_know_every_letter(tiny: Tiny, name: str) -> None:
    """Byte-level tokenizers know every letter and are not checked letter by letter."""
    reader = Reader(load(str(tiny(name))))
    text = "The zorbs said: naïve 雪 \u200b\u00ad."
    assert reader.unknowns(reader.bare([text])[text]) == 0
    assert reader._dropped is None
