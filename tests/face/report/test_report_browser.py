"""Browser tests of a report: a keyboard reaches everything, and printing shows the content of the screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import new_page, resize
from helpers.report_pages import of_models
from helpers.report_runs import cats, run

from catsofa.report import document
from catsofa.report.formats import WRITE

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def window(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a report in a window."""
    with new_page(browser) as page:
        page.goto(of_models(tmp_path, "zorb").as_uri())
        yield page


def test_a_keyboard_reaches_everything(window: Any) -> None:
    """Tab reaches every link, button, fold and table that scrolls, and Enter opens a fold."""
    reachable = window.locator("a:visible, summary:visible, button:visible, [tabindex='0']:visible")
    expected, reached = reachable.count(), set()
    for _ in range(expected):
        window.keyboard.press("Tab")
        reached.add(window.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(reached) == expected
    fold = window.locator("details.fold > summary").first
    fold.focus()
    window.keyboard.press("Enter")
    assert window.locator("details.fold").first.evaluate("fold => fold.open")


def test_a_printed_page_has_its_signatures_and_says_what_is_folded(window: Any) -> None:
    """In print the signature folds are open, offensive folds stay closed with a note, and no content is cut."""
    window.emulate_media(media="print")
    code = window.locator("section > details.signature code").first
    assert code.bounding_box()["height"] > 0
    fold = window.locator("details.fold").first
    assert fold.locator("table").first.evaluate("table => table.checkVisibility()") is False
    after = "fold => getComputedStyle(fold.querySelector('summary'), '::after').content"
    assert "open it on the screen" in fold.evaluate(after)
    fold.evaluate("fold => fold.open = true")
    assert "open it on the screen" not in fold.evaluate(after)
    ways = window.locator(".scroll").evaluate_all("boxes => boxes.map(box => getComputedStyle(box).overflow)")
    assert set(ways) == {"visible"}


def test_what_is_printed_is_no_wider_than_the_paper(window: Any) -> None:
    """An A4 sheet leaves 18 cm, which are 680 pixels: every column of every shown table fits."""
    window.set_viewport_size({"width": 680, "height": 960})
    window.emulate_media(media="print")
    assert window.evaluate("document.documentElement.scrollWidth") <= 680
    for fold in window.locator("details.fold").all():
        fold.evaluate("fold => fold.open = true")
    assert window.evaluate("document.documentElement.scrollWidth") <= 680


def test_a_long_table_says_that_it_scrolls_and_shows_where(browser: Any, tmp_path: Path) -> None:
    """The caption shows the number of rows; the heads stay visible while the table scrolls."""
    from helpers.report_runs import cats, run

    from catsofa.report import document
    from catsofa.report.formats import WRITE

    runs = [run(tmp_path / f"r{number}", cats("d"), f"model {number}") for number in range(31)]
    (tmp_path / "report.html").write_text(WRITE["html"](document(runs)), encoding="utf-8")
    with new_page(browser) as page:
        page.goto((tmp_path / "report.html").as_uri())
        box = page.locator(".long").first
        rows = box.locator("tbody th[scope=row]").count()
        assert f"{rows} rows: scroll" in box.locator("caption").inner_text()
        box.evaluate("box => box.scrollTop = 400")
        inside = box.locator("thead th").first.bounding_box()["y"] - box.bounding_box()["y"]
        assert abs(inside) < 2


def test_a_phone_scrolls_no_page_and_shows_icat(browser: Any, tmp_path: Path) -> None:
    """At 390 pixels a long name wraps, also in the list of sections, and a model is shown with lms, ss and icat."""
    from helpers.report_runs import cats, pairs, run

    from catsofa.report import document
    from catsofa.report.formats import WRITE

    for number, model in enumerate(("demo/models/planted-causal", "demo/models/balanced-causal")):
        run(tmp_path / f"cats{number}", cats("d"), model, warnings=["of " + "w" * 90])
        run(tmp_path / f"pairs{number}", pairs("d"), model, f"pairs_{'x' * 60}.csv@0123456789ab")
    report = document([tmp_path / f"{kind}{number}" for kind in ("cats", "pairs") for number in range(2)])
    (tmp_path / "report.html").write_text(WRITE["html"](report), encoding="utf-8")
    (tmp_path / "one.html").write_text(WRITE["html"](document([tmp_path / "cats0"])), encoding="utf-8")
    with new_page(browser) as page:
        resize(page, 390, 844)
        for name in ("report", "one"):
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == 390
            heads = page.locator(".scroll").first.locator("thead th")
            icat = heads.nth(heads.all_inner_texts().index("icat")).bounding_box()
            assert icat["x"] + icat["width"] <= 390, name


@pytest.mark.parametrize(("sets", "wide"), [(5, True), (1, False)])
def test_a_summary_of_many_measures_scrolls_in_its_own_box_and_says_so(
    browser: Any, tmp_path: Path, sets: int, wide: bool
) -> None:
    """15 measures take more than the column of the text, scroll beside the names of models, and widen no page."""
    for number in range(sets):
        for name in ("zorb", "florin"):
            run(tmp_path / f"{number}{name}", cats("d"), name, data=f"cats-of-zorbs-{number}.jsonl@{number}")
    (tmp_path / "report.html").write_text(WRITE["html"](document([tmp_path])), encoding="utf-8")
    with new_page(browser) as page:
        page.goto((tmp_path / "report.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        box = page.locator(".summary .scroll")
        assert box.evaluate("box => box.scrollWidth > box.clientWidth") is wide
        assert ("16 columns: scroll" in box.inner_text()) is wide
        if wide:
            assert box.bounding_box()["width"] > page.locator("main").bounding_box()["width"]
            name = box.locator("tbody th").first
            before = name.bounding_box()["x"]
            box.evaluate("box => box.scrollLeft = 200")
            assert name.bounding_box()["x"] == before
