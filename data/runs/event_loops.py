"""Asynchronous work for callers that are not: its event loop runs while the next result is waited for."""

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")

GRACE = 5.0
"""Seconds in which work that costs money may end after a first Ctrl-C, so that its result is kept."""


def pump(items: AsyncGenerator[T]) -> Generator[T]:
    """The items of an asynchronous generator; what stops us ends what is under way, and nothing else is said of it."""

    async def following() -> T | None:
        return await anext(items, None)

    runner = asyncio.Runner()
    try:
        while (item := _run(runner, following())) is not None:
            yield item
    finally:
        # a signal can leave the order to stop the loop behind, which would then stop the tidying up
        with suppress(RuntimeError):
            runner.get_loop().run_until_complete(asyncio.sleep(0))
        try:
            # from the outside in: the runner closes all generators at once, and those inside are then closed twice
            with suppress(RuntimeError):
                runner.get_loop().run_until_complete(items.aclose())
        finally:  # a second Ctrl-C
            runner.close()


def _run(runner: asyncio.Runner, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work. SIGTERM cancels the work before it does what it usually does, as Ctrl-C does.

    An exception that a signal handler raises within a loop would leave generators half-run, which then complain.
    """
    usual = signal.getsignal(signal.SIGTERM)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        return runner.run(work)
    asked: list[int] = []

    async def cancellable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def cancel(number: int, frame: FrameType | None) -> None:
            if asked or task is None or task.done():
                usual(number, frame)
            else:
                asked.append(number)
                task.cancel()
                loop.call_soon_threadsafe(lambda: None)  # wakes a loop that waits for the network

        signal.signal(signal.SIGTERM, cancel)
        return await work

    try:
        return runner.run(cancellable())
    except asyncio.CancelledError:
        if not asked:
            raise
    finally:
        signal.signal(signal.SIGTERM, usual)
    usual(asked[0], None)
    raise asyncio.CancelledError  # a handler that lets the program go on: the work was cancelled all the same


async def as_they_end(
    items: Iterable[S], work: Callable[[S], Coroutine[Any, Any, T]], most: Callable[[], int]
) -> AsyncGenerator[T]:
    """What the work on each item gives; `most` says how many at once. The caller closes it to let go of the rest."""
    waiting = iter(items)
    done: set[asyncio.Task[T]] = set()
    running: set[asyncio.Task[T]] = set()
    try:
        while True:
            while len(running) < most() and (item := next(waiting, None)) is not None:
                running.add(asyncio.create_task(work(item)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*done, *running, return_exceptions=True)  # also those done whose exception nobody saw


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that costs money: cancelled, it has `GRACE` seconds to end; cancelled again, none."""
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
