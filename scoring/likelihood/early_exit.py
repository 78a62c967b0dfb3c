"""Where a model can be cut: from which part on only the wanted positions go on, and where its vocabulary matrix waits.

After the last attention every part of a transformer works on one position at a time. The earliest such part is found
by trying: let only some positions through, and see whether the model still gives what it gave. Nothing here knows an
architecture by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

LATEST = 40
"""Calls before the vocabulary matrix among which a gate is looked for: about the last layer."""
CLOSE = {"float32": 1e-5, "float64": 1e-8}
"""How far logits may differ, relative to the largest, for two ways of computing them to be the same."""
CLOSE_HALF = 8e-3
Places = tuple[Any, Any]
"""Rows, and the position in each."""
SOME: Places = ([0, 1, 1], [1, 0, 4])
"""Rows and positions at which a gate is tried."""


@contextmanager
def narrowed(gate: Any, at: Places) -> Iterator[None]:
    """While the model runs, only the states `at` pass the gate, as one row."""
    import torch

    begun: list[Any] = []

    def choose(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        begun.append(arguments[0].shape[:2])
        rows, positions = (torch.as_tensor(places, device=arguments[0].device) for places in at)
        return tuple(part[rows, positions][None] if _shape(part) == begun[0] else part for part in arguments)

    hook = gate.register_forward_pre_hook(choose)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def tapped(gate: Any, matrix: Any, at: Places) -> Iterator[list[Any]]:
    """While the model runs, only the states `at` pass the gate; what reaches the matrix is caught, not multiplied."""
    caught: list[Any] = []

    def catch(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        caught.append(arguments[0])
        return (arguments[0][:, :0], *arguments[1:])

    # the gate may be the matrix itself: hooks run in the order they were added
    with narrowed(gate, at):
        hook = matrix.register_forward_pre_hook(catch)
        try:
            yield caught
        finally:
            hook.remove()


def states_at(network: Any, gate: Any, inputs: Mapping[str, Any], at: Places) -> Any:
    """The last states of a network without a head at these positions, cut at its gate where it has one."""
    if gate is None:
        return network(**inputs).last_hidden_state[at]
    with narrowed(gate, at):
        return network(**inputs).last_hidden_state[0]


def find_without_head(network: Any, sample: Mapping[str, Any]) -> Any:
    """The part of a network without a head from which on only wanted positions need to go on, or None."""
    own = network(**sample).last_hidden_state.float()
    calls = _calls(network, sample)
    shape = tuple(sample["input_ids"].shape)
    for part, arguments in calls[-LATEST:]:
        if not _begins(part, arguments, shape) or not _passed_once(part, calls, shape):
            continue
        ours = own[:0]
        with suppress(RuntimeError, ValueError, IndexError):
            ours = states_at(network, part, sample, SOME)
        if _equal(ours, own, network.dtype):
            return part
    return None


def find(module: Any, matrix: Any, sample: Mapping[str, Any], *, early: bool, late: bool = False) -> Any:
    """The part from which on only wanted positions need to go, or None if the matrix is not the end of the model.

    `early` looks before the head too, which pays where few positions of a row are wanted; `late` at the matrix alone.
    """
    calls = _calls(module, sample)
    last = max((at for at, (part, _) in enumerate(calls) if part is matrix), default=None)
    if last is None:
        return None
    shape = tuple(sample["input_ids"].shape)
    around = _around(module, matrix)
    own = logits_of(module, sample).float()
    for at in range(last if late else max(0, last - LATEST), last + 1):
        part, arguments = calls[at]
        worth = part in around or (early and _begins(part, arguments, shape))
        if worth and _passed_once(part, calls, shape) and _same(module, matrix, part, sample, own):
            return part
    return None


def logits_of(module: Any, inputs: Mapping[str, Any]) -> Any:
    """The model's own logits over the vocabulary; one with two heads names them otherwise."""
    output = module(**inputs)
    return output.prediction_logits if hasattr(output, "prediction_logits") else output.logits


def _shape(value: Any) -> Any:
    """Rows and positions of a tensor of states."""
    return tuple(value.shape[:2]) if hasattr(value, "shape") and len(value.shape) == 3 else None


def _begins(part: Any, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether all that comes after may go through this part: of one argument it is a norm, of more it holds a sum.

    What a sum went into carries both its sides.
    """
    states = [one for one in arguments if _shape(one) == shape]
    return len(states) > 1 or "norm" in type(part).__name__.lower()


def _passed_once(part: Any, calls: Sequence[tuple[Any, tuple[Any, ...]]], shape: tuple[int, ...]) -> bool:
    """Whether a part is called once, with the states of all positions first."""
    given = [arguments for other, arguments in calls if other is part]
    return len(given) == 1 and bool(given[0]) and _shape(given[0][0]) == shape


def _around(module: Any, matrix: Any) -> Sequence[Any]:
    """The vocabulary matrix and the parts that it is a part of, without the model itself."""
    parts = next(name for name, part in module.named_modules() if part is matrix).split(".")
    return [module.get_submodule(".".join(parts[: depth + 1])) for depth in range(len(parts))]


def _calls(module: Any, sample: Mapping[str, Any]) -> list[tuple[Any, tuple[Any, ...]]]:
    """The parts of a model in the order they are called, with what they are given."""
    found: list[tuple[Any, tuple[Any, ...]]] = []
    hooks = [
        part.register_forward_pre_hook(lambda part, arguments: found.append((part, arguments)))
        for part in module.modules()
        if part is not module
    ]
    try:
        module(**sample)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _same(module: Any, matrix: Any, gate: Any, sample: Mapping[str, Any], own: Any) -> bool:
    """Whether some positions let through a gate, times the matrix, are the logits that the model gives there."""
    import torch

    with tapped(gate, matrix, SOME) as caught, suppress(RuntimeError, ValueError, IndexError):
        module(**sample)
    if len(caught) != 1 or tuple(caught[0].shape[:2]) != (1, 3):
        return False
    states = caught[0][0].to(matrix.weight.device)
    return _equal(torch.nn.functional.linear(states, matrix.weight, getattr(matrix, "bias", None)), own, module.dtype)


def _equal(ours: Any, own: Any, dtype: Any) -> bool:
    """Whether what came through at some positions is what the model gives there, to rounding."""
    close = CLOSE.get(str(dtype).removeprefix("torch."), CLOSE_HALF)
    wanted = own[SOME]
    return ours.shape == wanted.shape and bool((ours.float() - wanted).abs().max() <= close * own.abs().max())
