from pathlib import Path

import pytest
from tests_support import word_vectors

WORDS = (
    "the a gardener nurse is seems patient kind hasty gravel our neighbour baker up awake out early late cubic on day"
)


@pytest.fixture(scope="session")
def static_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model that knows a few words."""
    return word_vectors(tmp_path_factory.mktemp("model") / "static", WORDS.split())
