"""How work is given out: tasks of one person, and the places of checks and gold items among them."""

from dataclasses import dataclass
from random import Random


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

    @property
    def hold(self) -> float:
        """Seconds for which a task waits for the person who has it."""
        return max(600.0, 20 * self.seconds)


def places(length: int, first: int, every: int, order: Random) -> list[int]:
    """The places of checks among so many tasks: the first at 2 to `first`, then every so many, ± 25 %."""
    found = [order.randint(min(2, length), min(first, length))] if length else []
    while found and (following := found[-1] + max(1, round(every * order.uniform(0.75, 1.25)))) <= length:
        found.append(following)
    return found


def most(length: int, first: int, every: int) -> int:
    """How many places there can be."""
    step = max(1, round(every * 0.75))
    return 1 + max(0, length - min(2, first)) // step if length else 0
