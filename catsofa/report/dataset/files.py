"""Reads a data set from disk: items in parts, human judgements, refusals, and the data statement."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catsofa.data import formats
from catsofa.data.content import content_of
from catsofa.data.digests import DIGITS
from catsofa.data.files import BadInput, read_text
from catsofa.data.records import Annotation, Cat, Pair, Probe, Question, Refused, Score
from catsofa.data.release import read_release
from catsofa.data.visible import unmarked
from catsofa.scoring.choosing.measured import RUN as CHOICES
from catsofa.scoring.choosing.replies import ASKED
from catsofa.scoring.run.manifest import MANIFEST
from catsofa.scoring.signature import data_label
from catsofa.validation.annotation_files import Collected, collect, onto

EXPECTED = "a data set: CATs, pairs, probes, annotations or refusals, or a folder of them"
PRIVATE = ("key.jsonl", "people.jsonl", "raw.jsonl", "reopened.jsonl", "adjudicated.jsonl")
"""The private files of a study: who was invited, and the right answers."""
SUFFIXES = (".json", ".jsonl", ".csv", ".tsv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set on disk."""

    title: str
    name: str
    """The name in signatures: every file with the hash of its content."""
    parts: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """CATs, pairs, probes and questions by file or split."""
    are_splits: bool = False
    """True if the parts are splits, which should share nothing."""
    others: Sequence[Any] = ()
    """Records without sentences: terms, identities, stereotypes, association tests."""
    annotations: Sequence[Annotation] = ()
    refused: Mapping[str, Sequence[Refused]] = field(default_factory=dict)
    """Maps a stage to the records that it refused."""
    statement: Sequence[tuple[str, str]] = ()
    """The headings of the data statement with their texts."""
    unread: Sequence[str] = ()
    """The names of files in the folder without records that catsofa reads."""

    @property
    def items(self) -> list[Any]:
        """The records of all parts."""
        return [record for records in self.parts.values() for record in records]

    @property
    def to_judge(self) -> int:
        """The number of texts that people can judge: the candidates of CATs, and pairs."""
        return sum(len(r.candidates) if isinstance(r, Cat) else isinstance(r, Pair) for r in self.items)

    @property
    def line(self) -> str:
        """The data in a signature: the name, with a separate hash of the judgements if there are any."""
        votes = [vote for record in self.items for vote in _votes(record)]
        judgements = content_of([*self.annotations, *votes]) if self.annotations or votes else None
        return f"data:{self.name}" + (f" | judgements:{judgements.digest[:DIGITS]}" if judgements else "")

    @property
    def is_judged(self) -> bool:
        """True if the data set has any judgements."""
        return bool(self.annotations) or any(map(_carries_votes, self.items))

    def judged(self) -> Collected | None:
        """Returns the judgements: the annotations, joined with the CATs they name, or the labels in the items.

        Returns None if there are none.
        """
        items = self.items
        cats = [record for record in items if isinstance(record, Cat)]
        if self.annotations:
            known = {candidate.id for cat in cats for candidate in cat.candidates}
            collected = collect(self.annotations)
            judged_ids = {a.item for a in self.annotations if not a.extra.get("gold")}
            return onto(cats, collected) if judged_ids <= known else collected
        carry = [record for record in items if _carries_votes(record)]
        return collect(carry) if carry else None


def _votes(record: Any) -> list[Annotation]:
    """Returns the human labels in a record."""
    if isinstance(record, Cat):
        return [vote for candidate in record.candidates for vote in candidate.votes]
    return list(record.votes) if isinstance(record, Pair) else []


def _carries_votes(record: Any) -> bool:
    """Returns True if the record contains human labels."""
    return bool(_votes(record))


def is_dataset(path: Path) -> bool:
    """Returns True for a data set; False for the output of a command, and for a folder with a run in it or below it."""
    if path.is_file():
        # a .jsonl file counts even with a broken line, since its reader names the line; a result of catsofa on one line
        # only looks like JSONL
        return path.suffix == ".jsonl" or _holds(path) is not None
    return path.is_dir() and not any(next(path.rglob(name), None) for name in (MANIFEST, CHOICES, ASKED))


def _holds(path: Path) -> type[Any] | None:
    """Returns the type of the first record of a file; None if it has no records that catsofa reads."""
    try:
        return type(next(iter(formats.read(path))))
    except BadInput:
        return None


def read(path: Path) -> Iterator[Dataset]:
    """Yields the data sets at a path: one for a file, a release, a study or a split; a folder may have several."""
    if path.is_file():
        yield _of_files(path.name, [path])
    elif any((path / "data").glob("*.parquet")):
        yield _release(path)
    elif (path / "study.json").is_file():
        yield _study(path)
    else:
        yield from _folder(path)


