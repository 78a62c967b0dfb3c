"""Ensembles: combine the scores of several models on the same CATs, by z-scores or by StereoSet's released rule."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from itertools import pairwise as successive

import numpy as np

from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import KINDS, Cat, Kind, Score
from catsofa.scoring.measures.cat_outcomes import SCORED, Outcomes, Scores, outcomes, pairwise, values
from catsofa.scoring.measures.stereoset import LMS
from catsofa.scoring.statistics.intervals import Array

RELEASED: Mapping[Kind, tuple[float, float, float]] = {
    "intrasentence": (1.0, 10_000.0, 10_000.0),
    "intersentence": (35.0, 15.0, 15.0),
}
"""The released weights of BERT-large, GPT2-medium and GPT2-large, whose scores have different scales."""
STEPS = 20
"""The number of steps from 0 to 1 in the grid of weights of `search`."""

Weights = Mapping[Kind, Sequence[float]]


def released(cats: Iterable[Cat], models: Sequence[Scores]) -> Iterator[Score]:
    """StereoSet's ensemble: the sum over models of weight · score · number of other candidates with a lower score."""
    for cat in cats:
        scores = np.array([[m.get(c.id) for m in models] for c in cat.candidates], dtype=np.float64)
        beaten = (scores[:, None, :] > scores[None, :, :]).sum(axis=1)
        total = (scores * beaten * _of(RELEASED, cat.kind, models)).sum(axis=1)
        for candidate, value in zip(cat.candidates, total, strict=True):
            yield _score(cat, candidate.id, float(value))


def combined(cats: Sequence[Cat], models: Sequence[Scores], weights: Weights) -> Iterator[Score]:
    """The weighted sum of the models' z-scores; a candidate without a score of every model is unscored."""
    for kind in KINDS:
        of_kind = [cat for cat in cats if cat.kind == kind]
        if not of_kind:
            continue
        total = z_scores(of_kind, models) @ np.asarray(_of(weights, kind, models))
        for cat, row in zip(of_kind, total, strict=True):
            for label, value in zip(SCORED, row, strict=True):
                yield _score(cat, cat[label].id, float(value))


def search(
    cats: Sequence[Cat], models: Sequence[Scores], *, progress: Progress = SILENT
) -> dict[Kind, tuple[float, ...]]:
    """Task to the weights with the highest lms, on a grid of 1/STEPS; at ties, the most even weights.

    The weights overfit the set that they were chosen on, so report the ensemble on another set.
    """
    best: dict[Kind, tuple[float, ...]] = {}
    for kind in (kind for kind in KINDS if any(cat.kind == kind for cat in cats)):
        of_kind = [cat for cat in cats if cat.kind == kind]
        frame, z = outcomes(of_kind, {}), z_scores(of_kind, models)
        tried = sorted(_simplex(len(models)), key=lambda weights: sum(w * w for w in weights))
        best[kind] = max(progress.each(tried), key=lambda weights: _lms(frame, z @ np.asarray(weights)))
    return best


def parsed(texts: Iterable[str]) -> dict[Kind, tuple[float, ...]]:
    """Parse weights in the form `intrasentence=0.05,0.55,0.4`."""
    by_task: dict[Kind, tuple[float, ...]] = {}
    for text in texts:
        task, _, weights = text.partition("=")
        kind = next((kind for kind in KINDS if kind == task), None)
        try:
            numbers = tuple(float(weight) for weight in weights.split(","))
        except ValueError:
            numbers = ()
        if kind is None or not numbers:
            raise ValueError(f"weights are written like {KINDS[0]}=0.05,0.55,0.4; found {text!r}")
        by_task[kind] = numbers
    return by_task


def z_scores(cats: Sequence[Cat], models: Sequence[Scores]) -> Array:
    """The z-scores of each model over all candidates, in the shape (CATs, labels, models)."""
    scores = np.stack([values(cats, model) for model in models], axis=-1)
    with np.errstate(invalid="ignore"):
        spread = np.nanstd(scores, axis=(0, 1))
    if not (spread > 0).all():
        raise ValueError(f"model {int(np.argmin(spread > 0)) + 1} of the ensemble scores nothing, or everything alike")
    return np.asarray((scores - np.nanmean(scores, axis=(0, 1))) / spread)


def _lms(frame: Outcomes, scores: Array) -> float:
    """The lms of these scores, averaged over target terms."""
    counts = pairwise(scores, "half", np.zeros_like(scores))
    return float(LMS(replace(frame, counts=counts).columns("terms").sum(axis=0)))


def _simplex(models: int) -> Iterator[tuple[float, ...]]:
    """All weights that are multiples of 1/STEPS and sum to 1."""
    for bars in combinations(range(STEPS + models - 1), models - 1):
        edges = (-1, *bars, STEPS + models - 1)
        yield tuple((b - a - 1) / STEPS for a, b in successive(edges))


def _of(weights: Weights, kind: Kind, models: Sequence[Scores]) -> Sequence[float]:
    """The weights of a task, one per model; another number is refused."""
    if len(numbers := weights.get(kind, ())) != len(models):
        raise ValueError(f"{len(models)} models need as many weights for {kind} CATs; found {len(numbers)}")
    return numbers


def _score(cat: Cat, item: str, value: float) -> Score:
    """The score record of a candidate; unscored if `value` is NaN."""
    missing = value != value
    return Score(
        item=item,
        task=cat.kind,
        score=None if missing else value,
        reason="unscored by a model of the ensemble" if missing else "",
    )
