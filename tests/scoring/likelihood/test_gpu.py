"""What the engine does for a GPU, as far as a machine without one can show it."""

from contextlib import suppress

import numpy as np
import pytest

from catsofa.scoring.likelihood import gpu

torch = pytest.importorskip("torch")


def test_answers_of_many_batches_are_fetched_as_they_are() -> None:
    """One copy of all tensors gives the arrays that a copy of each would give; arrays pass unchanged."""
    tensors = [torch.arange(length, dtype=torch.float64) / 7 for length in (3, 1, 0, 5)]
    for found, tensor in zip(gpu.fetched(tensors), tensors, strict=True):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, tensor.numpy())
    arrays = [np.arange(3), np.arange(1)]
    assert all(found is array for found, array in zip(gpu.fetched(arrays), arrays, strict=True))
    assert gpu.fetched([]) == []


def test_a_gpu_convolves_in_full_float32_and_the_users_setting_comes_back() -> None:
    """Also after an error; for a CPU nothing is set."""
    from torch.backends import cuda, cudnn

    def set_now() -> list[bool]:
        fast = [cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()]
        return [cudnn.allow_tf32, cuda.cudnn_sdp_enabled(), *fast]

    assert set_now() == [True] * 5, "torch's defaults"
    with gpu.exact_and_planless("cpu"):
        assert set_now() == [True] * 5
    found: list[bool] = []
    with suppress(KeyError), gpu.exact_and_planless("cuda:0"):
        found += set_now()
        raise KeyError
    assert found == [False, False, True, True, True]
    assert set_now() == [True] * 5
