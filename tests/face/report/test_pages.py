"""Browser tests of every kind of page: axe-core finds no barrier, wide or narrow, light or dark, and no
text executes.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from helpers import ROOT
from helpers.boards import cats, scores, submit
from helpers.browser import SCHEMES, WIDTHS, axe, barriers
from helpers.gate_runs import planted
from helpers.records import bakers, paraphrased, probes, terms
from helpers.report_pages import EVIL, of_data, of_items, of_models, task_page
from helpers.report_runs import association, pairs, run

from catsofa.annotation.study import create
from catsofa.data.files import jsonl
from catsofa.data.records import Association, Cat
from catsofa.report import items
from catsofa.share import leaderboard, leaderboard_runs
from catsofa.share.leaderboard_page import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PEOPLE = "?PROLIFIC_PID=P1&SESSION_ID=S1&assignmentId=A1"


def board(folder: Path, text: str) -> Path:
    """Writes a leaderboard with this text in every field: names, split, protocol, file, reason, version."""
    jsonl.write(cats(), folder / "split.jsonl")
    (folder / "board").mkdir()
    submit(folder / "board", "good", scores(3, 2, 1))
    submit(folder / "board", "bad", {})
    entries = leaderboard.update(folder / "board", folder / "split.jsonl")
    assert [bool(entry["refused"]) for entry in entries] == [True, False]
    for entry in entries:
        named = dict.fromkeys(("name", "split", "protocol", "file", "version", "signature"), text)
        entry |= named | ({"refused": text} if entry["refused"] else {})
    write(entries, folder / "board.html")
    return folder / "board.html"


def _cats(text: str, make: Callable[[int], list[Cat]] = bakers) -> list[Cat]:
    """Returns a CAT with this text in context, term and sentences."""
    (cat,) = make(1)
    sentences = (replace(each, text=f"{each.text} {text}") for each in cat.candidates)
    extra = {name: f"{value} {text}" for name, value in cat.extra.items()}
    changed = replace(cat, kind="intersentence", context=f"We met {text}.", target=text, bias_type=text, extra=extra)
    return [replace(changed, candidates=tuple(replace(each, fill=None) for each in sentences))]


CROWDS: dict[str, Callable[[str], list[Any]]] = {
    "validate-cats": _cats,
    "write-neutral": _cats,
    "validate-neutral": lambda text: [replace(cat, extra={"neutral": {"text": text}}) for cat in _cats(text)],
    "review-paraphrases": lambda text: _cats(text, paraphrased),
    "judge-associations": lambda text: [Association(identity=text, attribute=text, region=text)],
    "judge-probes": lambda text: [replace(probes(1)[0], identity=text, stereotype=text, category=text)],
    "write-intrasentence": lambda text: [replace(terms(1)[0], term=text)],
    "write-intersentence": lambda text: [replace(terms(1)[0], term=text)],
}


def crowd(folder: Path, text: str, kind: str) -> Path:
    """Writes the page for Mechanical Turk with this text in every field, filled in as Mechanical Turk does."""
    about = {"title": text[:50], "contact": text, "language": text, "currency": text}
    study = create(folder / "study", kind=kind, items=CROWDS[kind](text)).saved(**about)
    return task_page(study, folder)


def browser_of_items(folder: Path, text: str) -> Path:
    """Writes an item browser with this text in every field: the names of two models, and all of a CAT."""
    jsonl.write(_cats(text), folder / "cats.jsonl")
    about = [{"model": f"{text} {number}", "model_digest": f"{number}"} for number in range(2)]
    runs = [planted(folder / facts["model_digest"], folder / "cats.jsonl", lambda _: "+", **facts) for facts in about]
    items.write(runs, folder / "items.html")
    return folder / "items.html"


def board_of_runs(folder: Path, text: str) -> Path:
    """Writes a leaderboard of finished runs whose models and association tests have this name."""
    runs = [
        run(folder / "p", pairs(text), model=text),
        run(folder / "w", association(text, 0.01), model=text, data="w"),
    ]
    leaderboard_runs.write(leaderboard_runs.boards(runs), folder / "index.html")
    return folder / "index.html"


PAGES: dict[str, Callable[[Path, str], Path]] = {
    "report of models": of_models,
    "report of data": of_data,
    "report of items": of_items,
    "item browser": browser_of_items,
    "leaderboard": board,
    "leaderboard of runs": board_of_runs,
    **{kind: partial(crowd, kind=kind) for kind in CROWDS},
}


@contextmanager
def looked_at(browser: Any, page: Path, **how: Any) -> Iterator[Any]:
    """Opens the page in a window, and checks at the end that it reported no error."""
    trouble: list[str] = []
    context = browser.new_context(bypass_csp=True, **how)
    window = context.new_page()
    window.on("console", lambda message: trouble.append(message.text))
    window.on("pageerror", lambda error: trouble.append(str(error)))
    window.on("dialog", lambda dialog: trouble.append(dialog.message))
    address = page.as_uri() + PEOPLE
    window.on("request", lambda asked: trouble.append(asked.url) if asked.url not in (address, "data:,") else None)
    window.goto(address)
    yield window
    context.close()
    assert trouble == []


def begun(window: Any) -> None:
    """Opens every fold, and starts the first task on a page of tasks."""
    window.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    if window.locator("#agree").is_visible():
        window.locator("#agree").click()


@pytest.mark.parametrize("kind", PAGES)
def test_no_page_executes_what_a_text_says(browser: Any, tmp_path: Path, kind: str) -> None:
    """Markup in every field stays text even without the page's own policy, and is shown unchanged."""
    with looked_at(browser, PAGES[kind](tmp_path, EVIL)) as window:
        for _ in range(2):
            window.wait_for_timeout(200)
            assert window.title() != "hit"
            assert window.locator("main script, img, iframe, object, embed, a[href^='javascript']").count() == 0
            begun(window)
        assert "onerror=" in window.locator("body").inner_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Returns a function that makes each kind of page once."""
    found: dict[str, Path] = {}

    def page(kind: str) -> Path:
        if kind not in found:
            found[kind] = PAGES[kind](tmp_path_factory.mktemp("page"), "the zorbs")
        return found[kind]

    return page


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", PAGES)
def test_axe_finds_no_barrier(browser: Any, made: Callable[[str], Path], kind: str, width: int, scheme: str) -> None:
    """Initially and with everything open, a page breaks no rule of axe-core and is no wider than the window."""
    if not axe():
        pytest.skip("axe-core could not be fetched: it needs npm and its registry")
    with looked_at(browser, made(kind), color_scheme=scheme, viewport={"width": width, "height": 900}) as window:
        for _ in range(2):
            assert barriers(window) == []
            assert window.evaluate("document.documentElement.scrollWidth") == width
            begun(window)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Builds and serves the documentation, and returns its address."""
    pytest.importorskip("mkdocs", reason="no mkdocs: pip install 'catsofa[docs]'")
    folder = tmp_path_factory.mktemp("site")
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, env=quiet, check=True)

    class Silent(SimpleHTTPRequestHandler):
        """Serves files without logging."""

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_no_barrier_in_the_documentation(browser: Any, site: str, width: int, scheme: str) -> None:
    """The home page, a page of formulas and one of tables break no rule, fit the window and report no error."""
    if not axe():
        pytest.skip("axe-core could not be fetched: it needs npm and its registry")
    trouble: list[str] = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    window = context.new_page()
    window.on("console", lambda message: trouble.append(message.text))
    window.on("pageerror", lambda error: trouble.append(str(error)))
    window.on("request", lambda asked: None if asked.url.startswith((site, "data:")) else trouble.append(asked.url))
    for place in ("", "measures/stereoset/", "reference/formats/"):
        window.goto(f"{site}/{place}")
        window.wait_for_timeout(200)
        assert barriers(window) == [], place
        assert window.evaluate("document.documentElement.scrollWidth") == width
    context.close()
    assert trouble == []
