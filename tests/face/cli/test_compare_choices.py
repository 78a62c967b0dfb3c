"""Tests of `catsofa compare` with two runs of choices of each kind, and of the tables of `choose` for names."""

import json
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from helpers.choice_runs import ASKED, Said, run_of

from catsofa import cli
from catsofa.data.files import json_files
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.compare.choosing import compare_choices

MEASURES = {
    "likelihood": ["preference", "position"],
    "question": ["preference", "position", "acc_amb", "s_amb", "acc_dis", "s_dis"],
    "true": ["preference", "position"],
    "which": ["position"],
    "word": ["bias of tidy"],
    "decision": ["bias of tidy"],
}
"""The measures that compare two models, for each kind of choices."""


def one_in(share: int) -> Said:
    """Returns a model that names the stereotype except for one item in so many, and refuses one in twenty."""

    def said(item: Any, order: Sequence[str]) -> str:
        number = crc32(item.id.encode())
        return "" if number % 20 == 0 else item.sides[number % share == 0]

    return said


def main(arguments: Sequence[Any], capsys: pytest.CaptureFixture[str]) -> str:
    """Returns the output of a successful command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["catsofa", *map(str, arguments)])
        patch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as ended:
            cli.main()
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("template", ASKED)
def test_two_runs_are_compared_as_the_python_call_does(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The JSON is equal, and the table has each value and change with three digits."""
    runs = [run_of(template, tmp_path / name, one_in(share)) for name, share in (("one", 5), ("other", 3))]
    comparison = compare_choices(runs, tmp_path / "data.jsonl")
    arguments = ["compare", *runs, "--on", tmp_path / "data.jsonl"]
    assert [each.measure for each in comparison.differences] == MEASURES[template]
    printed = json.loads(main([*arguments, "--json"], capsys))
    assert printed == json.loads(json.dumps(json_files.finite(comparison.to_dict())))
    rows = {line.split("  ")[0]: line for line in main(arguments, capsys).splitlines()}
    for each in comparison.differences:
        row, change = rows[each.measure], each.change.by
        limits = "" if each.change.unlimited else f" [{shown(change.low)}, {shown(change.high)}]"
        assert f"{shown(each.first)}  {shown(each.other)}  {shown(change.value)}{limits}" in row


def shown(value: float) -> str:
    """Returns a number in the format of the tables."""
    return "undefined" if isnan(value) else f"{value:.3f}".replace("-0.000", "0.000")


@pytest.mark.parametrize(("template", "name", "value"), [("which", "fits", "fit"), ("decision", "decisions", "bias")])
def test_tables_of_names_have_the_numbers_of_the_python_call(
    template: str, name: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has a row for each identity with its share above chance, or for each test with its bias,
    with limits.
    """
    run = run_of(template, tmp_path / "one", one_in(3))
    paths = [run / "replies.jsonl", tmp_path / "data.jsonl"]
    shown = main(["choose", "--replies", paths[0], "--on", paths[1]], capsys)
    rows = report_on(*paths).results.further[name].rows()
    assert len(rows) == (3 if template == "which" else 1)
    for row in rows:
        who = row.get("identity", row["set"])
        numbers = f"{row[value]:.3f} {row[f'{value}_low']:.3f}–{row[f'{value}_high']:.3f}"
        assert [line for line in shown.splitlines() if who in line.split() and line.rstrip().endswith(numbers)], shown
