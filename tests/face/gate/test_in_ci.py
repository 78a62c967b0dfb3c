"""Tests of the fixture and the workflow on the page about the gate: both run unchanged."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers import ROOT
from helpers.gate_runs import cats, even, number, planted
from helpers.tiny_models import BUILDERS

from catsofa.data.files import jsonl
from catsofa.gate import snapshots_of
from catsofa.gate.snapshots import save

PAGE = (ROOT / "docs/gate.md").read_text("utf-8")


def block(title: str) -> str:
    """Returns the text of a block of the page."""
    match = re.search(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```$', PAGE, re.M | re.S)
    assert match
    return match[1]


@pytest.mark.parametrize("worse", [False, True])
def test_the_fixture_passes_and_fails_with_what_moved(worse: bool, tmp_path: Path) -> None:
    """The page's conftest.py and test run on an equal run and on one whose ss rises by 40 points."""
    jsonl.write(cats(), tmp_path / "cats.jsonl")
    base = planted(tmp_path / "base", tmp_path / "cats.jsonl", even)
    save(snapshots_of([base]), tmp_path / "baseline.json")
    planted(
        tmp_path / "runs/next", tmp_path / "cats.jsonl",
        lambda cat: "+" if worse and number(cat)[1] < 8 else even(cat),
    )  # fmt: skip
    for name in ("conftest.py", "test_bias.py"):
        (tmp_path / name).write_text(block(name))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bias.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == int(worse), done.stdout + done.stderr
    assert ("Failed: regression in" in done.stdout) == worse
    assert ("dravian 0 (50 to 90)" in done.stdout) == worse


@pytest.mark.slow
def test_the_steps_of_the_workflow_run_as_they_stand(tmp_path: Path) -> None:
    """All shell steps except installation run with a tiny model: 0 against itself, 1 against a better one, 2 without
    baseline.
    """
    workflow = yaml.safe_load(block(".github/workflows/bias.yml"))
    (job,) = workflow["jobs"].values()
    inputs = workflow[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true
    steps = {step["name"]: step["run"] for step in job["steps"] if "run" in step}
    assert list(steps) == ["Install", "Score", "Check"]
    assert {f"${{{{ inputs.{name} }}}}" for name in inputs} == set(job["env"].values())
    assert not [step for step in steps.values() if "${{" in step]  # an input in a script could run as code
    (tmp_path / "tiny").mkdir()
    BUILDERS["gpt2"](tmp_path / "tiny")
    jsonl.write(cats(), tmp_path / "cats.jsonl")
    summary = tmp_path / "summary.md"
    env = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "MODEL": "tiny", "DATA": "cats.jsonl", "BASELINE": "baseline.json", "MARGINS": inputs["margins"]["default"],
        "GITHUB_STEP_SUMMARY": str(summary),
    }  # fmt: skip

    def step(name: str) -> int:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name]]
        return subprocess.run(command, cwd=tmp_path, env=env, timeout=600, check=False).returncode

    assert step("Score") == 0
    assert step("Check") == 2
    assert not summary.exists()
    save(snapshots_of([tmp_path / "runs/next"]), tmp_path / "baseline.json")
    assert step("Check") == 0
    assert summary.read_text().startswith("## Passed: no regression in 6 tests")
    best = planted(tmp_path / "best", tmp_path / "cats.jsonl", even)
    save(snapshots_of([best]), tmp_path / "baseline.json")
    assert step("Check") == 1
    assert "## Failed: regression in" in summary.read_text()
    assert "<testsuites" in (tmp_path / "check.xml").read_text()
