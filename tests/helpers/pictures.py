"""`make pictures` takes the pictures of README and docs: pages about invented groups, in a real Chromium.

Models are simulated: each prefers the stereotype of a CAT with the probability in its name.
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import NormalDist
from typing import Any
from unittest.mock import patch

from catsofa.annotation.study import create
from catsofa.data.content import content_of
from catsofa.data.digests import DIGITS
from catsofa.data.files import json_files, jsonl
from catsofa.data.files.checksums import sha256_of
from catsofa.data.records import Cat, Score
from catsofa.demo import building
from catsofa.report import document, items
from catsofa.report.formats import write
from catsofa.scoring.dataset import SCHEME
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.results import report
from catsofa.scoring.run.store import Run
from helpers import ROOT
from helpers.browser import CHROMIUM, FLAGS
from helpers.report_pages import task_page

FOLDER = ROOT / "docs" / "images"
SHOWN = FOLDER / "pictures.json"
"""The size, the checksum and the page's words of each picture."""
PREFERENCES = {"planted 90": 0.9, "planted 75": 0.75, "balanced 50": 0.5, "reversed 20": 0.2}
"""Probability of preferring the stereotype, by model."""


def scored(folder: Path, data: Path, cats: Sequence[Cat], model: str, seed: int) -> Path:
    """Writes the run of a model whose preferences are drawn."""
    draw, bias = random.Random(seed), NormalDist().inv_cdf(PREFERENCES[model])
    scores = []
    for cat in cats:
        middle = draw.gauss(-4, 0.4)
        means = {"stereotype": bias / 2, "anti-stereotype": -bias / 2, "unrelated": -1.6 + seed / 5}
        scores += [
            Score(item=of.id, task=cat.kind, tokens=7, score=min(-0.1, middle + draw.gauss(means[of.label], 0.5**0.5)))
            for of in cat.candidates
        ]
    digest = content_of(cats).digest
    about = {"model": model, "data": f"{data.name}@{digest[:DIGITS]}", "on": str(data), "protocol": DEFAULT.name}
    with Run.begin(folder, {"model": {"name": model}, "data": SCHEME + digest, "protocol": {}}, about) as run:
        run.add(scores)
        result = report(cats, scores, DEFAULT, data=about["data"], model=f"{model}@{seed:0{DIGITS}}", with_terms=True)
        run.finish(result.to_dict())
    return folder


def pages(folder: Path) -> dict[str, tuple[tuple[int, int], Path, Callable[[Any], object]]]:
    """Returns each picture's size, its page, and the reader's actions before the picture."""
    with patch.object(building, "EMBEDDER", "none"):
        building.build(folder / "inputs", folder / "items")
    data = building.path_of(folder / "items", "intrasentence")
    cats = list(jsonl.read(data, Cat))
    runs = [scored(folder / f"runs/{index}", data, cats, model, index) for index, model in enumerate(PREFERENCES)]
    write(document(runs), folder / "report.html")
    items.write(runs, folder / "items.html")
    study = create(folder / "study", kind="validate-cats", items=cats[:1]).saved(contact="you@example.org")

    def browsed(window: Any) -> None:
        window.wait_for_selector("#ready:not([hidden])")
        window.locator("#list summary").first.click()
        window.evaluate("document.getElementById('controls').scrollIntoView()")

    def agreed(window: Any) -> None:
        window.locator("#agree").click()

    def at_map(window: Any) -> None:
        window.evaluate("document.querySelector('figure').scrollIntoView()")

    return {
        "report": ((1000, 900), folder / "report.html", lambda window: None),
        "items": ((1000, 760), folder / "items.html", browsed),
        "crowd": ((800, 720), task_page(study, folder), agreed),
        "map": ((640, 495), folder / "report.html", at_map),
    }


def taken(browser: Any, folder: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Yields each picture as name, PNG, size and visible words of its page; folded text is excluded."""
    for name, (size, page, done) in pages(folder).items():
        context = browser.new_context(viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme="light")
        window = context.new_page()
        window.goto(f"{page.as_uri()}?PROLIFIC_PID=P1&SESSION_ID=S1&assignmentId=A1")
        done(window)
        words = window.locator("body").inner_text().replace(version("catsofa"), "VERSION")
        # an item's sentences are shown in a random order
        yield name, window.screenshot(), {"size": list(size), "words": sorted(filter(None, words.splitlines()))}
        context.close()


def main() -> None:
    """Writes the pictures, and a record of their content."""
    from playwright.sync_api import sync_playwright

    shown = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        for name, picture, facts in taken(browser, Path(folder)):
            (FOLDER / f"{name}.png").write_bytes(picture)
            shown[name] = facts | {"sha256": sha256_of(FOLDER / f"{name}.png")}
        browser.close()
    json_files.write(shown, SHOWN)


if __name__ == "__main__":
    main()
