"""Tests of commands on a faulty machine: a full disk, a read-only folder, another process on the same run."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.alike import difference
from helpers.commands import run_catsofa
from helpers.labelled_texts import write_texts
from helpers.records import bakers, probes
from helpers.tiny_models import BUILDERS

from catsofa.data import formats

PROGRAM = str(Path(sys.executable).with_name("catsofa"))
ROOM = 50_000
"""Bytes that a file may have on the nearly full disk."""


def full(*command: str, cwd: Path, room: int = ROOM) -> "subprocess.CompletedProcess[str]":
    """Runs a command whose files cannot grow over `room`: a limit of the system simulates a full disk."""
    return subprocess.run(
        [PROGRAM, *command],
        cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Returns a folder with CATs and many probes."""
    formats.named("jsonl").write(bakers(40), tmp_path / "cats.jsonl")
    formats.named("jsonl").write(probes(20_000), tmp_path / "probes.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [("convert", "probes.jsonl", "out.csv"), ("convert", "probes.jsonl", "folder", "--to", "release")],
)
def test_a_full_disk_is_one_sentence_and_nothing_half_written(command: tuple[str, ...], work: Path) -> None:
    """The exit code is 2, the error names the remedy, and no part of the result remains."""
    done = full(*command, cwd=work)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "expected a disk with enough room" in done.stderr
    assert sorted(os.listdir(work)) == ["cats.jsonl", "probes.jsonl"]


@pytest.mark.slow
def test_a_run_on_a_full_disk_goes_on_when_there_is_room(tiny_causal: Path, work: Path) -> None:
    """Written scores are kept; with room the same command ends with the result of an undisturbed run."""
    score = ("score", str(tiny_causal), "--on", "probes.jsonl", "--out")
    done = full(*score, "run", cwd=work)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "run" in done.stderr
    whole = [full(*score, name, cwd=work, room=resource.RLIM_INFINITY) for name in ("run", "other")]
    assert [one.returncode for one in whole] == [0, 0]
    one, other = (json.loads((work / name / "report.json").read_bytes()) for name in ("run", "other"))
    assert not difference(one["results"], other["results"])


@pytest.mark.skipif(not Path("/proc/sys").is_dir(), reason="no folder here that takes nothing even from root")
@pytest.mark.parametrize(
    "command", [("convert", "cats.jsonl", "/proc/sys/out.csv"), ("annotate", "create", "/proc/sys/study", "--kind",
    "validate-cats", "--items", "cats.jsonl")]
)  # fmt: skip
def test_a_folder_that_takes_nothing_is_one_sentence(command: tuple[str, ...], work: Path) -> None:
    """A place on a read-only system gives exit code 2, and the error names the place."""
    done = full(*command, cwd=work)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "/proc/sys" in done.stderr


@pytest.mark.slow
def test_a_second_process_on_the_same_run_is_one_sentence(tiny_causal: Path, work: Path) -> None:
    """The second process is refused, and the first continues undisturbed."""
    score = [PROGRAM, "score", str(tiny_causal), "--on", "probes.jsonl", "--out", "run"]
    first = subprocess.Popen(score, cwd=work, stdout=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    while not (work / "run" / "manifest.json").exists():
        assert first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGSTOP)
    second = subprocess.run(score, cwd=work, capture_output=True, text=True)
    first.send_signal(signal.SIGCONT)
    assert second.returncode == 2
    assert "another process is working on the run" in second.stderr
    assert second.stderr.count("\n") == 1
    assert first.wait() == 0


@pytest.fixture
def tiny_causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a causal model with random weights, small enough to build here."""
    import runpy

    build: dict[str, Callable[[Path], None]] = runpy.run_path(str(ROOT / "tests" / "scoring" / "conftest.py"))[
        "BUILDERS"
    ]
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    folder.mkdir()
    build["gpt2"](folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", ["nsp", "sentiment"])
def test_a_training_on_a_full_disk_goes_on_when_there_is_room(command: str, tmp_path: Path) -> None:
    """A full disk gives one sentence; with room the same command ends with the head of an undisturbed training."""
    (tmp_path / "model").mkdir()
    BUILDERS[{"nsp": "gpt2", "sentiment": "bert"}[command]](tmp_path / "model")
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text(" ".join(f"The baker of street {number} sold {n}." for n in range(20)))
    assert run_catsofa("build", "pairs", "--on", ".", "--out", "pairs", cwd=tmp_path).returncode == 0
    write_texts(tmp_path / "texts.jsonl", 200)
    data = {"nsp": ("--pairs", "pairs"), "sentiment": ("--on", "texts.jsonl")}[command]
    train = (command, "train", "model", *data, "--epochs", "1", "--batch", "20", "--save-every", "2")
    nowhere = full(*train, "--out", "/proc/sys/nowhere", cwd=tmp_path)
    for done in (nowhere, full(*train, "--out", "head", cwd=tmp_path)):
        assert (done.returncode, done.stderr.splitlines()[-1][:9]) == (2, "catsofa: "), done.stderr
        assert "Traceback" not in done.stderr
    for out in ("head", "whole"):
        assert full(*train, "--out", out, cwd=tmp_path, room=10**9).returncode == 0
    heads = [{f.name: f.read_bytes() for f in (tmp_path / out).rglob("*.safetensors")} for out in ("head", "whole")]
    assert heads[0] == heads[1] != {}


@pytest.mark.parametrize("command", ["data list", "--version"])
def test_a_closed_stdout_is_one_sentence(command: str) -> None:
    """Nothing can be printed, and the next opened file would get the number of stdout."""
    done = subprocess.run(["sh", "-c", f"{PROGRAM} {command} >&-"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "stdout is closed" in done.stderr


@pytest.mark.slow
def test_a_run_folder_whose_name_is_no_utf8_is_a_folder_as_others(tiny_causal: Path, work: Path) -> None:
    """Bytes that are no text are escaped where the name is printed; the run ends, and its folder exists."""
    command = [os.fsencode(PROGRAM), b"score", os.fsencode(tiny_causal), b"--on", b"cats.jsonl", b"--out", b"run-\xff"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    assert (done.returncode, "codec" in done.stderr) == (0, False), done.stderr
    assert (work / os.fsdecode(b"run-\xff") / "report.json").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [600_000, 2_000_000])
def test_little_address_space_is_one_sentence(kilobytes: int, tiny_causal: Path, work: Path) -> None:
    """A library that does not fit into memory is called neither missing nor broken; aborts of C++ stay aborts."""
    score = f"ulimit -v {kilobytes}; exec {PROGRAM} score {tiny_causal} --on cats.jsonl"
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(["sh", "-c", score], cwd=work, capture_output=True, text=True, check=False, env=env)
    assert done.returncode in (0, 2, -signal.SIGABRT), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "memory" in done.stderr or "bad_alloc" in done.stderr, done.stderr
