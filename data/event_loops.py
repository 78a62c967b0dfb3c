"""Asynchronous work for callers that are not: its event loop runs while the next result is waited for."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")


def pump(items: AsyncIterator[T]) -> Iterator[T]:
    """The items of an asynchronous iterator; what stops us ends what is under way, and nothing else is said of it."""

    async def following() -> T | None:
        return await anext(items, None)

    runner = asyncio.Runner()
    try:
        while (item := runner.run(following())) is not None:
            yield item
    finally:
        # a signal can leave the order to stop the loop behind, which would then stop the tidying up
        with suppress(RuntimeError):
            runner.get_loop().run_until_complete(asyncio.sleep(0))
        runner.close()


async def as_they_end(items: Iterable[S], work: Callable[[S], Coroutine[Any, Any, T]], most: int) -> AsyncGenerator[T]:
    """What the work on each item gives, at most so many at once; the caller closes it to let go of those under way."""
    waiting = iter(items)
    running: set[asyncio.Task[T]] = set()
    try:
        while True:
            while len(running) < most and (item := next(waiting, None)) is not None:
                running.add(asyncio.create_task(work(item)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
