"""Tests of the widths of tables and headings in narrow terminals and pipes."""

import io
import re

import pytest

from catsofa.cli.score.comparisons import CHANGE
from catsofa.cli.terminal import table


class Screen(io.StringIO):
    """A terminal that remembers its output."""

    def isatty(self) -> bool:
        """Returns True, as for an interactive terminal."""
        return True


@pytest.mark.parametrize(("given", "width"), [("60", 60), ("", 80), ("0", 80), ("wide", 80)])
def test_a_pipe_is_as_wide_as_columns_says(given: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS is the width without a terminal; 80 if COLUMNS is no number of columns."""
    monkeypatch.setattr("sys.stdout", pipe := io.StringIO())
    monkeypatch.setenv("COLUMNS", given)
    table("title", ["name", "text"], [["zorbs", "of the lake " * 20]])
    assert max(map(len, pipe.getvalue().splitlines())) in (width - 1, width)


@pytest.mark.parametrize("columns", [20, 60, 80])
def test_a_comparison_fits_a_narrow_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is wider than 60 columns; where the table cannot fit, lines are too long and no number is cut."""
    monkeypatch.setattr("sys.stdout", screen := Screen())
    monkeypatch.setenv("COLUMNS", str(columns))
    cells = ["icat", "100.00", "100.00", "-14.7 [-16.6, -12.8]", "0.0002", "0.0012"]
    table("title", ["measure", "original", "paraphrase", CHANGE, "p", "Holm's p"], [cells])
    table("title", ["domain", "scored"], [["profession", "2,089 of 2,090"]])
    output = re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())
    assert columns < 60 or max(len(line.rstrip()) for line in output.splitlines()) <= columns
    assert set(re.findall(r"[^\s\[\],]+", " ".join(cells))) <= set(re.findall(r"[^\s\[\],]+", output))
    assert all(part in output for part in ("measure", "paraphrase", "2,089 of 2,090"))


def test_no_word_of_a_heading_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 40 columns, texts wrap within a word, and the words of headings stay whole."""
    monkeypatch.setattr("sys.stdout", screen := Screen())
    monkeypatch.setenv("COLUMNS", "40")
    table("title", ["association", "paraphrased", "stereotypes", "set"], [["sent-zorbish_competent_sentence"] * 4])
    assert all(part in screen.getvalue() for part in ("association", "paraphrased", "stereotypes"))
