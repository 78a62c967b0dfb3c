"""A report in a real browser: nothing executes, nothing is asked of a network, axe-core finds no barrier."""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_report import association, cats, pairs, probes, run
from test_report_compared import scored
from zorbs import a_cat

from catsofa.data import jsonl
from catsofa.report import document
from catsofa.report_formats import WRITE

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'catsofa[dev]'")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHROMIUM = Path(os.environ.get("CATSOFA_CHROMIUM", "/usr/bin/chromium"))
HIT = "document.title='hit'"
EVIL = (
    f'<script>{HIT}</script>"\'><img src=x onerror="{HIT}"><svg onload="{HIT}"></svg>'
    f'</title></style></details><iframe srcdoc="<script>parent.{HIT}</script>"></iframe>'
    f'<a href="javascript:{HIT}">a</a>'
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; set CATSOFA_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=str(CHROMIUM), headless=True, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


def page_of(folder: Path, text: str) -> Path:
    """A report in whose every text field this text stands: names, terms, contexts, categories, reasons, protocols."""
    term = {"term": text, "domain": text, "items": 8, "ss": 60.0, "ss_low": 50.0, "ss_high": 70.0}
    for at in range(3):
        name = f"{text} {at}"
        run(folder / f"a{at}", cats(text), name, text, text, terms=[term], unscored={text: 3})
        run(folder / f"b{at}", probes(text), name, text, text)
        run(folder / f"c{at}", association(text, 0.01), name, text, text)
        run(folder / f"d{at}", pairs(text), name, text, text)
    for name, verb in (("one", "was"), ("two", "seemed")):
        of = [a_cat(f"{text} {verb} BLANK.", id=text, target=text, bias_type=text)]
        jsonl.write(of, folder / f"{name}.jsonl")
        scored(folder / "x" / name, folder / f"{name}.jsonl", of, [] if name == "one" else [text], model=text)
    histogram = {"category": text, "scale": "log10", "edges": [0, 1, 2], "counts": [3, 1], "kept_bins": 1}
    (folder / "filter.json").write_text(json.dumps({"kept": 3, "refused": {text: 1}, "histograms": [histogram]}))
    runs = [folder / f"{kind}{at}" for kind in "abcd" for at in range(3)]
    found = document([*runs, folder / "x" / "one", folder / "filter.json"], text, paraphrases=[folder / "x" / "two"])
    (folder / "report.html").write_text(WRITE["html"](found), encoding="utf-8")
    return folder / "report.html"


def opened(browser: Any, page: Path, trouble: list[str], **how: Any) -> Any:
    """The page in a window; what it complains of, asks for or says in a dialogue is noted."""
    context = browser.new_context(**how)
    window = context.new_page()
    window.on("console", lambda message: trouble.append(message.text))
    window.on("pageerror", lambda error: trouble.append(str(error)))
    window.on("dialog", lambda dialog: trouble.append(dialog.message))
    window.on("request", lambda request: trouble.append(request.url) if request.url != page.as_uri() else None)
    window.goto(page.as_uri())
    return window


def test_nothing_in_a_report_executes(browser: Any, tmp_path: Path) -> None:
    """Markup in every text field stays text, with the page's own policy and without it, folds open and closed."""
    page = page_of(tmp_path, EVIL)
    for without_policy in (False, True):
        trouble: list[str] = []
        window = opened(browser, page, trouble, bypass_csp=without_policy)
        window.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        window.wait_for_timeout(200)
        assert window.title() == EVIL
        assert window.locator("script, img, iframe, object, embed, a[href^='javascript']").count() == 0
        assert trouble == []
        window.context.close()


def test_a_keyboard_reaches_everything(browser: Any, tmp_path: Path) -> None:
    """Tab reaches every link, fold and table that scrolls, and Enter opens a fold."""
    window = opened(browser, page_of(tmp_path, "zorb"), [])
    reachable = window.locator("a:visible, summary:visible, [tabindex='0']:visible")
    expected, seen = reachable.count(), set()
    for _ in range(expected):
        window.keyboard.press("Tab")
        seen.add(window.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(seen) == expected
    fold = window.locator("details.fold > summary").first
    fold.focus()
    window.keyboard.press("Enter")
    assert window.locator("details.fold").first.evaluate("fold => fold.open")


def test_a_printed_page_has_its_signatures(browser: Any, tmp_path: Path) -> None:
    """On paper the folds of signatures are open, those of what may offend closed, and no table is cut."""
    window = opened(browser, page_of(tmp_path, "zorb"), [])
    window.emulate_media(media="print")
    code = window.locator("section > details.signature code").first
    assert code.bounding_box()["height"] > 0
    assert window.locator("details.fold table").first.evaluate("table => table.checkVisibility()") is False


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, from the package registry of the machine."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm to fetch axe-core with")
    got = subprocess.run(
        [npm, "pack", "axe-core@4", "--silent"], cwd=folder, capture_output=True, text=True, check=False
    )
    if got.returncode:
        pytest.skip("axe-core could not be fetched")
    with tarfile.open(next(folder.glob("axe-core-*.tgz"))) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_barrier(browser: Any, axe: str, tmp_path: Path, scheme: str, width: int) -> None:
    """axe-core has no violation, folds open, in light and dark, wide and narrow; and nothing is wider than the page."""
    size = {"width": width, "height": 900}
    trouble: list[str] = []
    window = opened(browser, page_of(tmp_path, "zorb"), trouble, color_scheme=scheme, viewport=size, bypass_csp=True)
    window.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    window.evaluate(axe)
    found = window.evaluate("axe.run()")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert window.evaluate("document.documentElement.scrollWidth") == width
    assert trouble == []
