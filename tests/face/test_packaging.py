"""What a wheel and an sdist hold, and that an installed wheel works from anywhere."""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

from catsofa.data.checksums import sha256_of


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of a clean copy of the tree."""
    out = tmp_path_factory.mktemp("dist")
    copy = out / "copy"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
    # without isolation: setuptools is here, and a build must not need the network
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    return out


def tracked(*folders: str) -> set[str]:
    """The files of these folders that git tracks."""
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(listed.stdout.split())


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(built: Path) -> None:
    """Only `catsofa` lands in site-packages; tests, benchmarks and docs stay out."""
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    assert {name.split("/")[0] for name in names} == {
        "catsofa",
        next(n for n in names if "dist-info" in n).split("/")[0],
    }
    expected = {
        f if f.startswith("catsofa/") else f"catsofa/{f}"
        for f in tracked("catsofa", "builders", "annotation", "validation", "scoring", "data")
    }
    assert {name for name in names if name.startswith("catsofa/")} == expected


@pytest.mark.slow
def test_the_sdist_can_be_built_from(built: Path) -> None:
    """The sdist holds what the wheel is made of, and the licence."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = tracked("catsofa", "builders", "annotation", "validation", "scoring", "data")
    assert names >= wanted | {"LICENSE", "README.md", "pyproject.toml"}


@pytest.mark.slow
def test_an_installed_wheel_answers_from_another_folder(built: Path, tmp_path: Path) -> None:
    """`pip install` of the wheel, held to its hash as its dependencies are, then `catsofa --help` elsewhere."""
    venv.create(tmp_path / "env")
    wheel = next(built.glob("*.whl"))
    given = f"catsofa @ {wheel.as_uri()}#sha256={sha256_of(wheel)}"
    pip = [sys.executable, "-m", "pip", "--python", str(tmp_path / "env/bin/python"), "install", "-q"]
    subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), given], check=True)
    done = subprocess.run([str(tmp_path / "env/bin/catsofa"), "--help"], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0
    assert "convert" in done.stdout
    site = next((tmp_path / "env/lib").glob("python*/site-packages"))
    ours = {p.name for p in site.iterdir()} & {"builders", "annotation", "validation", "scoring", "data", "tests"}
    assert ours == set()
