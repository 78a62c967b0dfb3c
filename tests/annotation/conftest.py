import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.browser import CHROMIUM, FLAGS, new_page
from helpers.servers import postgres_server
from helpers.servers.label_studio_server import ADMIN, PATIENCE, Person, start

from catsofa.annotation.label_studio import Server
from catsofa.annotation.label_studio import server as ls


@pytest.fixture(scope="session")
def program() -> Path:
    """Returns the Label Studio server: LABEL_STUDIO_EXE, the build of `make labelstudio`, or the one of `annotate
    serve`.
    """
    environment = ROOT / ".venv-labelstudio"
    if ls.EXECUTABLE not in os.environ and (environment / ".ready").exists():  # an incomplete one has the program too
        return environment / "bin" / "label-studio"
    if (executable := ls.executable()) is None:
        pytest.skip(f"no Label Studio server: run make labelstudio, or set {ls.EXECUTABLE}")
    return executable


@pytest.fixture(scope="session")
def cache() -> Path:
    """Returns the folder that keeps the prepared data folder between runs."""
    return ROOT / ".pytest_cache" / "label-studio"


@pytest.fixture(scope="session")
def running(program: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ls.Running]:
    """Starts a server that the tests share; tests that damage a server start their own."""
    with start(program, cache, tmp_path_factory.mktemp("server") / "data") as server:
        yield server


@pytest.fixture(scope="session")
def server(running: ls.Running) -> Server:
    """Returns the researcher's access to the shared server."""
    return Server(running.url, ADMIN.token, timeout=PATIENCE)


@pytest.fixture(scope="session")
def annotators(server: Server) -> list[Person]:
    """Returns five invited annotators."""
    return [Person.invited(server, f"person{n}@example.org") for n in range(1, 6)]


@pytest.fixture(scope="session")
def cluster() -> Iterator[postgres_server.Cluster]:
    """Starts a PostgreSQL server that the tests share; libpq finds its address and password in the environment."""
    pytest.importorskip("psycopg", reason="no psycopg: pip install 'catsofa[postgres]'")
    if postgres_server.programs() is None:
        pytest.skip("no PostgreSQL: make programs installs it with apt")
    with postgres_server.running() as database, pytest.MonkeyPatch.context() as environment:
        about = {"HOST": "127.0.0.1", "PORT": str(database.port), "USER": "study", "DATABASE": "postgres"}
        for name, value in {**about, "PASSWORD": postgres_server.PASSWORD}.items():
            environment.setenv(f"PG{name}", value)
        yield database


@pytest.fixture
def store(request: pytest.FixtureRequest) -> str:
    """Returns the URL of the store's database; empty for SQLite."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("cluster").url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Starts headless Chromium for one module, because two browsers cannot run at once."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'catsofa[dev]'")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; set CATSOFA_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Opens a page whose requests cannot leave this machine."""
    with new_page(browser) as opened:
        yield opened
