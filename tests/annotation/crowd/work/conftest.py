"""Fixtures: a study of five tasks for people in a browser, and its server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.annotation.work_pages import TOML
from helpers.records import bakers
from helpers.servers.crowd_server import opened

from catsofa.annotation.study import Study, create


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of three CATs, one check and one gold item."""
    gold, checks = bakers(1, "florist"), bakers(1, "miller")
    study_ = create(
        tmp_path / "s",
        kind="validate-cats",
        items=bakers(3),
        gold=gold,
        checks=checks,
        overlap=1,
        contact="a@example.org",
    )
    (study_.folder / "study.toml").write_text(TOML)
    (study_.folder / "after.txt").write_text("The sentences are invented.\n\nNobody said them.")
    return study_


@pytest.fixture
def address(study: Study) -> Iterator[str]:
    """Starts the study's server and returns its address."""
    with opened(study) as url:
        yield url
