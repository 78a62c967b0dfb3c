"""Answers of people about themselves, apart from all other data, under names that only `background.key` computes."""

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
"""Parts of a release with facts about people: the group of each judgement, and the counts of the data statement."""


def published(
    study: Study,
    people: Iterable[str],
    names: Collection[str] = (),
    *,
    again: bool = False,
    beside: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, dict[str, str]]:
    """Returns the publishable answers of each person: every single answer is shared by k people or more.

    `names` selects the questions; by default, all. With `again`, k people or more also share their groups in the data
    statements of earlier releases. A difference of two counts then singles nobody out. `beside` is what other studies
    of the same release say of people, question by question, and under `STUDIES` the studies they are in. Keep the
    result in memory only.
    """
    if not (study.folder / STORE).is_file():
        return {}
    settings, answers = read(study).questionnaire, Background(study).said(people)
    earlier = Background(study).released(answers, "statement") if again else {}
    earlier = {person: {**earlier.get(person, {}), **(beside or {}).get(person, {})} for person in answers}
    rows: dict[str, dict[str, str]] = {person: {} for person in answers}
    for name, question in questions(study, settings).items():
        if not names or name in names:
            column = {person: {name: each[name]} for person, each in answers.items() if name in each}
            before = {
                person: {key: value for key, value in row.items() if key == STUDIES or key.endswith(f" {name}")}
                for person, row in earlier.items()
            }
            steps = steps_of([name], {name: question.wider})
            for person, row in generalised(column, steps, settings.k, before).items():
                rows[person] |= row
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Publishable answers of people beside each of their judgements, and the number of answers changed for that."""

    rows: Mapping[str, Mapping[str, str]]
    k: int
    changed: Mapping[str, Mapping[str, int]]
    """By question: the number of people whose answers are `wider`, and `withheld`."""


def published_together(study: Study, people: Iterable[str], names: Sequence[str]) -> Together:
    """Returns the publishable answers of these people: every combination of answers is shared by k people or more.

    This also holds for every combination with what earlier releases said of them. The first question is widened first.
    """
    settings, store = read(study).questionnaire, Background(study)
    by_name = questions(study, settings)
    if unknown := [name for name in names if name not in by_name]:
        expected = ", ".join(by_name) or "a [questionnaire] in study.toml"
        raise ValueError(f"{study.folder} did not ask people about {unknown[0]!r}; expected {expected}")
    people = sorted(people)
    answers = store.said(people)
    rows = {person: {name: answers.get(person, {}).get(name, NOT_ASKED) for name in names} for person in people}
    steps = steps_of(names, {name: by_name[name].wider for name in names})
    widened = generalised(rows, steps, settings.k, store.released(people, "judgements"))
    changed = {}
    for name in names:
        new = [widened[person][name] for person in people if widened[person][name] != rows[person][name]]
        changed[name] = {"wider": len(new) - new.count(WITHHELD), "withheld": new.count(WITHHELD)}
    return Together(rows=widened, k=settings.k, changed=changed)


class Background:
    """Answers of a study's people to its questionnaire.

    Each call is one transaction on its own connection. The database has no -wal file, and overwrites deleted bytes.
    """

    def __init__(self, study: Study) -> None:
        """Sets the path of the database; nothing is created before somebody answers."""
        self._folder, self.path = study.folder, study.folder / STORE
        self._checksum = row_checksum(identity(study.settings.secret))

    def keep(self, person: str, answers: Mapping[str, str]) -> None:
        """Stores what a person said, in place of their earlier answers."""
        name, text = self._naming()(person), json.dumps(answers, ensure_ascii=False)
        with self._rows() as rows:
            rows.run("INSERT OR REPLACE INTO person VALUES (?, ?, ?)", name, text, self._checksum((name, text)).hex())

    def release(self, part: Part, digest: str, published: Mapping[str, Mapping[str, str]]) -> None:
        """Stores what a part of a release says of people, so that a later one does not tell more of them apart."""
        name_of = self._naming()
        texts = {
            name_of(person): json.dumps([part, digest, row], ensure_ascii=False) for person, row in published.items()
        }
        with self._rows() as rows:
            for name, text in texts.items():
                checksum = self._checksum((name, text)).hex()
                rows.run("INSERT OR IGNORE INTO released VALUES (?, ?, ?)", name, text, checksum)

    def released(self, people: Iterable[str], part: Part) -> dict[str, dict[str, str]]:
        """Returns the answers of these people that this part of all releases shows. Keep them in memory only."""
        if not self.path.is_file():
            return {}
        name_of = self._naming()
        wanted, result = {name_of(person): person for person in people}, defaultdict[str, dict[str, str]](dict)
        with self._rows() as rows:
            stored = [row for row in rows.all("SELECT * FROM released") if row["name"] in wanted]
        self._refuse_changed(stored)
        for row in stored:
            row_part, digest, values = json.loads(row["said"])
            if row_part == part:
                result[wanted[row["name"]]] |= {f"{digest} {column}": value for column, value in values.items()}
        return dict(result)

    def said(self, people: Iterable[str]) -> dict[str, dict[str, str]]:
        """Returns the answers of these people who were asked, by person. Keep them in memory only."""
        if not self.path.is_file():
            return {}
        with self._rows() as rows:
            stored = {row["name"]: row for row in rows.all("SELECT * FROM person")}
        name_of = self._naming()
        matches = {person: stored[name] for person in people if (name := name_of(person)) in stored}
        self._refuse_changed(matches.values())
        return {person: json.loads(row["said"]) for person, row in matches.items()}

    def remove(self, person: str) -> None:
        """Erases a person's answers, and what releases said of them."""
        if self.path.is_file():
            with self._rows() as rows:
                for name in ("person", "released"):
                    rows.run(f"DELETE FROM {name} WHERE name = ?", self._naming()(person))

    def changed(self) -> int:
        """Returns the number of rows that do not match their checksum."""
        with self._rows() as rows:
            stored = [*rows.all("SELECT * FROM person"), *rows.all("SELECT * FROM released")]
        return sum(not self._fits(row) for row in stored)

    def _refuse_changed(self, rows: Iterable[Mapping[str, str]]) -> None:
        """Refuses rows that do not match their checksum."""
        if not all(map(self._fits, rows)):
            raise BadInput(self.path, "a row that its checksum does not fit", REMEDY)

    def _fits(self, row: Mapping[str, str]) -> bool:
        """True if a row matches its checksum."""
        return bool(row["checksum"] == self._checksum((row["name"], row["said"])).hex())

    def _naming(self) -> Callable[[str], str]:
        """Returns the function that computes a person's name in this database, with the current key."""
        return partial(keyed, key_in(self._folder / KEY, self.path), "background")

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        """Opens the rows in one transaction."""
        store = Sqlite(self.path)
        with store.sentences(), closing(store.connected()) as connection:
            store.write(connection)
            rows = Rows(connection, "")
            for columns in ("person (name TEXT PRIMARY KEY, {})", "released (name TEXT, {}, PRIMARY KEY (name, said))"):
                rows.run(f"CREATE TABLE IF NOT EXISTS {columns.format('said TEXT NOT NULL, checksum TEXT NOT NULL')}")
            yield rows
            connection.execute("COMMIT")
