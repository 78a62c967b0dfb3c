"""People in the store of a study, without a server."""

from collections.abc import Mapping

from catsofa.annotation.crowd import home, seats
from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.crowd.people.arrivals import Arrival, Arrivals
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Rows
from catsofa.annotation.study import Study

NOW = 1_700_000_000


def come(
    study: Study,
    rules: Rules,
    people: Mapping[str, tuple[int, int, bool]],
    platform: str = "prolific",
    seconds: float = 0,
) -> None:
    """Each person answers so many tasks, with so many of three gold questions right, then stops or pauses.

    An answer takes `seconds`.
    """
    arrivals.key_of(study, "")
    noted = Arrivals(study.folder)

    def job(held: Rows) -> None:
        for name, (answers, right, stops) in people.items():
            seats.arrive(held, rules, name, f"s-{name}", "c", NOW)
            for _ in range(answers):
                task = seats.next_task(held, rules, name, NOW)
                if isinstance(task, Given):
                    mark = (right, 3) if study.keys[task.token].gold else (0, 0)
                    reply = {f"label_{k}": "unrelated" for k in (1, 2, 3)}
                    seats.answer(held, rules, name, task.nonce, reply, mark, NOW + seconds)
            if stops:
                seats.stop(held, name)

    with home.open_store(study) as store:
        for name in people:
            noted.note(Arrival(name=name, platform=platform, person=f"PID-{name}", submission=f"S-{name}"))
        store.do(job)
