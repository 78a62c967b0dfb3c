"""Tests the engine against a plain loop: one row, one forward, a softmax in double precision."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Fill, Follows, Infill, Question
from catsofa.scoring.models import load

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
LEFT = ("gpt2", "llama", "qwen2", "bloom", "gemma2", "mamba")
BOTH = ("bert", "roberta", "albert")
CLOSE = 1e-5
"""Nats: the largest allowed difference between a score and the plain loop in float32."""


def logs(logits: Any) -> Any:
    """Returns the log-softmax in double precision."""
    return logits.double().log_softmax(-1)


def plainly(backend: Backend, question: Question) -> list[float]:
    """Returns the answer to a question from a separate forward."""
    module = backend.model.module
    with torch.no_grad():
        if isinstance(question, Continuation):
            logp = logs(module(input_ids=torch.tensor([question.ids])).logits[0])
            return [logp[i - 1, question.ids[i]].item() for i in range(question.start, len(question.ids))]
        if isinstance(question, Fill):
            inputs = {"input_ids": torch.tensor([question.ids])}
            if backend.reader.segmented and question.types:
                inputs["token_type_ids"] = torch.tensor([question.types])
            output = module(**inputs)
            logp = logs(getattr(output, "prediction_logits", getattr(output, "logits", None))[0])
            return [logp[i, target].item() for i, target in zip(question.positions, question.targets, strict=True)]
        if isinstance(question, Follows):
            output = module(input_ids=torch.tensor([question.ids]), token_type_ids=torch.tensor([question.types]))
            return [logs(output.seq_relationship_logits[0])[0].item()]
        assert isinstance(question, Infill)
        output = module(input_ids=torch.tensor([question.source]), decoder_input_ids=torch.tensor([question.ids]))
        logp = logs(output.logits[0])
        return [logp[i - 1, question.ids[i]].item() for i in range(question.start, len(question.ids))]


ids = st.integers(10, 199)
rows = st.lists(ids, min_size=1, max_size=24).map(tuple)


@st.composite
def continuations(draw: st.DrawFn) -> Continuation:
    """Draws a sequence after a start token, scored from a random position on."""
    sequence = (1, *draw(rows))
    return Continuation(sequence, draw(st.integers(1, len(sequence) - 1)))


@st.composite
def fills(draw: st.DrawFn) -> Fill:
    """Draws a row between special tokens, with one to three masked positions."""
    sequence = (2, *draw(rows), 3)
    positions = tuple(draw(st.lists(st.integers(1, len(sequence) - 2), min_size=1, max_size=3)))
    return Fill(sequence, positions, tuple(draw(ids) for _ in positions))


@st.composite
def followings(draw: st.DrawFn) -> Follows:
    """Draws a pair of segments."""
    first, second = draw(rows), draw(rows)
    return Follows((2, *first, 3, *second, 3), (0,) * (len(first) + 2) + (1,) * (len(second) + 1))


@st.composite
def infills(draw: st.DrawFn) -> Infill:
    """Draws an encoder's input and its decoder's output."""
    output = (2, 0, *draw(rows))
    return Infill((0, *draw(rows), 4, 2), output, draw(st.integers(1, len(output) - 1)))


KINDS: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
    **dict.fromkeys(LEFT, continuations),
    **dict.fromkeys(BOTH, fills),
    "bart": infills,
    "t5": infills,
}


@pytest.mark.parametrize("name", KINDS)
def test_batch_size_order_and_company_do_not_change_an_answer(tiny: Tiny, name: str) -> None:
    """The answer to a question does not depend on the other questions or on the batches: it equals the answer of a
    separate forward."""
    model = load(str(tiny(name)))

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(KINDS[name](), min_size=1, max_size=12), st.sampled_from([1, 7, 40, 300, 5000]))
    def check(questions: list[Question], budget: int) -> None:
        backend = Backend(model, budget)
        for question, answer in zip(questions, ask(backend, questions), strict=True):
            np.testing.assert_allclose(answer, plainly(backend, question), atol=CLOSE, rtol=0)

    check()


def test_the_next_sentence_head_is_asked_as_the_model_itself_answers(tiny: Tiny) -> None:
    """The next-sentence answer is the log probability of class 0 of the BERT head, given the segment ids."""
    model = load(str(tiny("bert-with-a-random-head")))

    @settings(max_examples=15, deadline=None)
    @given(st.lists(followings(), min_size=1, max_size=8), st.sampled_from([20, 5000]))
    def check(questions: list[Follows], budget: int) -> None:
        backend = Backend(model, budget)
        for question, answer in zip(questions, ask(backend, questions), strict=True):
            # The random head has large weights, which magnify rounding.
            np.testing.assert_allclose(answer, plainly(backend, question), atol=10 * CLOSE, rtol=0)

    check()


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom", "xlnet"])
def test_the_probabilities_of_all_next_tokens_sum_to_one(tiny: Tiny, name: str) -> None:
    """The probabilities of all tokens after one prefix sum to one in a left-to-right model."""
    backend = Backend(load(str(tiny(name))))
    vocabulary = backend.model.module.config.vocab_size
    for prefix in [(1,), (1, 30, 40, 50)]:
        questions = [Continuation((*prefix, token), len(prefix)) for token in range(vocabulary)]
        assert np.exp(np.concatenate(ask(backend, questions))).sum() == pytest.approx(1, abs=1e-6)


def test_xlnet_sees_nothing_of_what_comes(tiny: Tiny) -> None:
    """With the permutation mask, XLNet's earlier probabilities do not depend on later tokens."""
    backend = Backend(load(str(tiny("xlnet"))))
    one, other, shorter = ask(
        backend,
        [Continuation((1, 20, 30, 40, 50)), Continuation((1, 20, 30, 99, 50)), Continuation((1, 20, 30))],
    )
    np.testing.assert_allclose(one[:2], other[:2], atol=CLOSE)
    np.testing.assert_allclose(one[:2], shorter, atol=CLOSE)
    assert abs(one[3] - other[3]) > 1e-3


def test_equal_questions_are_forwarded_once(tiny: Tiny) -> None:
    """Three fillers of one mask share one row, and a repeated question is answered once."""
    backend = Backend(load(str(tiny("bert"))))
    row = (2, 50, 60, 4, 70, 3)
    questions: list[Question] = [Fill(row, (3,), (target,)) for target in (80, 90, 100)] * 2
    ask(backend, questions)
    assert (backend.tally.rows, backend.tally.forwarded, backend.tally.scored) == (1, 6, 3)


def test_half_precision_sums_over_the_vocabulary_in_full(tiny: Tiny) -> None:
    """With bfloat16 states, the sum over the vocabulary has full precision: the probabilities still sum to one."""
    backend = Backend(load(str(tiny("gpt2")), dtype="bf16"))
    questions = [Continuation((0, 30, token), 2) for token in range(360)]
    assert np.exp(np.concatenate(ask(backend, questions))).sum() == pytest.approx(1, abs=0.02)


def test_a_question_the_model_cannot_answer_is_refused(tiny: Tiny) -> None:
    """A causal model refuses a question about a mask."""
    with pytest.raises(ValueError, match="no trained weights"):
        ask(Backend(load(str(tiny("gpt2")))), [Fill((1, 2, 3), (1,), (2,))])
