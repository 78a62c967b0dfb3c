"""Robustness of one or more models to one or more rephrasings, as one report."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import isnan
from typing import Any

import numpy as np

from catsofa.data.tables import Tabular
from catsofa.scoring.measures import sanity
from catsofa.scoring.measures.robustness import Comparison
from catsofa.scoring.measures.robustness.ranks import RankStability, rank_stability
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the names of what is compared."""

    original: str
    paraphrase: str
    rephrasing: int
    """Number of the rephrasing: the same for the models that read the same paraphrases."""
    comparison: Comparison
    data: tuple[str, str] = ("", "")
    """The names of the originals and of the paraphrases."""

    @property
    def title(self) -> str:
        """The model and the two data sets; two files of scores, which name no model, as they are."""
        if self.original != self.paraphrase:
            return f"{self.original} → {self.paraphrase}"
        return f"{self.original}: {' → '.join(filter(None, dict.fromkeys(self.data)))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessReport(Tabular):
    """Comparisons, Holm's p over all of their changes, and the ranks where several models are compared."""

    compared: Sequence[Compared]
    holm: Sequence[dict[str, float]]
    """For each comparison, measure to adjusted p."""
    ranks: Sequence[RankStability]
    signature: Signature
    warnings: tuple[str, ...] = ()
    """Sentences that every reader of the numbers must see."""

    def to_dict(self) -> dict[str, Any]:
        """The report as it stands in our JSON."""
        comparisons = []
        for one, adjusted in zip(self.compared, self.holm, strict=True):
            names = {"original_scores": one.original, "paraphrase_scores": one.paraphrase}
            names |= {"original_data": one.data[0], "paraphrase_data": one.data[1]}
            row = {**names, "rephrasing": one.rephrasing, **one.comparison.to_dict()}
            row["change"] = {name: {**change, "holm": adjusted[name]} for name, change in row["change"].items()}
            comparisons.append(row)
        ranks = {"ranks": [rank.to_dict() for rank in self.ranks]} if self.ranks else {}
        tests = sum(not isnan(p) for adjusted in self.holm for p in adjusted.values())
        found = {"protocol": self.signature.protocol, "comparisons": comparisons, "tests": tests}
        return {**found, **ranks, "warnings": list(self.warnings), "signature": self.signature.to_dict()}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each comparison and measure."""
        found = []
        for one, adjusted in zip(self.compared, self.holm, strict=True):
            names = {"original_scores": one.original, "paraphrase_scores": one.paraphrase}
            for row in one.comparison.rows():
                holm_p = {"holm": adjusted[row["measure"]]} if row["measure"] in adjusted else {}
                found.append({**names, **row, **holm_p})
        return found

    def heading(self) -> str:
        """The signature."""
        return str(self.signature)


def robustness_report(
    compared: Sequence[Compared], protocol: Protocol, *, data: str, dtype: str = ""
) -> RobustnessReport:
    """The report of these comparisons; all their changes are one family of tests."""
    changes = [(number, name) for number, one in enumerate(compared) for name in one.comparison.changes]
    adjusted = holm([compared[number].comparison.changes[name].p for number, name in changes])
    family: list[dict[str, float]] = [{} for _ in compared]
    for (number, name), p in zip(changes, adjusted, strict=True):
        family[number][name] = p
    rephrasings = sorted({one.rephrasing for one in compared})
    ranks = [_ranks([one for one in compared if one.rephrasing == number], protocol) for number in rephrasings]
    names = " ".join(dict.fromkeys(name for one in compared for name in (one.original, one.paraphrase)))
    return RobustnessReport(
        compared=compared,
        holm=family,
        ranks=[rank for rank in ranks if rank],
        signature=protocol.signature(data, names, dtype=dtype, resamples=RESAMPLES),
        warnings=sanity.of_preferences(
            {
                name: of
                for one in compared
                for name, of in (
                    (one.original, one.comparison.before),
                    (one.paraphrase, one.comparison.after),
                )
            }
        ),
    )


def _ranks(compared: Sequence[Compared], protocol: Protocol) -> RankStability | None:
    """The ranks of the models that read the same paraphrases, over the items that all of them scored."""
    if len(compared) < 2:
        return None
    shared = reduce(np.intersect1d, [one.comparison.before.ids for one in compared])
    models = {}
    for one in compared:
        rows = np.isin(one.comparison.before.ids, shared)
        models[one.original] = (one.comparison.before.take(rows), one.comparison.after.take(rows))
    return rank_stability(models, average=protocol.average, seed=protocol.seed)
