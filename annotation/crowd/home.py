"""Opens the store of a study, and copies its answers to raw.jsonl, which votes, status and release read."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import TypeVar

from catsofa.annotation.crowd import databases, seats
from catsofa.annotation.crowd.quality import SET_ASIDE
from catsofa.annotation.crowd.rules import WRITING
from catsofa.annotation.crowd.store import JUDGEMENTS, Row, Rows, Store, identity, reading
from catsofa.annotation.label_studio.pull import Pulled, digested
from catsofa.annotation.results import adjudications
from catsofa.annotation.results.answers import REOPENED, Raw, Wanted, tokens_of
from catsofa.annotation.study import Study, now, open_study, rows
from catsofa.annotation.study.interface import result_of
from catsofa.data.digests import hex_digest
from catsofa.data.records import Association, Cat

SEAT = "seat-"
"""Prefix of the annotation ids of answers given to this server."""
VOID: Mapping[str, str] = {
    "failed_checks": "the person failed the instructed checks",
    "paused_for_checks": "the person was paused after failed instructed checks",
    "paused_for_pace": "the person was paused for answers that were too fast",
    "paused_by_owner": "the person was paused by the owner of the study",
    "voided": "the person's judgements were set aside by the owner of the study",
}
"""Reasons why answers do not count: by the outcome of a person who failed or was paused, else by their state."""
T = TypeVar("T")


def open_store(study: Study, practice: Sequence[str] = (), url: str = "") -> Store:
    """Opens the store of a study with all its tasks.

    Refuses a study with tasks on a Label Studio server, or with imported answers and no store. `practice` are the
    tokens of the practice items. `url` selects a PostgreSQL database for the rows from now on.
    """
    if study.settings.project:
        raise ValueError(
            f"the tasks of {study.folder} are on a Label Studio server, and people would judge them twice; "
            "make another study for people who come to this server"
        )
    raw = rows.read(study.folder / "raw.jsonl", Raw)
    if not databases.has_store(study.folder) and any(not row.annotation.startswith(SEAT) for row in raw):
        raise ValueError(
            f"{study.folder} has answers that came by import-results, and people who come to this server would judge "
            "the same items again; make another study of the items that lack judgements"
        )
    if url:
        databases.choose(study.folder, identity(study.settings.secret), url)
    store = Store(study.folder, identity(study.settings.secret))
    tasks = [(token, "practice", "") for token in practice]
    for key in study.sealed.values():
        item = study.items[key.item]
        writer = str(item.source.get("writer", "")) if isinstance(item, Cat | Association) else ""
        kind = "write" if study.kind_of(key.token).judged_as else "item"
        tasks.append((key.token, "check" if key.check else "gold" if key.gold else kind, writer))
    order = Random(hex_digest(f"{study.settings.secret}:order"))
    store.do(lambda held: seats.add(held, tasks, study.settings.overlap, order, study.settings.texts))
    return store


def refuse_other_practice(held: Rows, study: Study, practice: Collection[str]) -> None:
    """Refuses changed practice items while people work on the old ones, because no page could show those."""
    query = (
        "SELECT p.task, p.person FROM plan p JOIN person q ON q.name = p.person AND q.state = 'working' "
        "JOIN task t ON t.token = p.task AND t.kind = 'practice' LEFT JOIN seat s ON s.task = p.task "
        "AND s.person = p.person AND s.state IN ('checked', 'skipped') WHERE s.task IS NULL"
    )
    if lost := {row["person"] for row in held.all(query) if row["task"] not in practice}:
        raise ValueError(
            f"{len(lost):,} of the people at work began with practice items that {study.folder} no longer has. "
            "Put the [practice] file back as it was, and make another study for other items"
        )


def missing(held: Rows, judges: int = 0) -> int:
    """Returns the number of tasks that are still missing.

    These are judgements, and texts with `judges` judgements each. A text itself counts as `WRITING` tasks.
    """
    query = "SELECT kind, coalesce(sum(need - valid), 0) AS n FROM task GROUP BY kind"
    counts = {row["kind"]: int(row["n"]) for row in held.all(query)}
    return counts.get("item", 0) + counts.get("write", 0) * (WRITING + judges)


def lacking(held: Rows, most: int = 0) -> int:
    """Returns the largest number of different people that one item still lacks.

    Each item needs at least `most` judgements, if `most` is given.
    """
    needed = "CASE WHEN need > ? THEN need ELSE ? END"
    row = held.first(f"SELECT coalesce(max({needed} - valid), 0) AS n FROM task WHERE kind = 'item'", most, most)
    return int((row or {"n": 0})["n"])


def pull(study: Study) -> Pulled:
    """Appends new answers to raw.jsonl, removes those of people who withdrew, and updates the derived files.

    Refuses a store in which somebody changed a row of judgements.
    """
    with study.locked():
        study = open_study(study.folder)
        path = study.folder / "raw.jsonl"
        stored = list(rows.read(path, Raw))
        voids = {row.annotation: row.void for row in stored if row.annotation.startswith(SEAT)}
        with reading(study.folder, identity(study.settings.secret)) as held:
            held.refuse_changed(study.folder, *JUDGEMENTS)
            answers = list(_answers(held, study))
        if gone := voids.keys() - {row.annotation for row in answers}:
            rows.rewrite(path, Raw, lambda row: None if row.annotation in gone else row)
        line_counts = Counter(row.annotation for row in stored)
        fresh = [
            # `updated` must sort after earlier lines about the same answer
            replace(row, updated=f"{row.at}/{line_counts[row.annotation]:03d}")
            for row in answers
            if voids.get(row.annotation) != row.void
        ]
        rows.append(fresh, path)
        pulled = digested(study, len(fresh), sum(row.annotation in voids for row in fresh))
        if gone and study.kind.judged_as:
            adjudications.forget(open_study(study.folder))
        return pulled


def reopen(study: Study, items: Iterable[str], more: int = 2) -> int:
    """Asks `more` further people about each item that waits for nobody; returns the number of reopened items."""
    with study.locked():
        study = open_study(study.folder)
        if study.settings.closed:
            raise ValueError(f"the study was closed at {study.settings.closed}; the study is closed to judges")
        tokens, wanted = tokens_of(study, items), list[Wanted]()

        def job(held: Rows) -> None:
            for token in tokens:
                task = held.get("task", token)
                assert task is not None, "every item of the study is a task"
                if task["valid"] >= task["need"]:
                    seats.reopen(held, [token], task["need"] + more)
                    wanted.append(Wanted(token=token, overlap=task["need"] + more))

        _done(study, job)
        rows.append(wanted, study.folder / REOPENED)
    return len(wanted)


def close(study: Study) -> Study:
    """Closes the study: it gives out no more tasks, and keeps a later answer without counting it."""
    with study.locked():
        study = open_study(study.folder)
        study = study if study.settings.closed else study.saved(closed=now())
        _done(study, lambda held: held.put("about", {"name": "closed", "value": study.settings.closed}))
    return study


def _done(study: Study, job: Callable[[Rows], T]) -> T:
    """Runs a job in the study's store, and returns its result; a server may have the store open."""
    with Store(study.folder, identity(study.settings.secret)) as store:
        return store.do(job)


