"""Pulls answers from the server page by page; appends only new ones to raw.jsonl and never changes its lines."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from catsofa.annotation.label_studio import Server, ServerTask
from catsofa.annotation.results import answers, drafts
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, open_study, rows

PAGE = 500
"""Number of tasks in one page: with five answers each, about a megabyte."""
MARGIN = timedelta(minutes=10)
"""Overlap of two pulls: a pull starts this long before the beginning of the last one, by the server's times.

An answer that was being written at that moment is not missed.
"""
ITS = "ls-"
"""Prefix of the names of the server's users and annotations; a crowd elsewhere has its own names and times."""
UTC_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
"""The only format in which the server's filter reads a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """The counts of a pull."""

    new: int
    changed: int
    """Answers that changed since the last pull; both versions are kept."""
    late: int
    """Answers given after the study was closed; they do not count."""
    records: int
    """Annotations, or drafts of CATs, made from all answers so far."""
    refused: int = 0
    """Texts that make no CAT; refused.jsonl has the reasons."""


def pull(
    study: Study,
    server: Server,
    *,
    page: int = PAGE,
    everything: bool = False,
    report: Callable[[int], None] = lambda done: None,
) -> Pulled:
    """Appends new and changed answers to raw.jsonl, then writes the files made from all answers.

    The pull can be repeated at any time.
    """
    with study.locked():
        study = open_study(study.folder)
        project, path = study.project, study.folder / "raw.jsonl"
        updated = {row.annotation: row.updated for row in rows.read(path, Raw) if row.annotation.startswith(ITS)}
        since = "" if everything else _earlier(study.settings.pulled, MARGIN)
        new, changed, done, begun = 0, 0, 0, time.monotonic()
        answered = iter(server.answered_since(project, since, page))
        while some := list(islice(answered, page)):
            fresh = [
                row for task in some for row in _answers(task, study) if updated.get(row.annotation) != row.updated
            ]
            rows.append(fresh, path)
            changed += sum(row.annotation in updated for row in fresh)
            new += sum(row.annotation not in updated for row in fresh)
            updated |= {row.annotation: row.updated for row in fresh}
            done += len(some)
            report(done)
        # only a complete pull saves its time: a killed one misses later pages, which need not hold the latest answers
        took = timedelta(seconds=time.monotonic() - begun)
        return digested(study.saved(pulled=_earlier(max(updated.values(), default=""), took)), new, changed)


def digested(study: Study, new: int, changed: int) -> Pulled:
    """Writes the files made from the raw answers, and returns their counts."""
    late = sum(answers.is_late(row, study) for row in rows.read(study.folder / "raw.jsonl", Raw))
    if study.kind.asks is None:
        drafted, refused = drafts.write_drafts(study)
        if study.kind.judged_as:
            answers.write_annotations(open_study(study.folder))
        return Pulled(new=new, changed=changed, late=late, records=drafted, refused=refused)
    return Pulled(new=new, changed=changed, late=late, records=answers.write_annotations(study))


def _earlier(moment: str, duration: timedelta) -> str:
    """Returns a time minus a duration; empty if the time is empty."""
    return (datetime.fromisoformat(moment) - duration).strftime(UTC_TIME) if moment else ""


def _answers(task: ServerTask, study: Study) -> Iterator[Raw]:
    """Yields people's answers to a task that catsofa pushed; nothing for any other task."""
    if task.token not in study.keys:
        return
    for annotation in task.annotations:
        yield Raw(
            annotation=f"{ITS}{annotation['id']}",
            updated=_text(annotation["updated_at"]),
            token=task.token,
            annotator=name_of(annotation["completed_by"]),
            at=_text(annotation["created_at"]),
            seconds=annotation.get("lead_time"),
            skipped=bool(annotation["was_cancelled"]),
            result=annotation["result"] or [],
        )


def name_of(user: Any) -> str:
    """Returns the name of a server's user in catsofa's files: a number, no address."""
    return f"{ITS}{user['id'] if isinstance(user, dict) else user}"


def _text(time: Any) -> str:
    """Returns a time as ISO 8601 in UTC."""
    return time if isinstance(time, str) else time.strftime(UTC_TIME)
