"""Checks the local files of a released set against the released SHA-256."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from catsofa.data.files.checksums import checked_sha256_of
from catsofa.data.sources.released import Source, SourceFile

State = Literal["verified", "no published checksum", "wrong checksum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """A file of a released set with its found and its expected SHA-256; both empty if no checksum is known."""

    path: Path
    found: str
    expected: str
    published: bool
    """True if the expected checksum is published; otherwise it comes from the first download."""

    @property
    def state(self) -> State:
        """The result in words."""
        if not self.expected:
            return "no published checksum"
        return "verified" if self.found == self.expected else "wrong checksum"


def note_of(target: Path) -> Path:
    """The file that keeps the checksum of a first download, in the format of sha256sum, if none is published."""
    return target.with_name(f"{target.name}.sha256")


def expected_of(target: Path, file: SourceFile) -> str:
    """The expected SHA-256 of a file: the published one, or else that of its first download, or else empty."""
    note = note_of(target)
    if file.sha256 or not note.is_file():
        return file.sha256
    return (note.read_text("utf-8", "replace").split() or [""])[0]


def check_file(target: Path, file: SourceFile) -> FileCheck:
    """Check one file against its expected checksum; a file without a known checksum is not read."""
    expected = expected_of(target, file)
    digest = checked_sha256_of(target, expected) if expected else ""
    return FileCheck(path=target, found=digest, expected=expected, published=bool(file.sha256))


def check_source(source: Source, root: Path) -> list[FileCheck]:
    """Check every file of a source in a data folder."""
    return [check_file(root / source.folder / file.name, file) for file in source.files]


def state_of(checks: list[FileCheck]) -> State:
    """The worst state of a source's files."""
    states = {check.state for check in checks}
    order: tuple[State, ...] = ("wrong checksum", "no published checksum", "verified")
    return next(state for state in order if state in states)


def refuse_wrong(source: Source, root: Path) -> None:
    """Raise a ValueError that names the first file of a source with a wrong SHA-256."""
    for check in check_source(source, root):
        if check.state == "wrong checksum":
            raise ValueError(wrong(source.name, check))


def wrong(name: str, check: FileCheck) -> str:
    """One sentence on a file with a wrong checksum: the file, both checksums, what to do."""
    whose = "the released file" if check.published else "the file that was fetched first"
    return (
        f"{name}: {check.path} has SHA-256 {check.found}, and {whose} has {check.expected}; move the file away "
        f"and run 'catsofa data fetch {name}', or give the file by its path to use it as your own set"
    )
