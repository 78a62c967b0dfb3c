"""Pages in a real Chromium, for tests: appearance, accessibility barriers, and requests to other machines."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
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
"""Milliseconds that a page may take, because the machine may be busy."""
SHOTS = os.environ.get("CATSOFA_SCREENSHOTS", "")
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
INSIDE = ("http://127.0.0.1:", "data:", "blob:", "file:")


@contextmanager
def new_page(browser: Any, *allowed: str) -> Iterator[Any]:
    """Opens a page that records every requested address; at the end only allowed ones may be outside this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    opened, requests = context.new_page(), []
    opened.on(
        "request", lambda request: None if request.url.startswith((*INSIDE, *allowed)) else requests.append(request.url)
    )
    yield opened
    context.close()
    assert requests == []


@cache
def axe() -> str:
    """Returns the script of axe-core from the machine's package registry, or an empty string."""
    npm = shutil.which("npm")
    with TemporaryDirectory() as folder:
        if npm is None or subprocess.run([npm, "pack", "axe-core@4", "--silent"], cwd=folder, check=False).returncode:
            return ""
        with tarfile.open(next(Path(folder).glob("axe-core-*.tgz"))) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            return member.read().decode("utf-8")


def barriers(page: Any) -> list[tuple[str, str]]:
    """Returns axe-core's violations on the current page: the rule and the first place of each."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(axe())
    # axe cannot determine the colour of a gradient background, and would then skip the text on it
    page.evaluate(
        "document.head.append(Object.assign(document.createElement('style'),"
        " { textContent: '.scroll, .md-typeset__scrollwrap, .arithmatex, .md-typeset pre > code"
        " { background-image: none !important }' }))"
    )
    return [(each["id"], each["nodes"][0]["html"]) for each in page.evaluate("axe.run()")["violations"]]


def resize(page: Any, width: int, height: int = 900) -> None:
    """Resizes the window and waits for the page, because on a busy machine an early tap misses its button."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("size => window.innerWidth === size", arg=width)


def shot(page: Any, name: str) -> None:
    """Checks that the page fits the window without barriers, on a screen and a phone, in light and dark.

    Writes screenshots if requested. Label Studio's own pages are foreign and made for screens.
    """
    foreign = name.startswith("label-studio")
    for width in WIDTHS[:1] if foreign else WIDTHS:
        resize(page, width)
        for scheme in SCHEMES[:1] if foreign else SCHEMES:
            page.emulate_media(color_scheme=scheme)
            if SHOTS:
                Path(SHOTS).mkdir(parents=True, exist_ok=True)
                page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)
            if not foreign and axe():
                assert barriers(page) == [], f"{name} at {width}, {scheme}"
        if not foreign:
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} at {width}"
    resize(page, WIDTHS[0])
    page.emulate_media(color_scheme="light")
