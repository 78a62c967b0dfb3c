"""SEAT and WEAT tests: one object `{targ1, targ2, attr1, attr2: {category, examples}}` per file, named by the test."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, existing_file, json_files
from catsofa.data.files.folders import atomic_folder
from catsofa.data.files.json_files import Node
from catsofa.data.formats import HEAD, Format
from catsofa.data.formats.losses import lost
from catsofa.data.records import AssociationTest, WordSet

EXPECTED = "a SEAT test"
PARTS = ("targ1", "targ2", "attr1", "attr2")
"""The field names of the word sets x, y, a and b."""
SUFFIXES = (".jsonl", ".json")
_HEAD = re.compile(rb'"(?:targ|attr)[12]"\s*:\s*\{\s*"\w+"\s*:')
_FILE_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,199}")


def read(path: Path) -> Iterator[AssociationTest]:
    """The test of a file, or the tests of a folder's .jsonl and .json files in order of name."""
    files = _tests_in(path) if path.is_dir() else [path]
    if not files:
        raise BadInput(path, f"no file that ends in {' or '.join(SUFFIXES)}", f"a folder with {EXPECTED} a file")
    paths: dict[str, Path] = {}
    for file in files:
        if file.stem in paths:
            raise BadInput(file, f"a test of the same name as {paths[file.stem].name}", "a name of its own for each")
        paths[file.stem] = file
        yield _test(Node(json_files.read(file, EXPECTED), file, EXPECTED), file.stem)


def write(tests: Iterable[AssociationTest], path: Path) -> int:
    """Write a folder with one file per test, named by the test's id; never replaces a folder with other files."""
    if path.suffix.lower() in SUFFIXES:
        raise ValueError(f"SEAT tests are written as a folder, with a file for each; {path} looks like a file")
    names: set[str] = set()
    with atomic_folder(path, lambda file: is_test(path / file)) as folder:
        for test in tests:
            if not _FILE_NAME.fullmatch(test.id) or test.id in names:
                raise ValueError(
                    f"{test.id!r} cannot name a test's file (it is empty, too long, a path or there twice)"
                )
            names.add(test.id)
            json_files.write(_object(test), folder / f"{test.id}.jsonl")
        if not names:
            raise ValueError(f"there is no test to write to {path}")
    return len(names)


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the head of the file, or of the folder's first file, has targets or attributes."""
    if path.is_dir():
        return any(is_test(file) for file in _tests_in(path)[:1])
    return head.lstrip()[:1] == b"{" and bool(_HEAD.search(head))


def is_test(path: Path) -> bool:
    """Returns whether a file looks like a test."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    with existing_file(path, EXPECTED).open("rb") as file:
        return bool(_HEAD.search(file.read(HEAD)))


def loses(test: AssociationTest) -> Iterator[str]:
    """The fields that are lost: all except the id, the word sets and `extra`."""
    return lost(test, _test(Node(_object(test), "", EXPECTED), test.id))


def _tests_in(folder: Path) -> list[Path]:
    """The files of a folder that may be tests, in order of name."""
    return sorted(
        file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
    )


def _test(document: Node, name: str) -> AssociationTest:
    """An object as an AssociationTest."""
    x, y, a, b = (_word_set(document.child(part)) for part in PARTS)
    return AssociationTest(id=name, x=x, y=y, a=a, b=b, extra=document.others(*PARTS))


def _word_set(part: Node) -> WordSet:
    """One of the four parts as a WordSet."""
    items = tuple(example.as_text() for example in part.items("examples"))
    if not items:
        part.refuse("no examples", f"at least one, in {EXPECTED}")
    return WordSet(name=part.text("category"), items=items, extra=part.others("category", "examples"))


def _object(test: AssociationTest) -> dict[str, Any]:
    """An AssociationTest as an object."""
    parts = dict(zip(PARTS, map(_part, (test.x, test.y, test.a, test.b)), strict=True))
    return parts | {name: value for name, value in test.extra.items() if name not in parts}


def _part(words: WordSet) -> dict[str, Any]:
    """A WordSet as one of the four parts."""
    part = {"category": words.name, "examples": list(words.items)}
    return part | {name: value for name, value in words.extra.items() if name not in part}


FORMAT = Format(
    name="seat",
    holds=(AssociationTest,),
    about="SEAT tests",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix="",
)
