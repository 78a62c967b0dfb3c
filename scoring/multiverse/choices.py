"""Choices of protocols: every combination of some of them, and how far each choice moves a number."""

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
    """The choices that the numbers of a measure may depend on."""
    shared = {option: value for option, value in protocol.options().items() if option in SHARED and option != "seed"}
    return shared | protocol.by_measure()[measure]


def combinations(base: str, vary: Sequence[str], measure: str, *, seed: int | None = None) -> list[Protocol]:
    """Every combination of the values of some options in a protocol, which is the first of them.

    An option alone stands for all its values, `first_token=bos,skip` for those and the protocol's own.
    """
    options, kinds = options_of(named(base), measure), option_types()

    def every(option: str) -> list[str]:
        return every_choice(option, kinds[option])

    found = []
    for changes in varied(options, vary, measure, every, lambda option, value: choice(f"{option}={value}")[1]):
        chosen = [f"{option}={written(value)}" for option, value in changes.items()]
        found.append(named(",".join([base, *chosen]), seed=seed))
    return found


def varied(
    options: Mapping[str, Any],
    vary: Sequence[str],
    what: str,
    every: Callable[[str], Sequence[str]],
    read: Callable[[str, str], Any],
) -> Iterator[dict[str, Any]]:
    """Every combination of the values of some options, as what it changes in these; the first changes nothing.

    `every` gives all values of an option as one writes them, `read` the value that one wrote.
    """
    values = dict[str, list[Any]]()
    for each in vary:
        option, _, listed = each.partition("=")
        if option not in options:
            raise ValueError(f"no choice of {what} is called {option!r}; the choices are {', '.join(options)}")
        if option in values:
            raise ValueError(f"found {option} twice; name all its values at once ({option}=…,…)")
        asked = [read(option, value) for value in (listed.split(",") if listed else every(option))]
        values[option] = list(dict.fromkeys([options[option], *asked]))
        if len(values[option]) < 2:
            raise ValueError(f"found one value of {option}, {written(options[option])}; expected another one")
    for chosen in product(*values.values()):
        yield {option: v for option, v in zip(values, chosen, strict=True) if v != options[option]}


def written(value: Any) -> str:
    """A value as one writes it in the name of a protocol."""
    if isinstance(value, tuple):
        return "+".join(value)
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """How far one choice moves a number, the others held equal (main effects, least squares, type II)."""

    values: tuple[str, ...]
    share: Interval
    """Percentage of the sum of squares between protocols that only this choice explains."""
    moves: Interval
    """The largest difference between two of its values."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return {"values": list(self.values), "share": self.share.to_dict(), "moves": self.moves.to_dict()}


def effects(
    here: Array,
    drawn: Array,
    options: Sequence[Mapping[str, Any]],
    clusters: int,
    items: float,
    percents: float = 1.0,
) -> dict[str, Effect | None]:
    """By choice that differs: its effect on the numbers of the protocols; None where it cannot be told from others.

    `here` has a number for each protocol, `drawn` a row of them for each resample, `options` what each protocol chose;
    `items` of them turn one by one. One of the numbers is so many `percents`.
    """
    differ = [option for option in options[0] if len({str(of[option]) for of in options}) > 1]
    columns = {option: _columns([str(of[option]) for of in options]) for option in differ}
    found: dict[str, Effect | None] = {}
    for option in differ:
        others = np.concatenate([np.ones((len(here), 1)), *(columns[o] for o in differ if o != option)], axis=1)
        own = columns[option] - others @ np.linalg.lstsq(others, columns[option], rcond=None)[0]
        names = list(dict.fromkeys(str(of[option]) for of in options))
        if np.linalg.matrix_rank(own, tol=ROUNDING) < len(names) - 1:
            found[option] = None
            continue
        # what of a number each value of this choice adds, beyond the others
        solve = np.linalg.pinv(own, rcond=ROUNDING)
        levels = np.concatenate([[0.0], solve @ here])
        errors = np.concatenate([np.zeros((len(drawn), 1)), (drawn - here) @ solve.T], axis=1)
        moves = interval_of_range(float(np.ptp(levels)), errors, clusters, items, percents)
        share = _share(here, drawn - here, own @ solve, clusters)
        if moves.low == 0 and share.low > 0:
            share = Interval(share.value, 0.0, share.high)
        found[option] = Effect(values=tuple(names), share=share, moves=moves)
    return found


def _share(here: Array, errors: Array, project: Array, clusters: int) -> Interval:
    """The percentage of the sum of squares in a part of the space of protocols, with its interval.

    The lengths of the numbers in this part and in the rest differ from those of the true numbers by the lengths of the
    errors there at most. Both reaches hold together in 95 % of cases or more.
    """

    def lengths(numbers: Array) -> Array:
        inside = numbers @ project
        rest = numbers - numbers.mean(axis=-1, keepdims=True) - inside
        return np.asarray(np.linalg.norm([inside, rest], axis=-1))

    def share(inside: float, rest: float) -> float:
        inside, rest = max(0.0, inside), max(0.0, rest)
        return 100 * inside**2 / (inside**2 + rest**2) if inside > ROUNDING else 0.0

    inside, rest = map(float, lengths(here))
    away = lengths(errors[np.isfinite(errors).all(axis=1)])
    if clusters < 2 or not away.size or inside + rest < ROUNDING:
        return Interval(share(inside, rest), nan, nan)
    scale = np.maximum(away.mean(axis=1), ROUNDING)
    near, far = scale * reach_of((away.T / scale).max(axis=1), clusters)
    return Interval(share(inside, rest), share(inside - near, rest + far), share(inside + near, rest - far))


def _columns(values: Sequence[str]) -> Array:
    """A column for each value but the first: 1 where a protocol has it."""
    names = list(dict.fromkeys(values))
    return np.array([[float(value == name) for name in names[1:]] for value in values])
