"""Identities of people: their pseudonyms, and the one file that maps them to people.

`identity.key` turns a platform's name of a person into a pseudonym. `identity.jsonl` holds both, for pay. Without these
two files, nobody can link judgements to people; no other file holds a platform's names.
"""

import hmac
import re
import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from catsofa.annotation.crowd import settings
from catsofa.annotation.study import Study, open_study, rows
from catsofa.data.files import BadInput, existing_file, read_text

KEY, LOG = "identity.key", "identity.jsonl"
NAMES: Mapping[str, tuple[str, str]] = {
    "prolific": ("PROLIFIC_PID", "SESSION_ID"),
    "mturk": ("workerId", "assignmentId"),
    "connect": ("participantId", "assignmentId"),
    "invitation": ("invitation", "invitation"),
}
"""Parameters in which a platform names a person and their submission."""
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Assignment id of somebody on Mechanical Turk who only previews the task."""
NAME = re.compile(r"[A-Za-z0-9_.:@+-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One person's submission, with the platform's names and the pseudonym."""

    name: str
    platform: str
    person: str
    submission: str
    at: str = ""


def prolific_link(address: str) -> str:
    """Returns the link of a study on Prolific, with placeholders for the person and the session."""
    return f"{address}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"


def key_of(study: Study, same_as: str) -> str:
    """Returns the key of the pseudonyms: that of an earlier study or the pilot, else the study's own.

    Creates the study's own key when it is first needed.
    """
    keys = set[str]()
    if same_as:
        remedy = f"the folder of a study that was opened before (people.same_as = {same_as!r})"
        keys.add(read_text(existing_file(study.folder / same_as / KEY, remedy), remedy).strip())
    if study.settings.after_pilot:
        pilot = open_study(study.folder / study.settings.after_pilot)
        keys.add(key_of(pilot, settings.read(pilot).people.same_as))
    if len(keys) > 1:
        raise BadInput(
            study.folder, "a pilot and people.same_as with different keys", "the same people.same_as in both"
        )
    return keys.pop() if keys else key_in(study.folder / KEY, study.folder / LOG)


def key_in(path: Path, needed_by: Path) -> str:
    """Returns the key in a file, and creates it when first needed; refuses a lost key that a file still needs."""
    if not path.is_file():
        if needed_by.exists() and needed_by.stat().st_size:
            raise BadInput(path, "no such file", f"the key of the pseudonyms in {needed_by.name}; copy it back")
        path.touch(0o600)
        path.write_text(secrets.token_hex(32) + "\n")
    return path.read_text().strip()


def of_request(platform: str, params: Mapping[str, str], key: str, now: str) -> Arrival | None:
    """Returns the arrival that these parameters name; None if one is missing or invalid."""
    person, submission = (params.get(name, "") for name in NAMES[platform])
    if platform != "invitation" and not (NAME.fullmatch(person) and NAME.fullmatch(submission)):
        return None
    if submission in ("", PREVIEW):
        return None
    return Arrival(
        name=name_of(key, platform, person),
        platform=platform,
        person=person,
        submission=submission,
        at=now,
    )


def name_of(key: str, platform: str, person: str) -> str:
    """Returns the pseudonym of a person on a platform."""
    return f"p{keyed(key, platform, person)[:12]}"


def code_of(secret: str, name: str) -> str:
    """Returns the code with which a person may have their answers deleted later, without a name."""
    return f"W-{keyed(secret, 'withdrawal', name)[:10].upper()}"


def locked(folder: Path) -> AbstractContextManager[Any]:
    """Returns a lock on the identities; another process waits for it."""
    from filelock import FileLock

    return FileLock(folder / ".identity")


def keyed(key: str, *parts: str) -> str:
    """Returns a hash of these texts that nobody can compute without the key."""
    return hmac.new(key.encode(), "\n".join(parts).encode(), "sha256").hexdigest()


def has_identities(folder: Path) -> bool:
    """Returns True if the platform's names of people are present, or if nobody came; False after their erasure."""
    return all(each.person for each in rows.read(folder / LOG, Arrival))


def erase_by(study: Study) -> str:
    """Returns the day by which the identities of a closed study must be erased, as its consent page promised.

    Empty if no day applies.
    """
    days = settings.read(study).ethics.retention_days
    if not (
        days and study.settings.closed and has_identities(study.folder) and any(rows.read(study.folder / LOG, Arrival))
    ):
        return ""
    return (date.fromisoformat(study.settings.closed[:10]) + timedelta(days=days)).isoformat()


class Arrivals:
    """People noted so far."""

    def __init__(self, folder: Path) -> None:
        """Reads the people who came before."""
        self._path = folder / LOG
        self._path.touch(0o600)
        self._known()

    def _known(self) -> set[tuple[str, str]]:
        """Returns the people in the file now, because `forget` may have removed some."""
        return {(each.name, each.submission) for each in rows.read(self._path, Arrival)}

    def note(self, arrival: Arrival) -> None:
        """Notes a person's submission once."""
        with locked(self._path.parent):
            if (arrival.name, arrival.submission) not in self._known():
                rows.append([arrival], self._path)
