"""Fixtures: a simulated Prolific, and a study for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.annotation.prolific_commands import TOML
from helpers.records import bakers
from helpers.servers import prolific_server
from helpers.servers.prolific_server import TOKEN

from catsofa.annotation.prolific import client
from catsofa.annotation.study import Study, create


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[prolific_server.Prolific]:
    """Starts a Prolific on this machine that asks for short waits."""
    with prolific_server.serving() as server:
        monkeypatch.setattr(client, "API", server.url)
        monkeypatch.setattr(client, "WAITS", (0.01,) * 6)
        monkeypatch.setenv(client.TOKEN, TOKEN)
        yield server


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of eight CATs for five people at 12 an hour: ten tasks of half a minute, 1.00 for all."""
    settings_: dict[str, Any] = {"items": bakers(8), "checks": bakers(6, "miller"), "contact": "a@example.org"}
    study_ = create(tmp_path / "study", kind="validate-cats", title="What sentences say", pay=12.0, **settings_)
    (study_.folder / "study.toml").write_text(TOML)
    return study_
