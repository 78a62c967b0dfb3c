"""Item analysis of a benchmark: how well its items tell models apart.

Rows are items, columns are models. Numbers have intervals over other terms and over other models, where both are
defined.
"""

__all__ = [
    "Bipolar", "Examination", "Facet", "Flag", "GroupDifference", "ItemDifference", "ItemMatrix", "Levels", "Part",
    "ShortForm", "examine",
]  # fmt: skip

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from catsofa.data.tables import Tabular
from catsofa.scoring.examine.bipolar import Bipolar, bipolar
from catsofa.scoring.examine.convergence import Agreement, convergence
from catsofa.scoring.examine.dif import GroupDifference, ItemDifference, group_difference
from catsofa.scoring.examine.facets import Facet, studied
from catsofa.scoring.examine.items import examined
from catsofa.scoring.examine.matrix import ItemMatrix, Levels
from catsofa.scoring.examine.part import OTHERWISE, Flag, Part
from catsofa.scoring.examine.short import ShortForm, short_form
from catsofa.scoring.signature import Signature

RESAMPLES = 1_000
"""Bootstrap resamples of terms for each interval over terms."""
CONVERGENCE = "convergence"
"""Key of the agreement between parts, next to the tasks of the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination(Tabular):
    """Item analysis of each task, and the agreement between tasks."""

    parts: Mapping[str, Part]
    convergence: Sequence[Agreement]
    models: tuple[str, ...]
    signature: Signature | None = None
    warnings: tuple[str, ...] = ()
    """Warnings about the models and their scores; warnings about one task are in its part."""

    @property
    def flags(self) -> list[Flag]:
        """All flagged items, task by task."""
        return [flag for part in self.parts.values() for flag in part.flags]

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as a dictionary for JSON."""
        return {
            "models": list(self.models),
            "results": {
                **{task: part.to_dict() for task, part in self.parts.items()},
                CONVERGENCE: [pair.to_dict() for pair in self.convergence],
            },
            "warnings": list(self.warnings),
            **({"signature": self.signature.to_dict()} if self.signature else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each number of each task, with its limits over terms and models together."""
        return [
            {
                "task": task,
                "number": name,
                **estimate.both.row("value"),
            }
            for task, part in self.parts.items()
            for name, estimate in part.numbers.items()
        ]

    def heading(self) -> str:
        """Returns the number of models, and the signature if it is known."""
        return f"{len(self.models)} models" + (f" | {self.signature}" if self.signature else "")


def examine(
    matrix: ItemMatrix, *, resamples: int = RESAMPLES, seed: int = 0, groups: Sequence[str] = (), short: int = 0
) -> Examination:
    """Measures how well the items of each task tell these models apart.

    A task needs at least two items and two models with scores; other tasks are left out with a warning. Each entry of
    `groups` is a pattern for a part of model names (`roberta`); its models are compared with the others item by item.
    `short` is the number of items in the short form of each task, or 0 for none. A short form predicts the models'
    scores on all items.
    """
    if resamples < 2:
        raise ValueError(f"found {resamples} resamples; expected 2 or more, from which intervals over terms are made")
    if CONVERGENCE in (tasks := matrix.parts()):
        raise ValueError(
            f"a task is called {CONVERGENCE!r}, which is a key of the report; expected another name. Rename it in "
            "the data"
        )
    inside = {group: {name for name in matrix.models if fnmatchcase(name, f"*{group}*")} for group in groups}
    for group, members in inside.items():
        if (count := len(members)) in (0, len(matrix.models)):
            raise ValueError(
                f"group {group}: found {count} of {len(matrix.models)} models; expected a part of the names of some: "
                f"{', '.join(matrix.models)}"
            )
    fit = {task: part for task, part in tasks.items() if min(part.scored().values.shape) >= 2}
    few = [f"{task} is left out, found {part.scored().size()}" for task, part in tasks.items() if task not in fit]
    if not fit:
        raise ValueError(f"{'; '.join(few)}; expected two items and two models or more, so that they can differ")
    how = {"resamples": resamples, "seed": seed}
    return Examination(
        parts={
            task: _more(examined(part, **how), part.scored(), inside, short=short, **how) for task, part in fit.items()
        },
        convergence=convergence(fit),
        models=matrix.models,
        warnings=tuple(few),
    )


def _more(
    part: Part, scored: ItemMatrix, inside: Mapping[str, set[str]], *, short: int, resamples: int, seed: int
) -> Part:
    """Adds group differences, facets, the bipolar scale and a short form to a part, or why they are missing."""
    names, values = scored.items.tolist(), scored.values
    masks = {group: np.array([name in members for name in scored.models]) for group, members in inside.items()}
    alone = "" if scored.preferences else "the matrix has scores, and not which of two sides a model prefers"
    dif = {group: group_difference(values, names, mask, alone) for group, mask in masks.items()}
    flags = [
        Flag(item=one.item, rule=OTHERWISE, message=f"answered otherwise by {group}, odds ratio {one.odds:.2g}, "
             f"Holm's p {one.holm:.2g}")
        for group, difference in dif.items()
        for one in difference.items
    ]  # fmt: skip
    studies = {one.name: studied(one, scored.groups, resamples=resamples, seed=seed) for one in scored.facets}
    facets = {name: one for name, one in studies.items() if not isinstance(one, str)}
    part = replace(part, dif=dif, flags=(*part.flags, *flags), facets=facets)
    extras: dict[str, Any] = {"bipolar": alone or bipolar(values, scored.models, names)}
    if short:
        extras["short"] = short_form(scored, short, seed)
    reasons = {name: why for name, why in {**extras, **studies}.items() if isinstance(why, str)}
    return replace(
        part, undefined={**part.undefined, **reasons}, **{k: v for k, v in extras.items() if k not in reasons}
    )
