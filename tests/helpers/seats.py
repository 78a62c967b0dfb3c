"""Stores of crowd studies for tests of seats, and people who work in them."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store

IDENTITY = "ab" * 16
RIGHT, WRONG, NONE = (3, 3), (0, 3), (0, 0)


def kind_of(token: str) -> str:
    """Returns the kind of a task from the prefix of its name."""
    return token.rstrip("0123456789")


def tasks(items: int, gold: int = 0, checks: int = 0) -> list[tuple[str, str, str]]:
    """Returns so many tasks of each kind."""
    counts = {"item": items, "gold": gold, "check": checks}
    return [(f"{kind}{n}", kind, "") for kind, count in counts.items() for n in range(count)]


@contextmanager
def opened(folder: Path, known: list[tuple[str, str, str]], need: int = 5) -> Iterator[Store]:
    """Opens a store with these tasks, and checks for faults at the end."""
    with Store(folder, IDENTITY) as store:
        store.do(lambda rows: seats.add(rows, known, need, random.Random(1)))
        yield store
        assert store.do(lambda rows: [*faults(rows, [token for token, _, _ in known])]) == []


def work(do: Callable[..., Any], rules: Rules, name: str, *, right: tuple[int, int] = RIGHT) -> int:
    """Has a person arrive and answer all tasks. Returns the number of answers. `do` runs each job."""
    do(lambda rows: seats.arrive(rows, rules, name, f"s-{name}", "c", 0))
    done = 0
    while isinstance(task := do(lambda rows: seats.next_task(rows, rules, name, 0)), Given):
        mark, nonce = NONE if task.token.startswith("item") else right, task.nonce
        do(lambda rows, n=nonce, m=mark: seats.answer(rows, rules, name, n, {"q": "yes"}, m, 0))
        done += 1
    return done


def works(store: Store, rules: Rules, name: str, *, right: tuple[int, int] = RIGHT) -> int:
    """Does the same as `work` in one transaction."""
    return store.do(lambda rows: work(lambda job: job(rows), rules, name, right=right))


def state_of(store: Store, name: str) -> list[str]:
    """Returns the states of a person's seats, in order of assignment."""
    query = "SELECT state FROM seat WHERE person = ? ORDER BY position"
    return [row["state"] for row in store.do(lambda rows: rows.all(query, name))]
