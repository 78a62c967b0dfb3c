from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from catsofa.data.records import LABELS, Candidate, Cat, Kind, Score
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Fill, Question
from catsofa.scoring.measures.stereoset.attributes import filled
from catsofa.scoring.models import load
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import DEFAULT, named

Tiny = Callable[[str], Path]


def cat(context: str, *texts: str, fills: tuple[str | None, ...] | None = None, kind: Kind = "intrasentence") -> Cat:
    """Returns a CAT about an invented group, with candidates in the order of the labels."""
    fills = fills or (None,) * 3
    return Cat(
        kind=kind,
        bias_type="invented",
        target="zorb",
        context=context,
        candidates=tuple(
            Candidate(id=f"{context}/{text}", text=text, label=label, fill=fill)
            for text, label, fill in zip(texts, LABELS, fills, strict=True)
        ),  # type: ignore[arg-type]  # three labels make three candidates
    )


def blank(context: str, *fills: str) -> Cat:
    """Returns a CAT whose sentences are its context with each filler."""
    return cat(context, *(context.replace("BLANK", fill) for fill in fills), fills=fills)


KIND = blank("The zorbs are BLANK.", "kind", "unbelievably stubborn", "bread")
NEXT = cat(
    "My neighbour is a gardener.",
    "She waters the roses.",
    "She never waters the roses.",
    "Bread was asleep.",
    kind="intersentence",
)


def numbers(scores: list[Score]) -> list[float]:
    """Returns the scores; fails if one is missing."""
    assert all(score.score is not None for score in scores), [score.reason for score in scores]
    return [score.score for score in scores if score.score is not None]


def total(backend: Backend, question: Question) -> float:
    """Returns the sum of one question's answer."""
    return float(ask(backend, [question])[0].sum())


def masks_by_hand(backend: Backend, text: str, words: str) -> list[float]:
    """Returns the log-probability of each token of the words, behind one mask, with the tokens after it left out."""
    tokens = backend.reader.framed([text])[text]
    places = tokens.span(text.index(words), text.index(words) + len(words))
    logs = []
    for place in places:
        row = (*tokens.ids[:place], backend.reader.mask, *tokens.ids[places.stop :])
        logs.append(total(backend, Fill(row, (place,), (tokens.ids[place],))))
    return logs


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_an_attribute_is_the_mean_over_its_pieces_from_left_to_right(tiny: Tiny, name: str) -> None:
    """`mean-log`, `mean-prob` and `sum` aggregate the same log-probabilities."""
    backend = Backend(load(str(tiny(name))))
    pieces = masks_by_hand(backend, "The zorbs are unbelievably stubborn.", "unbelievably stubborn")
    assert len(pieces) >= 2
    expected = {"mean-log": np.mean(pieces), "mean-prob": np.log(np.mean(np.exp(pieces))), "sum": np.sum(pieces)}
    for how, value in expected.items():
        scores = score_records(backend, [KIND], DEFAULT.changed(pieces=how))
        assert scores[1].score == pytest.approx(value, abs=1e-5)
        assert scores[1].tokens == len(pieces)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_the_three_fillers_share_the_row_of_their_first_mask(tiny: Tiny, name: str) -> None:
    """One mask with three targets is one row; each further token of a filler adds one."""
    backend = Backend(load(str(tiny(name))))
    pieces = [score.tokens for score in score_records(backend, [KIND], DEFAULT)]
    assert backend.tally.rows == 1 + sum(count - 1 for count in pieces)


def test_all_pieces_may_be_hidden_at_once(tiny: Tiny) -> None:
    """`masks=all` makes one row with a mask for each token."""
    backend = Backend(load(str(tiny("bert"))))
    text = "The zorbs are unbelievably stubborn."
    tokens = backend.reader.framed([text])[text]
    places = tokens.span(14, len(text) - 1)
    row = (*tokens.ids[: places.start], *[backend.reader.mask] * len(places), *tokens.ids[places.stop :])
    expected = total(backend, Fill(row, tuple(places), tokens.ids[places.start : places.stop])) / len(places)
    scores = score_records(backend, [KIND], DEFAULT.changed(masks="all"))
    assert scores[1].score == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("pseudo", ["plain", "within-word"])
