import json
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.records import cat, scores
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import jsonl
from catsofa.data.formats import read_as
from catsofa.data.records import Cat
from catsofa.scoring.compare.controls import power_rows
from catsofa.scoring.compare.power import detectable, found, found_change, planned, planned_for
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.stereoset import SS
from catsofa.scoring.run.score_files import scores_of
from catsofa.scoring.statistics.intervals import intervals


def test_the_effect_is_the_reach_of_two_tails() -> None:
    """Standard error 1 over many terms: 1.960 + 0.842 = 2.80 points; over three: 4.303 + 1.061."""
    assert detectable(1.0, 10_000, 1).effect == pytest.approx(2.802, abs=1e-3)
    assert detectable(1.0, 3, 1).effect == pytest.approx(4.3027 + 1.0607, abs=1e-3)
    assert math.isnan(detectable(1.0, 1, 1).effect)


def test_a_plan_adds_what_varies_between_and_within_terms() -> None:
    """100 terms of 25 items: within 2500/25 = 100, between 25, so √(125/100) = 1.118 points of standard error."""
    plan = planned([25] * 100)
    assert plan.error == pytest.approx(math.sqrt(1.25))
    assert (plan.terms, plan.items) == (100, 2500)
    assert planned([25] * 100, between=0).error == 1


def test_more_items_for_the_same_terms_help_less_than_more_terms() -> None:
    """Four times the items: the error between terms stays; four times the terms: half the error."""
    assert planned([100] * 50).error > planned([25] * 200).error
    assert planned([25] * 200).error == pytest.approx(planned([25] * 50).error / 2)


def test_a_plan_without_terms_is_an_error() -> None:
    """There is nothing to plan with."""
    with pytest.raises(ValueError, match="no target term"):
        planned([])


def test_an_effect_that_cannot_be_is_undefined() -> None:
    """ss leaves 50 by 50 points at most and changes by 100: two terms of one CAT find nothing."""
    plan = planned([1, 1])
    assert plan.impossible
    assert math.isnan(plan.effect)
    rows = power_rows([cat("a", target="zorb"), cat("b", target="quib")])
    assert all(row["impossible"] == ["planned"] and math.isnan(row["planned"]) for row in rows)
    assert [detectable(20.0, 10, 1, most=most).impossible for most in (50, 100)] == [True, False]


def test_power_names_its_data(tmp_path: Path) -> None:
    """The signature holds the data with their hash, in JSON and on the terminal; no impossible number is shown."""
    jsonl.write([cat("a", target="zorb"), cat("b", target="quib")], tmp_path / "cats.jsonl")
    given = ["power", "--on", str(tmp_path / "cats.jsonl")]
    told = json.loads(CliRunner().invoke(app, [*given, "--json"]).output)
    assert {row["planned"] for row in told["sets"]} == {None}
    assert told["signature"]["data"].startswith("cats.jsonl@")
    shown = CliRunner().invoke(app, given).output
    assert told["signature"]["line"] in shown
    assert "> any" in shown


def test_the_effect_is_found_four_times_in_five() -> None:
    """400 sets of 60 terms whose ss is as far from 50 as the plan says: about 80 % of intervals leave 50 out."""
    rng, hits = np.random.default_rng(2), 0
    true = 0.5 + planned([20] * 60).effect / 100
    size = true * (1 - true) / 0.05**2 - 1
    for _ in range(400):
        share = rng.binomial(20, rng.beta(true * size, (1 - true) * size, 60)) / 20
        columns = np.stack([share, np.ones(60), share, np.ones(60)], axis=1)
        hits += 50 not in intervals(columns, {"ss": SS}, resamples=400, seed=rng)["ss"]
    assert 74 <= hits / 4 <= 86


def test_what_scores_could_have_found() -> None:
    """Four terms at 0 and 100: s = 57.7, error 28.9, times t(0.975, 3) + t(0.8, 3) = 3.182 + 0.978."""
    cats = [cat(f"c{n}", target=f"t{n}") for n in range(4)]
    of = outcomes(cats, scores({c.id: (3, 2, 1) if n % 2 else (2, 3, 1) for n, c in enumerate(cats)}))
    assert found(of).error == pytest.approx(28.9, abs=0.5)
    assert found(of).impossible
    assert found_change(of, of).effect == 0


def test_scores_that_are_all_ties_could_have_found_nothing() -> None:
    """Of a constant model no effect can be named; terms without a decided CAT are no terms."""
    cats = [cat(f"{term}{n}", target=f"t{term}") for term in range(4) for n in range(4)]
    tied = found(outcomes(cats, scores({of.id: (1, 1, 1) for of in cats})))
    assert math.isnan(tied.effect)
    orders = {of.id: (1, 1, 1) if at < 8 else (2.0 + at % 2, 2.5, 1.0) for at, of in enumerate(cats)}
    assert found(outcomes(cats, scores(orders))).terms == 2


def test_stereosets_development_set(shared: Path) -> None:
    """ss against 50: planned 3.5 points for a task, 2.7 for both; religion, with three terms, 34; GPT-2 measured."""
    cats = list(read_as(shared / "data/stereoset/dev.json", Cat))
    intra = [c for c in cats if c.kind == "intrasentence"]
    assert round(planned_for(intra).effect, 1) == 3.5
    assert round(planned_for(cats).effect, 1) == 2.7
    assert round(planned_for([c for c in intra if c.bias_type == "religion"]).effect) == 34
    folder = shared / "data/stereoset/released_predictions"
    small, large = (
        outcomes(cats, scores_of(folder / f"predictions_{name}_ModelNSP_GPT2LM.json"))
        for name in ("gpt2", "gpt2-large")
    )
    assert found(small).effect == pytest.approx(2.3, abs=0.15)
    assert found_change(small, large).effect == pytest.approx(2.5, abs=0.15)
