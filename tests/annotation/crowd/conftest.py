"""A study for people from Prolific, and its server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.servers.crowd_server import opened, study_in

from catsofa.annotation.crowd.http import site
from catsofa.annotation.study import Study


@pytest.fixture
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """People of these tests work faster than people do; limits are so low that a busy machine reaches them too."""
    limited = "rate_limit" in request.node.name
    monkeypatch.setattr(site, "BY_SESSION", (5.0, 0.5) if limited else (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (20.0, 0.5) if limited else (1000.0, 1000.0))


@pytest.fixture
def watched(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """People work fast, and the owner looks again at once."""
    monkeypatch.setattr("catsofa.annotation.crowd.owner.desk.FRESH", -1.0)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study for people from Prolific."""
    return study_in(tmp_path)


@pytest.fixture
def address(study: Study, quick: None) -> Iterator[str]:
    """Its server."""
    with opened(study) as found:
        yield found
