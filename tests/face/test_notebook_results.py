"""Tests that every result shows itself in a notebook and gives its rows to pandas, whatever its texts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.records import a_cat, a_pair, bakers, probes, said

import catsofa
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Cat, Score
from catsofa.data.tables import Tabular
from catsofa.scoring.compare import baselines, compare
from catsofa.scoring.measures import crows_pairs, sofa, stereoset
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.robustness import robustness
from catsofa.scoring.measures.robustness.report import Compared, robustness_report
from catsofa.scoring.measures.seat.rows import Associations
from catsofa.scoring.protocols import named
from catsofa.scoring.results import report
from catsofa.validation.agreement import agreement
from catsofa.validation.agreement.annotators import annotators
from catsofa.validation.decide.votes import vote
from catsofa.validation.lint import lint
from catsofa.validation.sets.splits import split

EVIL = "<img src=x onerror=alert(1)>"


def cats() -> list[Cat]:
    """Returns CATs whose terms and domains are markup."""
    return [replace(cat, target=f"{EVIL}{n % 4}", bias_type=EVIL) for n, cat in enumerate(bakers(8))]


def scored(scores: list[Score]) -> dict[str, float | None]:
    """Returns scores by id."""
    return {score.item: score.score for score in scores}


def of_probes() -> sofa.Results:
    """Returns the results of two scored probes of one category."""
    records = [replace(probe, category=EVIL) for probe in probes(2)]
    more = {"identity": -1.0, "conditional": -2.0}
    return sofa.results(records, [Score(item=probe.id, score=-2.0, extra=more) for probe in records])


def compared() -> Compared:
    """Returns the comparison of two models on the same CATs."""
    ideal, turned = scored([*baselines.ideal(cats())]), scored([*baselines.stereotyped(cats())])
    return Compared(EVIL, EVIL, 0, robustness(cats(), ideal, cats(), turned, resamples=10))


def votes() -> list[Annotation]:
    """Returns five judgements of one item."""
    return list(said(EVIL, "x", "x", "x", EVIL, "y"))


def a_row() -> dict[str, Any]:
    """Returns a row of an association test."""
    numbers = {"effect_size": 1.0, "p_value": 0.1, "holm": 0.1, "coverage": 1.0, "sizes": {"x": 2, "y": 2}}
    return {"test": EVIL, "how": "exact", "intervals": {"effect_size": {"low": 0.5, "high": 1.5}}, **numbers}


RESULTS: dict[str, Callable[[], Tabular]] = {
    "report": lambda: report(cats(), [*baselines.ideal(cats())], named("catsofa"), data=EVIL, model="m", resamples=10),
    "stereoset": lambda: stereoset.results(outcomes(cats(), scored([*baselines.ideal(cats())])), resamples=10),
    "crows": lambda: crows_pairs.results(
        crows_pairs.preferences([a_pair("a", "b", bias_type=EVIL)], {"one": (1.0, 0.0)}), resamples=10
    ),
    "sofa": of_probes,
    "seat": lambda: Associations([a_row()]),
    "comparison": lambda: compare(
        {name: outcomes(cats(), scored([*baselines.ideal(cats())])) for name in ("a", EVIL)}, resamples=10
    ),
    "robustness": lambda: compared().comparison,
    "robustness report": lambda: robustness_report([compared()], named("catsofa"), data=EVIL),
    "agreement": lambda: agreement(votes(), resamples=10),
    "votes": lambda: vote(votes()),
    "lint": lambda: lint([a_cat("The the zorb BLANKed.", target=EVIL)]),
    "split": lambda: split(cats()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_table_and_a_frame(name: str) -> None:
    """The table has the columns of the rows, the frame their values; markup in a text stays text."""
    result = RESULTS[name]()
    text, frame = result._repr_html_(), result.to_pandas()
    assert len(frame) == len(result.rows()) > 0
    assert all(f">{column}<" in text for column in frame if not column.endswith(("_low", "_high")))
    assert "<img" not in text


def test_records_are_a_table_too() -> None:
    """A CAT's three texts are under their labels, and its other fields under their names; the table is folded and
    escaped.
    """
    shown = catsofa.table(cats())
    frame = shown.to_pandas()
    assert (len(frame), frame["stereotype"][0], frame["target"][1]) == (8, "early", f"{EVIL}1")
    assert shown._repr_html_().startswith("<details>")
    assert "<img" not in shown._repr_html_()
    people = catsofa.table(annotators(votes())).to_pandas()
    assert list(people["answers"]) == [1] * 5


NOTEBOOK = """
import catsofa
catsofa.table(catsofa.read("cats.jsonl"))
---
from catsofa.scoring.run.score_files import compare_on, report_on
report = report_on("a.json", "cats.jsonl")
report
---
report.to_pandas()
---
compare_on(["a.json", "b.json"], "cats.jsonl")
"""


@pytest.mark.slow
def test_a_notebook_that_is_run_shows_tables(tmp_path: Path) -> None:
    """Every cell of a real notebook ends in a table."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    jsonl.write(records := bakers(8), tmp_path / "cats.jsonl")
    for name, scores in (("a", baselines.ideal(records)), ("b", baselines.stereotyped(records))):
        formats.named("predictions").write(scores, tmp_path / f"{name}.json")
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in NOTEBOOK.split("---")]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}, timeout=300).execute()
    for cell in book.cells:
        assert "<table" in cell.outputs[-1].data["text/html"], cell.source


def test_what_lint_quotes_is_folded_away() -> None:
    """Findings quote the offensive text, so they are folded."""
    assert RESULTS["lint"]()._repr_html_().startswith("<details>")


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_in_80_columns(name: str) -> None:
    """`print(result)` has lines of at most 80 letters except for a single long text, and no offensive item text."""
    result = RESULTS[name]()
    lines = str(result).splitlines()
    assert lines
    assert all(len(line) <= 80 or max(map(len, line.split("  "))) > 40 for line in lines)
    if result.offensive:
        assert EVIL not in str(result)


def test_print_shows_numbers_with_their_limits() -> None:
    """The columns that name a row come before each part of a wide table; the signature is last."""
    associations = Associations([a_row()])
    text = str(associations)
    assert "1.000 [0.500, 1.500]" in text
    assert text.startswith("task")
    report_ = RESULTS["report"]()
    assert str(report_).endswith(f"version:{catsofa.__version__}")


def test_a_result_is_drawn_on_axes_with_its_limits() -> None:
    """Each row with a value has one dot; a measure without limits is refused by name."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    _, ax = pyplot.subplots()
    result = RESULTS["report"]()
    assert result.plot("lms", ax=ax) is ax
    assert ax.get_xlabel() == "lms"
    values = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert values == [row["lms"] for row in result.rows()]
    with pytest.raises(ValueError, match=r"'much'.*lms"):
        result.plot("much")
