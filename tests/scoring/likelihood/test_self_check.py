"""Tests the self-check, which rescores some texts alone and leaves out any batching that changes their numbers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import odd_models
from helpers.records import PAIRS, cats
from helpers.sessions import chunks_of, session
from helpers.tiny_tokenizers import SENTENCES

from catsofa.data.records import Pair
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood import causal, cpu_kernels, early_exit, self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Continuations
from catsofa.scoring.likelihood.self_check import EXIT, PADDING, PRODUCTS, TOGETHER, TREES
from catsofa.scoring.models import load
from catsofa.scoring.models.model import Model
from catsofa.scoring.next_sentence import NextSentence
from catsofa.scoring.next_sentence import network as next_network
from catsofa.scoring.next_sentence.network import PairReader
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import differences
from catsofa.scoring.vectors.pooled_states import PooledStates

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
CLOSE = 1e-4
"""Nats: the largest allowed change of a score by the batch size in float32."""
LONG = [
    Pair(more=f"{one} {two} {end}", less=f"{one} {two} {other}", direction="stereo", bias_type="invented")
    for one, two in (
        ("The zorbs are kind.", "It rained all day. " * 2),
        ("A florin sang.", ""),
        ("A zorb.", "So be it."),
    )
    for end, other in (("Bread.", "Roses sang."), ("The baker was asleep.", "Nobody bought bread, said he."))
]
BUDGETS = (1, 40, 20000)


def numbers(backend: Backend) -> Any:
    """Returns every score of CATs and pairs of many lengths."""
    scores = [*score_records(backend, cats(), DEFAULT), *score_records(backend, [*PAIRS, *LONG], DEFAULT)]
    return np.array([np.nan if score.score is None else score.score for score in scores])


def check(model: Model) -> dict[str, float | None]:
    """Asserts that the scores do not depend on the batch size; returns the parts that were left out."""
    expected = numbers(Backend(model, BUDGETS[0]))
    assert np.isfinite(expected).sum() > 40
    left_out: dict[str, float | None] = {}
    for budget in BUDGETS[1:]:
        backend = Backend(model, budget)
        np.testing.assert_allclose(numbers(backend), expected, atol=CLOSE, rtol=0, err_msg=str(budget))
        left_out |= backend.batching.left_out
    return left_out


@pytest.mark.parametrize("name", odd_models.MIXES_PADDING)
def test_a_model_that_mixes_padding_into_its_texts_has_one_number_a_text(name: str, tmp_path: Path) -> None:
    """The rows of a model that mixes padding into its texts are never padded, for any batch size."""
    assert list(check(load(str(odd_models.mixing(name, tmp_path / name))))) == [PADDING]


def test_a_window_counted_in_a_row_is_noticed(tmp_path: Path) -> None:
    """Prefix trees are left out for GPT-Neo with a window of 16, which hides the beginning of a text in a tree."""
    assert list(check(load(str(odd_models.gpt_neo(tmp_path / "neo", 16))))) == [TREES]


@pytest.mark.parametrize("name", ["llama", "bert", "t5", "bart"])
def test_the_batch_size_changes_no_number(name: str, tiny: Tiny) -> None:
    """Scores do not depend on the batch size, and nothing is left out for an ordinary model."""
    assert check(load(str(tiny(name)))) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "qwen2", "gemma2", "bloom", "mamba", "roberta", "albert", "xlnet"])
def test_the_batch_size_changes_no_number_of_any_tiny_model(name: str, tiny: Tiny) -> None:
    """Scores do not depend on the batch size. Trees are left out only for Gemma 2 with a window of 16, because a tree's
    mask would let it look further back. Models that cannot use trees at all are scored in plain rows."""
    assert list(check(load(str(tiny(name))))) == ([TREES] if name == "gemma2" else [])


@pytest.mark.parametrize("name", ["gpt2", "bert", "bart"])
def test_rounding_in_half_precision_leaves_nothing_out(name: str, tiny: Tiny) -> None:
    """Differences that come from bfloat16 rounding leave nothing out."""
    backend = Backend(load(str(tiny(name)), dtype="bf16"))
    score_records(backend, [*PAIRS, *LONG], DEFAULT)
    assert backend.batching.left_out == {}


def long_texts(seed: int, length: int, count: int) -> list[Continuation]:
    """Returns texts that share their first half, as candidates share a context."""
    rng = np.random.default_rng(seed)
    shared = rng.integers(1, 300, length // 2).tolist()
    return [Continuation((0, *shared, *rng.integers(1, 300, length // 2).tolist())) for _ in range(count)]


def test_a_released_window_is_narrower_than_the_rows_of_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With rows of 512, trees change GPT-Neo (window 256) by more than 0.1 nats and are left out."""
    monkeypatch.setattr(causal, "CPU_WIDTH", causal.GPU_WIDTH)
    model = load(str(odd_models.gpt_neo(tmp_path / "neo")))
    questions = long_texts(0, 60, 16)
    alone, unchecked, backend = Backend(model), Backend(model), Backend(model)
    with alone.alone(PRODUCTS, EXIT):
        expected = causal.plain(alone, questions)
    attempt = causal._attempt(unchecked, Continuations.of(questions))
    assert attempt is not None
    assert max(np.abs(one - other).max() for one, other in zip(attempt.answers, expected, strict=True)) > 0.1
    for one, other in zip(ask(backend, questions), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=CLOSE, rtol=0)
    assert list(backend.batching.left_out) == [TREES]


