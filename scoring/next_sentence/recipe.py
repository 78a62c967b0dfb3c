"""How a next-sentence head is trained: the paper's recipe (Nadeem et al. 2020, A.4) unless another is asked for."""

from dataclasses import dataclass

from catsofa.scoring.next_sentence.network import HeadName
from catsofa.scoring.training import recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(recipe.Recipe):
    """The defaults are the paper's where it gives them."""

    epochs: int = 10
    learning_rate: float = 1e-5
    batch: int = 80
    head: HeadName | None = None
    """Its own for a model that has one, else a linear one over the mean of the states."""
