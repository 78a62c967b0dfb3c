import os
import subprocess
import sys

import pytest


def closed_pipe() -> int:
    """Returns the end to write to of a pipe that nobody reads."""
    reads, writes = os.pipe()
    os.close(reads)
    return writes


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--version"], id="text"),
        pytest.param(["--help"], id="help"),
        pytest.param(["protocols", "list"], id="table"),
        pytest.param(["protocols", "list", "--json"], id="JSON"),
    ],
)
def test_a_command_whose_reader_closed_the_pipe_ends_with_141_and_says_nothing(words: list[str]) -> None:
    """Exit code 1 would be a result of `check` and `verify`; a closed pipe is 141, whatever prints."""
    pipe = closed_pipe()
    done = subprocess.run([sys.executable, "-m", "catsofa", *words], stdout=pipe, stderr=subprocess.PIPE, check=False)
    os.close(pipe)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", [["convert", "nowhere.json", "out.jsonl"], ["convert", "--nothing"]])
def test_an_error_that_nobody_reads_ends_with_141_too(words: list[str]) -> None:
    """`2>&1 | head` closes the stream of errors as well."""
    pipe = closed_pipe()
    done = subprocess.run([sys.executable, "-m", "catsofa", *words], stdout=pipe, stderr=pipe, check=False)
    os.close(pipe)
    assert done.returncode == 141
