from collections.abc import Iterator
from typing import Any

import pytest
from helpers.browser import CHROMIUM, FLAGS


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window; no two of these may run at once, so it ends with the module."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'catsofa[dev]'")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; set CATSOFA_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), headless=True, args=FLAGS)
        yield started
        started.close()
