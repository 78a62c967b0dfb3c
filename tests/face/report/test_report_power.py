"""Tests of the power section of a report."""

import json
from pathlib import Path

import pytest
from helpers.gate_runs import cats
from helpers.records import a_pair
from helpers.report_pages import EVIL

from catsofa.data.files import BadInput, jsonl
from catsofa.data.files.json_files import finite
from catsofa.power import power
from catsofa.report import document, figures
from catsofa.report.formats import html, latex, markdown

pytestmark = pytest.mark.usefixtures("few_simulations")


def printed(folder: Path, *, text: str = "trade", effect: float | None = 5.0) -> Path:
    """Writes the output of `catsofa power --json` for 20 terms in each of two domains."""
    jsonl.write(cats(40, 10, (text, "planet")), folder / "cats.jsonl")
    result = finite(power(folder / "cats.jsonl", effect=effect, accuracy=0.8).to_dict())
    (folder / "power.json").write_text(json.dumps(result), "utf-8")
    return folder / "power.json"


def test_each_set_is_a_row_with_the_numbers_of_the_json(tmp_path: Path) -> None:
    """Rows have sets, items, clusters, effects, power in percent, the requested effect, and the model."""
    path = printed(tmp_path)
    (section,) = document([path]).sections
    result = json.loads(path.read_text())
    rows = [row for table in section.tables for row in table.rows]
    tests = dict.fromkeys(one["test"] for one in result["sets"])
    sets = [one for test in tests for one in result["sets"] if one["test"] == test]
    assert [row[1:3] for row in rows] == [(one["items"], one["clusters"]) for one in sets]
    for row, one in zip(rows, sets, strict=True):
        assert str(row[3]) == ("larger than any" if one["impossible"] else f"{one['effect']:.2f}")
        assert str(row[4]).startswith(f"{100 * one['power']['value']:.1f}")
        assert row[6] == ("too many" if one["needed"]["items"] is None else one["needed"]["items"])
    assert section.tables[0].columns[5:] == ("power at 5, %", "items needed at 5")
    assert result["model"] in section.tables[0].notes[0]
    assert any("judgements of each item" in note for note in section.tables[0].notes)
    for figure in section.figures:
        figures.draw(figure.draw)


def test_no_text_of_the_data_is_markup_and_every_format_has_the_numbers(tmp_path: Path) -> None:
    """Page, Markdown and LaTeX escape a domain's name, whatever it is."""
    report = document([printed(tmp_path, text=EVIL, effect=None)])
    page = html(report)
    assert EVIL not in page
    effect = str(report.sections[0].tables[0].rows[0][3])
    for text in (page, markdown(report), latex(report)):
        assert effect in text


def test_exact_power_has_no_interval(tmp_path: Path) -> None:
    """Pairs have a closed form."""
    jsonl.write(
        [a_pair(f"The zorb {n} sings.", f"The florin {n} sings.", id=str(n)) for n in range(80)],
        tmp_path / "pairs.jsonl",
    )
    (tmp_path / "p.json").write_text(json.dumps(finite(power(tmp_path / "pairs.jsonl").to_dict())))
    (section,) = document([tmp_path / "p.json"]).sections
    exact = [row for table in section.tables for row in table.rows if not row[4].limits]  # type: ignore[union-attr]
    assert exact


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """The error names the missing field."""
    path = printed(tmp_path, effect=None)
    result = json.loads(path.read_text())
    del result["sets"][0]["items"]
    path.write_text(json.dumps(result))
    with pytest.raises(BadInput, match="items"):
        document([path])
