"""A study: one project on a server, and the folder that holds what the server must not know.

study.json       what it is, where it is, what it pays
items.jsonl      the records as they were given; gold.jsonl those whose answers are known, checks.jsonl those that
                 say themselves what to answer
key.jsonl        for each task its item and the order in which it is shown
study.db         seats and answers of people who come by `catsofa annotate open`; store.url if PostgreSQL has them
raw.jsonl        every answer as it came; a line goes only with its person
forgotten.jsonl  when somebody was erased, and how many of their answers; not who
annotations.jsonl, drafts.jsonl, refused.jsonl   what is made of them; drafts that people of the same study judge are
                 items too
people.jsonl     who was invited
adjudicated.jsonl what the owner decided where votes did not
releases.jsonl   releases of what people judged or wrote, and the pseudonyms in them
background.db    what people said about themselves, and what releases say of it, under names that only
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
"""What an older catsofa, killed in the middle, left of a study that was none yet."""
REMEDY = "the file as it was written: copy it back, or make the study anew"
TEXT = "text-"
"""How the ids of texts begin that people of the study judge; the name of the task follows."""
TEXTS = 5
"""Texts of each target, where other people of the study judge them."""
EXPECTED = "the study.json of a study made by catsofa annotate create"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What study.json holds."""

    kind: str
    title: str
    url: str
    project: int = 0
    secret: str
    """What the order of options, the names of tasks and the names in a release are drawn from."""
    overlap: int
    texts: int = 0
    """How many texts are wanted of each target, where other people of the study judge them."""
    seconds: float
    """How long one item is expected to take."""
    pay: float
    """Pay for an hour."""
    currency: str = "USD"
    language: str = "English"
    contact: str = ""
    after_pilot: str = ""
    """The folder of the pilot, from the study's own; the people of the pilot take no part."""
    created: str = ""
    closed: str = ""
    pulled: str = ""
    """Up to when all answers have come home, by the server's times."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of the files that never change: items, gold items and key."""

    def __post_init__(self) -> None:
        """Refuse what no study can be."""
        if self.overlap < 1:
            raise ValueError(f"overlap says how many people judge an item; it cannot be {self.overlap}")
        if self.seconds <= 0 or self.pay < 0:
            raise ValueError("seconds for an item must be above 0, and the pay not below it")
        if not 3 <= len(self.title) <= 50:
            raise ValueError(f"the title {self.title!r} must have 3 to 50 characters: Label Studio takes no other")

    def cents(self, tasks: int) -> int:
        """The pay for so many tasks, rounded up: never below the hour's."""
        return math.ceil(round(tasks * self.seconds * self.pay / 36, 6))


