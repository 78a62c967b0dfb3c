from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.commands import word_vectors
from helpers.servers.faulty_server import Server

WORDS = (
    "the a gardener nurse is seems patient kind hasty gravel our neighbour baker up awake out early late cubic on day"
)


@pytest.fixture(scope="session")
def static_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a sentence-transformers model that knows a few words."""
    return word_vectors(tmp_path_factory.mktemp("model") / "static", WORDS.split())


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """Yields a server with the share of faults that the test sets."""
    running = Server(tmp_path, **getattr(request, "param", {"share": 0.0}))
    yield running
    running.stop()