def _release(folder: Path) -> Dataset:
    """Reads a release: its splits, and the data statement of its card."""
    card = folder / "README.md"
    text = read_text(card, "the card of a release") if card.is_file() else ""
    splits = {split: list(records) for split, records in read_release(folder).items()}
    whole = content_of(record for records in splits.values() for record in records)
    return _sorted(
        folder.resolve().name,
        data_label(folder.resolve().name, whole.digest),
        splits,
        are_splits=True,
        statement=tuple(statement(text)),
    )


def _study(folder: Path) -> Dataset:
    """Reads a study: its items, drafts, annotations and refusals; never the identities of its people."""
    names = ("items.jsonl", "drafts.jsonl", "annotations.jsonl", "refused.jsonl")
    return _of_files(folder.resolve().name, [folder / name for name in names if _has_lines(folder / name)])


def _has_lines(path: Path) -> bool:
    """Returns True if the file exists and is not empty; a study without refusals has an empty file of refusals."""
    return path.is_file() and path.stat().st_size > 0


def _folder(folder: Path) -> Iterator[Dataset]:
    """Yields the data sets of a folder.

    A folder of splits or with one file is one data set. Otherwise each file of items is one, and the files without
    items are another; with less than two files of items, all files are one.
    """
    files, unread = _readable(folder)
    if not files:
        raise BadInput(folder, "no file with records that catsofa reads", EXPECTED)
    if (folder / "split.json").is_file() or len(files) == 1:
        yield _of_files(folder.resolve().name, files, are_splits=True, unread=unread)
        return
    whole = [file for file in files if _holds(file) in (Cat, Pair, Probe, Question)]
    beside = [file for file in files if file not in whole]
    if len(whole) < 2 and beside:
        yield _of_files(folder.resolve().name, files, unread=unread)
        return
    for file in whole:
        yield _of_files(f"{folder.resolve().name}/{file.name}", [file])
    if beside:
        yield _of_files(f"{folder.resolve().name}, beside the items", beside, unread=unread)


def _readable(folder: Path) -> tuple[list[Path], list[str]]:
    """Returns the files of a folder with records of a data set, and the names of the others."""
    readable, unread = [], []
    for file in sorted(folder.iterdir()):
        if file.suffix not in SUFFIXES or file.name in (*PRIVATE, "split.json") or not _has_lines(file):
            continue
        unread.append(file.name) if _holds(file) in (None, Score) else readable.append(file)
    return readable, unread


def _of_files(title: str, files: Sequence[Path], **more: Any) -> Dataset:
    """Returns the data set in these files."""
    if not files:
        raise BadInput(title, "a study without answers", EXPECTED)
    read = {file: list(formats.read(file)) for file in files}
    name = " ".join(data_label(file.name, content_of(records).digest) for file, records in read.items())
    return _sorted(title, name, {_part(file): records for file, records in read.items()}, **more)


def _part(file: Path) -> str:
    """Returns the name of a part: the file name without `refused`, or the folder name if nothing is left."""
    stem = re.sub(r"[-_. ]?refused[-_. ]?", "", file.stem)
    return stem or file.resolve().parent.name


def _sorted(title: str, name: str, records: Mapping[str, Sequence[Any]], **more: Any) -> Dataset:
    """Returns the data set of these records by part, sorted by type; raises BadInput for scores."""
    parts: dict[str, list[Any]] = {}
    refused: dict[str, list[Refused]] = {}
    annotations: list[Annotation] = []
    without_text: list[Any] = []
    for part, some in records.items():
        for record in some:
            match record:
                case Cat() | Pair() | Probe() | Question():
                    parts.setdefault(part, []).append(record)
                case Refused():
                    refused.setdefault(part, []).append(record)
                case Annotation():
                    annotations.append(record)
                case Score():
                    raise BadInput(title, "scores", f"{EXPECTED}; `catsofa score --predictions` measures scores")
                case _:
                    without_text.append(record)
    return Dataset(
        title=title, name=name, parts=parts, annotations=annotations, refused=refused, others=without_text, **more
    )


def statement(card: str) -> Iterator[tuple[str, str]]:
    """Yields the headings below `## Data statement` in a card, each with its text."""
    section = re.search(r"^## Data statement[ \t]*\n(.*?)(?=^## |\Z)", card, flags=re.M | re.S)
    for part in re.split(r"^### ", section[1], flags=re.M)[1:] if section else ():
        title, _, text = part.partition("\n")
        yield title.strip(), unmarked(" ".join(text.split()))
