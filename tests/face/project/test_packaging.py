"""Tests of the content of a wheel and an sdist, and of an installed wheel in another folder."""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from helpers import ROOT

from catsofa.data.files.checksums import sha256_of

ROOMS = ("builders", "annotation", "validation", "scoring", "data")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel and the sdist of a clean copy of the tree."""
    out = tmp_path_factory.mktemp("dist")
    copy = out / "copy"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
    # without isolation: setuptools is installed, and a build must not need the network
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    return out


def package_files() -> set[str]:
    """Returns the tracked files of the package, by their path in the package, without the links to the rooms."""
    folders = ["catsofa", *ROOMS]
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    files = [Path(line) for line in listed.stdout.split()]
    return {
        str(file if file.parts[0] == "catsofa" else "catsofa" / file)
        for file in files
        if not (ROOT / file).is_symlink()
    }


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(built: Path) -> None:
    """Only `catsofa` is installed in site-packages; tests, benchmarks and docs are not."""
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    assert {name.split("/")[0] for name in names} == {
        "catsofa",
        next(n for n in names if "dist-info" in n).split("/")[0],
    }
    assert {name for name in names if name.startswith("catsofa/")} == package_files()


@pytest.mark.slow
def test_the_sdist_can_be_built_from(built: Path) -> None:
    """The sdist contains the sources of the wheel, the licence, the tests and the docs."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        assert not [member.name for member in archive.getmembers() if member.issym()]
    command = ["git", "ls-files", "tests", "docs", "benchmarks", ".ci"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert names >= package_files() | {"LICENSE", "README.md", "pyproject.toml", "CHANGELOG.md", *listed}


@pytest.mark.slow
def test_an_installed_wheel_answers_from_another_folder(built: Path, tmp_path: Path) -> None:
    """`pip install` checks the hashes of the wheel and its dependencies; then `catsofa --help` works in
    another folder.
    """
    venv.create(tmp_path / "env")
    wheel = next(built.glob("*.whl"))
    requirement = f"catsofa @ {wheel.as_uri()}#sha256={sha256_of(wheel)}"
    pip = [sys.executable, "-m", "pip", "--python", str(tmp_path / "env/bin/python"), "install", "-q"]
    subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), requirement], check=True)
    done = subprocess.run([str(tmp_path / "env/bin/catsofa"), "--help"], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0
    assert "convert" in done.stdout
    site = next((tmp_path / "env/lib").glob("python*/site-packages"))
    assert {p.name for p in site.iterdir()} & {*ROOMS, "tests", "benchmarks", "docs"} == set()


def test_a_checkout_without_symbolic_links_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """Git without symbolic links writes a small text file for each room; the import error names the remedy."""
    git = ["git", "-c", "core.symlinks=false", "clone", "-q", "--shared", str(ROOT), str(tmp_path / "copy")]
    subprocess.run(git, check=True)
    command = [sys.executable, "-S", "-c", "import sys; sys.path.insert(0, '.'); import catsofa"]
    done = subprocess.run(command, cwd=tmp_path / "copy", capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "core.symlinks" in last
