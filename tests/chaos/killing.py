"""Kills a command repeatedly, reruns it until it ends, and reports irregularities."""

import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from helpers.alike import difference

from catsofa import __main__ as entry

STOPPING = {signal.SIGINT, signal.SIGTERM}
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
ENDS = {signal.SIGINT: (130, -2), signal.SIGTERM: (143, -15), signal.SIGKILL: (-9,)}
"""Exit codes of a stopped command: catsofa's own, and the system's before its handlers were installed."""
IN_A_ROW = 8
"""Kills before a round may end; a command that restarts from scratch each time would never end by chance."""
ANEW = 0.15
"""The share of commands that are started as programs and killed while they import; the others skip the imports."""
STARTING = 4.0
"""Seconds within which those are killed."""
PATIENCE = 600.0

Made = Mapping[str, Any]
"""File contents in bytes; where chunks depend on the speed of the machine, values that may differ by rounding."""


@dataclass(frozen=True)
class Target:
    """A command, its inputs in a folder, and the relevant part of its output."""

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path], None]
    made: Callable[[Path], Made]
    environment: Mapping[str, str] = field(default_factory=dict)
    in_flight: int = 0
    """Simultaneous requests: the most that one kill may have paid for twice."""
    paid_twice: Callable[[Path], int] = lambda work: 0
    """Returns the number of requests that were paid for twice in a folder."""


@dataclass
class Tally:
    """The counts of a target."""

    kills: Counter[signal.Signals] = field(default_factory=Counter)
    rounds: int = 0
    odd: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Returns the counts in a line."""
        sent = ", ".join(f"{self.kills[one]} {one.name}" for one in SIGNALS)
        return f"{self.kills.total()} kills ({sent}) in {self.rounds} rounds, {len(self.odd)} odd"


@dataclass(frozen=True)
class Ended:
    """The end of a command: its code, its output, the start of its work, and its duration."""

    code: int
    said: str
    began: float
    took: float


def disturb(target: Target, kills: int, rng: random.Random, folder: Path) -> Tally:
    """Kills the target so many times; after each round, records irregularities in its output."""
    undisturbed = _fresh(target, folder / "undisturbed")
    ended = run(target, undisturbed)
    if ended.code:
        raise ValueError(f"{target.name} ends with {ended.code} of itself: {ended.said}")
    if twice := target.paid_twice(undisturbed):
        raise ValueError(f"{target.name} pays for {twice} requests twice without a kill")
    expected, tally = target.made(undisturbed), Tally()
    while tally.kills.total() < kills:
        work, before = _fresh(target, folder / f"round-{tally.rounds}"), tally.kills.total()
        _round(target, work, min(kills - before, IN_A_ROW), ended, rng, tally)
        tally.rounds += 1
        tally.odd += [f"{work.name}: {text}" for text in differences(expected, target.made(work))]
        kill_count, twice = tally.kills.total() - before, target.paid_twice(work)
        if twice > target.in_flight * kill_count:
            tally.odd.append(f"{work.name}: {twice} requests are paid twice, after {kill_count} kills")
    return tally


def _round(target: Target, work: Path, most: int, usual: Ended, rng: random.Random, tally: Tally) -> None:
    """Runs the target in its folder until it ends, with at most so many kills, by each signal equally often."""
    for _ in range(most):
        sent, anew = min(SIGNALS, key=lambda signal: tally.kills[signal]), rng.random() < ANEW
        after = rng.uniform(0, STARTING if anew else 1.1 * usual.took)
        ended = run(target, work, (sent, after), anew)
        if ended.code == 0:
            return
        tally.kills[sent] += 1
        started = not anew or ended.began < ended.took
        if started and (ended.code not in ENDS[sent] or "Traceback" in ended.said):
            tally.odd.append(f"{work.name}: {sent.name} after {after:.2f} s ends with {ended.code}: {ended.said}")
    ended = run(target, work)
    if ended.code:
        tally.odd.append(f"{work.name}: undisturbed at last, it ends with {ended.code}: {ended.said}")


def run(target: Target, work: Path, kill: tuple[signal.Signals, float] | None = None, anew: bool = False) -> Ended:
    """Runs the command in its folder; Ctrl-C goes to all its processes like from a terminal, other signals to the
    first.

    The work begins when something in the folder changes. `anew` starts a program, with all its imports.
    """
    before, begun = _stands(work), time.monotonic()
    with (work.parent / f"{work.name}.log").open("w+") as log:
        process = _program(target, work, log) if anew else _fork(target, work, log)
        began = PATIENCE
        while (code := process()) is None:
            since = time.monotonic() - begun
            if began == PATIENCE and _stands(work) != before:
                began = since
            if kill and since >= kill[1]:
                with suppress(ProcessLookupError):  # a copy without a process group yet: the next time
                    (os.killpg if kill[0] is signal.SIGINT else os.kill)(process.pid, kill[0])
                    kill = None
            if since > PATIENCE:
                os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.005)
        log.seek(0)
        return Ended(code, log.read()[-2000:], began, time.monotonic() - begun)


@dataclass(frozen=True)
class _Running:
    """A process; calling it returns its exit code, or None."""

    pid: int

    def __call__(self) -> int | None:
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None


def _program(target: Target, work: Path, log: IO[str]) -> _Running:
    """Starts the program as a user does."""
    program = str(Path(sys.executable).with_name("catsofa"))
    env = os.environ | dict(target.environment)
    options: Any = {"cwd": work, "env": env, "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
    return _Running(subprocess.Popen([program, *target.arguments], start_new_session=True, **options).pid)


def _fork(target: Target, work: Path, log: IO[str]) -> _Running:
    """Forks this process, whose imports are done, to become the program, so that most of its life is work.

    Signals wait until the copy handles them as the program does from its first line, or they would hit the tests.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    if pid := os.fork():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        return _Running(pid)
    code = 1
    try:
        code = _become(target, work, log)
    finally:
        os._exit(code)  # a late signal must not send the copy back into the tests


def _become(target: Target, work: Path, log: IO[str]) -> int:
    """Runs the program in this process; returns its exit code."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        os.chdir(work)
        os.environ.update(target.environment)
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
        sys.argv = ["catsofa", *target.arguments]
        entry._end_at_once()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        entry.main()
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException:  # noqa: BLE001 - what Python itself would print
        traceback.print_exc()
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def differences(expected: Made, found: Made) -> list[str]:
    """Returns the differences from the output without kills."""
    odd = [f"{name} is missing" for name in sorted(expected.keys() - found.keys())]
    odd += [f"{name} is left behind" for name in sorted(found.keys() - expected.keys())]
    odd += [
        f"{name} is other{where}"
        for name in sorted(expected.keys() & found.keys())
        if (where := difference(expected[name], found[name], " at "))
    ]
    return odd


def _fresh(target: Target, work: Path) -> Path:
    """Returns a folder with the target's inputs."""
    work.mkdir(parents=True)
    target.prepare(work)
    return work


def _stands(work: Path) -> list[tuple[str, int]]:
    """Returns the existing files, with their times of change."""
    stands = []
    for folder, _, files in os.walk(work):
        for file in files:
            path = os.path.join(folder, file)
            if os.path.exists(path):
                stands.append((path, os.lstat(path).st_mtime_ns if os.path.lexists(path) else 0))
    return stands
