"""Tests tokens that are joined from the parts of a text: always equal to those of the whole text, or not joined."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast  # noqa: TID253  # a tokenizer is what is tested

from catsofa.data.records import Probe
from catsofa.scoring.items.score import answered, items, score
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Answers
from catsofa.scoring.measures.sofa.columns import columns
from catsofa.scoring.models import load, seams
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.protocols import DEFAULT

BEGINNINGS = (
    "quibs",
    "People of Quib 7",
    "the 90s",
    "Frauen aus Çuib",
    "の人々",
    "Quib's",
    "zorb-",
    "quibs ",
    "two\tquibs",
)
RESTS = (
    " are lazy", " never pay 3 times", " don't", "'re late", "  sing", " 's", " \u0301x", " être là", " 怠け者",
    "は怠け者", " ½ empty", " İzmir", ", who sing", "",
)  # fmt: skip
TEXTS = {one + other: (one, other) for one, other in product(BEGINNINGS, RESTS)}
GRID = {f"{one}{other} {n}": (one, f"{other} {n}") for (one, other), n in product(TEXTS.values(), range(20))}


def reader(
    model: models.Model, split: pre_tokenizers.PreTokenizer | None, normalizer: normalizers.Normalizer | None = None
) -> Reader:
    """Returns a reader with a tokenizer trained on the texts."""
    tokenizer = Tokenizer(model)
    kind = {"BPE": trainers.BpeTrainer, "WordPiece": trainers.WordPieceTrainer, "Unigram": trainers.UnigramTrainer}
    if split is not None:
        tokenizer.pre_tokenizer = split
    tokenizer.train_from_iterator(
        list(GRID),
        kind[type(model).__name__](
            vocab_size=400, special_tokens=["[UNK]", "<s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            **({"unk_token": "[UNK]"} if isinstance(model, models.Unigram) else {}),
        ),
    )  # fmt: skip
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", bos_token="<s>")
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(max_position_embeddings=512))
    loaded = SimpleNamespace(name="own", tokenizer=fast, module=SimpleNamespace(config=config), body=None)
    return Reader(loaded)  # type: ignore[arg-type]  # a tokenizer is all it reads


def in_parts(read: Reader, texts: dict[str, tuple[str, str]]) -> dict[str, tuple[tuple[int, ...], int, int]]:
    """Returns the tokens of the texts that are joined, those of their rests, and the unknown ones."""
    joined = read.in_parts(*zip(*texts.values(), strict=True))
    if joined is None:
        return {}
    (_, few, _), (_, last_few, _) = read.shares(joined.beginnings), read.shares(joined.rests)
    names = list(texts)
    return {
        names[place]: (*joined.text(number), int(few[joined.first[number]] + last_few[joined.last[number]]))
        for number, place in enumerate(joined.places)
    }


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)


@pytest.mark.parametrize(
    ("model", "split"),
    [
        (models.BPE(), BYTES),
        (models.BPE(), pre_tokenizers.ByteLevel(add_prefix_space=True)),
        (models.BPE(), pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTES])),
        (models.WordPiece(unk_token="[UNK]"), pre_tokenizers.BertPreTokenizer()),
        (models.BPE(unk_token="[UNK]"), pre_tokenizers.Metaspace()),
    ],
    ids=["bytes", "bytes with a prefix", "single digits", "WordPiece", "Metaspace"],
)
def test_joined_tokens_are_those_of_the_whole_text(model: models.Model, split: pre_tokenizers.PreTokenizer) -> None:
    """The tokens, and the number of them in the rest, equal those of the whole text, in this call and in later ones."""
    read = reader(model, split)
    for texts in (GRID, dict(reversed(GRID.items()))):
        joined, whole = in_parts(read, texts), read.bare(texts)
        assert len(joined) > len(texts) / 4
        assert joined == {
            text: (
                whole[text].ids,
                whole[text].after(len(texts[text][0])),
                read.unknowns(whole[text]),
            )
            for text in joined
        }


def test_only_a_space_between_letters_or_digits_is_a_seam() -> None:
    """A text whose parts meet at a mark, at two spaces or without a space is tokenized whole."""
    joined = in_parts(reader(models.BPE(), BYTES), GRID)
    meet = {(one[-1:], other[:2]) for one, other in (GRID[text] for text in joined)}
    assert meet
    assert all(one.isalnum() and other[0] == " " and other[1].isalnum() for one, other in meet)


@pytest.mark.parametrize(
    ("model", "split", "normalizer"),
    [
        (models.BPE(unk_token="[UNK]"), None, None),
        (models.Unigram(), pre_tokenizers.Metaspace(), None),
        (models.BPE(), BYTES, normalizers.Replace("quibs are", "quibsare")),
    ],
    ids=["tokens over spaces", "Unigram", "a normalizer that joins two words"],
)
def test_a_tokenizer_that_may_join_words_gets_whole_texts(
    model: models.Model, split: pre_tokenizers.PreTokenizer | None, normalizer: normalizers.Normalizer | None
) -> None:
    """A vocabulary with phrases, sums over a text, or one wrong pair of words: no text is joined then, or later."""
    read = reader(model, split, normalizer)
    assert in_parts(read, GRID) == {}
    assert in_parts(read, GRID) == {}


def test_texts_that_share_too_little_are_tokenized_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are tokenized only if this halves the tokenized texts; more parts than the limit are forgotten."""
    read = reader(models.BPE(), BYTES)
    assert in_parts(read, {f"quibs {n} are {n}": (f"quibs {n}", f" are {n}") for n in range(9)}) == {}
    monkeypatch.setattr(seams, "MOST", 0)
    assert in_parts(read, GRID).keys() == in_parts(read, GRID).keys() != set()


