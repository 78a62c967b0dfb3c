"""The log of releases that hold what a study's people wrote or judged, by their pseudonyms in the study's releases."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from catsofa.annotation.results.pseudonyms import keyed
from catsofa.annotation.study import Study, now, rows

FILE = "releases.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One release: its name and folder, the checksum of its files, and the people in it."""

    at: str
    name: str
    folder: str
    digest: str
    people: tuple[str, ...]


def note(study: Study, name: str, folder: str, digest: str, people: Iterable[str]) -> None:
    """Notes a release of these people, given by their names in the study; notes a release with equal files once."""
    with study.locked():
        if digest not in {row.digest for row in rows.read(study.folder / FILE, Noted)}:
            named = tuple(sorted(map(keyed(study.settings.secret), people)))
            rows.append([Noted(at=now(), name=name, folder=folder, digest=digest, people=named)], study.folder / FILE)


def holding(study: Study, people: Iterable[str]) -> Iterator[str]:
    """Yields the releases that hold one of these people: name, folder and day."""
    wanted = set(map(keyed(study.settings.secret), people))
    for row in rows.read(study.folder / FILE, Noted):
        if wanted & set(row.people):
            yield f"{row.name} ({row.folder}, {row.at[:10]})"


def forget(study: Study, people: Collection[str]) -> None:
    """Removes these people from the log; the caller holds the lock of the study."""
    gone = set(map(keyed(study.settings.secret), people))
    rows.rewrite(
        study.folder / FILE, Noted, lambda row: replace(row, people=tuple(p for p in row.people if p not in gone))
    )
