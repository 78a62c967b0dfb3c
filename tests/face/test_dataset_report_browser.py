"""A data set's report in a real browser: nothing executes, axe-core finds no barrier."""

from pathlib import Path
from typing import Any

import pytest
from test_dataset_report import a_release, evil, judged
from test_report_browser import axe, browser, opened  # the fixtures too

from catsofa.data import jsonl
from catsofa.dataset_report import Tools, document
from catsofa.report_formats import WRITE

__all__ = ["axe", "browser"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def page_of(folder: Path) -> Path:
    """A report of a folder whose every text is markup, and of a release."""
    corpus = folder / "corpus.txt"
    corpus.write_text("plain words\n")
    (folder / "set").mkdir()
    evil(folder / "set")
    jsonl.write(judged(), folder / "annotations.jsonl")
    found = document([folder / "set", a_release(folder), folder / "annotations.jsonl"], Tools(frequencies=str(corpus)))
    (folder / "report.html").write_text(WRITE["html"](found), encoding="utf-8")
    return folder / "report.html"


def test_nothing_in_it_executes(browser: Any, tmp_path: Path) -> None:
    """Markup in every text stays text without the page's policy too, folds open."""
    trouble: list[str] = []
    window = opened(browser, page_of(tmp_path), trouble, bypass_csp=True)
    window.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    window.wait_for_timeout(200)
    assert window.locator("script, img, iframe, object, embed, a[href^='javascript']").count() == 0
    assert window.title().startswith("What is in")
    assert trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_barrier(browser: Any, axe: str, tmp_path: Path, scheme: str, width: int) -> None:
    """axe-core has no violation, folds open, in light and dark, wide and narrow; and nothing is wider than the page."""
    trouble: list[str] = []
    size = {"width": width, "height": 900}
    window = opened(browser, page_of(tmp_path), trouble, color_scheme=scheme, viewport=size, bypass_csp=True)
    window.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    window.evaluate(axe)
    found = window.evaluate("axe.run()")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert window.evaluate("document.documentElement.scrollWidth") == width
    assert trouble == []
