"""What people said about themselves, apart from all else: under names that nobody computes without `background.key`."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from catsofa.annotation.crowd.databases import REMEDY, Sqlite
from catsofa.annotation.crowd.people.arrivals import key_in, keyed
from catsofa.annotation.crowd.people.questionnaire import questions
from catsofa.annotation.crowd.settings import read
from catsofa.annotation.crowd.store import Rows, identity
from catsofa.annotation.study import Study
from catsofa.data.digests import row_checksum
from catsofa.data.files import BadInput
from catsofa.data.suppression import WITHHELD, generalised, steps_of

STORE, KEY = "background.db", "background.key"
NOT_ASKED, STUDIES = "not asked", "studies"
Part = Literal["judgements", "statement"]
"""The parts of a release that say something of people: each judgement's group, and the counts of the data statement."""


def published(
    study: Study,
    people: Iterable[str],
    names: Collection[str] = (),
    *,
    again: bool = False,
    beside: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, dict[str, str]]:
    """What may be published of each of these people: every answer alone is that of k people or more.

    Only the questions of these names, or all. With `again`, k people or more also share what the data statements of
    earlier releases counted them under: nobody follows from a difference of two counts. `beside` is what other studies
    of the same release say of people, question by question, and under `STUDIES` which studies they are in. It is for
    memory alone.
    """
    if not (study.folder / STORE).is_file():
        return {}
    settings, said = read(study).questionnaire, Background(study).said(people)
    earlier = Background(study).released(said, "statement") if again else {}
    earlier = {person: {**earlier.get(person, {}), **(beside or {}).get(person, {})} for person in said}
    rows: dict[str, dict[str, str]] = {person: {} for person in said}
    for name, question in questions(study, settings).items():
        if not names or name in names:
            known = {person: {name: each[name]} for person, each in said.items() if name in each}
            before = {
                person: {key: value for key, value in row.items() if key == STUDIES or key.endswith(f" {name}")}
                for person, row in earlier.items()
            }
            steps = steps_of([name], {name: question.wider})
            for person, row in generalised(known, steps, settings.k, before).items():
                rows[person] |= row
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What is published of people with each of their judgements, and how many answers were changed for that."""

    rows: Mapping[str, Mapping[str, str]]
    k: int
    changed: Mapping[str, Mapping[str, int]]
    """By question: how many people's answers are `wider`, and how many `withheld`."""


def published_together(study: Study, people: Iterable[str], names: Sequence[str]) -> Together:
    """What may be published of these people at once: every combination of answers is that of k people or more.

    So is every combination with what earlier releases said of them. The first question is made wider first.
    """
    settings, store = read(study).questionnaire, Background(study)
    asked = questions(study, settings)
    if unknown := [name for name in names if name not in asked]:
        expected = ", ".join(asked) or "a [questionnaire] in study.toml"
        raise ValueError(f"{study.folder} did not ask people about {unknown[0]!r}; expected {expected}")
    people = sorted(people)
    said = store.said(people)
    rows = {person: {name: said.get(person, {}).get(name, NOT_ASKED) for name in names} for person in people}
    steps = steps_of(names, {name: asked[name].wider for name in names})
    found = generalised(rows, steps, settings.k, store.released(people, "judgements"))
    changed = {}
    for name in names:
        new = [found[person][name] for person in people if found[person][name] != rows[person][name]]
        changed[name] = {"wider": len(new) - new.count(WITHHELD), "withheld": new.count(WITHHELD)}
    return Together(rows=found, k=settings.k, changed=changed)


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

    def release(self, part: Part, digest: str, published: Mapping[str, Mapping[str, str]]) -> None:
        """Keep what a part of a release says of people, so that a later one does not tell more of them apart."""
        name_of = self._naming()
        texts = {
            name_of(person): json.dumps([part, digest, row], ensure_ascii=False) for person, row in published.items()
        }
        with self._rows() as rows:
            for name, text in texts.items():
                checksum = self._checksum((name, text)).hex()
                rows.run("INSERT OR IGNORE INTO released VALUES (?, ?, ?)", name, text, checksum)

    def released(self, people: Iterable[str], part: Part) -> dict[str, dict[str, str]]:
        """What this part of all releases together says of these people. It is for memory alone."""
        if not self.path.is_file():
            return {}
        name_of = self._naming()
        wanted, found = {name_of(person): person for person in people}, defaultdict[str, dict[str, str]](dict)
        with self._rows() as rows:
            there = [row for row in rows.all("SELECT * FROM released") if row["name"] in wanted]
        self._refuse_changed(there)
        for row in there:
            of, digest, said = json.loads(row["said"])
            if of == part:
                found[wanted[row["name"]]] |= {f"{digest} {column}": value for column, value in said.items()}
        return dict(found)

    def said(self, people: Iterable[str]) -> dict[str, dict[str, str]]:
        """What these people said, by person; who was not asked is left out. It is for memory alone."""
        if not self.path.is_file():
            return {}
        with self._rows() as rows:
            there = {row["name"]: row for row in rows.all("SELECT * FROM person")}
        name_of = self._naming()
        found = {person: there[name] for person in people if (name := name_of(person)) in there}
        self._refuse_changed(found.values())
        return {person: json.loads(row["said"]) for person, row in found.items()}

    def remove(self, person: str) -> None:
        """Erase what a person said."""
        if self.path.is_file():
            with self._rows() as rows:
                for name in ("person", "released"):
                    rows.run(f"DELETE FROM {name} WHERE name = ?", self._naming()(person))

    def changed(self) -> int:
        """How many rows do not fit their checksum."""
        with self._rows() as rows:
            there = [*rows.all("SELECT * FROM person"), *rows.all("SELECT * FROM released")]
        return sum(not self._fits(row) for row in there)

    def _refuse_changed(self, rows: Iterable[Mapping[str, str]]) -> None:
        """Refuse rows that are not as they were written."""
        if not all(map(self._fits, rows)):
            raise BadInput(self.path, "a row that its checksum does not fit", REMEDY)

    def _fits(self, row: Mapping[str, str]) -> bool:
        """Whether a row is as it was written."""
        return bool(row["checksum"] == self._checksum((row["name"], row["said"])).hex())

    def _naming(self) -> Callable[[str], str]:
        """What gives people their names here, by the key as it is now."""
        return partial(keyed, key_in(self._folder / KEY, self.path), "background")

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        """The rows, in one transaction."""
        store = Sqlite(self.path)
        with store.sentences(), closing(store.connected()) as connection:
            store.write(connection)
            rows = Rows(connection, "")
            for columns in ("person (name TEXT PRIMARY KEY, {})", "released (name TEXT, {}, PRIMARY KEY (name, said))"):
                rows.run(f"CREATE TABLE IF NOT EXISTS {columns.format('said TEXT NOT NULL, checksum TEXT NOT NULL')}")
            yield rows
            connection.execute("COMMIT")
