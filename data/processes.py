"""Work without garbage collection, and work shared between forked processes."""

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NoReturn, TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST = 8
"""The maximum number of processes."""
BYTES = 4
"""The bytes of an item's number in the queue."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Turns automatic garbage collection off: each collection scans all objects, also millions without a cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def in_processes(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Returns the result of `work` for each item; forked processes share the work on Linux.

    Results must be picklable; `work` and the items need not be. This process computes every result that did not come
    back, so that errors and warnings are raised here, as without other processes.
    """
    helpers = _helpers(len(items))
    if helpers < 1:
        return [work(item) for item in items]
    done: dict[int, R] = {}
    children: dict[int, Connection] = {}
    queue = os.memfd_create("queue")
    try:
        os.write(queue, b"".join(number.to_bytes(BYTES, "big") for number in range(len(items))))
        os.lseek(queue, 0, os.SEEK_SET)
        with suppress(OSError):  # without memory or numbers for more processes, fewer share the work
            for _ in range(helpers):
                results, end = Pipe(duplex=False)
                if (child := os.fork()) == 0:
                    _serve(work, items, queue, end, [*children.values(), results])
                end.close()
                children[child] = results
        done |= _computed(work, items, queue)
        for results in children.values():
            with suppress(Exception):
                done |= results.recv()
    finally:
        for child, results in children.items():
            with suppress(ProcessLookupError, ChildProcessError):  # gone, where SIGCHLD is ignored
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            results.close()
        os.close(queue)
    return [done[number] if number in done else work(item) for number, item in enumerate(items)]


def _helpers(items: int) -> int:
    """Returns the number of further processes; none beside other threads, whose locks a fork would copy."""
    if sys.platform != "linux" or not all(map(_is_harmless, threading.enumerate())):
        return 0
    return min(len(os.sched_getaffinity(0)), MOST, items) - 1


def _is_harmless(thread: threading.Thread) -> bool:
    """Returns True for this thread, and for those of the spinner and the bar, whose locks no child needs."""
    ours = thread is threading.current_thread() or isinstance(thread, threading.Timer)
    return ours or type(thread).__module__.startswith("rich.")


def _computed(work: Callable[[T], R], items: Sequence[T], queue: int) -> dict[int, R]:
    """Returns the results of this process by the item's number; an item that fails has none, and ends the queue."""
    done: dict[int, R] = {}
    for number in _numbers(queue):
        try:
            done[number] = work(items[number])
        except _Warned:
            continue
        except Exception:  # noqa: BLE001  the caller raises it, when each process has finished its item
            with _locked(queue):
                os.lseek(queue, 0, os.SEEK_END)
    return done


def _numbers(queue: int) -> Iterator[int]:
    """Yields the number of the next item until the queue is empty; processes share the position in the file."""
    while True:
        with _locked(queue):
            number = os.read(queue, BYTES)
        if not number:
            return
        yield int.from_bytes(number, "big")


@contextmanager
def _locked(queue: int) -> Iterator[None]:
    """Keeps the other processes from the queue: Linux moves the position of a file in memory after the read.

    The lock of a process that is killed is released.
    """
    import fcntl  # Windows has no such module

    fcntl.lockf(queue, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.lockf(queue, fcntl.LOCK_UN)


class _Warned(Exception):
    """The work on an item in a child would show a warning."""


def _without_warnings(work: Callable[[T], R], item: T) -> R:
    """Returns the result for an item; raises _Warned if a warning would be shown, which the parent must show."""
    with warnings.catch_warnings(record=True) as shown:
        result = work(item)
    if shown:
        raise _Warned(shown[0].message)
    return result


def _serve(
    work: Callable[[T], R], items: Sequence[T], queue: int, end: Connection, inherited: Sequence[Connection]
) -> NoReturn:
    """Computes results until the queue is empty, sends them, and ends the process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for results in inherited:  # a pipe breaks only if no other process can read it
            results.close()
        end.send(_computed(partial(_without_warnings, work), items, queue))
    finally:
        os._exit(0)
