from collections.abc import Iterator
from typing import Any

import pytest
from helpers.browser import CHROMIUM, FLAGS


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Starts headless Chromium for one module, because two browsers cannot run at once."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'catsofa[dev]'")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; set CATSOFA_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), headless=True, args=FLAGS)
        yield started
        started.close()
