"""How far an answer depends on the protocol: the range of its cells and their sides, and the order of models."""

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
    """That a number lies above or below a value."""

    measure: str
    side: str
    at: float

    def __str__(self) -> str:
        """The claim as one writes it."""
        return f"{self.measure} {self.side} {self.at:g}"

    @classmethod
    def read(cls, text: str, numbers: Collection[str]) -> "Claim":
        """A claim on one of these numbers as one writes it: `ss > 50`."""
        found = _CLAIM.fullmatch(text)
        if not found or found[1] not in numbers:
            known = ", ".join(numbers)
            raise ValueError(f"found the claim {short(text)}; expected {known}, then > or <, and a number (ss > 50)")
        return cls(found[1], found[2], float(found[3]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How many protocols support a claim."""

    holds: int
    """Protocols whose value does."""
    shown: int
    """Protocols whose whole interval does."""
    of: int
    share: Interval
    """Percentage of the protocols whose value does."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return {"holds": self.holds, "shown": self.shown, "of": self.of, "share": self.share.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure of one model over protocols."""

    values: Mapping[str, Interval]
    """By protocol, over the items that every one of them scored."""
    range: Interval
    """The highest value less the lowest one."""
    digits: int
    """Decimals in which the numbers are shown."""
    median: float
    ideal: float | None
    """The value of an ideal model, where a number may lie on both sides of it."""
    above: Support
    """That the value lies above the ideal."""
    below: Support
    claims: Mapping[str, Support] = field(default_factory=dict)
    effects: Mapping[str, Effect | None] = field(default_factory=dict)
    """By choice that differs between protocols; None where it cannot be told from others."""

    @property
    def ends(self) -> tuple[str, str]:
        """The protocols with the lowest and the highest value."""
        by_value = sorted(self.values, key=lambda name: self.values[name].value)
        return by_value[0], by_value[-1]

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
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
            "values": {name: found.to_dict() for name, found in self.values.items()},
            "median": self.median,
            "lowest": low,
            "highest": high,
            "range": self.range.to_dict(),
            **({} if self.ideal is None else {"sides": sides}),
            **({"claims": {claim: of.to_dict() for claim, of in self.claims.items()}} if self.claims else {}),
            "choices": {option: of and of.to_dict() for option, of in self.effects.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """How far the numbers of one model on one part depend on the protocol."""

    items: int
    """Items that every protocol scored, over which the protocols are compared."""
    clusters: int
    spreads: Mapping[str, Spread]
    refused: str = ""
    """Why protocols cannot be compared."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        found = {name: spread.to_dict() for name, spread in self.spreads.items()}
        return {"items": self.items, "clusters": self.clusters, "measures": found, "refused": self.refused or None}


def distinct(of: Mapping[str, Cell]) -> tuple[dict[str, Cell], dict[str, str]]:
    """The cells that are scored and unlike any before them, and the protocol that each other scored cell equals."""
    kept, same = dict[str, Cell](), dict[str, str]()
    for name, cell in of.items():
        twin = next((other for other, before in kept.items() if before.key == cell.key), None)
        if twin:
            same[name] = twin
        elif cell.scored.any():
            kept[name] = cell
    return kept, same


def dependence(
    of: Mapping[str, Cell],
    *,
    resamples: int,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    claims: Sequence[Claim] = (),
) -> Dependence:
    """How far the numbers of these cells of one model depend on the protocol; equal cells count once.

    All cells are resampled together, so that they are compared on the same items and the same terms. `options` are the
    choices of each protocol; for the effects of choices, a cell counts under each protocol that leads to it.
    """
    cells, twins = distinct(of)
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
    found = {}
    for measure, kind in next(iter(cells.values())).measures.items():
        known = [at for at, name in enumerate(cells) if not np.isnan(own[name][measure].value)]
        if len(known) > 1:
            names = [name for at, name in enumerate(cells) if at in known]
            drawn = np.stack([kind(sums[at]) for at in known], axis=1)
            # an item moves icat, the lesser of two pieces, up to twice as far, and a share of few choices farther
            decided = min(cells[name].deciding(measure, parts[at]) for name, at in zip(names, known, strict=True))
            items = decided * int(rows.sum()) / kind.pieces(sums[0][:1]).shape[-1]
            spread = _spread({name: own[name][measure] for name in names}, drawn, kind, clusters, items)
            asked = {
                str(claim): _support(claim.side, claim.at, spread.values, drawn, clusters)
                for claim in claims
                if claim.measure == measure
            }
            each = {name: names.index(twins.get(name, name)) for name in of if twins.get(name, name) in names}
            here, at = np.array([value.value for value in spread.values.values()]), [*each.values()]
            chosen, scale = [options[name] for name in each] if options else [{}], percents(kind)
            by_choice = effects(here[at], drawn[:, at], chosen, clusters, items, scale)
            found[measure] = replace(spread, claims=asked, effects=by_choice)
    refused = "" if found else "every number but one is undefined"
    return Dependence(items=int(rows.sum()), clusters=clusters, spreads=found, refused=refused)


def _blocks(parts: Sequence[Array], resamples: int, seed: int) -> list[Array]:
    """The resampled sums of each part, whose rows are the same clusters, from the same draws."""
    sums = resampled_sums(np.concatenate(parts, axis=1), resamples, seed)
    return np.split(sums, np.cumsum([part.shape[1] for part in parts])[:-1], axis=1)


def _spread(values: Mapping[str, Interval], drawn: Array, kind: Measure, clusters: int, items: float) -> Spread:
    """The range of values with its interval, and the share above the ideal; `drawn` has a row for each resample."""
    here, scale = np.array([found.value for found in values.values()]), percents(kind)
    ideal = kind.ideal if kind.ideal is not None and kind.least < kind.ideal < kind.most else None
    at = nan if ideal is None else ideal
    return Spread(
        values=values,
        range=interval_of_range(float(np.ptp(here)), drawn - here, clusters, items, scale),
        digits=digits(kind),
        median=float(np.median(here)),
        ideal=ideal,
        above=_support(">", at, values, drawn, clusters),
        below=_support("<", at, values, drawn, clusters),
    )


def percents(kind: Measure) -> float:
    """The percentages in one of a measure: 1 for a percentage, 100 for a share from 0 to 1, 50 from −1 to 1."""
    return 100 / (kind.most - kind.least)


def _support(side: str, at: float, values: Mapping[str, Interval], drawn: Array, clusters: int) -> Support:
    """How many values lie on this side of a number, and the share of them over resamples."""
    sign = 1 if side == ">" else -1
    holds = sum(sign * (found.value - at) > ROUNDING for found in values.values())
    shown = sum(sign * ((found.low if sign > 0 else found.high) - at) > ROUNDING for found in values.values())
    whole, limits_of = drawn[np.isfinite(drawn).all(axis=1)], (nan, nan)
    if clusters > 1 and len(whole) and at == at:
        limits_of = np.quantile(100 * (sign * (whole - at) > ROUNDING).mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Support(holds=holds, shown=shown, of=len(values), share=Interval(100 * holds / len(values), *limits_of))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Whether protocols put several models into the same order by one measure."""

    models: tuple[str, ...]
    protocols: tuple[str, ...]
    items: int
    """Items that every model scored by every protocol."""
    pairs: Mapping[tuple[str, str], tuple[int, int]]
    """Two models to how many protocols put the first above the second, and below it."""
    tau: Interval
    """Kendall's tau between the orders of two protocols, the mean over all pairs of protocols."""

    @property
    def kept(self) -> int:
        """Pairs of models that every protocol orders alike."""
        return sum(max(sides) == len(self.protocols) for sides in self.pairs.values())

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        pairs = [{"models": list(two), "above": up, "below": down} for two, (up, down) in self.pairs.items()]
        about = {"models": list(self.models), "protocols": list(self.protocols), "items": self.items}
        return {**about, "kept": self.kept, "of": len(pairs), "tau": self.tau.to_dict(), "pairs": pairs}


def orders(of: Mapping[str, Mapping[str, Cell]], *, resamples: int, seed: int) -> dict[str, Order]:
    """By measure, the order of several models by each protocol that gives all of them numbers.

    Protocols that are the same in every model count once. All models and protocols are resampled together.
    """
    twins = [distinct(cells)[1] for cells in of.values()]
    shared = [
        name
        for name in next(iter(of.values()))
        if all(name in cells and cells[name].scored.any() for cells in of.values())
        and not all(same.get(name) == twins[0].get(name, name) for same in twins)
    ]
    if len(of) < 2 or len(shared) < 2:
        return {}
    every = [cells[name] for cells in of.values() for name in shared]
    rows: NDArray[np.bool_] = np.logical_and.reduce([cell.scored for cell in every])
    if not rows.any():
        return {}
    parts = [cell.columns(rows) for cell in every]
    sums, shape = _blocks(parts, resamples, seed), (-1, len(of), len(shared))
    found = {}
    for measure, kind in every[0].measures.items():
        here: Array = np.array([kind(part.sum(axis=0)) for part in parts]).reshape(shape)
        numbers = np.array([cell.numbers[measure].value for cell in every]).reshape(shape)
        known = ~np.isnan(here + numbers).any(axis=(0, 1))
        if known.sum() < 2:
            continue
        here = here[..., known]
        drawn = np.stack([kind(each) for each in sums], axis=1).reshape(shape)[..., known]
        two = list(combinations(range(len(of)), 2))
        signs = np.stack([_sign(here[0, a] - here[0, b]) for a, b in two])
        names = tuple(of)
        found[measure] = Order(
            models=names,
            protocols=tuple(name for name, of_all in zip(shared, known, strict=True) if of_all),
            items=int(rows.sum()),
            pairs={
                (names[a], names[b]): (int((row > 0).sum()), int((row < 0).sum()))
                for (a, b), row in zip(two, signs, strict=True)
            },
            tau=Interval(
                float(_tau(here)[0]),
                *(float(limit) for limit in limits(_tau(here)[0], _tau(drawn), len(parts[0]))),
            ),
        )
    return found


def _tau(values: Array) -> Array:
    """The mean over pairs of protocols of Kendall's tau between the orders of models; (…, models, protocols) values."""
    models, protocols = values.shape[1:]
    total = np.zeros(len(values))
    for a, b in combinations(range(models), 2):
        signs = _sign(values[:, a] - values[:, b])
        # the products of all pairs of protocols, from the square of the sum
        total += (signs.sum(axis=1) ** 2 - (signs**2).sum(axis=1)) / (protocols * (protocols - 1))
    return np.asarray(total / (models * (models - 1) / 2))


def _sign(differences: Array) -> Array:
    """The sign of each difference; 0 where rounding alone makes one."""
    return np.asarray(np.sign(np.where(np.abs(differences) > ROUNDING, differences, 0)))
