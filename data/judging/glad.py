"""GLAD (Whitehill et al. 2009): EM estimation of item labels, item difficulties and annotator abilities."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from catsofa.data.judging.estimate import Estimate
from catsofa.data.judging.ratings import Floats, Ratings
from catsofa.data.records import Annotation

EXPECTED = 1.0
"""The mean of the normal priors of ability and of the logarithm of easiness; their variance is 1."""
STEPS = 10
"""Maximum number of gradient steps in one M-step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glad(Estimate):
    """The estimate; a person is right about an item with probability σ(ability / difficulty)."""

    ability: Floats
    """The ability of each person: 0 means chance level, below 0 mostly wrong."""
    difficulty: Floats
    """The difficulty of each item, 1/β: above 0, without an upper limit."""

    def difficulties(self) -> dict[str, float]:
        """The difficulty by item, to four digits."""
        return dict(zip(self.ratings.items, self.difficulty.round(4).tolist(), strict=True))


def glad(annotations: Iterable[Annotation] | Ratings, *, rounds: int = 100, tolerance: float = 1e-6) -> Glad:
    """Alternate E and M steps until the log-posterior per annotation converges.

    The prior over labels is uniform; a wrong answer is each of the other labels with equal probability.
    """
    ratings = annotations if isinstance(annotations, Ratings) else Ratings.of(annotations)
    if not len(ratings):
        raise ValueError("no annotations to estimate from")
    people, items, labels = len(ratings.annotators), len(ratings.items), len(ratings.labels)
    wrong = np.log(max(labels - 1, 1))
    cell = ratings.item * labels + ratings.label
    theta = np.full(people + items, EXPECTED)  # abilities, then logarithms of easiness

    def cost(theta: Floats, right: Floats) -> tuple[float, Floats]:
        """The negative expected log-posterior if an answer is right with probability `right`, and its gradient."""
        easiness = np.exp(theta[people:])[ratings.item]
        x = theta[ratings.annotator] * easiness
        gain = right * log_expit(x) + (1 - right) * (log_expit(-x) - wrong)
        slope = (right - expit(x)) * easiness
        of_people = np.bincount(ratings.annotator, slope, people)
        of_items = np.bincount(ratings.item, slope * theta[ratings.annotator], items)
        away = theta - EXPECTED
        return float(0.5 * away @ away - gain.sum()), away - np.concatenate([of_people, of_items])

    from scipy.optimize import minimize  # this import takes half a second

    before, converged, done = -np.inf, False, 0
    while True:
        x = theta[ratings.annotator] * np.exp(theta[people:])[ratings.item]
        log_joint = np.bincount(cell, x + wrong, items * labels).reshape(items, labels)
        total = logsumexp(log_joint, axis=1, keepdims=True)
        posterior: Floats = np.exp(log_joint - total)
        away = theta - EXPECTED
        likelihood = float(total.sum() + (log_expit(-x) - wrong).sum() - 0.5 * away @ away)
        converged, before = likelihood - before < tolerance * len(ratings), likelihood
        if converged or done == rounds:
            break
        done += 1
        right = posterior[ratings.item, ratings.label]
        theta = minimize(cost, theta, args=(right,), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return Glad(
        ratings=ratings,
        posterior=posterior,
        ability=theta[:people],
        difficulty=np.exp(-theta[people:]),
        rounds=done,
        converged=converged,
    )
