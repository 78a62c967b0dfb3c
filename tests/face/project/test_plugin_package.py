"""Tests of the docs' plug-in package installed by pip: external measures, formats, models, lint rules and languages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

from catsofa.data.files import jsonl
from catsofa.data.records import Pair

PLUGIN = ROOT / "docs/extending/plugin"
PAGE = (ROOT / "docs/extending/package.md").read_text("utf-8")


def pair_of(more: str, less: str) -> Pair:
    """Returns a pair with its own id."""
    return Pair(more=more, less=less, bias_type="invented", direction="stereo")


def test_the_page_shows_the_metadata_of_the_package() -> None:
    """The page contains the text of the file."""
    assert (PLUGIN / "pyproject.toml").read_text("utf-8") in PAGE


@pytest.mark.slow
def test_every_command_works_with_a_package_that_pip_installed(tmp_path: Path) -> None:
    """The page's commands run in order; one of three pairs has sentences of equal length."""
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    source = tmp_path / "source"
    source.mkdir()
    for file in (path for path in PLUGIN.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        (source / file.relative_to(PLUGIN)).parent.mkdir(parents=True, exist_ok=True)
        (source / file.relative_to(PLUGIN)).write_bytes(file.read_bytes())
    subprocess.run([*pip, "--target", installed, source], check=True, capture_output=True)
    (tmp_path / "items").mkdir()
    pairs = [
        pair_of("Zorbs are robots of many words.", "Blickets are tidy."),
        pair_of("Zorbs sing.", "Blickets sing very well."),
        pair_of("Zorbs hum.", "Zorbs sum."),
    ]
    jsonl.write(pairs, tmp_path / "items/pairs.jsonl")
    environment = os.environ | {"PYTHONPATH": f"{installed}:{ROOT}", "NO_COLOR": "1", "COLUMNS": "200"}

    def printed(command: str) -> str:
        line = [sys.executable, "-m", "catsofa", *command.split()]
        return subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300).stdout

    shown = [printed(line) for line in re.findall(r"^catsofa (.*)$", PAGE, re.M)]
    assert len(shown) == 5
    converted, scored, longer, linted, built = shown
    assert "zorb-pairs: pairs.zorbs" in converted
    # mean letters of a word: 4.3 beat 5.3 in the first pair, 5 beat 5.25 in the second; the third has equal lengths
    assert re.search(r"model:letters:2@1", scored)
    assert re.search(r"^all\s+50\.0 ", longer, re.M)
    assert "2 of 3" in longer
    assert "names a machine (robots)" in linted
    assert "2 kept, 0 refused" in built
