"""Simulated worlds: target terms drawn from a population whose lms and ss are known."""

from dataclasses import dataclass

import numpy as np

from catsofa.scoring.measures.stereoset import MEASURES
from catsofa.scoring.statistics.changes import Change, paired_changes
from catsofa.scoring.statistics.intervals import Array, Interval, intervals


@dataclass(frozen=True)
class Model:
    """A model's true ss and lms, as shares."""

    ss: float
    lms: float = 0.9

    def truth(self) -> dict[str, float]:
        """Returns the numbers that intervals should contain."""
        icat = 200 * self.lms * min(self.ss, 1 - self.ss)
        return {"lms": 100 * self.lms, "ss": 100 * self.ss, "icat": icat}


@dataclass(frozen=True)
class Terms:
    """The number of terms, of items per term, and the standard deviation of their true shares."""

    count: int
    items: tuple[int, int] = (8, 39)
    spread: float = 0.1

    def drawn(self, model: Model, rng: np.random.Generator, sets: int) -> Array:
        """Returns the columns of simulated data sets: (sets, terms, columns)."""
        items = rng.integers(self.items[0], self.items[1] + 1, (sets, self.count))
        lms, ss = self._shares(model.lms, 2 * items, rng), self._shares(model.ss, items, rng)
        return np.stack([lms, np.ones_like(lms), ss, np.ones_like(ss)], axis=-1)

    def _shares(self, mean: float, tries: Array, rng: np.random.Generator) -> Array:
        """Returns the share won in each term, whose true shares have a beta distribution."""
        size = mean * (1 - mean) / self.spread**2 - 1
        true = rng.beta(mean * size, (1 - mean) * size, tries.shape)
        return np.asarray(rng.binomial(tries, true) / tries)


def percent_held(terms: Terms, model: Model, *, sets: int, resamples: int, seed: int) -> dict[str, float]:
    """Returns the percentage of simulated data sets whose interval contains the truth, by measure."""
    truth = model.truth()
    results: list[dict[str, Interval]] = [
        intervals(columns, MEASURES, resamples=resamples, seed=number)
        for number, columns in enumerate(terms.drawn(model, np.random.default_rng(seed), sets))
    ]
    return {name: 100 * float(np.mean([truth[name] in one[name] for one in results])) for name in truth}


def simulated_changes(
    terms: Terms, before: Model, after: Model, *, sets: int, resamples: int, seed: int
) -> list[dict[str, Change]]:
    """The changes between two models in each simulated data set."""
    rng = np.random.default_rng(seed)
    pairs = zip(terms.drawn(before, rng, sets), terms.drawn(after, rng, sets), strict=True)
    return [
        paired_changes(one, other, MEASURES, resamples=resamples, seed=number)
        for number, (one, other) in enumerate(pairs)
    ]
