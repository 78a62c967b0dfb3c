"""Tests of the contamination section of a report."""

import json
import re
from math import nan
from pathlib import Path
from typing import Any

import pytest
from helpers.report_pages import EVIL

from catsofa.data.files import BadInput
from catsofa.data.files.json_files import finite
from catsofa.report import document, figures
from catsofa.report.cells import chance
from catsofa.report.elements import Section
from catsofa.report.formats import html, latex, markdown
from catsofa.report.sections.contamination import drawn
from catsofa.scoring.contamination.result import Contamination, adjusted
from catsofa.scoring.contamination.result import Test as One
from catsofa.scoring.contamination.texts import PROTOCOL
from catsofa.scoring.statistics.intervals import Interval


def found(text: str = "the Dravians", p: float = 0.0004) -> dict[str, Any]:
    """Returns `catsofa contamination --json` of a model: order and canary tested, completion described only."""
    order = One(
        name="order",
        unit="nats a shard above random orders",
        value=Interval(2.5, 1.25, 3.75),
        counts={"items": 1200, "shards": 13},
        facts={"permuted": f"items, {text}"},
        p=p,
    )
    completion = One(
        name="completion",
        unit="% of the tokens of second halves",
        value=Interval(30.0, 20.0, 40.0),
        change=Interval(12.0, -1.0, 25.0),
        counts={"items": 1200},
        reason=f"described only: 1 reference ({text})",
    )
    canary = One(name="canary", unit="% of random strings at least as likely", value=Interval(40.0, 37.0, 43.1), p=0.4)
    tests = adjusted([order, One(name="wording", reason="no paraphrases"), completion, canary])
    signature = PROTOCOL.signature(f"{text}@0a1b", f"/home/{text}/gpt2@2c3d", dtype="float32", way="", batching="")
    warnings = (f"a warning, {text}",)
    return finite(Contamination(tests=tests, signature=signature, warnings=warnings).to_dict())  # type: ignore[no-any-return]


def section(given: dict[str, Any], folder: Path) -> Section:
    """Returns the only section of a report on this result."""
    (folder / "contamination.json").write_text(json.dumps(given), "utf-8")
    (only,) = document([folder / "contamination.json"]).sections
    return only


def test_each_test_is_a_row_with_its_number_p_basis_and_verdict(tmp_path: Path) -> None:
    """Limits and Holm's p are as in the JSON; an omitted test has no p, and a note with the reason."""
    shown = section(found(), tmp_path)
    (table,) = shown.tables
    order, wording, completion, canary = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (order["value"].value, order["value"].low, order["value"].high) == (2.5, 1.25, 3.75)
    assert (order["p"].value, order["p (Holm)"].value) == (0.0004, 0.0008)
    assert order["rests on"] == "1,200 items, 13 shards"
    assert [row["verdict"] for row in (order, canary)] == ["contamination is shown", "contamination is not shown"]
    assert (completion["above references"].low, completion["p"].value) == (-1.0, None)
    assert str(wording["value"]) == str(completion["p"]) == "—"
    assert completion["verdict"] == wording["verdict"] == "no verdict"
    assert table.notes[1] == "wording: no verdict: no paraphrases."
    assert table.caption == "contamination shown by: order"
    assert "gpt2@2c3d" in shown.title


def test_the_figure_has_the_p_of_the_tests_that_were_made(tmp_path: Path) -> None:
    """The figure has p and Holm's p on a logarithmic scale, beside 0.05; its text describes it."""
    (figure,) = section(found(), tmp_path).figures
    assert figure.alt.startswith("order: p 0.00040, Holm's p 0.00080; canary: ")
    axes = figures.draw(figure.draw).axes[0]
    assert axes.get_xscale() == "log"
    assert [line.get_xdata().tolist() for line in axes.lines[:2]] == [[0.0004, 0.4], [0.0008, 0.4]]
    assert axes.lines[2].get_xdata() == pytest.approx([0.05, 0.05])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.001", "0.05", "1"]


def test_a_result_without_any_p_has_no_figure(tmp_path: Path) -> None:
    """Without a test, only the table with the reasons appears."""
    result = found(p=nan)
    for test in result["tests"].values():
        test |= {"p": None, "holm": None, "shown": None}
    assert section(result, tmp_path).figures == ()


def test_p_values_of_zero_stay_in_the_drawing() -> None:
    """A t beyond floating-point range has p 0, which a logarithmic scale cannot show."""
    axes = figures.draw(lambda: drawn({"order": (chance(0.0), chance(0.0))})).axes[0]
    assert axes.lines[0].get_xdata()[0] > 0


def test_texts_of_the_data_are_no_markup(tmp_path: Path) -> None:
    """Names, reasons and warnings stay text in HTML and Markdown; LaTeX has the table too."""
    (tmp_path / "contamination.json").write_text(json.dumps(found(EVIL)), "utf-8")
    report = document([tmp_path / "contamination.json"])
    assert EVIL not in html(report)
    assert EVIL not in re.sub(r"`[^`]*`", "", markdown(report))  # code is text
    for text in (html(report), markdown(report), latex(report)):
        assert "contamination is shown" in text


def test_a_file_without_its_fields_is_refused(tmp_path: Path) -> None:
    """The error names the file, the missing field and the command that prints the file."""
    result = found()
    del result["tests"]["order"]["p"]
    with pytest.raises(BadInput, match=r"field.*'p'.*catsofa contamination --json"):
        section(result, tmp_path)
