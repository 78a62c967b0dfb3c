"""Tests the study of models × items × levels against other programs, definitions and simulations."""

from collections.abc import Mapping
from itertools import combinations
from math import prod

import numpy as np
import pytest

from catsofa.data.statistics import Array
from catsofa.scoring.examine import Facet, ItemMatrix, Levels, examine
from catsofa.scoring.examine.facets import (
    COMPONENTS,
    coefficient,
    components,
    items_inverse,
    level_sums,
    studied,
)

TRUE = np.array([0.05, 0.30, 0.02, 0.10, 0.03, 0.05, 0.45])
"""The true components, in the order of `COMPONENTS`: model, item, level, model × item, model × level, item × level,
rest."""
NULL = np.array([0.05, 0.30, 0, 0.10, 0, 0, 0.55])
"""The components of levels without any effect."""


SAID = ("2675 2555", "4567 6757", "5546 5455", "5986 5776", "4356 4564", "4447 6478", "2665 2775", "3445 6664",
        "0545 5553", "6876 6886")  # fmt: skip
"""Brennan (2001), synthetic data set 3: ten persons (rows), four items on each of two occasions."""


def simulated(rng: np.random.Generator, models: int, items: int, levels: int, true: Array = TRUE) -> Array:
    """Returns scores with known components."""
    shapes = [(1, models, 1), (items, 1, 1), (1, 1, levels), (items, models, 1), (1, models, levels),
              (items, 1, levels), (items, models, levels)]  # fmt: skip
    drawn = [rng.normal(0, np.sqrt(part), shape) for part, shape in zip(true, shapes, strict=True)]
    return np.broadcast_to(sum(drawn), shapes[-1]).copy()


def of(values: Array, name: str = "prompt") -> Levels:
    """Returns levels named a, b, c, …"""
    return Levels(name=name, levels=tuple("abcdefgh"[: values.shape[2]]), values=values, nested=name == "sample")


def found(values: Array, *, within: bool = False) -> Array:
    """Returns the components if each item is its own term."""
    sums = level_sums(values, np.arange(len(values))).sum(axis=0)
    return components(sums, *values.shape[1:], within=within)