@dataclass(frozen=True)
class Study:
    """A study folder and its settings."""

    folder: Path
    settings: Settings

    @property
    def kind(self) -> Kind:
        """The kind of project it is."""
        return kind_named(self.settings.kind)

    @property
    def project(self) -> int:
        """The number of its project on the server."""
        if not self.settings.project:
            raise ValueError(
                f"{self.folder} has no tasks on a Label Studio server. `catsofa annotate push` sends them; `open` "
                "serves them from here; `import-results` reads a batch of Mechanical Turk"
            )
        return self.settings.project

    @cached_property
    def items(self) -> dict[str, Any]:
        """The records by id, gold items and checks too, and the texts that people of the study judge."""
        records = [*self._records("items.jsonl", self.kind), *self._records("gold.jsonl", self.kind.judged)]
        records += [*self._records("checks.jsonl", self.kind.judged), *self._texts()]
        return {record.id: record for record in records}

    @cached_property
    def sealed(self) -> dict[str, Key]:
        """The keys by token of the tasks that the study was made with."""
        return {key.token: key for key in rows.read(self.folder / "key.jsonl", Key)}

    @cached_property
    def keys(self) -> dict[str, Key]:
        """The keys by token, of the texts too that have come home and that people of the study judge."""
        texts = {text.id.removeprefix(TEXT): text.id for text in self._texts()}
        return self.sealed | {token: Key(token=token, item=text) for token, text in texts.items()}

    def kind_of(self, token: str) -> Kind:
        """The kind of a task: where people write and judge, that of what it is about."""
        return self.kind if isinstance(self.items[self.keys[token].item], self.kind.holds) else self.kind.judged

    def people_for(self, token: str) -> int:
        """How many people are asked to do a task: each of those who write gives one text of a target."""
        return (self.settings.texts if self.kind_of(token).judged_as else 0) or self.settings.overlap

    def tasks(self) -> Iterator[Task]:
        """Every task of the files, items and gold in one random order, so that gold has no place of its own."""
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
        """The records in this file of the folder, if it is there; all texts may have gone with their writers."""
        if (path := self.folder / name).exists() and path.stat().st_size:
            yield from jsonl.read(self.folder / name, kind.holds)

    def refuse_growing(self) -> None:
        """Refuse a study in which people judge what others write meanwhile, where all tasks must be known before."""
        if self.kind.judged_as:
            raise ValueError(
                f"people of {self.folder} judge what others write there, so its tasks are not known beforehand; "
                "catsofa annotate open gives them out"
            )

    def _texts(self) -> Iterator[Any]:
        """The texts that came home and that people of the study judge."""
        yield from self._records("drafts.jsonl", self.kind.judged) if self.kind.judged_as else ()

    def instructions(self) -> str:
        """What people read first."""
        s, writes = self.settings, self.kind.asks is None
        pay, piece = (f"{s.currency} {amount:.2f}" for amount in (s.pay, s.cents(1) / 100))
        if language := page_language.language_of(s.language):
            told = {"seconds": f"{s.seconds:.0f}", "pay": pay, "piece": piece, "contact": s.contact}
            return page_language.instructions(s.kind, language, told | {"writes": writes})
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
        """The page people see, in the language of the study; the choices that come back are the English ones."""
        return self.shown(self.kind)

    def shown(self, kind: Kind) -> Interface:
        """The page of one of the kinds of task, in the language of the study."""
        language = page_language.language_of(self.settings.language)
        return page_language.translated(kind.interface, language) if language else kind.interface

    def page(self, html: str) -> str:
        """A page around the tasks, its buttons in the language of the study."""
        return page_language.page(html, *self._words)

    def said(self, sentence: str) -> str:
        """A sentence of a page in the language of the study; English where the language lacks it."""
        language, texts = self._words
        return page_language.in_language(sentence, texts) if language else sentence

    @cached_property
    def _words(self) -> tuple[Language | None, Mapping[str, str]]:
        """The language of the pages and its texts, read once: a server shows the same pages as long as it runs."""
        language = page_language.language_of(self.settings.language)
        return language, page_language.texts_of(language)[0] if language else {}

    def worded(self, task: Fields) -> Fields:
        """What people see of a task, in the language of the study: whose associations, and which language, in words."""
        return {name: self.said(value) if name in ("people", "language") else value for name, value in task.items()}

    def saved(self, **changes: Any) -> "Study":
        """The study with changed settings, written."""
        settings = replace(self.settings, **changes)
        content = jsonl.adapter(Settings).dump_python(settings, mode="json")
        json_files.write(json_files.sealed(content), self.folder / "study.json")
        return replace(self, settings=settings)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this process alone; a second one waits its turn."""
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
    """Write a new study folder: items, gold items and checks, blinded, with the key; nothing is sent yet."""
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
        language=language,
        contact=contact,
        after_pilot=os.path.relpath(after_pilot, folder) if after_pilot else "",
        created=now(),
    )
    with atomic_folder(folder, lambda file: str(file) in BEFORE) as filling:
        study = Study(filling, settings)
        filling.chmod(0o700)  # it holds the key and the addresses of people
        jsonl.write(_of_type(items, chosen.holds), filling / "items.jsonl")
        for name, records in (("gold.jsonl", gold), ("checks.jsonl", checks)):
            if known := [*with_answers(_of_type(records, chosen.judged.holds), chosen.judged)]:
                jsonl.write(known, filling / name)
        jsonl.write((task.key for task in study.tasks()), filling / "key.jsonl")
        if len(study.keys) < sum(1 for _ in study.tasks()):
            raise ValueError("an item is a gold item too; an item whose answer is known need not be judged")
        study = study.saved(
            files={name: sha256_of(filling / name) for name in sorted(BEFORE) if (filling / name).exists()}
        )
    return Study(folder, study.settings)


def _of_type(records: Iterable[Any], wanted: type[Any]) -> Iterator[Any]:
    """The records; one of another type is refused."""
    for record in records:
        if not isinstance(record, wanted):
            raise ValueError(f"this kind of project takes {kind_name(wanted)}, not {kind_name(type(record))}")
        yield record


def open_study(folder: Path | str) -> Study:
    """The study in a folder; one whose settings, items or key were changed by others is refused."""
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
        found, _ = jsonl.explain(error, Settings)
        raise BadInput(path, found, EXPECTED) from None
    for name, checksum in settings.files.items():
        if sha256_of(existing_file(path.with_name(name), REMEDY)) != checksum:
            raise BadInput(path.with_name(name), "other content than the study was made with", REMEDY)
    return Study(Path(folder), settings)


def read_items(path: Path | str, kind: str) -> Iterator[Any]:
    """The records of a file for this kind of project; a plain list of targets is a text with one a line.

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
    """The time, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