def test_rows_that_strain_a_model_more_are_checked_when_they_come(tmp_path: Path) -> None:
    """Longer texts are checked when they come, since short texts prove nothing for them; equal lengths are checked
    once."""
    backend = Backend(load(str(odd_models.gpt_neo(tmp_path / "neo", 16))))
    ask(backend, long_texts(0, 8, 2))
    once = backend.tally.checked
    assert 0 < once < 16
    ask(backend, long_texts(1, 8, 2))
    assert (backend.batching.left_out, backend.tally.checked) == ({}, once)
    ask(backend, long_texts(0, 40, 6))
    assert list(backend.batching.left_out) == [TREES]


LONG_ROPE = {"rope_type": "longrope", "rope_theta": 1e4, "factor": 4.0, "short_factor": [1.0] * 4}
LONG_ROPE |= {"long_factor": [3.0, 4.0, 8.0, 9.0], "original_max_position_embeddings": 40}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}


@pytest.mark.parametrize(("rope", "positions"), [(LONG_ROPE, 160), (DYNAMIC, 40)])
@pytest.mark.parametrize(
    ("part", "lengths"), [(TREES, [20, 39, 60]), (PADDING, [44, 43, 42, 41, 40, 39, 14, 9, 8, 7, 6])]
)
def test_a_text_below_a_limit_that_its_batch_crosses_is_checked(
    rope: dict[str, Any], positions: int, part: str, lengths: list[int], tmp_path: Path
) -> None:
    """A rotary embedding may depend on the longest position of the batch, so that only texts of up to 40 tokens beside
    longer ones change. Each text has the number of a model that read no other text."""
    model = load(str(odd_models.llama(tmp_path / "llama", rope, positions)))
    rng = np.random.default_rng(0)
    questions = [Continuation((length, *rng.integers(1, 300, length).tolist())) for length in lengths]
    backend = Backend(model)
    if part is PADDING:
        backend.batching.left_out[TREES] = None
    answers = ask(backend, questions)
    assert part in backend.batching.left_out
    for text, values in zip(questions, answers, strict=True):
        fresh = Backend(load(str(tmp_path / "llama")), 1)
        with fresh.alone(PRODUCTS, EXIT):
            np.testing.assert_allclose(values, causal.plain(fresh, [text])[0], atol=CLOSE, rtol=0)


def test_a_text_is_read_as_if_no_other_had_been(tmp_path: Path) -> None:
    """BigBird changes its attention after short texts. Each text has the number of a model that read no other text."""
    folder = odd_models.bigbird(tmp_path / "bigbird")
    model = load(str(folder))
    check(model)
    for pair in (LONG[0], LONG[5], LONG[1]):
        fresh = Backend(load(str(folder)), 1)
        fresh.batching.left_out |= dict.fromkeys((PRODUCTS, EXIT, PADDING, TOGETHER))
        np.testing.assert_allclose(pair_scores(Backend(model), pair), pair_scores(fresh, pair), atol=CLOSE, rtol=0)


