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
    """The owner's browser, and the printed link."""

    address: str
    key: str

    def __post_init__(self) -> None:
        """Opens the browser."""
        headers = {"Origin": self.address}
        self.browser = httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False, headers=headers)

    def enter(self, key: str = "") -> httpx.Response:
        """Signs in."""
        return self.browser.post("/owner/in", data={"key": key or self.key})

    def page(self, path: str = "/owner") -> str:
        """Returns one of the pages, with the current session."""
        response = self.browser.get(path)
        assert response.status_code == 200, response.text
        return response.text

    def shown(self, name: str) -> str:
        """Returns the text of the page under this id."""
        match = re.search(rf'id="{name}">(.*?)<', self.page())
        assert match is not None, name
        return match[1]

    def token(self) -> str:
        """Returns the token of the page's forms."""
        match = re.search(r'name="token" value="(\w+)"', self.page())
        assert match is not None
        return match[1]


@contextmanager
def served(study: Study, **more: Any) -> Iterator[Owner]:
    """Starts the server of a study, and returns its owner."""
    says: list[str] = []
    with opened(study, says=says, look=look, **more) as address:
        (link,) = (line for line in says if "/owner#" in line)
        yield Owner(address, link.partition("#")[2])
