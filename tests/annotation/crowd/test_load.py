"""Load tests: with many people and killed servers no acknowledged answer is lost, and no item is judged too often."""

from pathlib import Path

import pytest
from helpers.servers.crowd_load import load
from helpers.servers.postgres_server import BOTH


def check(folder: Path, people: int, seconds: float, kills: int, store: str = "") -> None:
    """Runs a load and checks what must always hold; times are only printed, because other work may share
    the machine.
    """
    report = load(folder, people, seconds, kills, store=store)
    print(report)  # noqa: T201 - the figures are what the slow test is for
    assert (report.lost, report.over, report.faults, report.kills) == (0, 0, [], kills)
    assert report.acknowledged > people
    assert report.megabytes < 300


@pytest.mark.slow
def test_two_hundred_people_at_once(tmp_path: Path) -> None:
    """200 people work for a minute, ten times as fast as real people."""
    check(tmp_path, people=200, seconds=60, kills=0)


@pytest.mark.slow
@BOTH
def test_six_kills_while_forty_people_work(tmp_path: Path, store: str) -> None:
    """Forty people work for a minute with kill -9 at six random moments, and their sessions continue."""
    check(tmp_path, people=40, seconds=60, kills=6, store=store)
