"""Pages in a real Chromium, for tests: what they look like, and that they ask for nothing outside this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = Path(os.environ.get("CATSOFA_CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
PATIENCE = 120_000
"""Milliseconds a page may take: the machine may be busy with other things."""
SHOTS = os.environ.get("CATSOFA_SCREENSHOTS", "")
WIDTHS = (1280, 390)
INSIDE = ("http://127.0.0.1:", "data:", "blob:", "file:")


@contextmanager
def new_page(browser: Any, *allowed: str) -> Iterator[Any]:
    """A page that notes every address it asks for; at the end none but those allowed lay outside this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    opened, left = context.new_page(), []
    opened.on(
        "request", lambda request: None if request.url.startswith((*INSIDE, *allowed)) else left.append(request.url)
    )
    yield opened
    context.close()
    assert left == []


def shot(page: Any, name: str) -> None:
    """The page is no wider than the window, on a screen or a phone; a picture of both, if somebody wants one.

    Label Studio's own pages are made for screens.
    """
    foreign = name.startswith("label-studio")
    for width in WIDTHS[:1] if foreign else WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{SHOTS}/{name}-{width}.png", full_page=True)
        if not foreign:
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} at {width}"
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
