"""Tests that LaTeX sets the tables of a report, whatever their texts, within the lines of a paper."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.report_pages import EVIL, data, items, models

from catsofa.report.elements import Document
from catsofa.report.formats import WRITE

pytestmark = pytest.mark.slow
PAPER = r"""\documentclass{article}
\usepackage{array,booktabs,longtable}
\begin{document}
\input{tables}
\end{document}
"""


def typeset(folder: Path, document: Document) -> str:
    """Returns LaTeX's log for a paper with these tables."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("no pdflatex: install a TeX distribution with booktabs and longtable")
    (folder / "tables.tex").write_text(WRITE["latex"](document), encoding="utf-8")
    (folder / "paper.tex").write_text(PAPER)
    command = [program, "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    for _ in range(2):  # the widths of a long table are known the second time
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        log = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, log[-2000:]
    assert (folder / "paper.pdf").stat().st_size > 10_000
    return log


@pytest.mark.parametrize("make", [models, data, items])
def test_latex_sets_every_table_within_its_lines(tmp_path: Path, make: Callable[[Path, str], Document]) -> None:
    """In a one-column article no table exceeds its line by two points, half a letter, or more."""
    log = typeset(tmp_path, make(tmp_path, "zorbs of the lake"))
    assert [points for points in re.findall(r"Overfull .hbox \(([\d.]+)pt", log) if float(points) >= 2] == []


@pytest.mark.parametrize("make", [models, data, items])
def test_latex_sets_markup_as_text(tmp_path: Path, make: Callable[[Path, str], Document]) -> None:
    """Markup of HTML and of LaTeX in every field is set unchanged."""
    typeset(tmp_path, make(tmp_path, rf"\input{{x}} $^_&%#~\\ {EVIL}"))
