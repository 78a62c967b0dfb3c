"""Erases a person from every file of a study: answers, drafts, background and identity.

A file names the data to erase until all of it is erased. The next run finishes an erasure that was killed.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from catsofa.annotation.crowd import databases, home, money, seats, settings, store
from catsofa.annotation.crowd.people import arrivals, pilots
from catsofa.annotation.crowd.people.arrivals import Arrival
from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.label_studio import people
from catsofa.annotation.label_studio.people import Invited
from catsofa.annotation.label_studio.pull import digested
from catsofa.annotation.prolific import journal
from catsofa.annotation.prolific.journal import Entry
from catsofa.annotation.results import releases
from catsofa.annotation.results.answers import FORGETTING, FORGOTTEN, Raw, Tombstone, latest
from catsofa.annotation.results.status import wanted_of
from catsofa.annotation.study import Study, now, open_study, rows
from catsofa.data.files import json_files, jsonl


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Data that is being erased."""

    at: str
    names: tuple[str, ...]
    """The person's names in the answers."""
    ids: tuple[str, ...]
    """The platform's names of the person and their submissions, and the address they were invited by."""
    answers: int
    tokens: tuple[str, ...]
    """The tasks they answered."""
    due: int
    """Amount that they are owed, in cents."""
    releases: tuple[str, ...] = ()
    """The releases that hold what they wrote or judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """Data that was erased, and the consequences."""

    answers: int
    short: Mapping[str, tuple[int, int]]
    """Items that now have too few judgements: the number they have, and the number they need."""
    due: int
    releases: tuple[str, ...]
    """Releases that hold what they wrote or judged."""
    left: tuple[str, ...]
    """Files of the study's folder that still name the person."""


def forget(study: Study, person: str) -> Forgotten | None:
    """Erases a person by pseudonym, platform name, address or withdrawal code; returns None if nobody has it.

    First finishes an erasure that was interrupted.
    """
    if study.settings.project:
        raise ValueError(
            f"the answers of {study.folder} are on a Label Studio server, and the next pull would bring them back: "
            "delete the annotations and the account there"
        )
    from filelock import FileLock

    begun = study.folder / FORGETTING
    with FileLock(study.folder / ".forget"):
        if begun.is_file():
            content = json_files.read(begun, "an erasure that was cut off")
            before = jsonl.adapter(Erasure).validate_python(content)
            finished = _erased(study, before)
            codes = {arrivals.code_of(study.settings.secret, name) for name in before.names}
            if person in {*before.names, *before.ids, *codes}:
                return finished
        if (erasure := _found(study, person)) is None:
            return None
        json_files.write(asdict(erasure), begun)
        return _erased(study, erasure)


def erase_identities(study: Study) -> tuple[int, tuple[str, ...]]:
    """Erases the platform's names of all who came to a closed study, and the key that leads to them.

    Returns the number of people, and what still leads to them: files of the folder, and keys of other studies. Answers
    and pseudonyms stay. Afterwards nobody can be paid.
    """
    from filelock import FileLock, Timeout

    if not study.settings.closed:
        raise ValueError(f"{study.folder} is not closed, and people may still come: catsofa annotate close ends it")
    if any(journal.Journal(study).lost()):
        raise ValueError(
            f"a payment of {study.folder} may be lost: catsofa annotate prolific settle asks about it first"
        )
    try:
        stopped = FileLock(study.folder / ".open").acquire(timeout=0)
    except Timeout:
        raise ValueError(
            f"a server of {study.folder} still notes who comes: stop it, and run the command again"
        ) from None
    keys = [each.folder / settings.read(each).people.same_as / arrivals.KEY for each in (study, *pilots.earlier(study))]
    log = [*rows.read(study.folder / arrivals.LOG, Arrival)]
    ids = _ids(log) | {each.email for each in rows.read(study.folder / people.FILE, Invited)}
    with stopped, arrivals.locked(study.folder), study.locked():
        rows.rewrite(study.folder / arrivals.LOG, Arrival, lambda row: replace(row, person="", submission=""))
        (study.folder / arrivals.KEY).unlink(missing_ok=True)
        rows.rewrite(study.folder / people.FILE, Invited, lambda _: None)
    remaining = (*_left(study.folder, (), sorted(ids)), *(str(key) for key in keys if key.is_file()))
    return len({each.name for each in log}), remaining


def unpaid(study: Study) -> tuple[int, int]:
    """Returns the number of people who are still owed money, and the cents.

    Bonuses that `prolific settle` paid are subtracted.
    """
    paid = journal.Journal(study).paid()
    dues = money.dues(study) if arrivals.has_identities(study.folder) else ()
    owed = [amount for due in dues if (amount := due.due - paid[due.name]) > 0]
    return len(owed), sum(owed)


def _ids(log: Iterable[Arrival]) -> set[str]:
    """Returns the platform's names of these people and their submissions, unless they were erased."""
    return {each for arrival in log for each in (arrival.person, arrival.submission) if each}


