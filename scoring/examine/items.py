"""Computes the numbers of one task from the scores of its items, each number with its intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import in_percent, quantity
from catsofa.data.statistics import Array, draw_counts
from catsofa.scoring.examine.limits import CORRELATION, RELIABILITY, SHARE, Estimate, estimate
from catsofa.scoring.examine.matrix import ItemMatrix
from catsofa.scoring.examine.order import (
    LEAST,
    deviations,
    eigenvalues,
    half_correlations,
    item_rest,
    nulls,
    weighted_medians,
)
from catsofa.scoring.examine.part import ALL_AGREE, NEGATIVE, Agreed, Flag, Part
from catsofa.scoring.examine.people import with_people
from catsofa.scoring.examine.variance import (
    CROSSED,
    NESTED,
    components,
    crossed_coefficient,
    nested_coefficient,
    shares,
    term_sums,
)
from catsofa.scoring.statistics.intervals import ALIKE, resampled_sums

SPLITS = 500
"""Random split halves of the terms."""
PERMUTATIONS = 200
"""Shuffles of the models within each item."""
OUTER = 0.025
"""Largest p-value at which a negative item–rest correlation is flagged."""
RANK = 0.95
"""Quantile of the shuffled eigenvalues that a dimension must exceed (parallel analysis)."""
BLOCK = 100
"""Resamples of item–rest correlations held in memory at once."""
FEWEST_TERMS = 4
"""Fewest terms for split halves."""
MANY = 20
"""Fewest models without a warning about their number."""

Parts = list[Array]
"""Scores without each of the models in turn."""


def examined(matrix: ItemMatrix, *, resamples: int, seed: int) -> Part:
    """Returns the numbers of one task; models and items without any score are left out."""
    part = matrix.scored()
    values, scored = part.values, np.isfinite(part.values)
    terms = int(part.groups.max()) + 1
    left_out = [np.delete(values, column, axis=1) for column in range(values.shape[1])] if values.shape[1] > 2 else []
    numbers, negative = _variance(values, part.groups, left_out, resamples=resamples, seed=seed)
    undefined = {} if "coefficient" in numbers else {"terms": "one item a term" if terms > 1 else "one term"}
    shuffled = Shuffled()
    if values.shape[1] < LEAST:
        undefined |= dict.fromkeys(
            ("coefficient", "split_half", "item_rest", "dimensions"), f"fewer than {LEAST} models"
        )
    else:
        numbers |= _rests(values, part.groups, left_out, resamples=resamples, seed=seed)
        shuffled = _shuffled(values, part.items, seed)
        if terms < FEWEST_TERMS:
            undefined["split_half"] = f"fewer than {FEWEST_TERMS} terms"
        else:
            halves = [float(_median(half_correlations(one, part.groups, SPLITS, seed))) for one in (values, *left_out)]
            # no resamples: a term drawn twice would lie in both halves
            numbers["split_half"] = estimate(halves[0], np.empty(0), 0, np.array(halves[1:]), RELIABILITY)
    people = with_people(part, left_out, resamples=resamples, seed=seed)
    if isinstance(people, str):
        undefined["people"] = people
    else:
        numbers |= people
    if not part.preferences:
        del numbers["all_agree"]
        undefined["all_agree"] = "scores are hardly ever equal, also where all models prefer one side"
    complete = scored.all(axis=1)
    same = agreed(part.items[complete], values[complete])
    return Part(
        models=values.shape[1],
        items=len(values),
        terms=terms,
        complete=int(complete.sum()),
        coverage=float(np.isfinite(matrix.values).mean()),
        numbers=numbers,
        null=shuffled.null,
        quantiles=shuffled.quantiles,
        null_quantiles=shuffled.null_quantiles,
        eigenvalues=shuffled.eigenvalues,
        shuffled=shuffled.limits,
        undefined=undefined,
        agreed=same,
        flags=(
            *(
                Flag(
                    item=item,
                    rule=ALL_AGREE,
                    message=f"all {values.shape[1]} models score {one.value:g}: it sets none apart",
                )
                for one in same
                for item in one.items
            ),
            *shuffled.flags,
        ),
        by_chance=shuffled.by_chance,
        warnings=tuple(_warnings(matrix, part, negative, numbers)),
    )


def _median(values: Array) -> float:
    """Returns the median of the defined values; NaN if none is defined."""
    defined = values[np.isfinite(values)]
    return float(np.median(defined)) if len(defined) else np.nan


def agreed(items: NDArray[np.str_], values: Array) -> tuple[Agreed, ...]:
    """Returns the items to which all models give one value, and the number expected by chance: n · ∏ (m_j / n).

    Model j gives the value to m_j of the n items; chance shuffles the items of each model separately.
    """
    agreements = []
    for value in reduce(np.intersect1d, values.T):
        matches = values == value
        by_chance = len(values) * float(matches.mean(axis=0).prod())
        agreements.append(
            Agreed(value=float(value), items=tuple(items[matches.all(axis=1)].tolist()), by_chance=by_chance)
        )
    return tuple(agreements)


def _variance(
    values: Array, groups: NDArray[np.int64], left_out: Parts, *, resamples: int, seed: int
) -> tuple[dict[str, Estimate], list[str]]:
    """Returns shares of variance, coefficients and the share of agreement; and the names of negative components."""
    terms = int(groups.max()) + 1
    columns = _columns(values, groups)
    estimates = _of_sums(columns.sum(axis=0), nested := 1 < terms < len(values))
    draws = _of_sums(resampled_sums(columns, resamples, seed), nested)
    without = [_of_sums(_columns(one, groups).sum(axis=0), nested) for one in left_out]
    scales = {"kr20": RELIABILITY, "coefficient": RELIABILITY}
    if values.shape[1] < LEAST:
        estimates |= dict.fromkeys(scales.keys() & estimates.keys(), np.array(np.nan))
    numbers = {
        name: estimate(
            float(value), draws[name], terms, np.array([float(one[name]) for one in without]), scales.get(name, SHARE)
        )
        for name, value in estimates.items()
    }
    negative = [name.partition(".")[2] for name, value in estimates.items() if name not in scales and value < 0]
    return numbers, [*dict.fromkeys(negative)]


def _columns(values: Array, groups: NDArray[np.int64]) -> Array:
    """Returns a row for each term: items on which all models agree, items that all scored, sums for components."""
    complete = np.isfinite(values).all(axis=1)
    agree = complete & (np.nanmax(values, axis=1, initial=-np.inf) == np.nanmin(values, axis=1, initial=np.inf))
    counts = [np.bincount(groups, weights=one, minlength=groups.max() + 1) for one in (agree, complete)]
    return np.concatenate([np.stack(counts, axis=1), term_sums(values, groups)], axis=1)


def _of_sums(sums: Array, nested: bool) -> dict[str, Array]:
    """Returns every number that follows from the sums of `_columns`."""
    agree, complete, rest = sums[..., 0], sums[..., 1], sums[..., 2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        numbers = {"all_agree": agree / complete, "kr20": crossed_coefficient(rest)}
    numbers |= {
        f"variance.{name}": share
        for name, share in zip(CROSSED, np.moveaxis(shares(components(rest)), -1, 0), strict=True)
    }
    if nested:
        parts = np.moveaxis(shares(components(rest, nested=True)), -1, 0)
        numbers |= {f"terms.{name}": share for name, share in zip(NESTED, parts, strict=True)}
        numbers["coefficient"] = nested_coefficient(rest)
    return numbers


def _rests(
    values: Array, groups: NDArray[np.int64], left_out: Parts, *, resamples: int, seed: int
) -> dict[str, Estimate]:
    """Returns the median of the item–rest correlations and their share below 0, with intervals."""
    terms, rng = int(groups.max()) + 1, np.random.default_rng(seed)
    away, scored = deviations(values)
    blocks = []
    for start in range(0, resamples, BLOCK):
        weights = draw_counts(terms, min(BLOCK, resamples - start), rng)[:, groups].T
        r = item_rest(away, scored, weights)
        with np.errstate(invalid="ignore"):
            below = (weights * (r < 0)).sum(axis=0) / (weights * np.isfinite(r)).sum(axis=0)
        blocks.append(np.stack([weighted_medians(r, weights), below]))
    draws = np.concatenate(blocks, axis=1) if blocks else np.empty((2, 0))
    each = np.array([summary(item_rest(*deviations(one))[:, 0]) for one in (values, *left_out)]).T
    return {
        f"item_rest.{name}": estimate(float(series[0]), drawn, terms, series[1:], scale)
        for name, series, drawn, scale in zip(("median", "negative"), each, draws, (CORRELATION, SHARE), strict=True)
    }


def summary(r: Array) -> tuple[float, float]:
    """Returns the median of the defined correlations, and their share below 0."""
    defined = r[np.isfinite(r)]
    return _median(defined), float((defined < 0).mean()) if len(defined) else np.nan


def _quantiles(r: Array) -> Array:
    """Returns percentiles 0 to 100 of the defined correlations; empty if none is defined."""
    defined = r[np.isfinite(r)]
    return np.quantile(defined, np.linspace(0, 1, 101)) if len(defined) else np.empty(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled:
    """Results with the models of each item shuffled; empty for too few models."""

    null: Mapping[str, float] = field(default_factory=dict)
    quantiles: tuple[float, ...] = ()
    null_quantiles: tuple[float, ...] = ()
    eigenvalues: tuple[float, ...] = ()
    limits: tuple[float, ...] = ()
    flags: tuple[Flag, ...] = ()
    by_chance: float = 0.0


def _shuffled(values: Array, items: NDArray[np.str_], seed: int) -> Shuffled:
    """Returns the null of item–rest correlations and eigenvalues, and flags for items below both 0 and chance."""
    away, scored = deviations(values)
    r, roots = item_rest(away, scored)[:, 0], eigenvalues(away, scored)
    below, summaries, drawn, spreads = np.ones(len(r)), [], [], []
    for mixed, spectrum in nulls(away, scored, PERMUTATIONS, np.random.default_rng(seed)):
        below += mixed <= r + ALIKE
        summaries.append(summary(mixed))
        drawn.append(spectrum)
        spreads.append(_quantiles(mixed))
    (median, negative), (medians, negatives) = summary(r), np.array(summaries).T
    tried = PERMUTATIONS + 1
    return Shuffled(
        null={
            "null_median": float(np.mean(medians)),
            "null_negative": float(np.mean(negatives)),
            "p_median": float((1 + (medians >= median - ALIKE).sum()) / tried),
            "p_negative": float((1 + (negatives <= negative).sum()) / tried),
        },
        quantiles=tuple(_quantiles(r).tolist()),
        null_quantiles=tuple(np.mean(spreads, axis=0).tolist()),
        # deviations from an item's mean have one dimension fewer than models
        eigenvalues=tuple(roots[:-1].tolist()),
        limits=tuple(np.quantile(drawn, RANK, axis=0)[:-1].tolist()),
        flags=tuple(
            Flag(item=item, rule=NEGATIVE, message=f"item–rest correlation {one:.2f}, p {p:.3f} over shuffled models")
            for item, one, p in zip(items.tolist(), r.tolist(), (below / tried).tolist(), strict=True)
            if one < 0 and p <= OUTER
        ),
        by_chance=OUTER * int(np.isfinite(r).sum()),
    )


def _warnings(
    matrix: ItemMatrix, scored: ItemMatrix, negative: Sequence[str], numbers: Mapping[str, Estimate]
) -> Iterator[str]:
    """Yields warnings about the models, the coverage and the reliability."""
    if (count := len(scored.models)) < MANY:
        yield (
            f"{count} models: intervals over models rest on {quantity(count - 1, 'degree')} of freedom, and models of "
            "one family count as several here"
        )
    if missing := [name for name in matrix.models if name not in scored.models]:
        yield f"left out, since they score no item: {', '.join(missing)}"
    alike: dict[bytes, list[str]] = {}
    for name, column in zip(scored.models, np.where(np.isfinite(scored.values), scored.values, np.nan).T, strict=True):
        alike.setdefault(column.tobytes(), []).append(name)
    for names in (names for names in alike.values() if len(names) > 1):
        yield (
            f"{', '.join(names)} score every item alike and count as {len(names)} models; if they are one, name one, "
            "since the others make the items look more reliable than they are"
        )
    if not (finite := np.isfinite(matrix.values)).all():
        yield (
            f"{in_percent(float(finite.mean()))} of the cells are scored; the numbers are right if scores are missing "
            "for reasons that have nothing to do with their value"
        )
    if negative:
        yield f"negative estimate of variance, counted as 0: {', '.join(negative)}"
    if count >= LEAST and not numbers["kr20"].value > 0:
        yield "the order of the models is not reliable (coefficient not above 0): no number of such items makes it so"
