"""Sends the tasks of a study to the server, each exactly once.

Label Studio accepts the same task twice, and it may still carry out an import that timed out. A push therefore asks the
server for the tasks before it sends any. After a timeout, it waits until the number of tasks stops changing, and asks
again. At the end it removes duplicate tasks, which a second run in parallel may have sent.
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
"""Number of tasks in one import: about a second, all of them or none."""
WAITS = (3.0, 10.0, 30.0, 60.0)
"""Seconds without a change in the project before each retry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """The counts of a push."""

    sent: int
    there: int
    """Tasks that were on the server before."""
    removed: int
    """Duplicate tasks that were removed."""
    gold: int
    asked_anew: int
    """Items whose overlap on the server differed from the study's; gold items are not counted."""
    strangers: int
    """Tasks in the project that do not belong to the study; their answers are not pulled."""


def push(
    study: Study,
    server: Server,
    *,
    chunk: int = CHUNK,
    waits: Sequence[float] = WAITS,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[Study, Pushed]:
    """Creates the project if needed, sends the missing tasks, and shows gold items to everybody."""
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
        copies, removed = _without_copies(server, project, [task.key.token for task in tasks])
        gold = {task.key.token: EVERYBODY for task in tasks if task.key.gold}
        wanted = gold if study.settings.closed else gold | wanted_of(study)
        changed = [token for token, people in wanted.items() if copies[token][0].overlap != people]
        for token in changed:
            server.set_overlap(copies[token][0].id, wanted[token])
        strangers = server.task_count(project) - sum(map(len, copies.values()))
    asked_anew = len(set(changed) - gold.keys())
    return study, Pushed(
        sent=sent, there=len(tasks) - sent, removed=removed, gold=len(gold), asked_anew=asked_anew, strangers=strangers
    )


def with_project(study: Study, server: Server) -> Study:
    """Returns the study with a project on the server; finds the project of a killed run by its marker."""
    if study.settings.project:
        return study
    study.refuse_growing()
    s = study.settings
    marker = f"catsofa study {digest({'secret': s.secret})}"
    project = server.create_project(s.title, study.interface.xml, spaced(study.instructions()), s.overlap, marker)
    return study.saved(project=project, url=server.url)


def _send(tasks: Sequence[Task], project: int, server: Server, waits: Sequence[float]) -> int:
    """Imports the tasks that the server does not have; returns how many were sent."""
    sent = 0
    for wait in (*waits, None):
        wanted = {task.key.token: task.key.digest for task in tasks}
        present = set()
        for task in server.find(project, list(wanted)):
            if digest({name: str(value) for name, value in task.data.items()}) != wanted[task.token]:
                raise ValueError(f"task {task.id} of project {project} was changed on the server; it is no longer ours")
            present.add(task.token)
        missing = [task for task in tasks if task.key.token not in present]
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
    """Waits until the number of tasks has not changed for `quiet` seconds."""
    count, since = -1, time.monotonic()
    while time.monotonic() - since < quiet:
        time.sleep(min(1.0, quiet / 3))
        try:
            current = server.task_count(project)
        except Unanswered:
            continue
        if current != count:
            count, since = current, time.monotonic()


def _without_copies(server: Server, project: int, tokens: Sequence[str]) -> tuple[dict[str, list[ServerTask]], int]:
    """Returns the copies of each task that stay, and the number of copies removed.

    The copy with the most answers comes first, then the oldest. Answers are joined by token, so a copy with answers
    stays: it costs work but no correctness.
    """
    copies: dict[str, list[ServerTask]] = defaultdict(list)
    for task in server.find(project, tokens):
        copies[task.token].append(task)
    removed = 0
    for token, group in copies.items():
        group.sort(key=lambda task: (-task.answers, task.id))
        copies[token] = [task for task in group if task is group[0] or task.answers]
        for task in group[1:]:
            if not task.answers:
                server.remove(task.id)
                removed += 1
    return copies, removed