def _found(study: Study, person: str) -> Erasure | None:
    """Returns the data to erase of a person, or None if nobody matches."""
    log = [*rows.read(study.folder / arrivals.LOG, Arrival)]
    raw = [row for row in rows.read(study.folder / "raw.jsonl", Raw) if not row.annotation.startswith(home.SEAT)]
    answers = [(row.annotator, row.token) for row in raw]
    names, dues = {name for name, _ in answers} | {each.name for each in log}, list[money.Due]()
    address = {person.casefold()} & people.invited(study).keys()
    wanted = {person}
    identified = arrivals.has_identities(study.folder)
    if databases.has_store(study.folder):
        if identified:
            key = arrivals.key_of(study, settings.read(study).people.same_as)
            wanted |= {
                arrivals.name_of(key, platform, each) for platform in arrivals.NAMES for each in {person, *address}
            }
        with store.reading(study.folder, store.identity(study.settings.secret)) as held:
            names |= {
                row["name"] for row in held.all("SELECT name FROM person WHERE consent <> '' OR submission <> ''")
            }
            query = "SELECT s.person, s.task FROM seat s JOIN answer a ON a.nonce = s.nonce"
            answers += [(row["person"], row["task"]) for row in held.all(query)]
        dues = [*money.dues(study)] if identified else []
    code, secret = person.strip().upper(), study.settings.secret
    matches = {name for name in names if name in wanted or arrivals.code_of(secret, name) == code}
    if not matches and not address:
        return None
    ids = _ids(arrival for arrival in log if arrival.name in matches)
    return Erasure(
        at=now(),
        names=tuple(sorted(matches)),
        ids=tuple(sorted(ids | address)),
        answers=sum(name in matches for name, _ in answers),
        tokens=tuple(sorted({token for name, token in answers if name in matches})),
        due=sum(due.due for due in dues if due.name in matches),
        releases=tuple(releases.holding(study, matches)),
    )


def _erased(study: Study, erasure: Erasure) -> Forgotten:
    """Erases all of it, and keeps a tombstone; each step can be repeated."""
    folder, names = study.folder, set(erasure.names)
    if databases.has_store(folder):
        with store.Store(folder, store.identity(study.settings.secret)) as held:
            held.do(lambda stored: seats.forget(stored, erasure.names))
        store.scrub(folder, store.identity(study.settings.secret))
    about = Background(study)
    for name in erasure.names:
        about.remove(name)
    with arrivals.locked(folder):
        rows.rewrite(folder / arrivals.LOG, Arrival, lambda row: None if row.name in names else row)
    with study.locked():
        rows.rewrite(folder / people.FILE, Invited, lambda row: None if row.email in erasure.ids else row)
        rows.rewrite(folder / journal.FILE, Entry, lambda row: _without(row, names))
        releases.forget(study, names)
        rows.rewrite(folder / "raw.jsonl", Raw, lambda row: None if row.annotator in names else row)
        digested(study, 0, 0)
    if study.kind.judged_as:
        home.pull(study)  # also removes what others judged of the person's texts
    tombstone = Tombstone(at=erasure.at, answers=erasure.answers)
    if tombstone not in rows.read(folder / FORGOTTEN, Tombstone):
        rows.append([tombstone], folder / FORGOTTEN)
    done = Forgotten(
        answers=erasure.answers,
        short=_short(study, erasure),
        due=erasure.due,
        releases=erasure.releases,
        left=tuple(_left(folder, erasure.names, erasure.ids)),
    )
    (folder / FORGETTING).unlink()
    return done


def _without(entry: Entry, names: Collection[str]) -> Entry:
    """Returns a payment without the amounts of these people."""
    return replace(entry, owed={name: cents for name, cents in entry.owed.items() if name not in names})


def _short(study: Study, erasure: Erasure) -> dict[str, tuple[int, int]]:
    """Returns the items that the person judged and that now have too few judgements."""
    if databases.has_store(study.folder):
        study = open_study(study.folder)
        with store.reading(study.folder, store.identity(study.settings.secret)) as held:
            tasks = held.all("SELECT token, valid, need FROM task WHERE kind IN ('item', 'write')")
        judgements = {row["token"]: (row["valid"], row["need"]) for row in tasks}
    else:
        judged = {(row.token, row.annotator) for row in latest(study) if not (row.skipped or row.void)}
        counts = Counter(token for token, _ in judged)
        judgements = {token: (counts[token], need) for token, need in wanted_of(study).items()}
    tokens = [token for token in erasure.tokens if token in judgements and token in study.keys]
    needs = ((study.keys[token].item, *judgements[token]) for token in tokens)
    return {item: (have, need) for item, have, need in needs if have < need}


def _left(folder: Path, names: Sequence[str], ids: Sequence[str]) -> Iterator[str]:
    """Yields the files of the study's folder that still name people: copies, lists, and items that they wrote."""
    inside = rb"[A-Za-z0-9_.:@+-]"
    # in a database, other letters may touch a pseudonym, and no longer word contains one
    words = [*(re.escape(name.encode()) for name in names)]
    words += [rb"(?<!%b)%b(?!%b)" % (inside, re.escape(each.encode()), inside) for each in ids]
    named = re.compile(b"|".join(words))
    for path in sorted(folder.rglob("*")):
        if words and path.is_file() and path.name != FORGETTING and named.search(path.read_bytes()):
            yield str(path.relative_to(folder))
