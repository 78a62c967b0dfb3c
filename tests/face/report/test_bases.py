"""Tests of the sentence with the items behind the values of a summary."""

from pathlib import Path
from typing import Any

import pytest
from helpers.report_runs import association, cats, measures, pairs, probes, run

from catsofa.report import document
from catsofa.report.elements import Number


def note(folder: Path) -> str:
    """Returns the first note of the summary."""
    summary = document([folder]).summary
    assert summary is not None
    return summary.notes[0]


@pytest.mark.parametrize(
    ("results", "items"),
    [(cats("a"), "50 CATs of 5 target terms"), (pairs("a"), "10 pairs"), (probes("a"), "10 probes of 4 stereotypes")],
)
def test_the_items_behind_a_value_are_counted_with_their_clusters(tmp_path: Path, results: Any, items: str) -> None:
    """CATs come with their target terms and probes with their stereotypes; pairs are clusters themselves."""
    run(tmp_path / "a", results)
    assert note(tmp_path).count(items) == 1


def test_a_model_with_fewer_items_is_named(tmp_path: Path) -> None:
    """Of 50 CATs, 30 count for B; the number of A, which has all, is not repeated."""
    for model, coverage in (("A", 1.0), ("B", 0.6)):
        whole = {**measures(90, 60), "coverage": coverage}
        run(tmp_path / model, {"intrasentence": {"overall": whole}, "overall": whole}, model)
    assert note(tmp_path).endswith("50 CATs of 5 target terms (30 count for B).")


def test_one_model_alone_is_not_named(tmp_path: Path) -> None:
    """The number that counts is given without a name if the report has one model."""
    run(tmp_path / "a", cats("d"), "pelloran")
    assert "(40 count)" in note(tmp_path)
    assert "pelloran" not in note(tmp_path)


def test_more_models_with_fewer_items_are_not_named(tmp_path: Path) -> None:
    """Five models with 10 to 50 of 60 counted CATs share one range."""
    for number in range(1, 6):
        whole = {**measures(90, 60), "items": 60, "coverage": number / 6}
        run(tmp_path / str(number), {"intrasentence": {"overall": whole}, "overall": whole}, f"model-{number}")
    assert "(10 to 50 count" in note(tmp_path)


def test_values_that_are_counts_have_no_sentence(tmp_path: Path) -> None:
    """The cells of SEAT contain the number of tests already, so the summary has only the note on SEAT."""
    run(tmp_path / "a", association("a", 0.01))
    summary = document([tmp_path]).summary
    assert summary is not None
    assert len(summary.notes) == 1


@pytest.mark.parametrize(("low", "notes"), [(30.0, 0), (None, 1)])
def test_a_value_without_an_interval_has_a_reason(tmp_path: Path, low: float | None, notes: int) -> None:
    """A type of one pair has no limits, and one note of its table says so; a table with all limits has no such note."""
    results = pairs("a")
    one = {**results["overall"], "score": 100.0, "pairs": 1, "intervals": {"score": {"low": low, "high": low}}}
    run(tmp_path / "a", {**results, "types": {"a": results["overall"], "b": one}})
    table = document([tmp_path]).sections[0].tables[0]
    assert sum("one pair" in note for note in table.notes) == notes


def test_a_small_score_keeps_its_digits_under_every_normalisation(tmp_path: Path) -> None:
    """Limits that differ in the fifth decimal are not shown as equal."""
    results = probes("a")
    limits = {name: {"low": 0.000061, "high": 0.000068} for name in ("score", "conditional", "none")}
    small = {"score": 0.000064, "normalisations": dict.fromkeys(("identity", "conditional", "none"), 0.000064)}
    whole = {**results, **small, "intervals": limits}
    run(tmp_path / "a", {**whole, "categories": {"a": {**results["categories"]["a"], **small, "intervals": limits}}})
    row = document([tmp_path]).sections[0].tables[0].rows[0]
    shown = [str(cell) for cell in row if isinstance(cell, Number)]
    assert len(shown) == 3
    assert set(shown) == {"0.00006400 [0.00006100, 0.00006800]"}
