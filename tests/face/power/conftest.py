"""The command line in this process."""

from collections.abc import Callable

import pytest

from catsofa.cli import main


@pytest.fixture
def catsofa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """Arguments to what the program says on stdout and on stderr."""

    def run(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr("sys.argv", ["catsofa", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        return tuple(capsys.readouterr())

    return run
