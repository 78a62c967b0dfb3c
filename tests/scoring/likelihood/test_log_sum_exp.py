from typing import Any

import numpy as np
import pytest

from catsofa.scoring.likelihood import output_head
from catsofa.scoring.likelihood.output_head import Vocabulary

torch = pytest.importorskip("torch")


def matrix(tokens: int = 3000, width: int = 8) -> Any:
    """Returns a vocabulary matrix whose logits reach some hundreds, as in trained models."""
    generator = torch.Generator().manual_seed(3)
    layer = torch.nn.Linear(width, tokens)
    layer.weight.data = 40 * torch.randn(tokens, width, generator=generator)
    layer.bias.data = torch.randn(tokens, generator=generator)
    return layer


def states(rows: int = 9, width: int = 8) -> Any:
    """Returns random states."""
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=[False, True], ids=["cpu", "gpu"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test with the sum for a CPU and with the sum for a GPU."""
    if request.param:
        monkeypatch.setattr(Vocabulary, "_summed", Vocabulary._summed_apart)


def plain(made: Any, given: Any) -> Any:
    """Returns the log-sum-exp in float64, over all logits at once."""
    return torch.logsumexp(given.double() @ made.weight.double().T + made.bias.double(), -1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("block", [(1, 1), (2, 700), (4, 3000), (100, 1), (9, 100000)])
@torch.inference_mode()
def test_blocks_of_any_size_give_the_sum_over_the_whole_vocabulary(
    block: tuple[int, int], fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum does not depend on the size of the blocks or on the size of the logits."""
    monkeypatch.setattr(output_head, "CPU_BLOCK", block)
    head, inputs = matrix(), states()
    np.testing.assert_allclose(Vocabulary(head, fast=fast).log_sum_exp(inputs), plain(head, inputs), rtol=2e-6)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("likely", [88.0, 90.0, 5e3, 1e30])
@torch.inference_mode()
def test_one_logit_far_above_the_first_block_is_counted(likely: float, fast: bool) -> None:
    """The sum is right if a token's logit exceeds the first block's largest logit by more than exp can represent."""
    head, inputs = matrix(), states()
    head.weight.data.zero_()
    head.bias.data[2500] = likely
    sums = Vocabulary(head, fast=fast).log_sum_exp(inputs)
    np.testing.assert_allclose(sums, plain(head, inputs), rtol=1e-6)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [False, True])
@torch.inference_mode()
def test_a_vocabulary_whose_first_tokens_cannot_be_said_is_summed(fast: bool) -> None:
    """Logits of minus infinity add nothing, even if they fill the first block."""
    head, inputs = matrix(), states()
    head.bias.data[:1500] = -torch.inf
    sums = Vocabulary(head, fast=fast).log_sum_exp(inputs)
    np.testing.assert_allclose(sums, plain(head, inputs), rtol=1e-6)


@torch.inference_mode()
def test_what_is_no_number_stays_none_and_spoils_no_other_row() -> None:
    """A state that contains NaN has the sum NaN; the sums of other rows are not affected."""
    head, inputs = matrix(), states()
    inputs[4, 2] = torch.nan
    sums = Vocabulary(head).log_sum_exp(inputs).numpy()
    assert np.isnan(sums[4])
    np.testing.assert_allclose(np.delete(sums, 4), np.delete(plain(head, inputs).numpy(), 4), rtol=1e-6)
