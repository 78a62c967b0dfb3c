"""Tests of the standard repository files: make help, changelog, hosted CI, hooks, templates."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from helpers import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_make_lists_every_target() -> None:
    """`make` alone prints each target of .PHONY with one line."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)$", makefile, re.M)
    assert phony is not None
    command = ["make", "--no-print-directory"]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    listed = {line.split()[0] for line in printed.splitlines() if len(line.split()) > 1}
    assert listed == set(phony[1].replace("\\", "").split())


def test_benchmarks_help_runs_nothing() -> None:
    """`python -m benchmarks --help` names the benchmarks; an unknown name gives exit code 2."""
    command = [sys.executable, "-m", "benchmarks"]
    shown = subprocess.run([*command, "--help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "--write" in shown
    assert "near_duplicates" in shown
    refused = subprocess.run([*command, "zorbs"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2


@pytest.mark.parametrize(("options", "kept"), [([], False), (["--write"], True)])
def test_benchmarks_overwrite_results_only_with_write(tmp_path: Path, options: list[str], kept: bool) -> None:
    """Without `--write` the results go to a temporary folder, whatever CATSOFA_RESULTS names."""
    (tmp_path / "benchmarks").mkdir()
    for name in ("__main__", "machine"):
        (tmp_path / f"benchmarks/{name}.py").write_text((ROOT / f"benchmarks/{name}.py").read_text("utf-8"), "utf-8")
    measure = "from benchmarks.machine import save\nsave('zorbs', 'seconds', {'median': 1.0})\n"
    (tmp_path / "benchmarks/zorbs.py").write_text(measure, "utf-8")
    command = [sys.executable, "-m", "benchmarks", *options]
    environment = {"CATSOFA_RESULTS": str(tmp_path / "kept"), "TMPDIR": str(tmp_path), "PATH": ""}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment)
    assert (tmp_path / "kept/zorbs.json").exists() == kept
    assert len(list(tmp_path.glob("catsofa-benchmarks-*/zorbs.json"))) == (not kept)


def test_the_changelog_has_versions() -> None:
    """Unreleased comes first, then versions in descending order; no line occurs twice."""
    headings = re.findall(r"^## \[([^]]+)\]", CHANGELOG, re.M)
    assert headings[0] == "Unreleased"
    versions = [tuple(map(int, heading.split("."))) for heading in headings[1:]]
    assert versions == sorted(versions, reverse=True)
    assert versions[-1] == (0, 1, 0)
    for part in CHANGELOG.split("\n## ")[1:]:
        parts = re.findall(r"^### (.*)$", part, re.M)
        assert parts == [name for name in ("Added", "Changed", "Fixed") if name in parts]
    lines = Counter(line for line in CHANGELOG.splitlines() if line.startswith("- "))
    assert [line for line, count in lines.items() if count > 1] == []


def test_one_version_stands_in_every_file() -> None:
    """pyproject.toml, CITATION.cff and the signatures of the docs name the newest version of the changelog."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == version
    assert re.findall(r"^## \[(\d[^]]*)\]", CHANGELOG, re.M)[0] == version
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert set(re.findall(r"\| version:([\d.]+)|version = {([\d.]+)}", pages)) == {(version, ""), ("", version)}


def test_hosted_ci_runs_the_same_check() -> None:
    """Each push runs .ci/run on every Python that pyproject.toml names; each week runs make check-slow."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    triggers = workflow[True]  # YAML 1.1 reads the key `on` as a boolean
    assert {"push", "pull_request", "schedule"} <= set(triggers)
    check, slow = workflow["jobs"]["check"], workflow["jobs"]["slow"]
    assert ".ci/run" in [step.get("run") for step in check["steps"]]
    assert "make check-slow" in [step.get("run") for step in slow["steps"]]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    pythons = [line.rpartition(" ")[2] for line in classifiers if re.search(r"Python :: 3\.\d+$", line)]
    assert check["strategy"]["matrix"]["python"] == pythons


def test_the_hooks_are_those_of_make_check() -> None:
    """pre-commit runs ruff and mypy of the environment that `make install` creates."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    assert [hook["entry"].split()[0] for hook in hooks] == [".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy"]


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / ".github").rglob("*.yml")))
def test_every_file_for_the_code_host_is_yaml(name: str) -> None:
    """Each file under .github parses; each form has a name and required fields."""
    content = yaml.safe_load(next((ROOT / ".github").rglob(name)).read_text("utf-8"))
    assert isinstance(content, dict)
    if "body" in content:
        assert {"name", "description"} <= set(content)


def test_the_architecture_page_names_every_folder_of_code() -> None:
    """The table of folders in docs/architecture.md has each folder of the rooms, and no removed folder."""
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = {folder for row in rows for folder in re.findall(r"`([\w/]+)/`", row)}
    rooms = ("data", "builders", "validation", "annotation", "scoring", "catsofa")
    tracked = subprocess.run(["git", "ls-files", *rooms], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [Path(line) for line in tracked.splitlines() if line.endswith(".py")]
    topics = {"/".join(file.parts[:2]) for file in files if len(file.parts) > 2}
    assert topics <= named
    assert {folder for folder in named if not (ROOT / folder).is_dir()} == set()
