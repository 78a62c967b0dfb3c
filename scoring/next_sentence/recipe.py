"""Training recipe of a next-sentence head: by default that of the paper (Nadeem et al. 2020, A.4)."""

from dataclasses import dataclass

from catsofa.scoring.next_sentence.network import HeadName
from catsofa.scoring.training import recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(recipe.Recipe):
    """Recipe whose defaults are the paper's values, where the paper gives them."""

    epochs: int = 10
    learning_rate: float = 1e-5
    batch: int = 80
    head: HeadName | None = None
    """None: the model's own head if it has one, else a linear one over the mean of the states."""
