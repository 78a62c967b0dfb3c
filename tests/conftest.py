import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# tests start hundreds of commands, and each would compile every module again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# a test run in the background inherits an ignored Ctrl-C and hands it on; a person's terminal does not ignore it
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of released data and small models, which is never part of the project."""
    folder = Path(os.environ.get("CATSOFA_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no released data at {folder}; set CATSOFA_SHARED to the folder that holds them")
    return folder


@pytest.fixture
def few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """`power` simulates hardly at all, where its numbers do not matter."""
    from catsofa.power import simulation

    monkeypatch.setattr(simulation, "SIMULATIONS", 10)
    monkeypatch.setattr(simulation, "FEWEST", 10)


@pytest.fixture
def catsofa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """The command line in this process: arguments to what it says on stdout and on stderr."""

    from catsofa.cli import main

    def run(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr("sys.argv", ["catsofa", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        return tuple(capsys.readouterr())

    return run