def pair_scores(backend: Backend, pair: Pair) -> list[float | None]:
    """Returns the scores of one pair."""
    return [score.score for score in score_records(backend, [pair], DEFAULT)]


def test_what_a_forward_leaves_in_a_model_is_undone(tiny: Tiny) -> None:
    """Changes made by a forward (an attribute, a buffer written in place, a replaced module) are undone. Changes
    between forwards are kept."""
    model = load(str(tiny("bert")))
    body = model.module.base_model
    attention, norm, positions = (
        body.encoder.layer[0].attention,
        body.embeddings.LayerNorm,
        body.embeddings.position_ids,
    )

    def leave(*_: Any) -> None:
        attention.self = torch.nn.Identity()
        body.embeddings.position_ids.add_(1)
        norm.eps = 7.0

    before = attention.self, positions.clone(), norm.eps
    hook = body.register_forward_hook(leave)
    with torch.inference_mode():
        model.module(torch.tensor([[5, 6, 7]]))
        assert (attention.self, norm.eps) == (before[0], before[2])
        assert torch.equal(body.embeddings.position_ids, before[1])
        hook.remove()
        replaced = attention.self = torch.nn.Module()
        replaced.forward = before[0].forward
        model.module(torch.tensor([[5, 6, 7]]))
    assert attention.self is replaced


def test_each_limit_is_checked_by_a_text_of_at_least_half_as_many_tokens() -> None:
    """Beside a text of 41 tokens, texts of 30, 10 and 5 tokens check the limits from 31, 11 and 6 on. A limit is
    checked once."""
    lengths, beside = np.array([5, 10, 30, 40, 41]), np.full(5, 41)
    assert self_check.crossing(lengths, beside, []) == ([2, 1, 0], [*range(6, 42)])
    assert self_check.crossing(lengths, beside, range(6, 42)) == ([], [*range(6, 42)])
    assert self_check.crossing(lengths, beside + 1, range(6, 42)) == ([2], [*range(6, 43)])


def test_a_model_that_fails_on_wide_rows_is_asked_plainly(tmp_path: Path) -> None:
    """Some models fail on rows wider than their longest text; prefix trees are left out for them, with a warning."""
    import transformers

    folder = odd_models.gpt_neo(tmp_path / "neo")
    config = transformers.AutoConfig.from_pretrained(folder)
    config.max_position_embeddings = 64
    transformers.GPTNeoForCausalLM(config).save_pretrained(folder)
    backend = Backend(load(str(folder)))
    ask(backend, long_texts(0, 40, 6))
    assert backend.batching.left_out == {TREES: None}
    assert "fails with prefix trees" in self_check.warnings(backend.self_checks)[0]


