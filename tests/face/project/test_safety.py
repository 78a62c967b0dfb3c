"""Tests that external input runs no code, and that catsofa's servers do not listen to other machines."""

import ast
import json
import re
from pathlib import Path

import pytest
from helpers import ROOT
from typer.testing import CliRunner

from catsofa.annotation.study import create
from catsofa.cli import app

ROOMS = ("builders", "annotation", "validation", "scoring", "data", "catsofa")
RUN_CODE = {"eval", "exec", "compile", "__import__"}
"""Functions that turn a text into code."""
READ_CODE = {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "cloudpickle"}
"""Modules whose files are code."""


def test_no_text_becomes_code() -> None:
    """No file of the package uses eval, exec, pickle, torch.load or a shell."""
    for file in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            place = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
                assert not READ_CODE & {name.split(".")[0] for name in names}, place
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in RUN_CODE | {"torch.load", "os.system", "yaml.load"}, place
                assert not any(key.arg == "shell" for key in node.keywords), place


def test_a_models_own_code_is_not_run_unless_asked(tmp_path: Path) -> None:
    """A model folder with its own code is refused in one sentence, and the code does not run."""
    from catsofa.scoring.models import load

    ran = tmp_path / "ran"
    (tmp_path / "model").mkdir()
    named = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    config = {"model_type": "zorb", "architectures": ["Model"], "auto_map": named}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    (tmp_path / "model" / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    with pytest.raises(ValueError, match="model") as refused:
        load(str(tmp_path / "model"))
    assert "\n" not in str(refused.value)
    assert not ran.exists()


def test_people_reach_a_study_from_elsewhere_by_https_alone(tmp_path: Path) -> None:
    """The server listens only on this machine by default; for other machines an HTTPS server must be in front."""
    from helpers.records import bakers

    create(tmp_path / "study", kind="validate-cats", items=bakers(2), contact="a@example.org")
    opened = ["annotate", "open", str(tmp_path / "study"), "--host", "0.0.0.0"]
    with pytest.raises(ValueError, match="in the clear"):
        CliRunner().invoke(app, opened, catch_exceptions=False)


def test_the_annotation_server_has_no_option_to_listen_to_other_machines() -> None:
    """`annotate serve` is for this machine; to reach it from others, the user must put another server in front."""
    help_text = CliRunner().invoke(app, ["annotate", "serve", "--help"], env={"COLUMNS": "200"}).stdout
    assert "--port" in help_text
    assert "--host" not in help_text


def test_every_test_file_that_the_pages_tables_name_is_there() -> None:
    """The tables of faults and of safety name existing files; each letter of the first table is explained once."""
    page = (ROOT / "docs" / "workers.md").read_text("utf-8")
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", page))
    assert len(named) > 20
    assert {name for name in named if not (ROOT / "tests" / name).is_file()} == set()
    rows = [line for line in page.splitlines() if line.startswith("| ") and line.count("|") == 8]
    letter = "[A-ZØΔΘΛΞΠΣ]"
    letters = {each for row in rows for cell in row.split("|")[2:] for each in re.findall(rf"\b{letter}\b", cell)}
    explained = re.findall(rf"\b({letter}): `", page)
    assert sorted(explained) == sorted(letters)
