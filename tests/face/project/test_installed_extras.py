"""Tests of real installs without an extra and with one alone; test_extras.py hides modules to try the others."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.records import cat

from catsofa.data.files import jsonl

COMMANDS = {
    "score": (("score", "model", "--on", "cats.jsonl"), {"score"}),
    "served check": (("served", "check", "m", "--base-url", "http://127.0.0.1:9/v1"), {"score", "build"}),
    "annotate serve": (("annotate", "serve"), {"annotate"}),
    "demo": (("demo",), {"demo"}),
}
"""A command of each extra, and the extras that install its needs."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["", "annotate", "hub"])
def test_what_an_install_lacks_is_one_sentence(wheel: Path, tmp_path: Path, extra: str) -> None:
    """Each command that needs another extra ends with exit code 2 and the `pip install` line of that extra."""
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    requirement = f"catsofa[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", requirement]
    subprocess.run(pip, check=True, capture_output=True)
    jsonl.write([cat("one")], tmp_path / "cats.jsonl")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")
    for words, bring in COMMANDS.values():
        if extra in bring:
            continue
        done = subprocess.run(
            [str(tmp_path / "env/bin/catsofa"), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 2, (words, done.stderr)
        assert "Traceback" not in done.stderr
        error = " ".join(done.stderr.split())
        assert any(f"pip install 'catsofa[{name}]'" in error for name in bring), error
