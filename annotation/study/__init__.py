"""A study: one project on a server, and the folder that holds what the server must not know.

study.json       kind, server, pay and other settings
items.jsonl      the records as they were given; gold.jsonl those with known answers, checks.jsonl those whose text
                 gives the answer
key.jsonl        the item of each task, and the order in which it is shown
study.db         seats and answers of people who come by `catsofa annotate open`; store.url if PostgreSQL has them
raw.jsonl        every answer as it came; a line is removed only when its person is erased
forgotten.jsonl  when people were erased, and how many of their answers; not who
annotations.jsonl, drafts.jsonl, refused.jsonl   files made from the answers; drafts that people of the same study
                 judge are items too
people.jsonl     the invited people
adjudicated.jsonl decisions of the owner where votes did not decide
releases.jsonl   releases of what people judged or wrote, and the pseudonyms in them
background.db    people's answers about themselves, and what releases publish of them, under names that only
                 background.key gives
"""

import math
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from catsofa.annotation.study import page_language, rows
from catsofa.annotation.study.interface import Interface, instructions
from catsofa.annotation.study.kinds import Fields, Key, Kind, Task, blind, digest, kind_named, with_answers
from catsofa.data import formats
from catsofa.data.digests import FIELD
from catsofa.data.files import BadInput, existing_file, json_files, jsonl
from catsofa.data.files.checksums import sha256_of
from catsofa.data.files.folders import atomic_folder
from catsofa.data.languages import Language
from catsofa.data.records import Term, kind_name

BEFORE = {"items.jsonl", "gold.jsonl", "checks.jsonl", "key.jsonl"}
"""Files that an older catsofa left without a study.json if it was killed while creating a study."""
REMEDY = "the file as it was written: copy it back, or make the study anew"
TEXT = "text-"
"""Prefix of the ids of texts that people of the study judge; the name of the task follows."""
TEXTS = 5
"""Default number of texts about each target, where other people of the study judge them."""
EXPECTED = "the study.json of a study made by catsofa annotate create"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The content of study.json."""

    kind: str
    title: str
    url: str
    project: int = 0
    secret: str
    """The secret that determines the order of options, the names of tasks, and the names in a release."""
    overlap: int
    texts: int = 0
    """Number of texts wanted about each target, where other people of the study judge them."""
    seconds: float
    """Expected seconds for one item."""
    pay: float
    """Pay for an hour."""
    currency: str = "USD"
    language: str = "English"
    contact: str = ""
    after_pilot: str = ""
    """The folder of the pilot, relative to the study's own; people of the pilot cannot take part."""
    created: str = ""
    closed: str = ""
    pulled: str = ""
    """The server's time up to which all answers were pulled."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of the files that never change: items, gold items, checks and key."""

    def __post_init__(self) -> None:
        """Refuses settings that no study can have."""
        if self.overlap < 1:
            raise ValueError(f"overlap says how many people judge an item; it cannot be {self.overlap}")
        if self.seconds <= 0 or self.pay < 0:
            raise ValueError("seconds for an item must be above 0, and the pay not below it")
        if not 3 <= len(self.title) <= 50:
            raise ValueError(f"the title {self.title!r} must have 3 to 50 characters: Label Studio takes no other")

    def cents(self, tasks: int) -> int:
        """Returns the pay for so many tasks in cents, rounded up, so that it is never below the hourly pay."""
        return math.ceil(round(tasks * self.seconds * self.pay / 36, 6))


