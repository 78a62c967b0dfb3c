"""Dependence of an answer on the protocol: the range and the sides of its cells, and the order of models."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catsofa.data.files import short
from catsofa.data.percentages import quantity
from catsofa.data.statistics import LEVEL
from catsofa.scoring.multiverse.cells import Cell, digits
from catsofa.scoring.multiverse.choices import Effect, effects
from catsofa.scoring.statistics.intervals import (
    ROUNDING,
    Array,
    Interval,
    Measure,
    interval_of_range,
    limits,
    resampled_sums,
)

_CLAIM = re.compile(r"\s*(\w+)\s*([<>])\s*(-?\d+(?:\.\d+)?)\s*")


class Claim(NamedTuple):
    """A claim that a number lies above or below a value."""

    measure: str
    side: str
    at: float

    def __str__(self) -> str:
        """Returns the claim in written form."""
        return f"{self.measure} {self.side} {self.at:g}"

    @classmethod
    def read(cls, text: str, numbers: Collection[str]) -> "Claim":
        """Parses a claim on one of these numbers, such as `ss > 50`."""
        match = _CLAIM.fullmatch(text)
        if not match or match[1] not in numbers:
            names = ", ".join(numbers)
            raise ValueError(f"found the claim {short(text)}; expected {names}, then > or <, and a number (ss > 50)")
        return cls(match[1], match[2], float(match[3]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Number of protocols that support a claim."""

    holds: int
    """Protocols whose value supports the claim."""
    shown: int
    """Protocols whose whole interval supports the claim."""
    of: int
    share: Interval
    """Percentage of the protocols whose value supports the claim."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        return {"holds": self.holds, "shown": self.shown, "of": self.of, "share": self.share.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure of one model over protocols."""

    values: Mapping[str, Interval]
    """By protocol, over the items that all of them scored."""
    range: Interval
    """Highest value minus lowest value."""
    digits: int
    """Decimals shown."""
    median: float
    ideal: float | None
    """Value of an ideal model, if a number may lie on both sides of it; else None."""
    above: Support
    """Support for a value above the ideal."""
    below: Support
    claims: Mapping[str, Support] = field(default_factory=dict)
    effects: Mapping[str, Effect | None] = field(default_factory=dict)
    """By choice that differs between protocols; None if it cannot be separated from others."""

    @property
    def ends(self) -> tuple[str, str]:
        """Protocols with the lowest and the highest value."""
        by_value = sorted(self.values, key=lambda name: self.values[name].value)
        return by_value[0], by_value[-1]

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        low, high = self.ends
        sides = {
            "ideal": self.ideal,
            "above": self.above.holds,
            "below": self.below.holds,
            "shown_above": self.above.shown,
            "shown_below": self.below.shown,
            "share_above": self.above.share.to_dict(),
        }
        return {
            "values": {name: interval.to_dict() for name, interval in self.values.items()},
            "median": self.median,
            "lowest": low,
            "highest": high,
            "range": self.range.to_dict(),
            **({} if self.ideal is None else {"sides": sides}),
            **({"claims": {claim: support.to_dict() for claim, support in self.claims.items()}} if self.claims else {}),
            "choices": {option: effect and effect.to_dict() for option, effect in self.effects.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """Dependence of the numbers of one model on one part on the protocol."""

    items: int
    """Items that every protocol scored; the protocols are compared on these."""
    clusters: int
    spreads: Mapping[str, Spread]
    refused: str = ""
    """Reason why protocols cannot be compared."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        measures = {name: spread.to_dict() for name, spread in self.spreads.items()}
        return {"items": self.items, "clusters": self.clusters, "measures": measures, "refused": self.refused or None}


def distinct(cells: Mapping[str, Cell]) -> tuple[dict[str, Cell], dict[str, str]]:
    """Returns the scored cells without duplicates, and for each duplicate the protocol that it equals."""
    unique, same = dict[str, Cell](), dict[str, str]()
    for name, cell in cells.items():
        twin = next((other for other, before in unique.items() if before.key == cell.key), None)
        if twin:
            same[name] = twin
        elif cell.scored.any():
            unique[name] = cell
    return unique, same


def dependence(
    by_protocol: Mapping[str, Cell],
    *,
    resamples: int,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    claims: Sequence[Claim] = (),
) -> Dependence:
    """Measures how much the numbers of one model depend on the protocol; equal cells count once.

    All cells are resampled together, so that they are compared on the same items and the same terms. `options` are the
    choices of each protocol; for the effects of choices, a cell counts under each protocol that leads to it.
    """
    cells, twins = distinct(by_protocol)
    if len(cells) < 2:
        return Dependence(
            items=0, clusters=0, spreads={}, refused=f"{quantity(len(cells), 'protocol')} with numbers; it needs two"
        )
    rows: NDArray[np.bool_] = np.logical_and.reduce([cell.scored for cell in cells.values()])
    if not rows.any():
        return Dependence(items=0, clusters=0, spreads={}, refused="no item is scored by every protocol")
    parts = [cell.columns(rows) for cell in cells.values()]
    clusters, sums = len(parts[0]), _blocks(parts, resamples, seed)
    own = {name: cell.on(rows) for name, cell in cells.items()}
    compared = {}
    for measure, kind in next(iter(cells.values())).measures.items():
        defined = [index for index, name in enumerate(cells) if not np.isnan(own[name][measure].value)]
        if len(defined) > 1:
            names = [name for index, name in enumerate(cells) if index in defined]
            drawn = np.stack([kind(sums[index]) for index in defined], axis=1)
            # an item moves icat, the lesser of two pieces, by up to twice as much, and a share of few choices by more
            decided = min(
                cells[name].deciding(measure, parts[index]) for name, index in zip(names, defined, strict=True)
            )
            items = decided * int(rows.sum()) / kind.pieces(sums[0][:1]).shape[-1]
            spread = _spread({name: own[name][measure] for name in names}, drawn, kind, clusters, items)
            supports = {
                str(claim): _support(claim.side, claim.at, spread.values, drawn, clusters)
                for claim in claims
                if claim.measure == measure
            }
            each = {name: names.index(twins.get(name, name)) for name in by_protocol if twins.get(name, name) in names}
            observed, indices = np.array([value.value for value in spread.values.values()]), [*each.values()]
            chosen, scale = [options[name] for name in each] if options else [{}], percents(kind)
            by_choice = effects(observed[indices], drawn[:, indices], chosen, clusters, items, scale)
            compared[measure] = replace(spread, claims=supports, effects=by_choice)
    refused = "" if compared else "every number but one is undefined"
    return Dependence(items=int(rows.sum()), clusters=clusters, spreads=compared, refused=refused)


def _blocks(parts: Sequence[Array], resamples: int, seed: int) -> list[Array]:
    """Returns the resampled sums of each part from the same draws; the rows of all parts are the same clusters."""
    sums = resampled_sums(np.concatenate(parts, axis=1), resamples, seed)
    return np.split(sums, np.cumsum([part.shape[1] for part in parts])[:-1], axis=1)


def _spread(values: Mapping[str, Interval], drawn: Array, kind: Measure, clusters: int, items: float) -> Spread:
    """Returns the range of values with its interval, and the support for both sides of the ideal.

    `drawn` has a row for each resample.
    """
    observed, scale = np.array([interval.value for interval in values.values()]), percents(kind)
    ideal = kind.ideal if kind.ideal is not None and kind.least < kind.ideal < kind.most else None
    target = nan if ideal is None else ideal
    return Spread(
        values=values,
        range=interval_of_range(float(np.ptp(observed)), drawn - observed, clusters, items, scale),
        digits=digits(kind),
        median=float(np.median(observed)),
        ideal=ideal,
        above=_support(">", target, values, drawn, clusters),
        below=_support("<", target, values, drawn, clusters),
    )


def percents(kind: Measure) -> float:
    """Returns the percentage points in one unit of a measure: 1 of a percentage, 100 of 0 to 1, 50 of −1 to 1."""
    return 100 / (kind.most - kind.least)


def _support(side: str, threshold: float, values: Mapping[str, Interval], drawn: Array, clusters: int) -> Support:
    """Returns how many values lie on this side of a number, and their share with its interval over resamples."""
    sign = 1 if side == ">" else -1
    holds = sum(sign * (interval.value - threshold) > ROUNDING for interval in values.values())
    shown = sum(
        sign * ((interval.low if sign > 0 else interval.high) - threshold) > ROUNDING for interval in values.values()
    )
    whole, limits_of = drawn[np.isfinite(drawn).all(axis=1)], (nan, nan)
    if clusters > 1 and len(whole) and threshold == threshold:
        limits_of = np.quantile(
            100 * (sign * (whole - threshold) > ROUNDING).mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        )
    return Support(holds=holds, shown=shown, of=len(values), share=Interval(100 * holds / len(values), *limits_of))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Orders of several models by one measure, one order for each protocol."""

    models: tuple[str, ...]
    protocols: tuple[str, ...]
    items: int
    """Items that every model scored by every protocol."""
    pairs: Mapping[tuple[str, str], tuple[int, int]]
    """By two models: the number of protocols that put the first above the second, and below it."""
    tau: Interval
    """Kendall's tau between the orders of two protocols, as a mean over all pairs of protocols."""

    @property
    def kept(self) -> int:
        """Number of pairs of models that every protocol orders alike."""
        return sum(max(sides) == len(self.protocols) for sides in self.pairs.values())

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        pairs = [{"models": list(two), "above": up, "below": down} for two, (up, down) in self.pairs.items()]
        about = {"models": list(self.models), "protocols": list(self.protocols), "items": self.items}
        return {**about, "kept": self.kept, "of": len(pairs), "tau": self.tau.to_dict(), "pairs": pairs}


def orders(by_model: Mapping[str, Mapping[str, Cell]], *, resamples: int, seed: int) -> dict[str, Order]:
    """Returns, by measure, the order of several models by each protocol that gives all of them numbers.

    Protocols that are equal for every model count once. All models and protocols are resampled together.
    """
    twins = [distinct(cells)[1] for cells in by_model.values()]
    shared = [
        name
        for name in next(iter(by_model.values()))
        if all(name in cells and cells[name].scored.any() for cells in by_model.values())
        and not all(same.get(name) == twins[0].get(name, name) for same in twins)
    ]
    if len(by_model) < 2 or len(shared) < 2:
        return {}
    every = [cells[name] for cells in by_model.values() for name in shared]
    rows: NDArray[np.bool_] = np.logical_and.reduce([cell.scored for cell in every])
    if not rows.any():
        return {}
    parts = [cell.columns(rows) for cell in every]
    sums, shape = _blocks(parts, resamples, seed), (-1, len(by_model), len(shared))
    ordered = {}
    for measure, kind in every[0].measures.items():
        observed: Array = np.array([kind(part.sum(axis=0)) for part in parts]).reshape(shape)
        numbers = np.array([cell.numbers[measure].value for cell in every]).reshape(shape)
        defined = ~np.isnan(observed + numbers).any(axis=(0, 1))
        if defined.sum() < 2:
            continue
        observed = observed[..., defined]
        drawn = np.stack([kind(each) for each in sums], axis=1).reshape(shape)[..., defined]
        two = list(combinations(range(len(by_model)), 2))
        signs = np.stack([_sign(observed[0, a] - observed[0, b]) for a, b in two])
        names = tuple(by_model)
        ordered[measure] = Order(
            models=names,
            protocols=tuple(name for name, of_all in zip(shared, defined, strict=True) if of_all),
            items=int(rows.sum()),
            pairs={
                (names[a], names[b]): (int((row > 0).sum()), int((row < 0).sum()))
                for (a, b), row in zip(two, signs, strict=True)
            },
            tau=Interval(
                float(_tau(observed)[0]),
                *(float(limit) for limit in limits(_tau(observed)[0], _tau(drawn), len(parts[0]))),
            ),
        )
    return ordered


def _tau(values: Array) -> Array:
    """Returns Kendall's tau between two protocols, as a mean over pairs; values have shape (…, models, protocols)."""
    models, protocols = values.shape[1:]
    total = np.zeros(len(values))
    for a, b in combinations(range(models), 2):
        signs = _sign(values[:, a] - values[:, b])
        # products of all pairs of protocols, from the square of the sum
        total += (signs.sum(axis=1) ** 2 - (signs**2).sum(axis=1)) / (protocols * (protocols - 1))
    return np.asarray(total / (models * (models - 1) / 2))


def _sign(differences: Array) -> Array:
    """Returns the sign of each difference; 0 within rounding."""
    return np.asarray(np.sign(np.where(np.abs(differences) > ROUNDING, differences, 0)))
