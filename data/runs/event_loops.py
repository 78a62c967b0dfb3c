"""Runs asynchronous work for synchronous callers: the event loop runs while the caller waits for the next result."""

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")

SIGNALS = (signal.SIGTERM, signal.SIGINT)
GRACE = 5.0
"""Seconds that paid work may take to end after a first Ctrl-C, so that its result is kept."""


def pump(items: AsyncGenerator[T]) -> Generator[T]:
    """The items of an asynchronous generator; an interruption ends running work without further messages."""

    async def following() -> T | None:
        return await anext(items, None)

    runner = asyncio.Runner()
    try:
        while (item := _run(runner, following)) is not None:
            yield item
    finally:
        # a signal can leave a pending request to stop the loop, which would stop the clean-up
        with suppress(RuntimeError):
            runner.get_loop().run_until_complete(asyncio.sleep(0))
        try:
            # close from the outside in: the runner closes all generators at once, so inner ones would be closed twice
            with suppress(RuntimeError):
                runner.get_loop().run_until_complete(items.aclose())
        finally:  # a second Ctrl-C
            runner.close()


def _run(runner: asyncio.Runner, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of the work. A first SIGINT or SIGTERM cancels the work, and then calls the usual handler.

    An exception raised by a signal handler within the loop would leave generators half-run, which then warn, and
    would give paid work no time to end.
    """
    usual = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}
    if threading.current_thread() is not threading.main_thread():
        usual = {}
    loop, interrupts, tasks = runner.get_loop(), list[int](), list[asyncio.Task[T]]()

    def cancel(number: int, frame: FrameType | None) -> None:
        if interrupts:
            usual[signal.Signals(number)](number, frame)
        interrupts.append(number)
        for task in tasks:
            task.cancel()
        loop.call_soon_threadsafe(lambda: None)  # wakes a loop that waits for the network

    try:
        for number in usual:
            signal.signal(number, cancel)
        tasks.append(loop.create_task(work()))
        if interrupts:
            tasks[0].cancel()
        return loop.run_until_complete(tasks[0])
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if interrupts:
            usual[signal.Signals(interrupts[0])](interrupts[0], None)


async def as_they_end(
    items: Iterable[S], work: Callable[[S], Coroutine[Any, Any, T]], most: Callable[[], int]
) -> AsyncGenerator[T]:
    """The results of the work on the items as they finish; `most` limits concurrency. Closing cancels the rest."""
    waiting = iter(items)
    running: set[asyncio.Task[T]] = set()
    ended: asyncio.Queue[asyncio.Task[T]] = asyncio.Queue()
    try:
        while True:
            while len(running) < most() and (item := next(waiting, None)) is not None:
                task = asyncio.create_task(work(item))
                task.add_done_callback(ended.put_nowait)
                running.add(task)
            if not running:
                return
            task = await ended.get()
            yield task.result()
            running.discard(task)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(
            *running, return_exceptions=True
        )  # includes finished tasks whose exception was never retrieved


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of paid work: after a first cancellation it has `GRACE` seconds to end, after a second none."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        try:
            await asyncio.wait([task], timeout=GRACE)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            raise
        return task.result()