def _answers(held: Rows, study: Study) -> Iterator[Raw]:
    """Yields every answer and skip in the store, in order of the answers' times."""
    query = (
        "SELECT s.*, t.kind, a.said, a.seconds, a.at, p.state AS standing, p.outcome FROM seat s "
        "JOIN person p ON p.name = s.person JOIN task t ON t.token = s.task AND t.kind NOT IN ('practice', 'gone') "
        "LEFT JOIN answer a ON a.nonce = s.nonce WHERE a.nonce IS NOT NULL OR s.state = 'skipped' ORDER BY a.at"
    )
    for row in held.all(query):
        skipped, void_by = row["state"] == "skipped", "standing" if row["standing"] in VOID else "outcome"
        writing = row["kind"] == "write"
        kind = study.kind if writing else study.kind.judged
        time = _time(row) if skipped else str(row["at"])
        yield Raw(
            annotation=SEAT + hex_digest(row["nonce"], 16),
            updated=time,
            token=row["task"],
            annotator=row["person"],
            at=time,
            seconds=None if skipped else row["seconds"],
            skipped=skipped,
            # others judge a text, so it stays even if its writer's judgements are void
            void=VOID[row[void_by]] if row["standing"] in SET_ASIDE and not (skipped or writing) else "",
            result=[] if skipped else result_of(kind.interface, json.loads(row["said"])),
        )


def _time(row: Row) -> str:
    """Returns the time when a seat was given, by the server's clock."""
    return datetime.fromtimestamp(row["given"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
