"""One data set by several protocols: the cell of each, and how much the answer depends on the protocol."""

__all__ = ["Multiverse"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.records import Cat
from catsofa.data.tables import Tabular
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.multiverse.cells import Cell, cells
from catsofa.scoring.multiverse.choices import options_of
from catsofa.scoring.multiverse.dependence import Claim, Dependence, Order, dependence, distinct, orders
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiverse(Tabular):
    """One model, or several, on one data set by several protocols."""

    cells: Mapping[str, Mapping[str, Mapping[str, Cell]]]
    """By part, model and protocol."""
    dependence: Mapping[str, Mapping[str, Dependence]]
    """By part and model."""
    orders: Mapping[str, Mapping[str, Order]]
    """By part and measure; empty for a single model."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By protocol: its choices."""
    signatures: Mapping[str, Mapping[str, Signature]] = field(default_factory=dict)
    """By model and protocol: the signature of a run of this protocol alone."""
    unscored: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    """By model and protocol: reasons for texts without a score, with their counts."""
    refused: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By model: protocols that do not apply, with the reason."""
    others: tuple[str, ...] = ()
    """Protocols of other measures, which have no effect here."""
    warnings: tuple[str, ...] = ()
    signature: Signature | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as a dictionary for JSON."""
        return {
            "results": {part: self._part(part) for part in self.cells},
            "unscored": {
                model: {name: dict(why) for name, why in protocols.items()}
                for model, protocols in self.unscored.items()
            },
            "not_applicable": {model: dict(why) for model, why in self.refused.items()},
            "other_measures": list(self.others),
            "warnings": list(self.warnings),
            "signature": self.signature.to_dict() if self.signature else None,
        }

    def _part(self, part: str) -> dict[str, Any]:
        """Returns the numbers of one part."""
        return {
            "cells": list(self._cells(part)),
            "protocols": {model: result.to_dict() for model, result in self.dependence[part].items()},
            "orders": {measure: order.to_dict() for measure, order in self.orders[part].items()},
        }

    def _cells(self, part: str) -> list[dict[str, Any]]:
        """Returns each cell of a part, with its differences from the other cells."""
        lines = []
        for model, by_protocol in self.cells[part].items():
            same, most = distinct(by_protocol)[1], max(cell.coverage for cell in by_protocol.values())
            for name, cell in by_protocol.items():
                about: dict[str, Any] = {"same_as": same.get(name), "coverage_differs": cell.coverage < most}
                signature = self.signatures.get(model, {}).get(name)
                line = {"signature": str(signature)} if signature else {}
                lines.append({"model": model, "protocol": name, **cell.to_dict(), **about, **line})
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each cell."""
        return [
            {
                "part": part,
                "model": model,
                "protocol": name,
                **{
                    key: value
                    for measure, interval in cell.numbers.items()
                    for key, value in interval.row(measure).items()
                },
                "items": cell.items,
                "scored": int(cell.scored.sum()),
                "coverage": cell.coverage,
                **({"refusal": cell.outcomes["refusal"]} if cell.outcomes else {"ties": cell.ties}),
            }
            for part, models in self.cells.items()
            for model, by_protocol in models.items()
            for name, cell in by_protocol.items()
        ]

    def heading(self) -> str:
        """Returns the signature."""
        return str(self.signature or "")


def multiverse(
    records: Sequence[Any],
    given: Mapping[str, Mapping[str, Given]],
    protocols: Mapping[str, Protocol],
    *,
    resamples: int,
    seed: int,
    claims: Sequence[Claim] = (),
) -> Multiverse:
    """Computes the cells of each model by each protocol on CATs or pairs, and their dependence on the protocol."""
    grouped: dict[str, dict[str, dict[str, Cell]]] = {}
    for model, scores in given.items():
        for name, own in scores.items():
            for part, cell in cells(records, own, protocols[name], resamples).items():
                grouped.setdefault(part, {}).setdefault(model, {})[name] = cell
    measure = "stereoset" if isinstance(records[0], Cat) else "crows_pairs"
    options = {name: options_of(protocol, measure) for name, protocol in protocols.items()}
    return compared(grouped, options, resamples=resamples, seed=seed, claims=claims)


def compared(
    cells: Mapping[str, Mapping[str, Mapping[str, Cell]]],
    options: Mapping[str, Mapping[str, Any]],
    *,
    resamples: int,
    seed: int,
    claims: Sequence[Claim] = (),
) -> Multiverse:
    """Measures the dependence of cells (by part, model and protocol) on the protocol.

    `options` are the choices of each protocol.
    """
    how: dict[str, Any] = {"resamples": resamples, "seed": seed}
    return Multiverse(
        cells=cells,
        dependence={
            part: {
                model: dependence(by_protocol, options=options, claims=claims, **how)
                for model, by_protocol in models.items()
            }
            for part, models in cells.items()
        },
        orders={part: orders(models, **how) for part, models in cells.items()},
        options=options,
    )
