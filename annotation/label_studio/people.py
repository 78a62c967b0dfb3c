"""Invites the people of a study on a server, keeps writers from their own items, reopens items, closes the study."""

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from catsofa.annotation.label_studio import EVERYBODY, Server
from catsofa.annotation.results.answers import REOPENED, Wanted, tokens_of
from catsofa.annotation.results.status import wanted_of
from catsofa.annotation.study import Study, now, open_study, rows
from catsofa.data.digests import hex_digest
from catsofa.data.records import Cat

FILE = "people.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """An invited person; only the hash of the code in their link is stored."""

    email: str
    code: str = ""
    user: int = 0
    """The person's id on the server; 0 until they have an account."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account created for a person, with its first password, which is stored nowhere."""

    email: str
    user: int
    password: str


def invited(study: Study) -> dict[str, Invited]:
    """Returns the current state of every invited person, by e-mail address."""
    return {person.email: person for person in rows.read(study.folder / FILE, Invited)}


def invite(study: Study, emails: Iterable[str]) -> dict[str, str]:
    """Returns a new code for each address without an account, for the link to a study; it replaces an older code."""
    with study.locked():
        before, codes = invited(study), dict[str, str]()
        for email in map(_address, emails):
            if email not in before or not before[email].user:
                codes[email] = secrets.token_urlsafe(16)
        people = (Invited(email=email, code=hashed(code), at=now()) for email, code in codes.items())
        rows.append(people, study.folder / FILE)
    return codes


def expected(study: Study, code: str) -> Invited:
    """Returns the person whose link has this code; raises ValueError for an unknown or replaced code."""
    for person in invited(study).values():
        if person.code and secrets.compare_digest(person.code, hashed(code)):
            return person
    raise ValueError("this link is not known, or a newer one replaced it; ask for another")


def make_accounts(study: Study, server: Server, emails: Iterable[str]) -> Iterator[Account]:
    """Yields a new account for each address, for people who use Label Studio itself; skips people with an account."""
    with study.locked():
        before, registered = invited(study), set(server.users().values())
        for email in map(_address, emails):
            if (email in before and before[email].user) or email in registered:
                continue
            password = secrets.token_urlsafe(9)
            user = server.sign_up(email, password)
            rows.append([Invited(email=email, user=user, at=now())], study.folder / FILE)
            yield Account(email=email, user=user, password=password)


def assign(study: Study, server: Server, report: Callable[[int], None] = lambda done: None) -> tuple[int, int]:
    """Skips every writer's own items for the writer, so that the server never shows them.

    Returns the number of new skips, and the number of items whose writer has no account on the server.
    """
    skipped = elsewhere = 0
    tokens = {key.item: key.token for key in study.keys.values()}
    writers = {
        tokens[item]: str(record.source["writer"])
        for item, record in study.items.items()
        if isinstance(record, Cat) and record.source.get("writer") and item in tokens
    }
    emails = server.users()
    users = {f"ls-{user}": user for user in emails} | {email: user for user, email in emails.items()}
    for done, task in enumerate(server.find(study.project, list(writers)), start=1):
        user = users.get(writers[task.token].casefold())
        if user is None:
            elsewhere += 1
        else:
            skipped += server.skip_for(task.id, user, str(uuid5(NAMESPACE_URL, f"{server.url}/{task.id}/{user}")))
        report(done)
    return skipped, elsewhere


def reopen(study: Study, server: Server, items: Iterable[str], more: int = 2) -> int:
    """Asks `more` further people about these items, or about the items of these associations and questions.

    An item that already waits for further people stays unchanged, so a second call adds nobody. Returns the number of
    changed items.
    """
    with study.locked():
        study = open_study(study.folder)
        if study.settings.closed:
            raise ValueError(f"the study was closed at {study.settings.closed}; the study is closed to judges")
        tokens = tokens_of(study, items)
        wanted, changed = wanted_of(study), 0
        for task in server.find(study.project, tokens):
            waits = not task.finished and task.overlap > study.settings.overlap
            overlap = task.overlap if waits else task.overlap + more
            if not waits:
                server.set_overlap(task.id, overlap)
                changed += 1
            if overlap > wanted[task.token]:
                rows.append([Wanted(token=task.token, overlap=overlap)], study.folder / REOPENED)
    return changed


def close(study: Study, server: Server, report: Callable[[int], None] = lambda done: None) -> Study:
    """Closes the study on the server; a later answer is kept in raw.jsonl and does not count."""
    with study.locked():
        study = open_study(study.folder)
        project = study.project
        study = study if study.settings.closed else study.saved(closed=now())
        for done, task in enumerate(server.find(project, list(study.keys)), start=1):
            if not task.finished or task.overlap == EVERYBODY:
                # with an overlap of 1, an answer from an open window cannot open the task again
                server.set_overlap(task.id, 1, finished=True)
            report(done)
    return study


def hashed(code: str) -> str:
    """Returns the hash of a code, which is stored in its place."""
    return hex_digest(code)


def _address(email: str) -> str:
    """Returns an e-mail address in lower case; raises ValueError for an invalid address."""
    email = email.strip().casefold()
    name, sign, host = email.partition("@")
    if not (name and sign and host) or " " in email:
        raise ValueError(f"{email!r} is no e-mail address")
    return email
