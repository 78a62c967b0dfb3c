"""How far an answer depends on the protocol: the range of its cells and their sides, and the order of models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import quantity
from catsofa.data.statistics import LEVEL, WIDE, students
from catsofa.scoring.multiverse.cells import Cell
from catsofa.scoring.statistics.intervals import Array, Interval, Measure, limits, resampled_sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure of one model over protocols."""

    values: Mapping[str, Interval]
    """By protocol, over the items that every one of them scored."""
    range: Interval
    """The highest value less the lowest one."""
    median: float
    ideal: float | None
    """The value of an ideal model, where a number may lie on both sides of it."""
    above: Interval
    """Percentage of the protocols whose value lies above the ideal."""

    @property
    def ends(self) -> tuple[str, str]:
        """The protocols with the lowest and the highest value."""
        by_value = sorted(self.values, key=lambda name: self.values[name].value)
        return by_value[0], by_value[-1]

    @property
    def sides(self) -> dict[str, int]:
        """Of how many protocols the value, or even its whole interval, lies above or below the ideal."""
        of, at = self.values.values(), nan if self.ideal is None else self.ideal
        return {
            "above": sum(found.value > at for found in of),
            "below": sum(found.value < at for found in of),
            "shown_above": sum(found.low > at for found in of),
            "shown_below": sum(found.high < at for found in of),
        }

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        low, high = self.ends
        sides = {"ideal": self.ideal, **self.sides, "share_above": self.above.to_dict()}
        return {
            "values": {name: found.to_dict() for name, found in self.values.items()},
            "median": self.median,
            "lowest": low,
            "highest": high,
            "range": self.range.to_dict(),
            **({} if self.ideal is None else {"sides": sides}),
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


def dependence(of: Mapping[str, Cell], *, resamples: int, seed: int) -> Dependence:
    """How far the numbers of these cells of one model depend on the protocol; equal cells count once.

    All cells are resampled together, so that they are compared on the same items and the same terms. The range R of
    estimates is at most the range of the true values and that of the errors away from the true range. The interval is
    R ± the 95 % quantile of the range of the errors: it holds the true range in 95 % of cases or more.
    """
    cells, _ = distinct(of)
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
            found[measure] = _spread({name: own[name][measure] for name in names}, drawn, kind, clusters)
    refused = "" if found else "every number but one is undefined"
    return Dependence(items=int(rows.sum()), clusters=clusters, spreads=found, refused=refused)


def _blocks(parts: Sequence[Array], resamples: int, seed: int) -> list[Array]:
    """The resampled sums of each part, whose rows are the same clusters, from the same draws."""
    sums = resampled_sums(np.concatenate(parts, axis=1), resamples, seed)
    return np.split(sums, np.cumsum([part.shape[1] for part in parts])[:-1], axis=1)


def _spread(values: Mapping[str, Interval], drawn: Array, kind: Measure, clusters: int) -> Spread:
    """The range of values with its interval, and the share above the ideal; `drawn` has a row for each resample."""
    here = np.array([found.value for found in values.values()])
    whole = drawn[np.isfinite(drawn).all(axis=1)]
    between, low, high = float(np.ptp(here)), nan, nan
    if clusters > 1 and len(whole):
        reach = float(np.quantile(np.ptp(whole - here, axis=1), LEVEL))
        reach *= students(clusters) / WIDE * sqrt(clusters / (clusters - 1))
        low, high = max(0.0, between - reach), min(kind.most - kind.least, between + reach)
    ideal = kind.ideal if kind.ideal is not None and kind.least < kind.ideal < kind.most else None
    at, tails, above = nan if ideal is None else ideal, (1 - LEVEL) / 2, (nan, nan)
    if clusters > 1 and len(whole) and ideal is not None:
        above = np.quantile(100 * (whole > at).mean(axis=1), [tails, 1 - tails])
    return Spread(
        values=values,
        range=Interval(between, low, high),
        median=float(np.median(here)),
        ideal=ideal,
        above=Interval(100 * float((here > at).mean()), *above),
    )


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
        here = np.array([kind(part.sum(axis=0)) for part in parts]).reshape(shape)
        if np.isnan(here).any():
            continue
        drawn = np.stack([kind(each) for each in sums], axis=1).reshape(shape)
        two = list(combinations(range(len(of)), 2))
        signs = np.stack([np.sign(here[0, a] - here[0, b]) for a, b in two])
        names = tuple(of)
        found[measure] = Order(
            models=names,
            protocols=tuple(shared),
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
        signs = np.sign(values[:, a] - values[:, b])
        # the products of all pairs of protocols, from the square of the sum
        total += (signs.sum(axis=1) ** 2 - (signs**2).sum(axis=1)) / (protocols * (protocols - 1))
    return np.asarray(total / (models * (models - 1) / 2))
