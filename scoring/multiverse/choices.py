"""Choices of protocols: every combination of some of them, and how much each choice moves a number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import nan
from typing import Any

import numpy as np

from catsofa.scoring.choices import every_choice
from catsofa.scoring.protocols import SHARED, Protocol, choice, named, option_types
from catsofa.scoring.statistics.intervals import ROUNDING, Array, Interval, interval_of_range, reach_of


def options_of(protocol: Protocol, measure: str) -> dict[str, Any]:
    """Returns the choices that the numbers of a measure may depend on."""
    shared = {option: value for option, value in protocol.options().items() if option in SHARED and option != "seed"}
    return shared | protocol.by_measure()[measure]


def combinations(base: str, vary: Sequence[str], measure: str, *, seed: int | None = None) -> list[Protocol]:
    """Returns every combination of the values of some options in a protocol; the first is the protocol itself.

    An option name alone means all its values; `first_token=bos,skip` means these two and the protocol's own.
    """
    options, kinds = options_of(named(base), measure), option_types()

    def every(option: str) -> list[str]:
        return every_choice(option, kinds[option])

    protocols = []
    for changes in varied(options, vary, measure, every, lambda option, value: choice(f"{option}={value}")[1]):
        chosen = [f"{option}={written(value)}" for option, value in changes.items()]
        protocols.append(named(",".join([base, *chosen]), seed=seed))
    return protocols


def varied(
    options: Mapping[str, Any],
    vary: Sequence[str],
    subject: str,
    every: Callable[[str], Sequence[str]],
    parse: Callable[[str, str], Any],
) -> Iterator[dict[str, Any]]:
    """Yields every combination of the values of some options, as changes to `options`; the first changes nothing.

    `every` returns all values of an option in written form, `parse` converts a written value.
    """
    values = dict[str, list[Any]]()
    for each in vary:
        option, _, listed = each.partition("=")
        if option not in options:
            raise ValueError(f"no choice of {subject} is called {option!r}; the choices are {', '.join(options)}")
        if option in values:
            raise ValueError(f"found {option} twice; name all its values at once ({option}=…,…)")
        requested = [parse(option, value) for value in (listed.split(",") if listed else every(option))]
        values[option] = list(dict.fromkeys([options[option], *requested]))
        if len(values[option]) < 2:
            raise ValueError(f"found one value of {option}, {written(options[option])}; expected another one")
    for chosen in product(*values.values()):
        yield {option: v for option, v in zip(values, chosen, strict=True) if v != options[option]}


def written(value: Any) -> str:
    """Returns a value in the form used in the name of a protocol."""
    if isinstance(value, tuple):
        return "+".join(value)
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of one choice on a number, with the others held equal (main effects, least squares, type II)."""

    values: tuple[str, ...]
    share: Interval
    """Percentage of the sum of squares between protocols that only this choice explains."""
    moves: Interval
    """Largest difference in the number between two values of the choice."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        return {"values": list(self.values), "share": self.share.to_dict(), "moves": self.moves.to_dict()}


def effects(
    observed: Array,
    drawn: Array,
    options: Sequence[Mapping[str, Any]],
    clusters: int,
    items: float,
    percents: float = 1.0,
) -> dict[str, Effect | None]:
    """Returns the effect of each choice that differs; None if it cannot be separated from those of others.

    `observed` has a number for each protocol, `drawn` a row of them for each resample, `options` the choices of each
    protocol. `items` is the number of items behind the numbers, `percents` the factor from their unit to percent.
    """
    differ = [option for option in options[0] if len({str(chosen[option]) for chosen in options}) > 1]
    columns = {option: _columns([str(chosen[option]) for chosen in options]) for option in differ}
    by_choice: dict[str, Effect | None] = {}
    for option in differ:
        others = np.concatenate([np.ones((len(observed), 1)), *(columns[o] for o in differ if o != option)], axis=1)
        own = columns[option] - others @ np.linalg.lstsq(others, columns[option], rcond=None)[0]
        names = list(dict.fromkeys(str(chosen[option]) for chosen in options))
        if np.linalg.matrix_rank(own, tol=ROUNDING) < len(names) - 1:
            by_choice[option] = None
            continue
        # the contribution of each value of this choice to a number, beyond the others
        solve = np.linalg.pinv(own, rcond=ROUNDING)
        levels = np.concatenate([[0.0], solve @ observed])
        errors = np.concatenate([np.zeros((len(drawn), 1)), (drawn - observed) @ solve.T], axis=1)
        moves = interval_of_range(float(np.ptp(levels)), errors, clusters, items, percents)
        share = _share(observed, drawn - observed, own @ solve, clusters)
        if moves.low == 0 and share.low > 0:
            share = Interval(share.value, 0.0, share.high)
        by_choice[option] = Effect(values=tuple(names), share=share, moves=moves)
    return by_choice


def _share(observed: Array, errors: Array, project: Array, clusters: int) -> Interval:
    """Returns the percentage of the sum of squares in a part of the space of protocols, with its interval.

    The numbers have a length in this part and one in the rest. Each differs from that of the true numbers by at most
    the length of the errors there. Both limits hold together in at least 95 % of cases.
    """

    def lengths(numbers: Array) -> Array:
        inside = numbers @ project
        rest = numbers - numbers.mean(axis=-1, keepdims=True) - inside
        return np.asarray(np.linalg.norm([inside, rest], axis=-1))

    def share(inside: float, rest: float) -> float:
        inside, rest = max(0.0, inside), max(0.0, rest)
        return 100 * inside**2 / (inside**2 + rest**2) if inside > ROUNDING else 0.0

    inside, rest = map(float, lengths(observed))
    away = lengths(errors[np.isfinite(errors).all(axis=1)])
    if clusters < 2 or not away.size or inside + rest < ROUNDING:
        return Interval(share(inside, rest), nan, nan)
    scale = np.maximum(away.mean(axis=1), ROUNDING)
    near, far = scale * reach_of((away.T / scale).max(axis=1), clusters)
    return Interval(share(inside, rest), share(inside - near, rest + far), share(inside + near, rest - far))


def _columns(values: Sequence[str]) -> Array:
    """Returns a column for each value except the first: 1 if a protocol has the value."""
    names = list(dict.fromkeys(values))
    return np.array([[float(value == name) for name in names[1:]] for value in values])
