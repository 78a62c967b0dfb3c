"""Tests of power from pilot runs of every kind: choices, flips, probes, association tests, pairs."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.choice_runs import pairs
from helpers.choice_runs import run as choices
from helpers.gate_runs import cats, planted, runs_of_two

from catsofa.data.files import jsonl
from catsofa.data.records import Cat
from catsofa.power import power

pytestmark = pytest.mark.slow
EIGHTY = 2.80
"""Number of standard errors of an effect that a two-sided test at 5 % finds in 80 % of cases."""


def test_choices_have_the_power_of_their_items(tmp_path: Path) -> None:
    """120 pairs, half of them chosen: an error of 0.5/√120; a change between independent runs has √2
    times that error.
    """
    rng = np.random.default_rng(4)
    sides = ("stereotype", "anti-stereotype")
    records = pairs(120)
    drawn = {pair.id: rng.integers(2, size=2).tolist() for pair in records}
    one, two = (
        choices(tmp_path / name, records, lambda item, order, at=at: sides[drawn[item.id][at]])
        for at, name in enumerate(("one", "two"))
    )
    error = math.sqrt(0.25 / 120)
    alone = power(tmp_path / "data.jsonl", predictions=one).sets
    (preference,) = (row for row in alone if row.design.test.startswith("preference"))
    scale = 100 if preference.design.unit == "points" else 1
    assert preference.effect == pytest.approx(scale * EIGHTY * error, rel=0.2)
    changes = power(tmp_path / "data.jsonl", predictions=one, against=two).sets
    change = next(row for row in changes if "preference" in row.design.test)
    scale = 100 if change.design.unit == "points" else 1
    assert change.effect == pytest.approx(scale * math.sqrt(2) * EIGHTY * error, rel=0.25)


def test_flips_have_the_power_of_their_items(tmp_path: Path) -> None:
    """A fifth of 400 preferences flips by chance: an error of √(.2 · .8 / 400)."""
    originals = cats(40, 10, ("trade",))
    reworded = [replace(cat, context=cat.context.replace(" on day", " by day")) for cat in originals]
    jsonl.write(originals, tmp_path / "cats.jsonl")
    jsonl.write(reworded, tmp_path / "reworded.jsonl")
    rng = np.random.default_rng(5)
    first = {cat.id: "+-"[int(rng.integers(2))] for cat in originals}
    then = {item: {"+": "-", "-": "+"}[side] if rng.random() < 0.2 else side for item, side in first.items()}

    def said(by: dict[str, str]) -> Callable[[Cat], str]:
        return lambda cat: by[cat.id]

    run = planted(tmp_path / "a", tmp_path / "cats.jsonl", said(first), model_digest="a")
    again = planted(tmp_path / "b", tmp_path / "reworded.jsonl", said(then), model_digest="a")
    rows = power(tmp_path / "cats.jsonl", predictions=run, paraphrase=again).sets
    flips = next(row for row in rows if "flips" in row.design.test)
    assert flips.effect == pytest.approx(100 * EIGHTY * math.sqrt(0.16 / 400), rel=0.25)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds two tiny models, and runs of both on pairs, probes and association tests."""
    return runs_of_two(tmp_path_factory.mktemp("power"))


@pytest.mark.parametrize(("data", "test"), [("probes.jsonl", "sofa"), ("tests", "seat"), ("pairs.jsonl", "score")])
def test_two_runs_of_every_measure_have_a_power(runs: Path, data: str, test: str) -> None:
    """The change of the measure is named, over at most the clusters of the data, and every power is from 0 to 100 %."""
    one, two = (runs / "runs" / name / data.split(".")[0] for name in ("gpt2", "llama"))
    rows: list[Any] = list(power(runs / data, predictions=one, against=two, effect=0.1).sets)
    assert {row.design.test for row in rows} == {f"change of {test}"}
    assert all(math.isnan(row.power.value) or 0 <= row.power.value <= 100 for row in rows)
