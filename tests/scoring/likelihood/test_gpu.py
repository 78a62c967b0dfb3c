"""Tests the parts of the engine for a GPU that a machine without one can test."""

from contextlib import suppress

import numpy as np
import pytest

from catsofa.scoring.likelihood import gpu

torch = pytest.importorskip("torch")


def test_answers_of_many_batches_are_fetched_as_they_are() -> None:
    """One copy of all tensors gives the same arrays as one copy per tensor. Arrays are returned unchanged."""
    tensors = [torch.arange(length, dtype=torch.float64) / 7 for length in (3, 1, 0, 5)]
    for fetched, tensor in zip(gpu.fetched(tensors), tensors, strict=True):
        assert fetched.dtype == np.float64
        np.testing.assert_array_equal(fetched, tensor.numpy())
    arrays = [np.arange(3), np.arange(1)]
    assert all(fetched is array for fetched, array in zip(gpu.fetched(arrays), arrays, strict=True))
    assert gpu.fetched([]) == []


def test_a_gpu_convolves_in_full_float32_and_the_users_setting_comes_back() -> None:
    """On a GPU, TF32 convolutions are off; the user's setting is restored, also after an error. On a CPU nothing is
    set."""
    from torch.backends import cuda, cudnn

    def set_now() -> list[bool]:
        fast = [cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()]
        return [cudnn.allow_tf32, cuda.cudnn_sdp_enabled(), *fast]

    assert set_now() == [True] * 5, "torch's defaults"
    with gpu.exact_and_planless("cpu"):
        assert set_now() == [True] * 5
    settings: list[bool] = []
    with suppress(KeyError), gpu.exact_and_planless("cuda:0"):
        settings += set_now()
        raise KeyError
    assert settings == [False, False, True, True, True]
    assert set_now() == [True] * 5
