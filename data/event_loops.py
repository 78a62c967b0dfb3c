"""Asynchronous work for callers that are not: its event loop runs while the next result is waited for."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import TypeVar

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
