"""GPU settings: full float32, attention without a plan for each shape, and no waiting for the GPU's queue.

A GPU works through its own queue. Copying from ordinary memory, or reading a result, waits until the queue is empty. So
inputs are copied from pinned memory, and the answers of all batches are fetched together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


@contextmanager
def exact_and_planless(device: str) -> Iterator[None]:
    """Makes a GPU convolve in full float32 and plan no attention for new shapes, as a context manager.

    torch rounds convolutions to TF32 by default, which moved SqueezeBERT's scores by 2e-3 nats. cuDNN's attention makes
    a plan for each shape, which costs more than the attention; nearly every batch here has its own shape.
    """
    if not device.startswith("cuda"):
        yield
        return
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kernels = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        with sdpa_kernel(kernels):
            yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def moved(values: Any, device: Any) -> Any:
    """Returns an array as a tensor on a device, copied without waiting for the GPU's queue."""
    import torch

    tensor = torch.as_tensor(values)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device=device, non_blocking=True)


def fetched(answers: Sequence[Any]) -> list[NDArray[Any]]:
    """Returns tensors as arrays, by one copy; returns arrays unchanged."""
    import torch

    if not answers or isinstance(answers[0], np.ndarray):
        return list(answers)
    together = torch.cat(list(answers)).cpu().numpy()
    return np.split(together, np.cumsum([len(answer) for answer in answers])[:-1])
