"""Early exit: the part of a model after which only requested positions must continue, up to its vocabulary matrix.

After the last attention every part of a transformer works on one position at a time. The earliest such part is found by
trial: only some positions pass, and the results must equal those of the whole model. No architecture is known by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

LATEST = 40
"""Calls before the vocabulary matrix that are searched for a gate: about the last layer."""
CLOSE = {"float32": 1e-5, "float64": 1e-8}
"""Largest difference, relative to the largest logit, at which two computations of logits count as equal."""
CLOSE_HALF = 8e-3
Places = tuple[Any, Any]
"""Rows, and the position in each."""
SOME: Places = ([0, 1, 1], [1, 0, 4])
"""Rows and positions at which a gate is tested."""


@contextmanager
def narrowed(gate: Any, chosen: Places) -> Iterator[None]:
    """Lets only the states `chosen` pass the gate, as one row; a context manager for the model's forward pass."""
    import torch

    begun: list[Any] = []

    def choose(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        begun.append(arguments[0].shape[:2])
        rows, positions = (torch.as_tensor(places, device=arguments[0].device) for places in chosen)
        return tuple(part[rows, positions][None] if _shape(part) == begun[0] else part for part in arguments)

    hook = gate.register_forward_pre_hook(choose)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def tapped(gate: Any, matrix: Any, chosen: Places) -> Iterator[list[Any]]:
    """Lets only the states `chosen` pass the gate, and catches the matrix's input instead of multiplying it."""
    caught: list[Any] = []

    def catch(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        caught.append(arguments[0])
        return (arguments[0][:, :0], *arguments[1:])

    # the gate may be the matrix itself: hooks run in the order they were added
    with narrowed(gate, chosen):
        hook = matrix.register_forward_pre_hook(catch)
        try:
            yield caught
        finally:
            hook.remove()


def states_at(network: Any, gate: Any, inputs: Mapping[str, Any], chosen: Places) -> Any:
    """Returns the last states of a network without a head at these positions, cut at its gate if it has one."""
    if gate is None:
        return network(**inputs).last_hidden_state[chosen]
    with narrowed(gate, chosen):
        return network(**inputs).last_hidden_state[0]


def find_without_head(network: Any, sample: Mapping[str, Any]) -> Any:
    """Returns the part of a network without a head after which only requested positions must continue, or None."""
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
    """Returns the part after which only requested positions must continue; None if the matrix does not end the model.

    `early` also searches before the head, which pays if few positions of a row are requested; `late` searches only at
    the matrix.
    """
    calls = _calls(module, sample)
    last = max((index for index, (part, _) in enumerate(calls) if part is matrix), default=None)
    if last is None:
        return None
    shape = tuple(sample["input_ids"].shape)
    around = _around(module, matrix)
    own = logits_of(module, sample).float()
    for index in range(last if late else max(0, last - LATEST), last + 1):
        part, arguments = calls[index]
        worth = part in around or (early and _begins(part, arguments, shape))
        if worth and _passed_once(part, calls, shape) and _same(module, matrix, part, sample, own):
            return part
    return None


def logits_of(module: Any, inputs: Mapping[str, Any]) -> Any:
    """Returns the model's own logits over the vocabulary, also for models with two heads."""
    output = module(**inputs)
    return output.prediction_logits if hasattr(output, "prediction_logits") else output.logits


def _shape(value: Any) -> Any:
    """Returns rows and positions of a tensor of states; None for other values."""
    return tuple(value.shape[:2]) if hasattr(value, "shape") and len(value.shape) == 3 else None


def _begins(part: Any, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Returns True if the whole later computation may pass through this part: a norm, or a part with several states.

    A part that takes several states adds them, so that it carries both sides of the sum.
    """
    states = [one for one in arguments if _shape(one) == shape]
    return len(states) > 1 or "norm" in type(part).__name__.lower()


def _passed_once(part: Any, calls: Sequence[tuple[Any, tuple[Any, ...]]], shape: tuple[int, ...]) -> bool:
    """Returns True if a part is called once, with the states of all positions as first argument."""
    inputs = [arguments for other, arguments in calls if other is part]
    return len(inputs) == 1 and bool(inputs[0]) and _shape(inputs[0][0]) == shape


def _around(module: Any, matrix: Any) -> Sequence[Any]:
    """Returns the vocabulary matrix and the parts that contain it, without the model itself."""
    parts = next(name for name, part in module.named_modules() if part is matrix).split(".")
    return [module.get_submodule(".".join(parts[: depth + 1])) for depth in range(len(parts))]


def _calls(module: Any, sample: Mapping[str, Any]) -> list[tuple[Any, tuple[Any, ...]]]:
    """Returns the parts of a model in the order of their calls, with their arguments."""
    calls: list[tuple[Any, tuple[Any, ...]]] = []
    hooks = [
        part.register_forward_pre_hook(lambda part, arguments: calls.append((part, arguments)))
        for part in module.modules()
        if part is not module
    ]
    try:
        module(**sample)
    finally:
        for hook in hooks:
            hook.remove()
    return calls


def _same(module: Any, matrix: Any, gate: Any, sample: Mapping[str, Any], own: Any) -> bool:
    """Returns True if the states behind a gate, times the matrix, equal the model's logits at some positions."""
    import torch

    with tapped(gate, matrix, SOME) as caught, suppress(RuntimeError, ValueError, IndexError):
        module(**sample)
    if len(caught) != 1 or tuple(caught[0].shape[:2]) != (1, 3):
        return False
    states = caught[0][0].to(matrix.weight.device)
    return _equal(torch.nn.functional.linear(states, matrix.weight, getattr(matrix, "bias", None)), own, module.dtype)


def _equal(ours: Any, own: Any, dtype: Any) -> bool:
    """Returns True if the result at the tested positions equals that of the whole model, up to rounding."""
    close = CLOSE.get(str(dtype).removeprefix("torch."), CLOSE_HALF)
    wanted = own[SOME]
    return ours.shape == wanted.shape and bool((ours.float() - wanted).abs().max() <= close * own.abs().max())
