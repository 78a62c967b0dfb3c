"""Rules for giving out work: the tasks of one person, and the places of checks and gold items among them."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from random import Random

WRITING = 4
"""Number of tasks that one text counts as where others judge it, because writing takes as long as that many
judgements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules for giving out work."""

    session: int = 30
    """Tasks of one person, including gold items and checks."""
    seconds: float = 30.0
    """Expected seconds for one task."""
    first: int = 10
    """Last possible place of the first check and of the first gold item."""
    check_every: int = 15
    gold_every: int = 15
    """Tasks from one check or gold item to the next, plus or minus a quarter."""
    fail_after: int = 2
    """Failed checks after which a person gets no further task."""
    pause: bool = False
    """True if failed checks pause a person, without notice to the platform, instead of failing them."""
    practice: tuple[str, ...] = ()
    """Tokens of the practice items, which come first and do not count towards the session."""
    practice_pass: int = 0
    """Minimum number of practice items that must be answered right."""
    judges: int = 0
    """Judgements of each text, where people write and judge in one study."""
    fast: float = 0.0
    """Seconds below which an answer is too fast; 0 means no limit."""
    fast_limit: int = 5
    """Number of too fast answers that leads to a warning; twice as many pause the person."""

    @property
    def tasks(self) -> int:
        """Number of tasks of one submission, including practice."""
        return self.session + len(self.practice)

    break_every: int = 0
    """Tasks after which a person is asked to take a break; 0 means never."""
    minutes_a_day: int = 0
    """Maximum minutes of answered tasks of a person within 24 hours; 0 means no limit."""

    @property
    def minutes(self) -> int:
        """Expected minutes of one submission."""
        return math.ceil(self.tasks * self.seconds / 60)

    @property
    def hold(self) -> float:
        """Seconds for which a task is reserved for the person who has it."""
        return max(600.0, 20 * self.seconds)


def places(length: int, first: int, every: int, order: Random) -> list[int]:
    """Returns the places of checks: the first at 2 to `first`, then one after every `every` tasks, ± 25 %.

    Each draw has `planned` places, so that the work and cost of each person are known in advance.
    """
    if not (count := planned(length, first, every)):
        return []
    start = order.randint(min(2, length), min(first, length))
    return [start] + [start + n * every + round(every * order.uniform(-1, 1) / 8) for n in range(1, count)]


def nearest(place: int, length: int, occupied: Collection[int]) -> int:
    """Returns the free place nearest to `place`, or `place` if none is free.

    No place lies after the last task, because nobody would reach it.
    """
    free = [each for each in range(1, length + 1) if each not in occupied]
    return min(free, key=lambda each: (abs(each - place), -each), default=place)


def planned(length: int, first: int, every: int) -> int:
    """Returns the number of checks that a person meets among `length` tasks."""
    return 1 + max(0, length - first - every // 4) // every if length else 0