IDENTITIES = ("women", "men", "women who drive", "people", "girls", "old people", "Cats", "the rovers")
ADJECTIVES = [
    "lazy",
    "big",
    "sad",
    "small",
    "old",
    "happy",
    "red",
    "blue",
    "fast",
    "slow",
    "kind",
    "nice",
    "bad",
    "good",
]
PROBES = [
    Probe(category="g", identity=identity, stereotype=f"{verb} {adjective}")
    for verb, adjective, identity in product(("are", "who drive are", "like"), ADJECTIVES, IDENTITIES)
] + [Probe(category="h", identity="rovers", stereotype=f"like {one}", text=f"Men like {one}") for one in ADJECTIVES]
"""Probes with nested identities, so that two of them share a text, and probes that do not begin with their identity."""


def test_scores_of_probes_are_the_same_in_columns(tiny: Callable[[str], Path]) -> None:
    """Each probe has its own score, identity and conditional part, also if another probe has the same text."""
    backend = Backend(load(str(tiny("gpt2"))))
    made, others = columns(backend, PROBES, DEFAULT)
    assert made is not None
    assert len(made.ids) > 300
    assert [*others[-14:]] == PROBES[-14:]
    in_columns, rest = made.scores(Answers.of(ask(backend, made.questions)))
    assert rest == []
    found = {one.item: one for one in [*in_columns, *answered(backend, items(backend, others, DEFAULT))]}
    whole = Backend(load(str(tiny("gpt2"))))
    assert [one.item for one in score(backend, PROBES, DEFAULT)] == [probe.id for probe in PROBES]
    for other in answered(whole, items(whole, PROBES, DEFAULT)):
        one = found[other.item]
        assert (one.tokens, one.reason) == (other.tokens, other.reason)
        assert one.extra.keys() == other.extra.keys()
        for part in ("identity", "conditional"):
            assert one.extra[part] == pytest.approx(other.extra[part], abs=1e-5), one.item
        assert one.score == pytest.approx(other.score, abs=1e-5)


def test_a_difference_that_shows_late_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are drawn at random; if one differs after others were joined, earlier scores may be wrong."""
    read = reader(models.BPE(), BYTES)
    monkeypatch.setattr(seams, "DRAWN", 1.0)
    assert in_parts(read, GRID)
    held = read._seams._rests
    held.update({rest: (0, *ids) for rest, ids in held.items()})
    with pytest.raises(ValueError, match="other tokens than its two parts"):
        in_parts(read, GRID)
    assert in_parts(read, GRID) == {}
