"""What people said about themselves, apart from all else: under names that nobody computes without `background.key`."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial

from catsofa.annotation.crowd.people.arrivals import key_in, keyed
from catsofa.annotation.crowd.people.questionnaire import questions
from catsofa.annotation.crowd.settings import read
from catsofa.annotation.crowd.store import REMEDY, Rows, connected, identity, sentences
from catsofa.annotation.study import Study
from catsofa.data.digests import row_checksum
from catsofa.data.files import BadInput
from catsofa.data.suppression import generalised, steps_of

STORE, KEY = "background.db", "background.key"


def published(study: Study, people: Iterable[str], names: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """What may be published of each of these people: every answer alone is that of k people or more.

    Only the questions of these names, or all. It is for memory alone.
    """
    if not (study.folder / STORE).is_file():
        return {}
    settings, said = read(study).questionnaire, Background(study).said(people)
    rows: dict[str, dict[str, str]] = {person: {} for person in said}
    for name, question in questions(study, settings).items():
        if not names or name in names:
            known = {person: {name: each[name]} for person, each in said.items() if name in each}
            for person, row in generalised(known, steps_of([name], {name: question.wider}), settings.k).items():
                rows[person] |= row
    return rows


class Background:
    """The answers of a study's people to its questionnaire.

    Each call is one transaction of its own connection. There is no -wal file, and deleted bytes are overwritten.
    """

    def __init__(self, study: Study) -> None:
        """Open the store of a study; nothing is made before somebody answers."""
        self._folder, self.path = study.folder, study.folder / STORE
        self._checksum = row_checksum(identity(study.settings.secret))

    def keep(self, person: str, said: Mapping[str, str]) -> None:
        """Keep what a person said, in place of what they said before."""
        name, text = self._naming()(person), json.dumps(said, ensure_ascii=False)
        with self._rows() as rows:
            rows.run("INSERT OR REPLACE INTO person VALUES (?, ?, ?)", name, text, self._checksum((name, text)).hex())

    def said(self, people: Iterable[str]) -> dict[str, dict[str, str]]:
        """What these people said, by person; who was not asked is left out. It is for memory alone."""
        if not self.path.is_file():
            return {}
        with self._rows() as rows:
            there = {row["name"]: row for row in rows.all("SELECT * FROM person")}
        name_of = self._naming()
        found = {person: there[name] for person in people if (name := name_of(person)) in there}
        if not all(map(self._fits, found.values())):
            raise BadInput(self.path, "a row that its checksum does not fit", REMEDY)
        return {person: json.loads(row["said"]) for person, row in found.items()}

    def remove(self, person: str) -> None:
        """Erase what a person said."""
        if self.path.is_file():
            with self._rows() as rows:
                rows.run("DELETE FROM person WHERE name = ?", self._naming()(person))

    def changed(self) -> int:
        """How many rows do not fit their checksum."""
        with self._rows() as rows:
            return sum(not self._fits(row) for row in rows.all("SELECT * FROM person"))

    def _fits(self, row: Mapping[str, str]) -> bool:
        """Whether a row is as it was written."""
        return bool(row["checksum"] == self._checksum((row["name"], row["said"])).hex())

    def _naming(self) -> Callable[[str], str]:
        """What gives people their names here, by the key as it is now."""
        return partial(keyed, key_in(self._folder / KEY, self.path), "background")

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        """The rows, in one transaction."""
        self.path.touch(0o600)
        with sentences(self.path), closing(connected(self.path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            rows = Rows(connection, "")
            rows.run(
                "CREATE TABLE IF NOT EXISTS person (name TEXT PRIMARY KEY, said TEXT NOT NULL, checksum TEXT NOT NULL)"
            )
            yield rows
            connection.execute("COMMIT")
