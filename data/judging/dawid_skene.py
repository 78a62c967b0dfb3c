"""Dawid & Skene 1979: joint EM estimation of the label of each item and the confusion matrix of each person."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from catsofa.data.judging.estimate import Estimate
from catsofa.data.judging.ratings import Floats, Ratings
from catsofa.data.records import Annotation

SMALLEST = 1e-10
"""The smallest probability: with log 0, one slip would exclude a label for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene(Estimate):
    """The estimate: `confusion[person, true, given]` is a probability, `prior` the share of each true label."""

    confusion: Floats
    prior: Floats


def dawid_skene(
    annotations: Iterable[Annotation] | Ratings, *, smoothing: float = 1.0, rounds: int = 500, tolerance: float = 1e-7
) -> DawidSkene:
    """Alternate E and M steps, starting from the vote shares, until the log-likelihood per annotation converges.

    `smoothing` is added to every cell of every person's confusion counts (a Dirichlet prior). It keeps people
    with few labels from looking perfect; 0 is Dawid and Skene's maximum likelihood.
    """
    ratings = annotations if isinstance(annotations, Ratings) else Ratings.of(annotations)
    if not len(ratings):
        raise ValueError("no annotations to estimate from")
    # how often each person gave each label to each item: (person, label) by items
    size = (len(ratings.annotators) * len(ratings.labels), len(ratings.items))
    row = ratings.annotator * len(ratings.labels) + ratings.label
    answers = csr_array((np.ones(len(ratings)), (row, ratings.item)), shape=size)
    counts = ratings.counts()
    posterior = counts / counts.sum(axis=1, keepdims=True)
    before, converged = -np.inf, False
    prior, confusion = _m_step(ratings, answers, posterior, smoothing)
    done = 0
    while done < rounds and not converged:
        done += 1
        posterior, likelihood = _e_step(answers, prior, confusion)
        likelihood += smoothing * float(np.log(confusion).sum())
        prior, confusion = _m_step(ratings, answers, posterior, smoothing)
        converged, before = likelihood - before < tolerance * len(ratings), likelihood
    shape = (len(ratings.annotators), len(ratings.labels), len(ratings.labels))
    return DawidSkene(
        ratings=ratings,
        posterior=posterior,
        confusion=confusion.reshape(shape).swapaxes(1, 2),
        prior=prior,
        rounds=done,
        converged=converged,
    )


def spam_scores(confusion: Floats) -> Floats:
    """The score of each person: 0 if answers do not depend on the true label, 1 if they are always right.

    Raykar & Yu 2012: the mean squared difference between the rows of the confusion matrix.
    """
    labels = confusion.shape[1]
    if labels < 2:
        return np.full(len(confusion), np.nan)
    difference = confusion[:, :, None, :] - confusion[:, None, :, :]
    distance = (difference**2).sum(axis=(1, 2, 3))
    score: Floats = distance / (2 * labels * (labels - 1))
    return score


def _m_step(ratings: Ratings, answers: csr_array, posterior: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """The share of each true label, and P(given label | true label) of each person."""
    labels = len(ratings.labels)
    expected = (answers @ posterior).reshape(len(ratings.annotators), labels, labels) + smoothing
    expected = np.maximum(expected, SMALLEST)
    confusion = expected / expected.sum(axis=1, keepdims=True)
    return np.maximum(posterior.mean(axis=0), SMALLEST), confusion.reshape(-1, labels)


def _e_step(answers: csr_array, prior: Floats, confusion: Floats) -> tuple[Floats, float]:
    """P(true label | answers) of each item, and the log-likelihood of all answers."""
    log_joint = np.log(prior) + answers.T @ np.log(confusion)
    top = log_joint.max(axis=1, keepdims=True)
    scaled = np.exp(log_joint - top)
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / total, float((top + np.log(total)).sum())
