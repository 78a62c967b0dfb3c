"""A measure of how often a model prefers the longer sentence of a pair."""

from collections.abc import Iterable

import numpy as np

from catsofa.data.records import Pair
from catsofa.scoring.measures.crows_pairs import by_pair
from catsofa.scoring.measures.crows_pairs.questions import PairScores
from catsofa.scoring.measures.registry import Given, Rows
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Measure, intervals, ratio


class Longer(PairScores):
    """100 · |{pairs whose longer sentence scores higher}| / |{scored pairs of two lengths}|."""

    name = "longer"
    about = "The percentage of pairs whose longer sentence a model prefers."
    limits = "Sentences of equal length say nothing, and lower the coverage."
    metric = Measure(name="longer", pieces=ratio(0, 1), ideal=50, least=0, most=100)

    def results(self, records: Iterable[Pair], given: Given, protocol: Protocol, resamples: int) -> Rows:
        """Returns one row, with an interval over pairs."""
        pairs, by_id = list(records), by_pair(given.scores)
        wins = []
        for pair in pairs:
            more, less = by_id.get(pair.id, (None, None))
            if more is None or less is None or len(pair.more) == len(pair.less) or more == less:
                continue
            wins.append((float((more > less) == (len(pair.more) > len(pair.less))), 1.0))
        if not wins:
            raise ValueError(f"none of the {len(pairs)} pairs has two scored sentences of two lengths")
        result = intervals(np.array(wins), {"longer": self.metric}, resamples=resamples, seed=protocol.seed)["longer"]
        row = {"set": "all", **result.row("longer"), "pairs": len(pairs), "coverage": len(wins) / len(pairs)}
        return Rows(self.name, [row])


MEASURE = Longer()
