"""Who people are: their pseudonyms, and the one file that says whose they are.

`identity.key` turns the name that a platform gives a person into a pseudonym; `identity.jsonl` holds both, for pay.
Without these two files nobody can tell whose judgements are whose; no other file holds a platform's names.
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
"""The parameters in which a platform names a person and their submission."""
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment of somebody on Mechanical Turk who only looks."""
NAME = re.compile(r"[A-Za-z0-9_.:@+-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One person's submission, under the platform's names and under the pseudonym."""

    name: str
    platform: str
    person: str
    submission: str
    at: str = ""


def prolific_link(address: str) -> str:
    """The link of a study on Prolific, which fills in who comes."""
    return f"{address}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"


def key_of(study: Study, same_as: str) -> str:
    """The key of pseudonyms: that of an earlier study or the pilot, or the study's own, made when first needed."""
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
    """The key in a file, made when it is first needed; one that is lost while a file needs it is refused."""
    if not path.is_file():
        if needed_by.exists() and needed_by.stat().st_size:
            raise BadInput(path, "no such file", f"the key of the pseudonyms in {needed_by.name}; copy it back")
        path.touch(0o600)
        path.write_text(secrets.token_hex(32) + "\n")
    return path.read_text().strip()


def of_request(platform: str, given: Mapping[str, str], key: str, now: str) -> Arrival | None:
    """Who comes with these parameters; nobody if one is missing or no name."""
    person, submission = (given.get(name, "") for name in NAMES[platform])
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
    """The pseudonym of a person of a platform."""
    return f"p{keyed(key, platform, person)[:12]}"


def code_of(secret: str, name: str) -> str:
    """The code with which a person may have their answers deleted later, without a name."""
    return f"W-{keyed(secret, 'withdrawal', name)[:10].upper()}"


def locked(folder: Path) -> AbstractContextManager[Any]:
    """Hold the identities for this process alone; a second one waits its turn."""
    from filelock import FileLock

    return FileLock(folder / ".identity")


def keyed(key: str, *parts: str) -> str:
    """A hash of these texts that nobody computes without the key."""
    return hmac.new(key.encode(), "\n".join(parts).encode(), "sha256").hexdigest()


def has_identities(folder: Path) -> bool:
    """Whether the platform's names of those who came are there, or were erased after the study."""
    return all(each.person for each in rows.read(folder / LOG, Arrival))


def erase_by(study: Study) -> str:
    """The day by which it must be erased who came to a closed study, as its consent page promised; empty: no day."""
    days = settings.read(study).ethics.retention_days
    if not (
        days and study.settings.closed and has_identities(study.folder) and any(rows.read(study.folder / LOG, Arrival))
    ):
        return ""
    return (date.fromisoformat(study.settings.closed[:10]) + timedelta(days=days)).isoformat()


class Arrivals:
    """The people noted so far."""

    def __init__(self, folder: Path) -> None:
        """Read who came before."""
        self._path = folder / LOG
        self._path.touch(0o600)
        self._known()

    def _known(self) -> set[tuple[str, str]]:
        """Who is in the file now: `forget` may have taken somebody out."""
        return {(each.name, each.submission) for each in rows.read(self._path, Arrival)}

    def note(self, arrival: Arrival) -> None:
        """Note somebody once."""
        with locked(self._path.parent):
            if (arrival.name, arrival.submission) not in self._known():
                rows.append([arrival], self._path)