def test_pseudo_likelihood_hides_the_context_and_never_the_attribute(tiny: Tiny, pseudo: str) -> None:
    """Every context token is masked once; `within-word` also masks the rest of its word."""
    backend = Backend(load(str(tiny("bert"))))
    text = "The zorbs are kind."
    tokens = backend.reader.framed([text])[text]
    kind = tokens.span(14, 18)
    logs = []
    for position in tokens.of():
        if position in kind:
            continue
        hidden = [
            place == position
            or (pseudo == "within-word" and place > position and tokens.words[place] == tokens.words[position])
            for place in range(len(tokens.ids))
        ]
        row = tuple(backend.reader.mask if hide else token for token, hide in zip(tokens.ids, hidden, strict=True))
        logs.append(total(backend, Fill(row, (position,), (tokens.ids[position],))))
    protocol = DEFAULT.changed(masked="pseudo", pseudo=pseudo)
    assert score_records(backend, [KIND], protocol)[0].score == pytest.approx(np.mean(logs), abs=1e-5)
    summed = score_records(backend, [KIND], protocol.changed(length="sum"))[0].score
    assert summed == pytest.approx(np.sum(logs), abs=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_causal_model_reads_the_whole_sentence_after_one_start_token(tiny: Tiny, name: str) -> None:
    """`bos` conditions every token; `uncond` scores the first token after the start token, and the rest without it."""
    backend = Backend(load(str(tiny(name))))
    text = KIND.candidates[0].text
    ids, start = backend.reader.bare([text])[text].ids, backend.reader.start
    conditioned = total(backend, Continuation((start, *ids)))
    first, rest = total(backend, Continuation((start, ids[0]))), total(backend, Continuation(ids))
    expected = {
        ("bos", "mean"): conditioned / len(ids),
        ("bos", "sum"): conditioned,
        ("uncond", "mean"): (first + rest) / len(ids),
        # the model's own loss omits the first token of its tokenizer's output, which is a start token for Llama
        ("skip", "mean"): conditioned / len(ids) if name == "llama" else rest / (len(ids) - 1),
    }
    for (first_token, length), value in expected.items():
        scores = score_records(backend, [KIND], DEFAULT.changed(first_token=first_token, length=length))
        assert scores[0].score == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama", "xlnet"])
def test_the_sentence_after_a_context_is_scored_by_what_the_context_adds(tiny: Tiny, name: str) -> None:
    """The score is pointwise mutual information, log p(s | c) − log p(s), per token, with the same tokens in both."""
    backend = Backend(load(str(tiny(name))))
    context, text = NEXT.context, NEXT.candidates[0].text
    whole = backend.reader.bare([f"{context} {text}"])[f"{context} {text}"]
    start = backend.reader.start
    places = whole.span(len(context) + 1, len(whole.text))
    conditioned = total(backend, Continuation((start, *whole.ids), places.start + 1))
    alone = total(backend, Continuation((start, *whole.ids[places.start :])))
    score = score_records(backend, [NEXT], DEFAULT)[0]
    assert score.score == pytest.approx((conditioned - alone) / len(places), abs=1e-5)
    assert score.tokens == len(places)


def test_the_pseudo_likelihood_of_the_context_given_the_sentence(tiny: Tiny) -> None:
    """Masked models without a next-sentence head mask each context token and keep the sentence."""
    backend = Backend(load(str(tiny("bert"))))
    pair = (NEXT.context, NEXT.candidates[0].text)
    tokens = backend.reader.framed([pair])[pair]
    logs = [
        total(
            backend,
            Fill(
                (*tokens.ids[:position], backend.reader.mask, *tokens.ids[position + 1 :]),
                (position,),
                (tokens.ids[position],),
                tokens.types,
            ),
        )
        for position in tokens.of(0)
    ]
    protocol = DEFAULT.changed(masked_pair="pseudo", pseudo="plain")
    assert score_records(backend, [NEXT], protocol)[0].score == pytest.approx(np.mean(logs), abs=1e-5)


def test_a_model_without_a_next_sentence_head_leaves_those_items_unscored(tiny: Tiny) -> None:
    """The reason names the missing head; the other task is scored."""
    backend = Backend(load(str(tiny("roberta"))))
    inside, after = score_records(backend, [KIND], DEFAULT), score_records(backend, [NEXT], DEFAULT)
    numbers(inside)
    assert all(score.score is None and "has no next-sentence head" in score.reason for score in after)


def test_an_encoder_decoder_fills_the_gap_it_was_trained_to_fill(tiny: Tiny) -> None:
    """BART encodes the context with a mask for the filler, and decodes the filler after the words before it."""
    backend = Backend(load(str(tiny("bart"))))
    scores = score_records(backend, [KIND, NEXT], DEFAULT)
    numbers(scores)
    text = KIND.candidates[1].text
    tokens = backend.reader.framed([text])[text]
    places = tokens.span(14, len(text) - 1)
    module = backend.model.module
    import torch

    source = (*tokens.ids[: places.start], backend.reader.mask, *tokens.ids[places.stop :])
    decoded = (module.config.decoder_start_token_id, *tokens.ids)
    with torch.no_grad():
        logits = module(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([decoded])).logits[0]
    logs = logits.double().log_softmax(-1)
    expected = np.mean([logs[place, tokens.ids[place]].item() for place in places])
    assert scores[1].score == pytest.approx(expected, abs=1e-5)


def test_an_encoder_decoder_with_sentinels_writes_the_gap_alone(tiny: Tiny) -> None:
    """T5 encodes the context with <extra_id_0> for the filler, and decodes the filler after the same token."""
    import torch

    backend = Backend(load(str(tiny("t5"))))
    item = blank("The BLANK zorbs bake bread.", "kind", "quiet", "stubborn")
    text = item.candidates[0].text
    tokens = backend.reader.framed([text])[text]
    places = tokens.span(4, 8)
    gap = backend.model.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    source = (*tokens.ids[: places.start], gap, *tokens.ids[places.stop :])
    pieces = tokens.ids[places.start : places.stop]
    with torch.no_grad():
        decoded = torch.tensor([[0, gap, *pieces]])
        logs = backend.model.module(input_ids=torch.tensor([source]), decoder_input_ids=decoded).logits[0]
    expected = np.mean(
        [logs[position + 1].double().log_softmax(-1)[piece].item() for position, piece in enumerate(pieces)]
    )
    assert score_records(backend, [item], DEFAULT)[0].score == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["bert", "roberta"])
