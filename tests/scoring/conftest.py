"""Tiny models built on first use, files to score."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.tiny_models import BUILDERS
from hypothesis import settings

# several test processes share the cores: threads inside one would only wait for those of another
os.environ.setdefault("OMP_NUM_THREADS", "1")

# how long an example takes says more of the machine than of the code
settings.register_profile("scoring", deadline=None)
settings.load_profile("scoring")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name of an architecture to the folder of a tiny random model of it."""
    root = tmp_path_factory.mktemp("tiny-models")

    def folder(name: str) -> Path:
        made = root / name
        if not made.is_dir():
            made.mkdir()
            BUILDERS[name](made)
        return made

    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, tiny: Callable[[str], Path]) -> Path:
    """Finished runs of two models on the same CATs (gpt2, llama), and of one of them on probes."""
    from helpers.run_folders import make_runs

    return make_runs(tmp_path_factory.mktemp("runs"), tiny)


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """A copy of the finished runs, to damage."""
    shutil.copytree(made, tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one file of each kind of record."""
    from helpers.records import one_file_of_each

    return one_file_of_each(tmp_path)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment, which no file, message or error may show."""
    from helpers.served_models import KEY

    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of 600 pairs, 100 of them held out."""
    from helpers.next_heads import write_pairs

    return write_pairs(tmp_path / "pairs.jsonl", 600, 100)


@pytest.fixture(scope="session")
def learner(tiny: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name of an architecture to a tiny model that learns quickly: small random weights, no dropout."""
    from helpers.next_heads import quick_learner

    root = tmp_path_factory.mktemp("learners")

    def folder(name: str, dropout: float = 0.0) -> Path:
        made = root / f"{name}-{dropout}"
        return made if made.is_dir() else quick_learner(tiny(name), made, dropout)

    return folder
