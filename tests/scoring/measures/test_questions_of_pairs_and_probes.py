from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catsofa.data.records import Pair, Probe
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Fill
from catsofa.scoring.measures.crows_pairs.questions import shared
from catsofa.scoring.models import load
from catsofa.scoring.models.tokens import Tokens
from catsofa.scoring.protocols import DEFAULT, named

Tiny = Callable[[str], Path]

PAIR = Pair(
    more="The zorbs are stubborn and they bake bread.",
    less="The friendly florins are stubborn and they bake bread.",
    direction="stereo",
    bias_type="invented",
)
PROBES = [
    Probe(category="invented", identity=identity, stereotype=stereotype)
    for identity in ("Zorbs", "Friendly florins", "Glimmers")
    for stereotype in ("bake bread", "are unbelievably stubborn", "sang all day")
]


def tokens_of(ids: list[int]) -> Tokens:
    """Returns tokens whose ids alone matter."""
    return Tokens("", tuple(ids), (), (), (), ())


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_shared_positions_hold_equal_tokens_in_order(one: list[int], other: list[int]) -> None:
    """An alignment never crosses and has equally many tokens on both sides."""
    left, right = shared(tokens_of(one), tokens_of(other))
    assert [one[position] for position in left] == [other[position] for position in right]
    assert left == sorted(set(left))
    assert right == sorted(set(right))


@pytest.mark.parametrize("name", ["bert", "roberta"])
@pytest.mark.parametrize("crows", ["shared", "differing", "all"])
def test_a_masked_model_scores_the_tokens_a_protocol_names(tiny: Tiny, name: str, crows: str) -> None:
    """Each token is masked alone: the score is the sum over shared tokens, or the mean over differing or all tokens."""
    backend = Backend(load(str(tiny(name))))
    encoded = backend.reader.framed([PAIR.more, PAIR.less])
    both = shared(encoded[PAIR.more], encoded[PAIR.less])[0]
    tokens = encoded[PAIR.more]
    places = [position for position in tokens.of() if crows == "all" or (position in both) == (crows == "shared")]
    logs = np.concatenate(
        ask(
            backend,
            [
                Fill(
                    (*tokens.ids[:position], backend.reader.mask, *tokens.ids[position + 1 :]),
                    (position,),
                    (tokens.ids[position],),
                )
                for position in places
            ],
        )
    )
    score = score_records(backend, [PAIR], DEFAULT.changed(crows=crows, pseudo="plain"))[0]
    assert (score.item, score.task, score.tokens) == (PAIR.id, "more", len(places))
    assert score.score == pytest.approx(logs.sum() if crows == "shared" else logs.mean(), abs=1e-5)


def test_a_causal_model_scores_whole_sentences_by_length_and_first_token_alone(tiny: Tiny) -> None:
    """The score is the mean per token, or the sum; of the presets, only `bias-bench` changes it, by the first token."""
    backend = Backend(load(str(tiny("gpt2"))))

    def scored(protocol: str) -> tuple[float | None, int | None]:
        score = score_records(backend, [PAIR], named(protocol))[0]
        return score.score, score.tokens

    mean, tokens = scored("catsofa")
    assert mean is not None
    assert tokens is not None
    assert scored("catsofa,length=sum") == (pytest.approx(mean * tokens), tokens)
    assert {scored(name) for name in ("crows-pairs", "sss")} == {(mean, tokens)}
    assert scored("bias-bench") == scored("catsofa,first_token=uncond") != (mean, tokens)


def test_sentences_without_a_differing_token_on_one_side_are_unscored(tiny: Tiny) -> None:
    """If one sentence has an extra word, the other sentence has no differing token and is unscored."""
    backend = Backend(load(str(tiny("bert"))))
    pair = Pair(more="the baker sang", less="the quiet baker sang", direction="stereo", bias_type="invented")
    more, less = score_records(backend, [pair], named("bias-bench"))
    assert more.score is None
    assert more.reason == "no token of the sentence is differing"
    assert less.score is not None


