"""Tests the random draws of the self-check, which detect faults that do not depend on the length of a text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.scoring.likelihood import causal, self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation
from catsofa.scoring.likelihood.self_check import EXIT, PRODUCTS, SHARE, TOGETHER, TREES, Attempt, Batching
from catsofa.scoring.models import load

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
BUDGET = 96


def texts(seed: int, count: int) -> list[Continuation]:
    """Returns random texts of 6 to 30 tokens."""
    rng = np.random.default_rng(seed)
    return [Continuation((0, *rng.integers(3, 200, length).tolist())) for length in rng.integers(6, 31, count)]


def of_three_rows(states: Any) -> Any:
    """Changes the states of batches of three rows."""
    return states * (1.5 if len(states) == 3 else 1)


def in_the_middle(states: Any) -> Any:
    """Changes the states of the middle row of a batch."""
    changed = states.clone()
    changed[len(states) // 2] *= 1.5 if len(states) > 1 else 1
    return changed


def faulty(folder: Path, fault: Callable[[Any], Any], on: list[bool]) -> Backend:
    """Returns a backend with plain batches and a fault that is active while `on` holds true."""
    model = load(str(folder))
    embeddings = model.module.get_input_embeddings()
    embeddings.register_forward_hook(lambda _, __, states: fault(states) if on[0] else states)
    backend = Backend(model, BUDGET)
    backend.batching.left_out[TREES] = None
    return backend


@pytest.mark.parametrize(
    ("fault", "count"), [(of_three_rows, 400), pytest.param(in_the_middle, 1000, marks=pytest.mark.slow)]
)
def test_a_fault_of_some_batches_is_noticed(fault: Callable[[Any], Any], count: int, tiny: Tiny) -> None:
    """The draws detect a fault in a tenth of the texts that affects none of the texts that strain batching most."""
    backend = faulty(tiny("llama"), fault, [True])
    questions = texts(0, count)
    answers = ask(backend, questions)
    assert TOGETHER in backend.batching.left_out
    assert backend.batching.late == 0
    with backend.alone(PRODUCTS, EXIT):
        expected = causal.plain(backend, questions)
    np.testing.assert_allclose(np.concatenate(answers), np.concatenate(expected), atol=1e-4, rtol=0)


def test_texts_accepted_before_a_fault_was_drawn_are_named(tiny: Tiny) -> None:
    """If a fault is detected late, a warning gives the number of texts that were already accepted."""
    active = [False]
    backend = faulty(tiny("llama"), in_the_middle, active)
    ask(backend, texts(0, 400))
    active[0] = True
    ask(backend, texts(1, 400))
    assert (backend.batching.late, TOGETHER in backend.batching.left_out) == (400, True)
    assert "400 texts" in self_check.warnings(backend.self_checks)[-1]
    assert "--batch-tokens 1" in self_check.warnings(backend.self_checks)[-1]
    again = Backend(backend.model)
    self_check.restore(again.self_checks, self_check.findings(backend.self_checks))
    assert again.batching == backend.batching


def test_no_remedy_is_named_where_texts_were_alone_already(tiny: Tiny) -> None:
    """The warning does not recommend `--batch-tokens 1` for texts that were already scored alone."""
    batching = Batching(left_out={PRODUCTS: 0.5}, accepted=9, late=9, late_alone=True)
    (*_, last) = batching.sentences("model")
    assert "9 texts" in last
    assert "--batch-tokens" not in last
    engine = Backend(load(str(tiny("llama"))), 1)
    engine.batching.accepted = 9
    engine.batching.allowance = 10**6
    outcome = replace(attempt([4, 4], [1, 1]), answers=[np.zeros(4), np.zeros(4)])
    assert not self_check.passes(engine, "zorb", outcome, lambda place: np.ones(4), TOGETHER)
    assert (engine.batching.late, engine.batching.late_alone) == (9, True)


def attempt(lengths: list[int], together: list[int]) -> Attempt[Any]:
    """Returns an attempt with texts of these lengths, in batches of these numbers of rows."""
    nothing = np.zeros((len(lengths), 1), dtype=np.int64)
    return Attempt([], range(len(lengths)), nothing, np.array(lengths), {}, np.array(together), sum(lengths))


def test_drawn_texts_are_a_hundredth_of_the_tokens() -> None:
    """The draws cost a hundredth of the tokens. Unspent tokens are kept for the next call, and a text costs at least
    `least` tokens."""
    batching, spent = Batching(), 0
    for _ in range(300):
        outcome = attempt([7, 11, 13], [3, 3, 3])
        drawn = batching.draw(outcome, 4)
        batching.accepted += 3
        spent += sum(int(outcome.lengths[place]) for place in drawn)
    assert SHARE * 300 * 31 - 13 <= spent <= SHARE * 300 * 31
    assert len(Batching(accepted=9).draw(attempt([10] * 1000, [50] * 1000), 1000)) == 0
    assert len(Batching(accepted=9).draw(attempt([10] * 1000, [50] * 1000), 50)) == 2


def test_the_first_texts_are_drawn_on_credit() -> None:
    """32 texts of the first batches are drawn on credit; later texts are drawn when these are paid for."""
    batching, drawn = Batching(), list[int]()
    for _ in range(200):
        drawn.append(len(batching.draw(attempt([10] * 100, [50] * 100), 10)))
        batching.accepted += 100
    assert drawn[0] == self_check.FIRST
    assert not any(drawn[1:31])
    assert sum(drawn) == 200


def test_each_size_of_a_batch_is_drawn() -> None:
    """Draws cover each batch size: with ten of a thousand texts in smaller batches, draws by size and by text
    alternate."""
    drawn = Batching(accepted=9).draw(attempt([10] * 1000, [2] * 10 + [90] * 990), 1)
    assert len(drawn) == 10
    assert min(drawn) < 10


def over_capacity(states: Any) -> Any:
    """Changes tokens beyond the capacity of an expert, which serves the first ten of its tokens in a batch."""
    flat = states.reshape(-1, states.shape[-1]).clone()
    served = flat[:, 0].mul(1000).long() % 7 == 3
    flat[served & (served.cumsum(0) > 10)] *= 1.5
    return flat.view_as(states)


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_that_another_one_hides_is_found_where_the_two_attempts_differ(seed: int, tiny: Tiny) -> None:
    """A fault that another fault hides is detected. Prefix trees are blamed first, then padding, and the texts whose
    numbers moved are checked again each time."""
    backend = faulty(tiny("llama"), over_capacity, [True])
    del backend.batching.left_out[TREES]
    questions = texts(seed, 120)
    answers = ask(backend, questions)
    with backend.alone(PRODUCTS, EXIT):
        expected = causal.plain(backend, questions)
    np.testing.assert_allclose(np.concatenate(answers), np.concatenate(expected), atol=1e-4, rtol=0)


def test_texts_whose_numbers_moved_are_checked_again(tiny: Tiny) -> None:
    """After a refused attempt, texts are drawn only from the forty of a thousand whose numbers differ."""
    engine = Backend(load(str(tiny("llama"))))
    outcome = replace(attempt([10] * 1000, [2] * 1000), answers=[np.zeros(4)] * 1000)
    before = [answer + (number < 40) for number, answer in enumerate(outcome.answers)]
    batching = Batching(refused=before)
    suspects = batching.suspects(engine, outcome, vectors=False)
    assert len(suspects) == self_check.SUSPECTS
    assert max(suspects) < 40
    assert batching.suspects(engine, outcome, vectors=False) == []
