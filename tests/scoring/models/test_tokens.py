from collections.abc import Callable
from pathlib import Path

import pytest

from catsofa.scoring.models import load
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.tokens import Tokens, Unscorable

Tiny = Callable[[str], Path]
EVERY = ("gpt2", "llama", "bloom", "bert", "roberta", "bart", "xlnet")


def reader(tiny: Tiny, name: str) -> Reader:
    """Returns the reader of a tiny model."""
    return Reader(load(str(tiny(name))))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The zorbs are kind.", "kind"),
        ("Kind zorbs bake bread.", "Kind"),
        ("The zorbs are unbelievably kind, aren't they?", "unbelievably kind"),
        ('They said "stubborn" to the baker.', "stubborn"),
        ("The bread was naïve.", "naïve"),
        ("Glimmers bake (quiet) bread", "quiet"),
    ],
)
def test_a_span_covers_its_words_and_nothing_else(tiny: Tiny, name: str, text: str, words: str) -> None:
    """The tokens of a span spell its words and no neighbour, however the tokenizer treats spaces."""
    encoder = reader(tiny, name)
    for tokens in (encoder.bare([text])[text], encoder.framed([text])[text]):
        begin = text.index(words)
        places = tokens.span(begin, begin + len(words))
        low = min(tokens.offsets[place][0] for place in places)
        high = max(tokens.offsets[place][1] for place in places)
        assert text[low:high].strip() == words


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "text", ["The zorbs are kind.", " two  spaces here", "naïve \u200bbread", "don't un-tidy it", "a\tb \n c"]
)
def test_after_counts_what_a_span_from_the_beginning_leaves(tiny: Tiny, name: str, text: str) -> None:
    """`after` agrees with `span` at every character: the same count, or the same refusal."""
    encoder = reader(tiny, name)
    for tokens in (encoder.bare([text])[text], encoder.framed([text])[text]):
        for end in range(len(text) + 1):
            try:
                expected: int | str = len(tokens.of()) - tokens.of().index(tokens.span(0, end)[-1]) - 1
            except Unscorable as reason:
                expected = str(reason)
            try:
                actual: int | str = tokens.after(end)
            except Unscorable as reason:
                actual = str(reason)
            assert actual == expected


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("gap", ["  ", "   ", "\t "])
@pytest.mark.parametrize("words", ["kind", "xylophone", "unbelievably kind"])
def test_more_spaces_before_a_filler_add_no_piece_to_it(tiny: Tiny, name: str, gap: str, words: str) -> None:
    """The pieces of a filler spell its words and contain no token for a further space."""
    encoder = reader(tiny, name)
    text, wide = f"Zorbs can be {words} people.", f"Zorbs can be{gap}{words} people."
    rows = encoder.framed([text, wide])
    pieces = [encoder._tokenizer.convert_ids_to_tokens([rows[t].ids[i] for i in _places(rows[t], words)]) for t in rows]
    spelt = ["".join(piece).lstrip("Ġ▁") for piece in pieces]
    assert spelt[0] == spelt[1]
    assert sum(set(piece) <= set("Ġ▁ĉ") for piece in pieces[1]) <= 1
    assert len(pieces[1]) <= len(pieces[0])


@pytest.mark.parametrize("name", ["llama", "gemma2", "t5", "xlnet"])
def test_the_mark_that_begins_a_word_stays_a_piece_of_it(tiny: Tiny, name: str) -> None:
    """SentencePiece spells an unknown word "▁", "x" and so on. "▁" is scored with the word: left in the context, it
    would tell the model that the word is rare."""
    encoder = reader(tiny, name)
    text = "Zorbs can be vivid people."
    tokens = encoder.bare([text])[text]
    pieces = encoder._tokenizer.convert_ids_to_tokens([tokens.ids[place] for place in _places(tokens, "vivid")])
    assert pieces[:2] == ["▁", "v"]


def _places(tokens: Tokens, words: str) -> range:
    """Returns the positions of words that occur once in a text."""
    begin = tokens.text.index(words)
    return tokens.span(begin, begin + len(words))


def test_a_token_that_joins_the_filler_with_its_neighbour_is_refused(tiny: Tiny) -> None:
    """A token that joins the filler with its neighbour is refused, because its probability includes other letters."""
    encoder = reader(tiny, "gpt2")
    text = "The gardener"
    tokens = encoder.bare([text])[text]
    with pytest.raises(Unscorable, match=r"'garden'.*letters beside"):
        tokens.span(4, 10)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom", "xlnet"])
def test_one_start_token_stands_before_a_text(tiny: Tiny, name: str) -> None:
    """A text has exactly one start token, whether or not the tokenizer adds its own."""
    encoder = reader(tiny, name)
    text = "The zorbs are kind."
    ids = encoder.started(encoder.bare([text])[text])
    assert ids[0] == encoder.start
    assert encoder.start not in ids[1:]


@pytest.mark.parametrize(
    ("name", "text"), [("gpt2", "Buy <|endoftext|> now"), ("bert", "A [MASK] here"), ("llama", "<s>Hi")]
)
def test_a_text_that_spells_a_special_token_is_refused(tiny: Tiny, name: str, text: str) -> None:
    """A text that spells a special token is refused, because it would become a start or a mask within a sentence."""
    encoder = reader(tiny, name)
    with pytest.raises(Unscorable, match="special token"):
        encoder.check(encoder.framed([text])[text])


def test_a_text_longer_than_the_model_reads_is_refused(tiny: Tiny) -> None:
    """RoBERTa's positions begin after its padding id, so that two of its 98 are not available for tokens."""
    encoder = reader(tiny, "roberta")
    assert encoder.limit == 96
    text = "bread " * 100
    with pytest.raises(Unscorable, match="reads at most 96"):
        encoder.check(encoder.framed([text])[text])


def test_each_distinct_text_is_tokenised_once(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A context that three candidates share is tokenised once."""
    encoder = reader(tiny, "bert")
    counts: list[int] = []
    backend = encoder._backend

    class Counting:
        def encode_batch(self, texts: list[str], **options: bool) -> list[object]:
            counts.append(len(texts))
            return list(backend.encode_batch(texts, **options))

    monkeypatch.setitem(encoder.__dict__, "_backend", Counting())
    assert len(encoder.framed(["a baker", "a zorb", "a baker"])) == 2
    assert counts == [2]


def test_the_end_of_text_starts_a_text_where_there_is_no_bos(tiny: Tiny) -> None:
    """Qwen-like models, trained without a BOS, start a text with their end-of-text token; without either, the text is
    refused."""
    model = load(str(tiny("llama")))
    model.tokenizer.bos_token = None
    assert Reader(model).start == model.tokenizer.eos_token_id
    model.tokenizer.eos_token = None
    with pytest.raises(Unscorable, match="no start token"):
        _ = Reader(model).start