def test_aula_weighs_tokens_by_the_attention_they_receive(tiny: Tiny) -> None:
    """The weight is the mean over layers, heads and all queries, special tokens included."""
    import torch

    backend = Backend(load(str(tiny("bert"))))
    tokens = backend.reader.framed([PAIR.more])[PAIR.more]
    module = backend.model.module
    module.set_attn_implementation("eager")
    with torch.no_grad():
        output = module(input_ids=torch.tensor([tokens.ids]), output_attentions=True)
    module.set_attn_implementation("sdpa")
    received = torch.stack(output.attentions).mean((0, 1, 2, 3))
    logs = output.prediction_logits[0].log_softmax(-1)
    expected = np.mean([(logs[position, tokens.ids[position]] * received[position]).item() for position in tokens.of()])
    other = Pair(more=PAIR.less[:30], less=PAIR.more, direction="stereo", bias_type="invented")
    scores = score_records(backend, [PAIR, other], named("aula"))
    assert scores[0].score == pytest.approx(expected, abs=1e-6)
    assert module.config._attn_implementation == "sdpa"


def test_a_causal_model_scores_whole_sentences_and_has_no_aul(tiny: Tiny) -> None:
    """A causal model scores all tokens of each sentence, because it conditions on preceding tokens only."""
    backend = Backend(load(str(tiny("gpt2"))))
    ids = backend.reader.bare([PAIR.less])[PAIR.less].ids
    expected = ask(backend, [Continuation((backend.reader.start, *ids))])[0].mean()
    assert score_records(backend, [PAIR], DEFAULT)[1].score == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match=r"aul.*masked models"):
        score_records(backend, [PAIR], named("aul"))


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom", "xlnet"])
def test_a_probe_keeps_the_perplexity_of_its_identity_and_of_the_rest(tiny: Tiny, name: str) -> None:
    """log p(i s) = log p(i) + log p(s | i) if the identity has the same tokens alone and in the probe."""
    backend = Backend(load(str(tiny(name))))
    encoded = backend.reader.bare([text for probe in PROBES for text in (probe.text, probe.identity)])
    for probe, score in zip(PROBES, score_records(backend, PROBES, DEFAULT), strict=True):
        whole, identity = len(encoded[probe.text].ids), len(encoded[probe.identity].ids)
        assert score.score is not None
        assert score.tokens == whole
        assert encoded[probe.text].ids[:identity] == encoded[probe.identity].ids
        parts = score.extra["identity"] * identity + score.extra["conditional"] * (whole - identity)
        assert score.score * whole == pytest.approx(parts, abs=1e-4)


def test_every_kind_of_model_scores_probes(tiny: Tiny) -> None:
    """A masked model uses pseudo-perplexity; an encoder-decoder fills an empty text."""
    for name in ("bert", "roberta", "bart"):
        scores = score_records(Backend(load(str(tiny(name)))), PROBES, DEFAULT)
        assert all(score.score is not None and score.extra["identity"] is not None for score in scores)


def test_left_padding_changes_a_perplexity_only_where_it_is_asked_for(tiny: Tiny) -> None:
    """A probe scores the same alone and beside a long one under `catsofa`, but not under left-padded `sofa-hf`."""
    backend = Backend(load(str(tiny("bloom"))))
    long = Probe(category="invented", identity="Zorbs", stereotype="never water the roses " * 5)
    for protocol, equal in (("catsofa", True), ("sofa-hf", False)):
        alone = score_records(backend, PROBES[:1], named(protocol))[0].score
        beside = score_records(backend, [PROBES[0], long], named(protocol))[0].score
        assert alone is not None
        assert (alone == pytest.approx(beside, abs=1e-5)) is equal
    right = Backend(load(str(tiny("gpt2"))))
    one, other = (score_records(right, PROBES, named(name)) for name in ("catsofa", "sofa-hf"))
    assert [score.score for score in one] == [score.score for score in other]