@pytest.mark.parametrize(
    ("context", "fills"),
    [
        ("BLANK zorbs bake bread.", ("Kind", "Stubborn", "Tomatoes")),
        ('They said "BLANK" to the baker.', ("kind", "stubborn", "bread")),
        ("The zorbs, BLANK, sang.", ("kind", "unbelievably kind", "bread")),
        ("The zorbs are BLANK", ("kind", "aren't they", "roses")),
    ],
)
def test_a_blank_may_stand_anywhere_a_word_may(tiny: Tiny, name: str, context: str, fills: tuple[str, ...]) -> None:
    """At the start, between quotes, before a comma and at the end, the mask replaces the filler alone."""
    backend = Backend(load(str(tiny(name))))
    item = blank(context, *fills)
    for candidate, score in zip(item.candidates, score_records(backend, [item], DEFAULT), strict=True):
        pieces = masks_by_hand(backend, candidate.text, candidate.fill or "")
        assert score.score == pytest.approx(np.mean(pieces), abs=1e-5)


def test_a_sentence_that_differs_from_its_context_only_in_case_is_read_as_the_context_has_it() -> None:
    """Released sentences are often in lower case; the three fillers still share one context."""
    item = cat(
        "The Glimmer people are BLANK.",
        "The glimmer people are kind.",
        "the glimmer people are asleep",
        "The glimmer people are bread.",
        fills=("kind", "asleep", "bread"),
    )
    assert [filled(item, c)[0] for c in item.candidates] == [
        "The Glimmer people are kind.",
        "The Glimmer people are asleep.",
        "The Glimmer people are bread.",
    ]


