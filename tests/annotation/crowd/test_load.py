"""Many people at once and a server that is killed: nothing acknowledged is lost, no item is judged too often."""

from pathlib import Path

import pytest
from helpers.servers.crowd_load import load
from helpers.servers.postgres_server import BOTH


def check(folder: Path, people: int, seconds: float, kills: int, store: str = "") -> None:
    """What must hold whatever happens; times are only printed, as other work may share the machine."""
    found = load(folder, people, seconds, kills, store=store)
    print(found)  # noqa: T201 - the figures are what the slow test is for
    assert (found.lost, found.over, found.faults, found.kills) == (0, 0, [], kills)
    assert found.acknowledged > people
    assert found.megabytes < 300


@pytest.mark.slow
def test_two_hundred_people_at_once(tmp_path: Path) -> None:
    """A minute of 200 people, ten times as fast as people are."""
    check(tmp_path, people=200, seconds=60, kills=0)


@pytest.mark.slow
@BOTH
def test_six_kills_while_forty_people_work(tmp_path: Path, store: str) -> None:
    """Forty people for a minute, kill -9 at six random instants: their sessions live on."""
    check(tmp_path, people=40, seconds=60, kills=6, store=store)