def faulty_products(monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
    """Makes packed products wrong for more than one row; the test of packing uses one row."""
    right = cpu_kernels.packed

    def wrong(weight: Any, bias: Any, gelu: str = "") -> Any:
        product = right(weight, bias, gelu)
        return lambda values: product(values) * (1 if values.shape[0] * values.shape[-2] == 1 else 1.1)

    monkeypatch.setattr(cpu_kernels, "packed", wrong)
    monkeypatch.setattr(cpu_kernels, "pays", lambda _: True)


def too_early(monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
    """Puts the early exit before the first layer, so that no token attends to a token that is not scored."""
    monkeypatch.setattr(early_exit, "find", lambda module, *_, **__: module.base_model.encoder.layer[1])


def crowded(monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
    """Makes the rows of a batch change each other."""
    embeddings = model.module.get_input_embeddings()
    embeddings.register_forward_hook(lambda _, __, states: states + states.mean(0))


@pytest.mark.parametrize(
    ("part", "fault", "budget"), [(PRODUCTS, faulty_products, 300), (EXIT, too_early, 1), (TOGETHER, crowded, 300)]
)
def test_the_part_that_changes_numbers_is_the_one_left_out(
    part: str, fault: Callable[..., None], budget: int, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part of batching that changes numbers is left out, and the numbers are those of the plain model."""
    model = load(str(tiny("bert")))
    if part is PRODUCTS and not cpu_kernels._works(model.module.cls.predictions.transform.dense):
        pytest.skip("this build of torch has no packed products")
    fault(monkeypatch, model)
    backend, alone = Backend(model, budget), Backend(model)
    scores = score_records(backend, [*PAIRS, *LONG], DEFAULT)
    assert part in backend.batching.left_out
    assert PADDING in backend.batching.left_out or part is not TOGETHER
    with alone.alone(PRODUCTS, EXIT):
        expected = score_records(alone, [*PAIRS, *LONG], DEFAULT)
    np.testing.assert_allclose([s.score for s in scores], [s.score for s in expected], atol=CLOSE, rtol=0)


def test_a_model_with_two_numbers_for_one_text_is_refused(tiny: Tiny) -> None:
    """A model that gives two numbers for one text is refused, because no batching removes noise."""
    model = load(str(tiny("bert")))
    model.module.get_input_embeddings().register_forward_hook(lambda _, __, states: states + torch.randn_like(states))
    with pytest.raises(ValueError, match="two equal calls"):
        score_records(Backend(model), PAIRS, DEFAULT)


def test_vectors_are_checked_too(tiny: Tiny) -> None:
    """Vectors are checked too: SEAT's vectors are right even if the rows of a batch change each other."""
    model = load(str(tiny("bert")))
    expected = PooledStates(model, "mean", -1, True)(SENTENCES)
    states = PooledStates(model, "mean", -1, True)
    embeddings = model.module.get_input_embeddings()
    embeddings.register_forward_hook(lambda _, __, embedded: embedded + 5 * (embedded - embedded[:1]))
    np.testing.assert_allclose(states(SENTENCES), expected, atol=1e-5)
    assert list(states.batching.left_out) == [TOGETHER]


def test_a_trained_head_is_checked_too(tmp_path: Path) -> None:
    """A trained head is checked too: FNet reads only pairs of the same length together, for any batch size."""
    network = next_network.new(load(str(odd_models.mixing("fnet", tmp_path / "fnet"))), "linear", 0)
    head = NextSentence(network, PairReader(network.model, 96))
    pairs = [(one, other) for one in SENTENCES[:4] for other in SENTENCES]
    scores = head.log_probabilities(pairs)
    np.testing.assert_allclose(scores, [head.log_probabilities([pair])[0] for pair in pairs], atol=CLOSE, rtol=0)
    assert list(head.batching.left_out) == [PADDING]


def test_what_was_left_out_stands_beside_the_numbers(tmp_path: Path, tiny: Tiny) -> None:
    """The signature and a warning name the left-out part; the signature of an ordinary model does not."""
    pairs = [*PAIRS, *LONG]
    report = evaluate(str(odd_models.mixing("fnet", tmp_path / "fnet")), pairs, resamples=10)
    assert report.signature.batching == f"no {PADDING}"
    assert f"batching:no {PADDING}" in str(report.signature)
    assert PADDING in report.to_dict()["warnings"][0]
    ordinary = evaluate(str(tiny("bert")), pairs, resamples=10)
    assert (ordinary.signature.batching, ordinary.warnings) == ("", ())
    assert "batching" not in str(ordinary.signature)
    model = {"model": report.signature.model, "batching": f"no {PADDING}"}
    assert differences(report.signature, replace(ordinary.signature, **model)) == []
    assert differences(report.signature, ordinary.signature) == []


@pytest.mark.parametrize("stopped_after", [1, 2])
def test_a_run_that_goes_on_is_batched_as_one_that_was_not_stopped(
    stopped_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The findings are stored with the scores, so that a resumed run gives the same scores to the last bit."""
    chunks_of(4, monkeypatch)
    model = load(str(odd_models.mixing("convbert", tmp_path / "convbert")))
    records = [*PAIRS[:4], *LONG, *PAIRS[4:]]
    whole = Run.begin(tmp_path / "whole", {}, {})
    session(Backend(model), records, whole)
    stopped = Run.begin(tmp_path / "stopped", {}, {})
    session(Backend(model), records, stopped, stop_after=4 * stopped_after)
    assert 0 < stopped.count() < whole.count()
    backend = Backend(model)
    session(backend, records, stopped)
    assert list(stopped.scores()) == list(whole.scores())
    assert list(backend.batching.left_out) == [PADDING]
    assert stopped.self_checks() == whole.self_checks()
    whole.close()
    stopped.close()
