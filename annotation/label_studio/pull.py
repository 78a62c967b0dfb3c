"""Bring answers home: a page at a time, only what is new, appended to raw.jsonl and never changed there."""

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
"""Tasks in one page: with five answers each, about a megabyte."""
MARGIN = timedelta(minutes=10)
"""How far before the beginning of the last pull the next one asks, by the times the server gives its answers: what was
being written just then is not missed."""
ITS = "ls-"
"""How the names of what the server numbers begin; a crowd elsewhere gives names and times of its own."""
UTC_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
"""The one way the server's filter reads a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What a pull brought."""

    new: int
    changed: int
    """Answers that somebody changed since the last pull; both versions are kept."""
    late: int
    """Answers given after the study was closed, which do not count."""
    records: int
    """Annotations, or drafts of CATs, that were made of all answers so far."""
    refused: int = 0
    """Texts that make no CAT; refused.jsonl says why."""


def pull(
    study: Study,
    server: Server,
    *,
    page: int = PAGE,
    everything: bool = False,
    report: Callable[[int], None] = lambda read: None,
) -> Pulled:
    """Append what is new to raw.jsonl, then write what is made of it; run it as often as you like."""
    with study.locked():
        study = open_study(study.folder)
        project, path = study.project, study.folder / "raw.jsonl"
        known = {row.annotation: row.updated for row in rows.read(path, Raw) if row.annotation.startswith(ITS)}
        since = "" if everything else _earlier(study.settings.pulled, MARGIN)
        new, changed, read, begun = 0, 0, 0, time.monotonic()
        answered = iter(server.answered_since(project, since, page))
        while some := list(islice(answered, page)):
            fresh = [row for task in some for row in _answers(task, study) if known.get(row.annotation) != row.updated]
            rows.append(fresh, path)
            changed += sum(row.annotation in known for row in fresh)
            new += sum(row.annotation not in known for row in fresh)
            known |= {row.annotation: row.updated for row in fresh}
            read += len(some)
            report(read)
        # only a pull that came to its end says so: of one that was killed the later pages are missing, not the latest
        took = timedelta(seconds=time.monotonic() - begun)
        return digested(study.saved(pulled=_earlier(max(known.values(), default=""), took)), new, changed)


def digested(study: Study, new: int, changed: int) -> Pulled:
    """Write what is made of the raw answers, and count it."""
    late = sum(answers.is_late(row, study) for row in rows.read(study.folder / "raw.jsonl", Raw))
    if study.kind.asks is None:
        kept, refused = drafts.write_drafts(study)
        if study.kind.judged_as:
            answers.write_annotations(open_study(study.folder))
        return Pulled(new=new, changed=changed, late=late, records=kept, refused=refused)
    return Pulled(new=new, changed=changed, late=late, records=answers.write_annotations(study))


def _earlier(at: str, by: timedelta) -> str:
    """A time so much earlier; nothing, if there was none."""
    return (datetime.fromisoformat(at) - by).strftime(UTC_TIME) if at else ""


def _answers(task: ServerTask, study: Study) -> Iterator[Raw]:
    """What people answered to a task that catsofa pushed."""
    if task.token not in study.keys:
        return
    for found in task.annotations:
        yield Raw(
            annotation=f"{ITS}{found['id']}",
            updated=_text(found["updated_at"]),
            token=task.token,
            annotator=name_of(found["completed_by"]),
            at=_text(found["created_at"]),
            seconds=found.get("lead_time"),
            skipped=bool(found["was_cancelled"]),
            result=found["result"] or [],
        )


def name_of(user: Any) -> str:
    """The name of a user of the server in our files: a number, no address."""
    return f"{ITS}{user['id'] if isinstance(user, dict) else user}"


def _text(time: Any) -> str:
    """A time as ISO 8601 in UTC."""
    return time if isinstance(time, str) else time.strftime(UTC_TIME)
