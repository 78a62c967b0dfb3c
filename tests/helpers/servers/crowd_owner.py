"""The owner of an open study, with the link that `annotate open` prints."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from helpers.servers.crowd_server import PATIENCE, opened

from catsofa.annotation.study import Study
from catsofa.cli.annotate.judging import look


@dataclass
class Owner:
    """The owner's browser, and the link that was printed."""

    address: str
    key: str

    def __post_init__(self) -> None:
        """Open the browser."""
        headers = {"Origin": self.address}
        self.browser = httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False, headers=headers)

    def enter(self, key: str = "") -> httpx.Response:
        """Sign in."""
        return self.browser.post("/owner/in", data={"key": key or self.key})

    def page(self, path: str = "/owner") -> str:
        """One of the pages, for whoever has a session."""
        found = self.browser.get(path)
        assert found.status_code == 200, found.text
        return found.text

    def shown(self, name: str) -> str:
        """What the page shows under this id."""
        found = re.search(rf'id="{name}">(.*?)<', self.page())
        assert found is not None, name
        return found[1]

    def token(self) -> str:
        """What the forms of the page carry."""
        found = re.search(r'name="token" value="(\w+)"', self.page())
        assert found is not None
        return found[1]


@contextmanager
def served(study: Study, **more: Any) -> Iterator[Owner]:
    """The server of a study, and its owner."""
    says: list[str] = []
    with opened(study, says=says, look=look, **more) as address:
        (link,) = (line for line in says if "/owner#" in line)
        yield Owner(address, link.partition("#")[2])
