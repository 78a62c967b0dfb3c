"""Send a study's tasks to the server, each exactly once.

Label Studio takes the same task twice, and an import that timed out may still be carried out. So before a task is
sent we ask whether it is there; after a silence we wait until the project stands still and ask again; and at the
end a task that stands twice all the same (a second run beside this one) is removed again.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from catsofa.annotation.label_studio import EVERYBODY, Server, ServerTask, Unanswered
from catsofa.annotation.results.status import wanted_of
from catsofa.annotation.study import Study, open_study
from catsofa.annotation.study.interface import spaced
from catsofa.annotation.study.kinds import Task, digest
from catsofa.data.files import BadInput

CHUNK = 1000
"""Tasks in one import: about a second, all of them or none."""
WAITS = (3.0, 10.0, 30.0, 60.0)
"""Seconds for which the project must stand still before each further attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What a push did."""

    sent: int
    there: int
    """How many were on the server before."""
    removed: int
    """How many stood there twice."""
    gold: int
    asked_anew: int
    """Items that the server, changed by hand, would have shown to another number of people."""
    strangers: int
    """Tasks in the project that are none of the study's; their answers are not pulled."""


def push(
    study: Study,
    server: Server,
    *,
    chunk: int = CHUNK,
    waits: Sequence[float] = WAITS,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[Study, Pushed]:
    """Make the project if there is none, send what is not there, show gold items to everybody."""
    with study.locked():
        study = with_project(open_study(study.folder), server)
        tasks = list(study.tasks())
        if [study.keys.get(task.key.token) for task in tasks] != [task.key for task in tasks]:
            raise BadInput(
                study.folder, "items that changed after the study was created", "a new study for other items"
            )
        project, sent, done = study.settings.project, 0, 0
        for start in range(0, len(tasks), chunk):
            some = tasks[start : start + chunk]
            sent += _send(some, project, server, waits)
            done += len(some)
            report(done)
        there, removed = _without_copies(server, project, [task.key.token for task in tasks])
        gold = {task.key.token: EVERYBODY for task in tasks if task.key.gold}
        wanted = gold if study.settings.closed else gold | wanted_of(study)
        changed = [token for token, people in wanted.items() if there[token][0].overlap != people]
        for token in changed:
            server.set_overlap(there[token][0].id, wanted[token])
        strangers = server.task_count(project) - sum(map(len, there.values()))
    asked_anew = len(set(changed) - gold.keys())
    return study, Pushed(
        sent=sent, there=len(tasks) - sent, removed=removed, gold=len(gold), asked_anew=asked_anew, strangers=strangers
    )


def with_project(study: Study, server: Server) -> Study:
    """The study with a project on the server; one that a killed run made is found again by its marker."""
    if study.settings.project:
        return study
    study.refuse_growing()
    s = study.settings
    marker = f"catsofa study {digest({'secret': s.secret})}"
    project = server.create_project(s.title, study.interface.xml, spaced(study.instructions()), s.overlap, marker)
    return study.saved(project=project, url=server.url)


def _send(tasks: Sequence[Task], project: int, server: Server, waits: Sequence[float]) -> int:
    """Import those of the tasks that are not there; how many were sent."""
    sent = 0
    for wait in (*waits, None):
        wanted = {task.key.token: task.key.digest for task in tasks}
        there = set()
        for task in server.find(project, list(wanted)):
            if digest({name: str(value) for name, value in task.data.items()}) != wanted[task.token]:
                raise ValueError(f"task {task.id} of project {project} was changed on the server; it is no longer ours")
            there.add(task.token)
        missing = [task for task in tasks if task.key.token not in there]
        if not missing:
            return sent
        sent = max(sent, len(missing))
        try:
            server.add(project, [task.data for task in missing])
            return sent
        except Unanswered:
            if wait is None:
                raise
            _until_still(server, project, wait)
    return sent


def _until_still(server: Server, project: int, quiet: float) -> None:
    """Wait until the number of tasks has not changed for so many seconds."""
    count, since = -1, time.monotonic()
    while time.monotonic() - since < quiet:
        time.sleep(min(1.0, quiet / 3))
        try:
            found = server.task_count(project)
        except Unanswered:
            continue
        if found != count:
            count, since = found, time.monotonic()


def _without_copies(server: Server, project: int, tokens: Sequence[str]) -> tuple[dict[str, list[ServerTask]], int]:
    """Each task, first the copy with most answers, then the oldest, and how many other copies were removed.

    Answers are joined by token, so a copy that somebody answered already stays: it costs work but no correctness.
    """
    copies: dict[str, list[ServerTask]] = defaultdict(list)
    for task in server.find(project, tokens):
        copies[task.token].append(task)
    removed = 0
    for token, found in copies.items():
        found.sort(key=lambda task: (-task.answers, task.id))
        copies[token] = [task for task in found if task is found[0] or task.answers]
        for task in found[1:]:
            if not task.answers:
                server.remove(task.id)
                removed += 1
    return copies, removed
