"""Fixtures: tiny models built on first use, and files to score."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.tiny_models import BUILDERS
from hypothesis import settings

# test processes share the cores, so threads inside one process would only wait for other processes
os.environ.setdefault("OMP_NUM_THREADS", "1")

# no deadline, because the time of an example depends on the machine more than on the code
settings.register_profile("scoring", deadline=None)
settings.load_profile("scoring")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Returns a function from the name of an architecture to the folder of a tiny random model."""
    root = tmp_path_factory.mktemp("tiny-models")

    def folder(name: str) -> Path:
        target = root / name
        if not target.is_dir():
            target.mkdir()
            BUILDERS[name](target)
        return target

    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, tiny: Callable[[str], Path]) -> Path:
    """Returns finished runs of two models on the same CATs (gpt2, llama), and of one of them on probes."""
    from helpers.run_folders import make_runs

    return make_runs(tmp_path_factory.mktemp("runs"), tiny)


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """Returns a copy of the finished runs, to damage."""
    shutil.copytree(made, tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Returns a folder with one file of each kind of record."""
    from helpers.records import one_file_of_each

    return one_file_of_each(tmp_path)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets a key in the environment, which no file, message or error may show."""
    from helpers.served_models import KEY

    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Returns a file of 600 pairs, 100 of them held out."""
    from helpers.next_heads import write_pairs

    return write_pairs(tmp_path / "pairs.jsonl", 600, 100)


@pytest.fixture(scope="session")
def learner(tiny: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Returns a function from an architecture to a tiny model that learns quickly: small random weights, no dropout."""
    from helpers.next_heads import quick_learner

    root = tmp_path_factory.mktemp("learners")

    def folder(name: str, dropout: float = 0.0) -> Path:
        target = root / f"{name}-{dropout}"
        return target if target.is_dir() else quick_learner(tiny(name), target, dropout)

    return folder
