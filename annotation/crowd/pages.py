"""Exports pages of tasks for Mechanical Turk, and imports the results of crowd platforms.

Mechanical Turk takes one self-contained HTML page with variables, and a CSV with one row per page of tasks. Its results
come as the batch CSV.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from catsofa.annotation.crowd import databases
from catsofa.annotation.label_studio.pull import Pulled, digested
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, rows
from catsofa.annotation.study.interface import FOLDER, filled, in_script, result_of
from catsofa.annotation.study.kinds import Task
from catsofa.annotation.study.sent import is_answer
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, atomic_write, csv_files, short
from catsofa.data.progress import SILENT, Progress

FIELD = "catsofa"
"""Name of the form field that carries a page's answers."""
COLUMNS = {
    "person": ("WorkerId", "participant_id", "Participant id", "PROLIFIC_PID"),
    "submission": ("AssignmentId", "submission_id", "Submission id", "SESSION_ID"),
    "at": ("SubmitTime", "completed_at", "Completed at", "at"),
    "status": ("AssignmentStatus", "Status", "status"),
    "answers": (f"Answer.{FIELD}", FIELD),
}
"""Column names that platforms use in their CSV, for each kind of value."""
LONGEST = 1e7
"""Maximum number of seconds that a page may report for one task."""
REFUSED = {"rejected", "returned", "timed-out", "timed out"}
"""Status values of the platforms for work that was not accepted."""
REJECTED = "the platform's list has the work as rejected or returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """Number of pages and tasks written."""

    pages: int
    tasks: int


def export(study: Study, out: Path, *, per_page: int = 10, progress: Progress = SILENT) -> Exported:
    """Writes the pages; every page also holds the gold items, and must be given to `overlap` people."""
    study.refuse_growing()
    tasks = list(study.tasks())
    gold, items = [task for task in tasks if task.key.gold], [task for task in tasks if not task.key.gold]
    # tokens are random, so sorting by token spreads the gold items over the page
    pages = [
        sorted(items[start : start + per_page] + gold, key=lambda task: task.key.token)
        for start in range(0, len(items), per_page)
    ]
    out.mkdir(parents=True, exist_ok=True)
    text = filled(
        "crowd.html",
        title=study.settings.title,
        instructions=study.instructions(),
        style=(FOLDER / "page.css").read_text("utf-8"),
        scripts=[(FOLDER / script).read_text("utf-8") for script in ("page.js", "crowd.js")],
        parts=in_script([asdict(part) for part in study.interface.parts]),
        field=FIELD,
    )
    with atomic_write(out / "task.html") as file:
        file.write(study.page(text).encode())
    cells = (
        {"page": _name(page, study), "tasks": in_script([task.data for task in page])} for page in progress.each(pages)
    )
    csv_files.write(cells, out / "input.csv", ("page", "tasks"))
    return Exported(pages=len(pages), tasks=len(study.keys))


def _name(page: Sequence[Task], study: Study) -> str:
    """Returns a page's name: a hash of its tasks."""
    tokens = ",".join(task.key.token for task in page)
    return hex_digest(f"{study.settings.secret}:page:{tokens}", 12)


def import_results(study: Study, path: Path) -> tuple[Pulled, int]:
    """Appends the answers in a platform's CSV to raw.jsonl; also returns the number of rejected or returned rows.

    Rows that were imported before are recognised by their submission, and not added again. If a row is rejected since,
    its answers no longer count. If the rejection was taken back, they count again.
    """
    if study.settings.project or databases.has_store(study.folder):
        where = "on a Label Studio server" if study.settings.project else "given out by `annotate open`"
        raise ValueError(
            f"the tasks of {study.folder} are {where}, so a batch would judge the same items twice; make another study "
            "for Mechanical Turk, and import the batch there"
        )
    with study.locked():
        raw = study.folder / "raw.jsonl"
        by_annotation, lines, by_submission = dict[str, Raw](), Counter[str](), defaultdict[str, dict[str, None]](dict)

        def note(answer: Raw) -> None:
            by_annotation[answer.annotation] = answer
            lines[answer.annotation] += 1
            by_submission[answer.annotation.rpartition("/")[0]][answer.annotation] = None

        for answer in rows.read(raw, Raw):
            note(answer)
        fresh: list[Raw] = []
        refused = new = 0
        for line, row in csv_files.rows(path, (), "the results of a crowd platform"):
            void = REJECTED if _cell(row, "status").casefold() in REFUSED else ""
            refused += bool(void)
            earlier = [by_annotation[name] for name in by_submission[_cell(row, "submission")]]
            for answer in earlier if void else _answers(row, study, path, line):
                before = by_annotation.get(answer.annotation)
                if before and before.void == void:
                    continue
                new += before is None
                # `updated` must sort after earlier lines about the same answer
                later = f"{answer.at}/{lines[answer.annotation]:03d}" if before else answer.updated
                fresh.append(replace(answer, void=void, updated=later))
                note(fresh[-1])
        rows.append(fresh, raw)
        return digested(study, new, len(fresh) - new), refused


def _answers(row: csv_files.Row, study: Study, path: Path, line: int) -> Iterator[Raw]:
    """Yields one person's answers to the tasks of one page."""
    person, submission, sent = (_cell(row, name) for name in ("person", "submission", "answers"))
    if not person or not submission:
        expected = f"the columns {COLUMNS['person'][0]} or {COLUMNS['person'][1]}, {COLUMNS['submission'][0]} or …"
        raise BadInput(path, f"a row without a person or submission among {short(', '.join(row))}", expected, line)
    parsed = _parsed(sent)
    if parsed is None:
        raise BadInput(
            path, f"{short(sent)} as answers", f"what the page sends in {FIELD!r}; reject work that sends else", line
        )
    for token, answer in parsed.items():
        if token not in study.keys:
            raise BadInput(path, f"an answer to {short(token)}", "answers to the tasks of this study", line)
        time = str(answer.get("at") or _cell(row, "at"))
        # answers to unknown questions stay in the result, so that validation refuses them
        values = answer.get("answers", {})
        questions = study.kind.interface.questions
        answered = {name: value for name, value in values.items() if name in questions}
        unasked = [{"from_name": name, "value": {}} for name in values if name not in questions]
        yield Raw(
            annotation=f"{submission}/{token}",
            updated=time,
            token=token,
            annotator=person,
            at=time,
            seconds=answer.get("seconds"),
            skipped=bool(answer.get("skipped")),
            result=result_of(study.kind.interface, answered) + unasked,
        )


def _parsed(text: str) -> dict[str, dict[str, Any]] | None:
    """Parses the answers by token; returns None if they do not have the form that the page sends."""
    try:
        parsed = json.loads(text)
        json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode()  # refuses lone surrogates, NaN and infinity
        good = isinstance(parsed, dict) and all(map(_is_sent, parsed.values()))
    except (ValueError, RecursionError):
        return None
    return parsed if good else None


def _is_sent(answer: Any) -> bool:
    """True if `answer` has the form that a page sends about one task.

    The page runs in a browser, where people can send anything.
    """
    match answer:
        case {"answers": said} if not isinstance(said, dict) or not all(map(is_answer, said.values())):
            return False
        case {"seconds": took} if not (type(took) in (int, float) and 0 <= took <= LONGEST):
            return False
        case {"at": str(at)}:
            return datetime.fromisoformat(at) is not None
        case {"at": _}:
            return False
    return isinstance(answer, dict)


def _cell(row: csv_files.Row, name: str) -> str:
    """Returns the value in the first column that a platform may use for this name; empty without such a column."""
    return next((row[column].strip() for column in COLUMNS[name] if column in row), "")