@dataclass(frozen=True)
class Study:
    """A study folder and its settings."""

    folder: Path
    settings: Settings

    @property
    def kind(self) -> Kind:
        """The kind of the project."""
        return kind_named(self.settings.kind)

    @property
    def project(self) -> int:
        """The number of the project on the server; raises ValueError if the study has none."""
        if not self.settings.project:
            raise ValueError(
                f"{self.folder} has no tasks on a Label Studio server. `catsofa annotate push` sends them; `open` "
                "serves them from here; `import-results` reads a batch of Mechanical Turk"
            )
        return self.settings.project

    @cached_property
    def items(self) -> dict[str, Any]:
        """The records by id: items, gold items, checks, and the texts that people of the study judge."""
        records = [*self._records("items.jsonl", self.kind), *self._records("gold.jsonl", self.kind.judged)]
        records += [*self._records("checks.jsonl", self.kind.judged), *self._texts()]
        return {record.id: record for record in records}

    @cached_property
    def sealed(self) -> dict[str, Key]:
        """The keys of the tasks that the study was created with, by token."""
        return {key.token: key for key in rows.read(self.folder / "key.jsonl", Key)}

    @cached_property
    def keys(self) -> dict[str, Key]:
        """All keys by token, including those of texts that were pulled and that people of the study judge."""
        texts = {text.id.removeprefix(TEXT): text.id for text in self._texts()}
        return self.sealed | {token: Key(token=token, item=text) for token, text in texts.items()}

    def kind_of(self, token: str) -> Kind:
        """Returns the kind of a task; where people write and judge, the task's item decides the kind."""
        return self.kind if isinstance(self.items[self.keys[token].item], self.kind.holds) else self.kind.judged

    def people_for(self, token: str) -> int:
        """Returns how many people are asked to do a task.

        Each writer gives one text about a target, so a writing task goes to as many people as texts are wanted.
        """
        return (self.settings.texts if self.kind_of(token).judged_as else 0) or self.settings.overlap

    def tasks(self) -> Iterator[Task]:
        """Yields every task of the files, with items and gold in one random order, so that gold has no fixed place."""
        judged, secret = self.kind.judged, self.settings.secret
        tasks = [
            *blind(self._records("items.jsonl", self.kind), self.kind, secret),
            *blind(self._records("gold.jsonl", judged), judged, secret, gold=True),
            *blind(self._records("checks.jsonl", judged), judged, secret, gold=True, check=True),
        ]
        for task in sorted(tasks, key=lambda task: task.key.token):
            data = self.worded(task.data)
            yield Task(data=data, key=replace(task.key, digest=digest(data)))

    def _records(self, name: str, kind: Kind) -> Iterator[Any]:
        """Yields the records of a file in the folder; none if it is missing or empty.

        A file of texts is empty if all texts were erased with their writers.
        """
        if (path := self.folder / name).exists() and path.stat().st_size:
            yield from jsonl.read(self.folder / name, kind.holds)

    def refuse_growing(self) -> None:
        """Raises ValueError if people judge what others write meanwhile.

        Its callers need to know all tasks in advance.
        """
        if self.kind.judged_as:
            raise ValueError(
                f"people of {self.folder} judge what others write there, so its tasks are not known beforehand; "
                "catsofa annotate open gives them out"
            )

    def _texts(self) -> Iterator[Any]:
        """Yields the texts that were pulled and that people of the study judge."""
        yield from self._records("drafts.jsonl", self.kind.judged) if self.kind.judged_as else ()

    def instructions(self) -> str:
        """Returns the page that people read first."""
        s, writes = self.settings, self.kind.asks is None
        pay, piece = (f"{s.currency} {amount:.2f}" for amount in (s.pay, s.cents(1) / 100))
        if language := page_language.language_of(s.language):
            values = {"seconds": f"{s.seconds:.0f}", "pay": pay, "piece": piece, "contact": s.contact}
            return page_language.instructions(s.kind, language, values | {"writes": writes})
        return instructions(
            s.kind,
            language=s.language,
            seconds=s.seconds,
            pay=pay,
            piece=piece,
            contact=s.contact,
            writes=writes,
        )

    @property
    def interface(self) -> Interface:
        """The page that people see, in the language of the study; answers use the English choices."""
        return self.shown(self.kind)

    def shown(self, kind: Kind) -> Interface:
        """Returns the page of one of the kinds of task, in the language of the study."""
        language = page_language.language_of(self.settings.language)
        return page_language.translated(kind.interface, language) if language else kind.interface

    def page(self, html: str) -> str:
        """Returns a page around the tasks, with buttons in the language of the study."""
        return page_language.page(html, *self._words)

    def said(self, sentence: str) -> str:
        """Returns a sentence of a page in the language of the study; in English if the language lacks it."""
        language, texts = self._words
        return page_language.in_language(sentence, texts) if language else sentence

    @cached_property
    def _words(self) -> tuple[Language | None, Mapping[str, str]]:
        """The language of the pages and its texts, read once: a server shows the same pages as long as it runs."""
        language = page_language.language_of(self.settings.language)
        return language, page_language.texts_of(language)[0] if language else {}

    def worded(self, task: Fields) -> Fields:
        """Returns the fields of a task with `people` and `language` in the language of the study."""
        return {name: self.said(value) if name in ("people", "language") else value for name, value in task.items()}

    def saved(self, **changes: Any) -> "Study":
        """Saves the study with changed settings, and returns it."""
        settings = replace(self.settings, **changes)
        content = jsonl.adapter(Settings).dump_python(settings, mode="json")
        json_files.write(json_files.sealed(content), self.folder / "study.json")
        return replace(self, settings=settings)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder for this process alone; a second process waits."""
        from filelock import FileLock

        with FileLock(self.folder / ".lock"):
            yield


def create(
    folder: Path | str,
    *,
    kind: str,
    items: Iterable[Any],
    gold: Iterable[Any] = (),
    checks: Iterable[Any] = (),
    title: str = "",
    url: str = "",
    overlap: int | None = None,
    texts: int = TEXTS,
    seconds: float | None = None,
    pay: float = 15.0,
    currency: str = "USD",
    language: str = "English",
    contact: str = "",
    after_pilot: Path | None = None,
    secret: str = "",
) -> Study:
    """Writes a new study folder with the key and blinded items, gold items and checks; sends nothing yet."""
    folder, chosen = Path(folder), kind_named(kind)
    if (folder / "study.json").exists():
        raise BadInput(folder, "a study", "a new folder; catsofa annotate push goes on with this one")
    if chosen.judged_as and texts < 1:
        raise ValueError(f"texts says how many people write about a target; it cannot be {texts}")
    settings = Settings(
        kind=kind,
        title=title or page_language.title(chosen.title, language),
        url=url.rstrip("/"),
        secret=secret or secrets.token_hex(16),
        overlap=chosen.overlap if overlap is None else overlap,
        texts=texts if chosen.judged_as else 0,
        seconds=chosen.seconds if seconds is None else seconds,
        pay=pay,
        currency=currency,
        language=page_language.kept(language),
        contact=contact,
        after_pilot=os.path.relpath(after_pilot, folder) if after_pilot else "",
        created=now(),
    )
    with atomic_folder(folder, lambda file: str(file) in BEFORE) as filling:
        study = Study(filling, settings)
        filling.chmod(0o700)  # it holds the key and the addresses of people
        jsonl.write(_of_type(items, chosen.holds), filling / "items.jsonl")
        for name, records in (("gold.jsonl", gold), ("checks.jsonl", checks)):
            if answered := [*with_answers(_of_type(records, chosen.judged.holds), chosen.judged)]:
                jsonl.write(answered, filling / name)
        jsonl.write((task.key for task in study.tasks()), filling / "key.jsonl")
        if len(study.keys) < sum(1 for _ in study.tasks()):
            raise ValueError("an item is a gold item too; an item whose answer is known need not be judged")
        study = study.saved(
            files={name: sha256_of(filling / name) for name in sorted(BEFORE) if (filling / name).exists()}
        )
    return Study(folder, study.settings)


def _of_type(records: Iterable[Any], wanted: type[Any]) -> Iterator[Any]:
    """Yields the records; raises ValueError for a record of another type."""
    for record in records:
        if not isinstance(record, wanted):
            raise ValueError(f"this kind of project takes {kind_name(wanted)}, not {kind_name(type(record))}")
        yield record


def open_study(folder: Path | str) -> Study:
    """Returns the study in a folder; raises BadInput if its settings, items or key were changed by others."""
    from pydantic import ValidationError

    path = Path(folder) / "study.json"
    if not path.exists():
        raise BadInput(folder, "no study.json", "the folder of a study; catsofa annotate create makes one")
    content = json_files.Node(json_files.read(path, EXPECTED), path, EXPECTED).fields()
    if {FIELD, "files"} & content.keys():
        json_files.check_seal(content, path, REMEDY)
    try:
        settings = jsonl.adapter(Settings).validate_python({k: v for k, v in content.items() if k != FIELD})
    except ValidationError as error:
        problem, _ = jsonl.explain(error, Settings)
        raise BadInput(path, problem, EXPECTED) from None
    for name, checksum in settings.files.items():
        if sha256_of(existing_file(path.with_name(name), REMEDY)) != checksum:
            raise BadInput(path.with_name(name), "other content than the study was made with", REMEDY)
    return Study(Path(folder), settings)


def read_items(path: Path | str, kind: str) -> Iterator[Any]:
    """Yields the records of a file for this kind of project; a .txt file is a list of targets, one per line.

    A file of another form is refused with the command that makes such items.
    """
    chosen = kind_named(kind)
    try:
        if chosen.holds is Term and Path(path).suffix == ".txt":
            from catsofa.data.files import lines

            yield from (Term(category="", term=line.strip()) for _, line in lines(path, "targets, one a line"))
        else:
            yield from formats.read_as(path, chosen.holds)
    except BadInput as error:
        if error.line or Path(path) != error.path:
            raise
        raise BadInput(path, error.found, chosen.made_by) from None


def now() -> str:
    """Returns the current time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
