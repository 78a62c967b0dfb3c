"""The result of a model of judgements and annotators: the estimated label of each item."""

from dataclasses import dataclass

from catsofa.data.judging.ratings import Floats, Ratings

ROUNDING = 1e-9
"""Posteriors closer than this are a tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The probability of each label of each item: rows of `posterior` are items, columns labels."""

    ratings: Ratings
    posterior: Floats
    rounds: int
    converged: bool

    def labels(self, sure: float = 0.5) -> dict[str, str | None]:
        """Each item's most probable label if its posterior is above `sure`, otherwise None."""
        if not 0.5 <= sure < 1:
            raise ValueError(f"sure is a posterior from 0.5 up to 1, not {sure}: below one half two labels may tie")
        best = self.posterior.argmax(axis=1)
        mask = self.posterior.max(axis=1) > sure + ROUNDING
        return {
            item: self.ratings.labels[b] if k else None
            for item, b, k in zip(self.ratings.items, best, mask, strict=True)
        }