def test_a_sentence_with_an_adapted_article_is_read_as_it_is() -> None:
    """If more than the BLANK differs, the sentence itself is scored, and the filler is located in it."""
    item = cat(
        "A glimmer is a BLANK.",
        "A glimmer is a baker.",
        "A glimmer is an artist.",
        "A glimmer is a rose.",
        fills=("baker", "artist", "rose"),
    )
    assert filled(item, item.candidates[1]) == ("A glimmer is an artist.", 16, 22)


@pytest.mark.parametrize(
    ("context", "text", "fill", "reason"),
    [
        ("A BLANK and a BLANK", "A zorb and a zorb", None, "2 BLANKs"),
        ("No gap here", "No gap here", None, "0 BLANKs"),
        ("He BLANKed the rose.", "He watered the rose.", None, "letters are glued"),
        ("They are BLANK.", "Something else.", None, "does not show"),
        ("An BLANK likes it.", "A zorb likes a zorb.", "zorb", "stands 2 times"),
    ],
)
def test_a_filler_whose_place_is_not_certain_is_refused(context: str, text: str, fill: str | None, reason: str) -> None:
    """An ambiguous filler position is refused, because a guess would give a wrong score."""
    item = cat(context, text, f"{text} Yes.", f"{text} No.", fills=(fill, fill, fill))
    with pytest.raises(Unscorable, match=reason):
        filled(item, item.candidates[0])


def test_the_released_code_puts_glued_letters_twice_and_needs_no_certain_filler(tiny: Tiny) -> None:
    """The released code's word is "watered" and its first row "He [MASK]ed the rose."; the default refuses the item."""
    backend = Backend(load(str(tiny("bert"))))
    item = cat("He BLANKed the rose.", "He watered the rose.", "He baked the rose.", "He breaded the rose.")
    scores = score_records(backend, [item], named("stereoset-code"))
    text = "He [MASK]ed the rose."
    row = backend.reader.framed([text])[text].ids
    pieces = backend.reader.bare(["watered"])["watered"].ids
    first = total(backend, Fill(row, (row.index(backend.reader.mask),), (pieces[0],)))
    assert scores[0].score is not None
    assert np.exp(scores[0].score) * len(pieces) >= np.exp(first) - 1e-9
    refused = score_records(backend, [item], DEFAULT)
    assert all(score.score is None and "glued" in score.reason for score in refused)


def test_a_text_the_model_cannot_read_is_unscored_and_the_others_are_not(tiny: Tiny) -> None:
    """A sentence that is too long loses only its own score."""
    backend = Backend(load(str(tiny("gpt2"))))
    item = cat("The zorbs are BLANK.", "The zorbs are kind.", "bread " * 99, "The zorbs are bread.")
    scores = score_records(backend, [item], DEFAULT)
    assert [score.score is None for score in scores] == [False, True, False]
    assert "reads at most 96" in scores[1].reason


def test_a_model_that_answers_nan_leaves_the_item_unscored(tiny: Tiny) -> None:
    """A NaN weight must not become a preference."""
    model = load(str(tiny("gpt2")))
    backend = Backend(model)
    assert backend.head.cut
    model.module.transformer.ln_f.weight.data[:] = float("nan")
    scores = score_records(backend, [KIND], DEFAULT)
    assert all(score.score is None and score.reason == "the model answered nan" for score in scores)
