"""Tests of the examination section of a report."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.data.files import BadInput
from catsofa.data.files.json_files import finite
from catsofa.report import document, figures
from catsofa.report.elements import Section
from catsofa.report.formats import html, latex, markdown
from catsofa.report.sections.examination import curves
from catsofa.scoring.examine import ItemMatrix, Levels, examine


def found(models: int = 12, short: int = 10, facets: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the output of `catsofa examine --json` for two tasks of forty items each."""
    rng = np.random.default_rng(0)
    values = (rng.random((80, models)) < np.linspace(0.2, 0.8, models)).astype(float)
    levels = (rng.random((80, models, 3)) < np.linspace(0.2, 0.8, models)[:, None]).astype(float)
    matrix = ItemMatrix(
        values=values,
        models=tuple(f"m{number}" for number in range(models)),
        items=np.array([f"i{number}" for number in range(80)]),
        tasks=np.array(["habits"] * 40 + ["skills"] * 40),
        domains=np.array(["food"] * 80),
        terms=np.array([f"t{number // 4}" for number in range(80)]),
        facets=tuple(Levels(name=name, levels=("a", "b", "c"), values=levels, nested=name == "sample")
                     for name in facets),
    )  # fmt: skip
    signed = {"data": "dravians.jsonl@0a1b", "line": "data:dravians.jsonl@0a1b"}
    return {**finite(examine(matrix, resamples=50, short=short).to_dict()), "signature": signed}


def section(given: dict[str, Any], folder: Path) -> Section:
    """Returns the only section of a report on this examination."""
    (folder / "examine.json").write_text(json.dumps(given), "utf-8")
    (only,) = document([folder / "examine.json"]).sections
    return only


def test_every_number_of_each_task_stands_in_the_table(tmp_path: Path) -> None:
    """The table has shares in percent with limits, items needed, a column for each task, and τ of the two tasks."""
    result = found()
    shown = section(result, tmp_path)
    numbers, agreement = shown.tables
    assert numbers.columns == ("number", "habits", "skills")
    rows = {row[0]: row[1:] for row in numbers.rows}
    part = result["results"]["habits"]
    assert rows["variance of models, %"][0].value == pytest.approx(100 * part["variance"]["model"])
    assert rows["coefficient, these terms (alpha)"][0].low == part["intervals"]["kr20"]["low"]
    assert str(rows["items for a coefficient of 0.8"][0]).startswith(f"{part['items_for']['0.8']} [")
    assert agreement.rows[0][0] == "habits – skills"
    assert any("a short form of 10 items" in note for note in numbers.notes)
    assert any("12 models: intervals over models" in warning for warning in numbers.warnings)
    assert numbers.signatures == ("data:dravians.jsonl@0a1b",)


def test_each_facet_has_a_table(tmp_path: Path) -> None:
    """Each table has shares of variance in percent, the coefficient and the items needed by the number of levels."""
    result = found(facets=("prompt", "sample"))
    _, prompts, samples, _ = section(result, tmp_path).tables
    rows = {row[0]: row[1:] for row in prompts.rows}
    part = result["results"]["habits"]["facets"]["prompt"]
    assert rows["variance of model × prompt, %"][0].value == pytest.approx(100 * part["variance"]["model_level"])
    assert rows["coefficient, these prompts"][0].low == part["intervals"]["coefficient.3"]["low"]
    assert str(rows["items for a coefficient of 0.8, one prompt"][0]).startswith(
        f"{part['study'][0]['items_for']['0.8']} ["
    )
    assert "habits: 12 models × 40 items × 3 prompts (a, b, c)." in prompts.notes
    assert not any("model × sample" in str(row[0]) for row in samples.rows)


def test_three_figures_are_drawn_in_every_format(tmp_path: Path) -> None:
    """Variance, item–rest against shuffled models, and coefficient by items are drawn; each has a text that describes
    it.
    """
    (tmp_path / "examine.json").write_text(json.dumps(found()), "utf-8")
    report = document([tmp_path / "examine.json"])
    drawn = report.sections[0].figures
    assert [one.name for one in drawn] == ["examine1-variance", "examine1-rests", "examine1-study"]
    assert all("habits: " in one.alt and "skills: " in one.alt for one in drawn)
    assert html(report).count('<svg class="plot"') == 3
    for text in (markdown(report), latex(report)):
        assert "(alpha)" in text


def test_numbers_that_few_models_cannot_give_leave_their_figure_out(tmp_path: Path) -> None:
    """Three models have no item–rest correlation and no coefficient, so those rows and figures are absent."""
    shown = section(found(models=3, short=0), tmp_path)
    assert [one.name for one in shown.figures] == ["examine1-variance"]
    assert not any(name in str(row[0]) for row in shown.tables[0].rows for name in ("item–rest", "coefficient"))


def test_the_curve_passes_through_this_set_and_the_items_it_needs(tmp_path: Path) -> None:
    """A coefficient of .8 with 100 items is .89 with 200 (Spearman and Brown), as on the line."""
    axes = figures.draw(lambda: curves({"habits": (100, [0.8, 0.7, 0.9])})).axes[0]
    across, up = axes.lines[0].get_data()
    assert np.interp(100, across, up) == pytest.approx(0.8, abs=0.001)
    assert np.interp(200, across, up) == pytest.approx(1.6 / 1.8, abs=0.001)


def test_a_file_without_its_fields_is_refused(tmp_path: Path) -> None:
    """The error names the file, the missing field and the command that prints the file."""
    result = found(models=3, short=0)
    del result["results"]["habits"]["variance"]
    with pytest.raises(BadInput, match=r"field.*variance.*catsofa examine --json"):
        section(result, tmp_path)