def study(values: Array, name: str = "prompt", resamples: int = 100) -> Facet:
    """Returns the study with three items per term."""
    facet = studied(of(values, name), np.arange(len(values)) // 3, resamples=resamples, seed=0)
    assert isinstance(facet, Facet)
    return facet


def frame(values: Array) -> object:
    """Returns one row per score, as statsmodels expects."""
    import pandas as pd

    i, m, k = (one.ravel() for one in np.indices(values.shape))
    return pd.DataFrame({"y": values.ravel(), "m": m, "i": i, "k": k})


def test_a_textbook_p_x_i_x_o_design_has_its_printed_components() -> None:
    """With persons as models and occasions as levels, the components are the printed ones; the coefficient of four
    items on two occasions is .64."""
    persons = np.array([[[float(digit) for digit in occasion] for occasion in row.split()] for row in SAID])
    parts = found(persons.transpose(2, 0, 1))
    assert parts == pytest.approx((0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352), abs=5e-5)
    assert coefficient(parts, 4, 2) == pytest.approx(0.64, abs=5e-3)


def test_components_solve_the_expected_mean_squares_of_another_program() -> None:
    """Components solve the expected mean squares, computed from statsmodels' type I sums of squares. A mean square
    expects each component whose effect contains its factors."""
    import statsmodels.formula.api as smf
    from statsmodels.stats.anova import anova_lm

    values = simulated(np.random.default_rng(0), 5, 8, 4)
    sizes = {"m": 5, "i": 8, "k": 4}
    table = anova_lm(smf.ols("y ~ C(m) + C(i) + C(k) + C(m):C(i) + C(m):C(k) + C(i):C(k)", frame(values)).fit(), typ=1)
    squares = {
        "".join(c for c in name if c in sizes): row["mean_sq"] for name, row in table.drop("Residual").iterrows()
    }
    squares["mik"] = table.loc["Residual", "mean_sq"]
    effects = ["m", "i", "k", "mi", "mk", "ik", "mik"]
    equations = [
        [prod(sizes.values()) / prod(sizes[c] for c in held) if set(effect) <= set(held) else 0 for held in effects]
        for effect in effects
    ]
    expected = np.linalg.solve(equations, [squares[effect] for effect in effects])
    assert found(values) == pytest.approx(expected, abs=1e-12)


def test_samples_within_cells_have_the_mean_squares_of_replicates() -> None:
    """Samples within cells give the mean squares of statsmodels' two-way table with replicates: rest, model × item,
    item and model."""
    import statsmodels.formula.api as smf
    from statsmodels.stats.anova import anova_lm

    values = simulated(np.random.default_rng(1), 5, 8, 4, NULL)
    table = anova_lm(smf.ols("y ~ C(m) * C(i)", frame(values)).fit(), typ=1)
    m, i, both, rest = (table.loc[name, "mean_sq"] for name in ("C(m)", "C(i)", "C(m):C(i)", "Residual"))
    expected = [(m - both) / 32, (i - both) / 20, 0, (both - rest) / 4, 0, 0, rest]
    assert found(values, within=True) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_balanced_components_are_those_of_restricted_likelihood() -> None:
    """Balanced components equal those of statsmodels' MixedLM with six crossed variances, none of them at 0."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    values = simulated(np.random.default_rng(24), 5, 6, 5, np.ones(7))
    assert found(values).min() > 0
    data = frame(values)
    for pair in combinations("mik", 2):
        data["".join(pair)] = data[pair[0]] * 10 + data[pair[1]]  # type: ignore[index]
    data["all"] = 0  # type: ignore[index]
    formula = {name: f"0 + C({name})" for name in ("m", "i", "k", "mi", "mk", "ik")}
    fitted = MixedLM.from_formula("y ~ 1", groups="all", vc_formula=formula, data=data).fit(reml=True)
    named = dict(zip(fitted.model.exog_vc.names, fitted.vcomp, strict=True))
    order = [named[name] if name in named else named[name[::-1]] for name in ("m", "i", "k", "mi", "mk", "ik")]
    assert found(values) == pytest.approx([*order, fitted.scale], rel=5e-3)


def test_estimates_of_known_components_are_not_biased() -> None:
    """In 300 simulations each mean lies within 3.5 standard errors of the truth."""
    rng = np.random.default_rng(0)
    drawn = [found(simulated(rng, 8, 30, 4)) for _ in range(300)]
    errors = (np.mean(drawn, axis=0) - TRUE) / (np.std(drawn, axis=0) / np.sqrt(300))
    assert np.abs(errors).max() < 3.5


def test_the_coefficient_divides_each_error_by_its_conditions() -> None:
    """The coefficient is 4 / (4 + 2/4 + 1/2 + 8/8) for four items at two levels; a negative error counts as 0."""
    parts = np.array([4.0, 9, 9, 2, 1, 9, 8])
    assert coefficient(parts, 4, 2) == pytest.approx(4 / 6)
    assert coefficient(np.array([4.0, 9, 9, 2, -1, 9, 8]), 4, 2) == pytest.approx(4 / 5.5)


def test_the_coefficient_is_the_share_of_true_variance_in_new_means() -> None:
    """For 20,000 models under three prompts of four items, the coefficient is the squared correlation of their means
    with the truth."""
    rng, models = np.random.default_rng(3), 20_000
    true = rng.normal(0, np.sqrt(TRUE[0]), models)
    mean = true + rng.normal(0, np.sqrt(TRUE[3] / 4 + TRUE[4] / 3 + TRUE[6] / 12), models)
    assert np.corrcoef(true, mean)[0, 1] ** 2 == pytest.approx(coefficient(TRUE, 4, 3), abs=0.02)


def test_the_items_needed_reach_the_coefficient() -> None:
    """The number of items is the smallest that reaches the coefficient. With one level no number suffices, because
    model × level is too large."""
    items = int(np.ceil(1 / items_inverse(TRUE, 6, 0.8)))
    assert coefficient(TRUE, items, 6) >= 0.8 > coefficient(TRUE, items - 1, 6)
    assert items_inverse(TRUE, 1, 0.8) < 0
    assert coefficient(TRUE, 10**9, 1) < 0.8


def test_draws_of_terms_are_terms_of_their_own() -> None:
    """A term drawn twice counts as two terms: the weighted sums equal those of the copied items."""
    values, groups = simulated(np.random.default_rng(4), 4, 12, 3), np.arange(12) // 3
    counted = np.array([2, 1, 0, 1]) @ level_sums(values, groups)
    rows = np.concatenate([np.flatnonzero(groups == term) for term in (0, 0, 1, 3)])
    assert components(counted, 4, 3) == pytest.approx(found(values[rows]))


def test_a_study_names_its_levels_and_counts_whole_items() -> None:
    """Only items that every model scored at every level are used. One, three and six prompts are studied."""
    values = simulated(np.random.default_rng(5), 6, 30, 3)
    values[4, 2, 1] = np.nan
    report = study(values).to_dict()
    assert (report["levels"], report["counts"]) == (["a", "b", "c"], {"models": 6, "items": 29})
    assert set(report["variance"]) == set(COMPONENTS)
    assert [one["levels"] for one in report["study"]] == [1, 3, 6]
    assert sum(max(0.0, share) for share in report["variance"].values()) == pytest.approx(1)
    assert set(report["intervals"]["coefficient.3"]) == {"low", "high", "terms", "models", "levels"}
    assert report["study"][0]["coefficient"] < report["study"][2]["coefficient"]


def test_samples_have_no_effect_of_their_own() -> None:
    """Samples have no common effect across items, so the report has two components, their interaction and the rest."""
    report = study(simulated(np.random.default_rng(6), 6, 30, 3), "sample").to_dict()
    assert list(report["variance"]) == ["model", "item", "model_item", "residual"]


def test_two_levels_give_no_interval_over_levels() -> None:
    """Two levels give intervals over terms and models but none over levels, with a reason. Three models give no
    coefficient."""
    facet = study(simulated(np.random.default_rng(7), 6, 30, 2))
    assert facet.numbers["variance.model_item"].levels is not None
    assert np.isnan(
        [
            facet.numbers["coefficient.2"].both.low,
            facet.numbers["coefficient.2"].levels.low,  # type: ignore[union-attr]
        ]
    ).all()
    assert np.isfinite(facet.numbers["coefficient.2"].terms.low)
    assert "two prompts" in facet.undefined["intervals"]
    few = study(simulated(np.random.default_rng(7), 3, 30, 3))
    assert np.isnan(few.numbers["coefficient.3"].value)
    assert few.undefined["coefficient"] == "fewer than 4 models"
    assert few.needs(3, 0.8)[0] is None


def test_a_facet_without_two_levels_or_items_is_undefined() -> None:
    """A facet is undefined if one level has scores, or if no item is scored by all models at every level. The other
    numbers are kept."""
    values = simulated(np.random.default_rng(8), 5, 30, 2)
    one, none = values.copy(), values.copy()
    one[:, :, 1] = np.nan
    none[np.arange(30), np.arange(30) % 5, 1] = np.nan
    for scores, reason in ((one, "one prompt with scores of its own"), (none, "0 items that every model scored")):
        part = examine(matrix(values.mean(axis=2), of(scores)), resamples=20).parts["task"]
        assert part.undefined["prompt"].startswith(reason)
        assert "facets" not in part.to_dict()
        assert part.models == 5


def matrix(values: Array, *facets: Levels) -> ItemMatrix:
    """Returns a matrix of one task with three items per term."""
    count, models = values.shape
    return ItemMatrix(
        values=values,
        models=tuple(f"m{number}" for number in range(models)),
        items=np.array([f"i{number}" for number in range(count)]),
        tasks=np.array(["task"] * count),
        domains=np.array(["habits"] * count),
        terms=np.array([f"t{number // 3}" for number in range(count)]),
        preferences=False,
        facets=facets,
    )


def test_every_facet_has_its_study_beside_the_other_numbers() -> None:
    """Each facet has its own study; the study of items and models uses the means over levels."""
    values = simulated(np.random.default_rng(9), 5, 30, 3)
    samples = simulated(np.random.default_rng(10), 5, 30, 2, NULL)
    mean = values.mean(axis=2)
    part = examine(matrix(mean, of(values), of(samples, "sample")), resamples=20).parts["task"]
    assert set(part.facets) == {"prompt", "sample"}
    assert part.value("kr20") == examine(matrix(mean), resamples=20).parts["task"].value("kr20")


def test_levels_that_are_copies_or_empty_count_once_and_are_named() -> None:
    """In each task, a level that copies another or has no scores is dropped with a warning. The mean is over the
    remaining levels."""
    values = simulated(np.random.default_rng(11), 4, 8, 3)
    tasks = np.repeat(["one", "two"], 4)
    values[:4, :, 1], values[4:, :, 2] = values[:4, :, 0], np.nan
    settled, warnings = of(values).settled(tasks)
    assert warnings == ["one: prompt b gives every score of prompt a; counted once", "two: prompt c scores nothing"]
    means = settled.means(tasks)
    assert means[:4] == pytest.approx(values[:4][:, :, [0, 2]].mean(axis=2))
    assert means[4:] == pytest.approx(values[4:][:, :, [0, 1]].mean(axis=2))


CASES: Mapping[str, tuple[Array, str, int, int]] = {
    "a facet of eight prompts": (TRUE, "prompt", 12, 8),
    "a facet of three prompts": (TRUE, "prompt", 8, 3),
    "eight prompts without effect": (NULL, "prompt", 12, 8),
    "three prompts without effect": (NULL, "prompt", 5, 3),
    "five samples": (NULL, "sample", 8, 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_components_of_other_terms_models_and_levels(case: str) -> None:
    """In 200 simulations, intervals cover 90 % or more for each number, and 93 % or more for components of levels that
    are 0."""
    true, name, models, levels = CASES[case]
    rng, held = np.random.default_rng(models * levels), dict[str, list[bool]]()
    for _ in range(200):
        facet = study(simulated(rng, models, 60, levels, true), name)
        truth = dict(zip((f"variance.{name}" for name in COMPONENTS), true / true.sum(), strict=True))
        truth |= {f"coefficient.{count}": float(coefficient(true, 60, count)) for count in facet.counts}
        for number in truth.keys() & facet.numbers.keys():
            held.setdefault(number, []).append(truth[number] in facet.numbers[number].both)
    shares = {number: float(np.mean(each)) for number, each in held.items()}
    assert min(shares.values()) >= 0.9, shares
    assert min((shares[f"variance.{part}"] for part, value in zip(COMPONENTS, true, strict=True)
                if value == 0 and f"variance.{part}" in shares), default=1) >= 0.93, shares  # fmt: skip
