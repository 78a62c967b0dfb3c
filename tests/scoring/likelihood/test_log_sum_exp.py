from typing import Any

import numpy as np
import pytest

from catsofa.scoring.likelihood import output_head
from catsofa.scoring.likelihood.output_head import Vocabulary

torch = pytest.importorskip("torch")


def matrix(tokens: int = 3000, width: int = 8) -> Any:
    """A vocabulary of logits of some hundreds, as trained models have them."""
    generator = torch.Generator().manual_seed(3)
    made = torch.nn.Linear(width, tokens)
    made.weight.data = 40 * torch.randn(tokens, width, generator=generator)
    made.bias.data = torch.randn(tokens, generator=generator)
    return made


def states(rows: int = 9, width: int = 8) -> Any:
    """Some states."""
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=[False, True], ids=["cpu", "gpu"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum as a CPU and as a GPU makes it."""
    if request.param:
        monkeypatch.setattr(Vocabulary, "_summed", Vocabulary._summed_apart)


def plain(made: Any, given: Any) -> Any:
    """The sum as it is defined, in float64, over all logits at once."""
    return torch.logsumexp(given.double() @ made.weight.double().T + made.bias.double(), -1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("block", [(1, 1), (2, 700), (4, 3000), (100, 1), (9, 100000)])
@torch.inference_mode()
def test_blocks_of_any_size_give_the_sum_over_the_whole_vocabulary(
    block: tuple[int, int], fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum does not depend on where its blocks end, nor on how large the logits are."""
    monkeypatch.setattr(output_head, "CPU_BLOCK", block)
    made, given = matrix(), states()
    np.testing.assert_allclose(Vocabulary(made, fast=fast).log_sum_exp(given), plain(made, given), rtol=2e-6)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("likely", [88.0, 90.0, 5e3, 1e30])
@torch.inference_mode()
def test_one_logit_far_above_the_first_block_is_counted(likely: float, fast: bool) -> None:
    """A token beyond the reach of exp, seen from the first block's largest logit, still gives the sum."""
    made, given = matrix(), states()
    made.weight.data.zero_()
    made.bias.data[2500] = likely
    found = Vocabulary(made, fast=fast).log_sum_exp(given)
    np.testing.assert_allclose(found, plain(made, given), rtol=1e-6)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [False, True])
@torch.inference_mode()
def test_a_vocabulary_whose_first_tokens_cannot_be_said_is_summed(fast: bool) -> None:
    """Logits of minus infinity add nothing, though they fill the first block."""
    made, given = matrix(), states()
    made.bias.data[:1500] = -torch.inf
    found = Vocabulary(made, fast=fast).log_sum_exp(given)
    np.testing.assert_allclose(found, plain(made, given), rtol=1e-6)


@torch.inference_mode()
def test_what_is_no_number_stays_none_and_spoils_no_other_row() -> None:
    """A state that is NaN has no sum; its neighbours have theirs."""
    made, given = matrix(), states()
    given[4, 2] = torch.nan
    found = Vocabulary(made).log_sum_exp(given).numpy()
    assert np.isnan(found[4])
    np.testing.assert_allclose(np.delete(found, 4), np.delete(plain(made, given).numpy(), 4), rtol=1e-6)
