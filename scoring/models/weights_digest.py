"""A digest of the weights in memory, fast enough to take at every scoring: integer sums at the speed of memory."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

WIDTH = 4096
"""Eight bytes of a weight are a number; so many numbers are a row, and rows and columns are summed."""


def weights_digest(module: Any) -> str:
    """The digest of the names, types, shapes and bits of a network's weights and stored buffers.

    It finds changes that a person makes, also a new order; it is no protection against a forger.
    """
    found = sha256()
    for name, tensor in _stored(module):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} {tensor.device.type == 'meta'}".encode())
        for part in _sums(tensor):
            found.update(part)
    return found.hexdigest()


def _stored(module: Any) -> Iterator[tuple[str, Any]]:
    """The weights by name, and the buffers that a checkpoint holds: a network may write to the others."""
    yield from module.named_parameters()
    yield from stored_buffers(module)


def stored_buffers(module: Any) -> Iterator[tuple[str, Any]]:
    """The buffers that a checkpoint holds, by name."""
    for name, part in module.named_modules():
        for buffer, tensor in part._buffers.items():
            if tensor is not None and buffer not in part._non_persistent_buffers_set:
                yield f"{name}.{buffer}", tensor


def _sums(tensor: Any) -> Iterator[bytes]:
    """Sums of a tensor's bits; integers, so that neither the device nor the order of the sum changes them."""
    import torch

    if tensor.device.type == "meta" or not tensor.numel():
        return
    flat = tensor.detach().reshape(-1)
    flat = flat.clone() if flat.storage_offset() else flat
    bits = flat.view(torch.uint8)
    whole = bits.numel() // (8 * WIDTH) * (8 * WIDTH)
    rows = bits[:whole].view(torch.int64).view(-1, WIDTH)
    for part in (rows.sum(0), rows.sum(1), bits[whole:]):
        yield part.cpu().numpy().tobytes()
