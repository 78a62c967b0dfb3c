import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from catsofa.data.files import atomic_write
from catsofa.data.files.folders import atomic_folder

WRITE = """
import sys, time
from catsofa.data.files import atomic_write
from catsofa.data.files.folders import atomic_folder
if sys.argv[2] == "file":
    with atomic_write(sys.argv[1]) as file:
        file.write(b"half")
        file.flush()
        print("ready", flush=True)
        time.sleep(60)
with atomic_folder(sys.argv[1], lambda file: True) as folder:
    (folder / "a.txt").write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


def a_writer(target: Path, kind: str) -> "subprocess.Popen[str]":
    """Starts a process that waits in the middle of writing."""
    process = subprocess.Popen([sys.executable, "-c", WRITE, target, kind], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def write(target: Path, kind: str) -> None:
    """Writes the complete target."""
    if kind == "file":
        with atomic_write(target) as file:
            file.write(b"whole")
    else:
        with atomic_folder(target, lambda file: True) as folder:
            (folder / "a.txt").write_text("whole")


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there, and what is left stays")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_writer_left_goes_with_the_next_writing(kind: str, tmp_path: Path) -> None:
    """The next write deletes the partial file of a writer killed by SIGKILL."""
    process = a_writer(tmp_path / "target", kind)
    (tmp_path / ".target.more.abcdefgh.partial").touch()  # of another target
    (tmp_path / ".target.partial").touch()  # an unfinished download
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(os.listdir(tmp_path)) == 3
    write(tmp_path / "target", kind)
    assert sorted(os.listdir(tmp_path)) == [".target.more.abcdefgh.partial", ".target.partial", "target"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_another_process_is_writing_stays(kind: str, tmp_path: Path) -> None:
    """A second writer leaves the partial file of a running first writer untouched."""
    process = a_writer(tmp_path / "target", kind)
    try:
        write(tmp_path / "target", kind)
        assert len(list(tmp_path.glob(".target.*.partial"))) == 1
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there, and what is left stays")
def test_a_folder_that_was_stepping_aside_comes_back(tmp_path: Path) -> None:
    """After a kill between two renames, the old folder is restored even if the next write fails."""
    (tmp_path / ".target.abcdefgh.partial" / "old").mkdir(parents=True)
    (tmp_path / ".target.abcdefgh.partial" / "old" / "a.txt").write_text("before")
    with pytest.raises(ZeroDivisionError), atomic_folder(tmp_path / "target", lambda file: True):
        raise ZeroDivisionError
    assert (tmp_path / "target" / "a.txt").read_text() == "before"
    assert os.listdir(tmp_path) == ["target"]
