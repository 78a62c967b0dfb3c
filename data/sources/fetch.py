"""Fetches a released set: downloads it or copies it from a local file, and verifies the checksum."""

import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from catsofa.data.files import BadInput, atomic_write, existing_file
from catsofa.data.files.checksums import sha256_of
from catsofa.data.sources.checks import check_file, expected_of, note_of, wrong
from catsofa.data.sources.download import Unreachable, download
from catsofa.data.sources.released import Source, SourceFile, home, how_to_bring, named

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes so far and the total bytes, if known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFile:
    """A local file of a fetched source."""

    path: Path
    sha256: str
    how: str
    """`downloaded`, `copied`, `unpacked`, or `there` if the file existed before."""
    published: bool
    """True if the checksum was compared with a published one; otherwise it comes from the first download."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A fetched source with its local files."""

    name: str
    path: Path
    files: tuple[FetchedFile, ...]


def fetch(name: str, origin: Path | str | None = None, progress: Progress | None = None) -> Fetched:
    """Fetch a source into the data folder, from the network or from a file or folder `origin`; keeps existing files.

    Concurrent calls are safe: the second waits, and then uses the files of the first.
    """
    source, root = named(name), home()
    with _alone(root, source):
        if source.archive:
            files = [_member(source, file, root, Path(origin) if origin else None, progress) for file in source.files]
        else:
            files = [_file(source, file, root, Path(origin) if origin else None, progress) for file in source.files]
    return Fetched(name=name, path=source.below(root), files=tuple(files))


@contextmanager
def _alone(root: Path, source: Source) -> Iterator[None]:
    """Hold the lock of a source's folder; the system releases the lock if the process is killed."""
    from filelock import FileLock

    lock = FileLock(root / ".locks" / f"{source.folder.replace('/', '-')}.lock")
    try:
        (root / ".locks").mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        problem = f"a folder that cannot be written ({error.strerror or error})"
        raise BadInput(root, problem, "a data folder you may write to; CATSOFA_DATA names another") from None
    try:
        yield
    finally:
        lock.release()


def _file(source: Source, file: SourceFile, root: Path, origin: Path | None, progress: Progress | None) -> FetchedFile:
    """Fetch one file unless it exists, and check its checksum."""
    target = root / source.folder / file.name
    if target.exists():
        check = check_file(target, file)
        if check.state == "wrong checksum":
            raise ValueError(wrong(source.name, check))
        return FetchedFile(path=target, sha256=check.found or sha256_of(target), how="there", published=check.published)
    expected = expected_of(target, file)
    if origin:
        digest, how = _copy(origin / file.name if origin.is_dir() else origin, target, expected, file), "copied"
    else:
        digest, how = _from_net(source, file, target, expected, progress), "downloaded"
    if not file.sha256:
        _remember(target, digest)
    return FetchedFile(path=target, sha256=digest, how=how, published=bool(file.sha256))


def _from_net(source: Source, file: SourceFile, target: Path, expected: str, progress: Progress | None) -> str:
    """Download one file; without a network, the error says how to get it by hand."""
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise ValueError(f"{source.name} is not on this machine and HF_HUB_OFFLINE is set: {how_to_bring(source)}")
    report = (lambda done, total: progress(file.name, done, total)) if progress else None
    try:
        return download(file.url, target, sha256=expected, size=file.bytes, progress=report)
    except Unreachable as error:
        raise ValueError(f"{source.name} is not on this machine and {error}: {how_to_bring(source)}") from None


def _copy(origin: Path, target: Path, expected: str, file: SourceFile) -> str:
    """Copy a local file; refuses a file that is not the released one."""
    existing_file(origin, f"the released {file.name}")
    digest, size = sha256_of(origin), origin.stat().st_size
    if (expected and digest != expected) or (not expected and file.bytes not in (None, size)):
        wanted = f"SHA-256 {expected}" if expected else f"{file.bytes:,} bytes"
        raise BadInput(origin, f"{size:,} bytes with SHA-256 {digest}", f"the released {file.name} ({wanted})")
    with origin.open("rb") as original, atomic_write(target) as copy:
        shutil.copyfileobj(original, copy)
    return digest


def _member(
    source: Source, file: SourceFile, root: Path, origin: Path | None, progress: Progress | None
) -> FetchedFile:
    """Fetch one member of an archive: fetch and unpack the archive, or copy the given member."""
    assert source.archive is not None
    target = root / source.folder / file.name
    if target.exists() or (origin and not _is_archive(origin, source.archive)):
        return _file(source, file, root, origin, progress)
    archive = _file(source, source.archive, root, origin, progress)
    _unpack(archive.path, file, target)
    digest = sha256_of(target)
    _remember(target, digest)
    return FetchedFile(path=target, sha256=digest, how="unpacked", published=True)


def _is_archive(origin: Path, archive: SourceFile) -> bool:
    """Returns whether the given path is the archive, or a folder with the archive, and not a member."""
    return (origin / archive.name).is_file() if origin.is_dir() else origin.is_file() and tarfile.is_tarfile(origin)


def _unpack(archive: Path, file: SourceFile, target: Path) -> None:
    """Copy one member of an archive to its place; no other member is written."""
    try:
        with tarfile.open(archive) as members:
            for member in members:
                if member.isfile() and PurePosixPath(member.name).name == file.name:
                    content = members.extractfile(member)
                    assert content is not None
                    with content, atomic_write(target) as copy:
                        shutil.copyfileobj(content, copy)
                    return
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise BadInput(archive, f"a damaged archive ({error})", f"an archive with {file.name}") from None
    raise BadInput(archive, "an archive without it", f"an archive with {file.name}")


def _remember(target: Path, sha256: str) -> None:
    """Store the checksum beside the file, so that the next download is compared with it."""
    with atomic_write(note_of(target)) as file:
        file.write(f"{sha256}  {target.name}\n".encode())
