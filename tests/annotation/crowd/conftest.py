"""Fixtures: a study for people from Prolific, and its server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.servers.crowd_server import opened, study_in

from catsofa.annotation.crowd.http import site
from catsofa.annotation.study import Study


@pytest.fixture
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises the rate limits for fast test visitors; tests of rate limits get limits that a busy machine
    also reaches.
    """
    limited = "rate_limit" in request.node.name
    monkeypatch.setattr(site, "BY_SESSION", (5.0, 0.5) if limited else (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (20.0, 0.5) if limited else (1000.0, 1000.0))


@pytest.fixture
def watched(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets visitors work fast and lets the owner's page refresh at once."""
    monkeypatch.setattr("catsofa.annotation.crowd.owner.desk.FRESH", -1.0)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study for people from Prolific."""
    return study_in(tmp_path)


@pytest.fixture
def address(study: Study, quick: None) -> Iterator[str]:
    """Starts the server of the study and returns its address."""
    with opened(study) as url:
        yield url
