"""Tests asynchronous work that a signal stops."""

import asyncio
import gc
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from catsofa.data.runs.event_loops import as_they_end, pump

STOPPED = """
import asyncio, os, signal, sys
from catsofa.data.runs import event_loops
from catsofa.data.runs.event_loops import as_they_end, pump, to_its_end

def end(*_):
    sys.exit(143)

async def work(number):
    try:
        if number == 3:
            os.kill(os.getpid(), SENT)
        await to_its_end(asyncio.sleep(0 if number < 3 else SECONDS))
        with open("whole", "a") as file:
            file.write(f"{number} ")
        return number
    finally:
        with open("ended", "a") as file:
            file.write(f"{number} ")

async def items():
    running = as_they_end(range(10), work, lambda: 4)
    try:
        async for item in running:
            yield item
    finally:
        await running.aclose()

event_loops.GRACE = 1.0
signal.signal(signal.SIGTERM, end)
try:
    for item in pump(items()):
        pass
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_within_the_loop_ends_all_work_without_a_word(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    """The process exits with the handler's code and an empty stderr, and every running task is cleaned up."""
    script = STOPPED.replace("SENT", str(int(sent))).replace("SECONDS", "60")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=30)
    assert (done.returncode, done.stderr) == (code, "")
    ended = {int(number) for number in (tmp_path / "ended").read_text().split()}
    assert ended == {0, 1, 2, 3}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_work_that_ends_soon_after_a_signal_is_whole_and_none_is_begun(sent: signal.Signals, tmp_path: Path) -> None:
    """Replies in progress at the signal are awaited, because they are paid for; no new work begins."""
    script = STOPPED.replace("SENT", str(int(sent))).replace("SECONDS", "0.2")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, timeout=30, check=False)
    whole = {int(number) for number in (tmp_path / "whole").read_text().split()}
    assert 3 in whole
    assert len(whole) < 10


def test_a_caller_that_leaves_between_items_hears_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The generators are closed from the outside in, so closing causes no warning."""

    async def work(number: int) -> int:
        await asyncio.sleep(0 if number < 3 else 60)
        return number

    async def items() -> AsyncGenerator[int]:
        async with aclosing(as_they_end(range(10), work, lambda: 4)) as running:
            async for item in running:
                yield item

    for _ in range(30):
        pumped = pump(items())
        next(pumped)
        pumped.close()
    assert caplog.text == ""


def test_of_tasks_that_fail_together_the_first_one_speaks_for_all(caplog: pytest.LogCaptureFixture) -> None:
    """The first exception is raised, and no other is logged as never retrieved."""

    async def fail(number: int) -> int:
        raise OSError(number)

    with pytest.raises(OSError):  # noqa: PT011 (any of the four)
        list(pump(as_they_end(range(10), fail, lambda: 4)))
    gc.collect()
    assert not caplog.records
