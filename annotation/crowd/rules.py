"""How work is given out: tasks of one person, and the places of checks and gold items among them."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from random import Random

WRITING = 4
"""Tasks as which one text counts where others judge it: so many judgements take as long as writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How work is given out."""

    session: int = 30
    """Tasks of one person, gold items and checks among them."""
    seconds: float = 30.0
    """How long one task is expected to take."""
    first: int = 10
    """The last place at which the first check and the first gold item may stand."""
    check_every: int = 15
    gold_every: int = 15
    """Tasks from one check or gold item to the next, give or take a quarter."""
    fail_after: int = 2
    """Failed checks after which a person gets no further task."""
    pause: bool = False
    """Whether failed checks pause a person, which no platform hears of, and do not fail them."""
    practice: tuple[str, ...] = ()
    """The tokens of the practice items, which come first and beside the session."""
    practice_pass: int = 0
    """Practice items that must be answered rightly."""
    judges: int = 0
    """Judgements of each text, where people write and judge in one study."""
    fast: float = 0.0
    """Seconds below which an answer is too fast; 0: none is."""
    fast_limit: int = 5
    """Answers too fast after which a person is warned; as many again pause them."""

    @property
    def tasks(self) -> int:
        """Tasks of one submission, practice among them."""
        return self.session + len(self.practice)

    break_every: int = 0
    """Tasks after which a person is asked to take a break; 0: they are not."""
    minutes_a_day: int = 0
    """Minutes of answered tasks after which a person gets no further one for the rest of 24 hours; 0: any number."""

    @property
    def minutes(self) -> int:
        """How long one submission is expected to take."""
        return math.ceil(self.tasks * self.seconds / 60)

    @property
    def hold(self) -> float:
        """Seconds for which a task waits for the person who has it."""
        return max(600.0, 20 * self.seconds)


def places(length: int, first: int, every: int, order: Random) -> list[int]:
    """The places of checks among so many tasks: the first at 2 to `first`, then every so many, ± 25 %.

    Each draw has `planned` places, so that what a person does and costs is known before.
    """
    if not (count := planned(length, first, every)):
        return []
    start = order.randint(min(2, length), min(first, length))
    return [start] + [start + n * every + round(every * order.uniform(-1, 1) / 8) for n in range(1, count)]


def nearest(place: int, length: int, taken: Collection[int]) -> int:
    """The free place nearest to this one; none after the last task, to which nobody would come."""
    free = [each for each in range(1, length + 1) if each not in taken]
    return min(free, key=lambda each: (abs(each - place), -each), default=place)


def planned(length: int, first: int, every: int) -> int:
    """How many checks a person meets among so many tasks."""
    return 1 + max(0, length - first - every // 4) // every if length else 0
