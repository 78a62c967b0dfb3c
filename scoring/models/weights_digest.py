"""A digest of weights in memory by integer sums; it runs at memory speed, so every scoring can compute it."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

WIDTH = 4096
"""The row length in numbers of eight bytes each; the digest sums over rows and columns."""


def weights_digest(module: Any) -> str:
    """The digest of the names, types, shapes and bits of a network's weights and stored buffers.

    The digest detects ordinary changes, also of the order, but gives no protection against deliberate forgery.
    """
    digest = sha256()
    for name, tensor in _stored(module):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} {tensor.device.type == 'meta'}".encode())
        for part in _sums(tensor):
            digest.update(part)
    return digest.hexdigest()


def _stored(module: Any) -> Iterator[tuple[str, Any]]:
    """The named weights and the buffers that checkpoints contain; a network may write to other buffers."""
    yield from module.named_parameters()
    yield from stored_buffers(module)


def stored_buffers(module: Any) -> Iterator[tuple[str, Any]]:
    """The named buffers that checkpoints contain."""
    for name, part in module.named_modules():
        for buffer, tensor in part._buffers.items():
            if tensor is not None and buffer not in part._non_persistent_buffers_set:
                yield f"{name}.{buffer}", tensor


def _sums(tensor: Any) -> Iterator[bytes]:
    """Integer sums of the bits of a tensor, which depend neither on the device nor on the order of summation."""
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
