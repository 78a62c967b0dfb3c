"""SHA-256 checksums of files: cached for each version of a large file, and listed for the files of a folder."""

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path

from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, atomic_write, cache, lines, stamp
from catsofa.data.files.append_log import LogReader

LARGE = 1 << 20
"""Minimum bytes of a file whose checksum is cached; hashing a smaller file is faster than reading the cache."""
KIND = "checksums"
"""The name of the cache."""
SETTLED = 2.0
"""Seconds since the last change after which a file's time stamps identify its content."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def sha256_of_files(folder: Path, files: Iterable[Path]) -> str:
    """One SHA-256 over the relative names and the SHA-256 of files of a folder, in the order given."""
    return hex_digest("".join(f"{file.relative_to(folder).as_posix()} {known_sha256_of(file)}\n" for file in files))


def checked_sha256_of(path: Path, expected: str) -> str:
    """The SHA-256 of a file; if the cached one differs from `expected`, the file is read again."""
    digest = known_sha256_of(path)
    return digest if digest == expected else sha256_of(path)


def known_sha256_of(path: Path) -> str:
    """The SHA-256 of a file; a large file is read again only after its size or a time stamp changes."""
    status, now = path.stat(), time.time()
    if status.st_size < LARGE or not _shows_changes(status):
        return sha256_of(path)
    _write_mapped_pages(path)
    place, *version = stamp(path)
    match cache.kept(KIND, place):
        case [*about, str() as found] if about == version:
            return found
    digest = sha256_of(path)
    if now - max(status.st_mtime, status.st_ctime) > SETTLED:
        cache.keep(KIND, place, [*version, digest])
    return digest


def _shows_changes(status: os.stat_result) -> bool:
    """Returns True if the file system stamps each change of a file with the time, finer than a second.

    A squashfs image, such as that of a container, has only the seconds of the last change before it was made.
    """
    return sys.platform != "win32" and status.st_ctime_ns % 10**9 != 0


def _write_mapped_pages(path: Path) -> None:
    """Make the system write the changes by processes that map the file into memory, and stamp later ones."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


LIST = "SHA256SUMS"
"""The file of a folder that lists the SHA-256 of its data files, in the format that `sha256sum --check` reads."""
MANIFEST = "manifest.json"
"""The log of a folder of probe shards, with the SHA-256 of each."""
SHARDS_BEGIN = b'{"identity"'
"""The first bytes of the manifest of a folder of probe shards."""
SHARD = re.compile(r"-\d{5}-of-(\d{5})$")
"""The suffix that the Hub's tools add to the name of a split: the number of the file, and the number of files."""
LISTED = re.compile(r"([0-9a-f]{64})  (?!/)((?!.*\.\./)\S.*)")


def write_list(folder: Path, digests: Mapping[str, str]) -> None:
    """Write the SHA-256 of a folder's files with their relative names; a list that is already right is kept."""
    content = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()
    place = folder / LIST
    if not place.is_file() or place.read_bytes() != content:
        with atomic_write(place) as file:
            file.write(content)


def read_list(folder: Path) -> dict[str, str] | None:
    """The SHA-256 of a folder's files by relative name; None for a folder without a list.

    The manifest of a folder of probe shards also has them: it replaces a missing list, and both must agree.
    """
    listed, manifest = _read_sums(folder), _read_manifest(folder)
    if listed is not None and manifest and manifest != listed:
        other = sorted({name for name, _ in manifest.items() ^ listed.items()})
        expected = f"the same checksums in {LIST} and {MANIFEST}: {FETCH_AGAIN}"
        raise BadInput(folder / LIST, f"another checksum of {other[0]} than in {MANIFEST}", expected)
    return manifest or listed


def _read_manifest(folder: Path) -> dict[str, str]:
    """The SHA-256 of each shard in the manifest of a folder of probe shards; empty for other folders."""
    place = folder / MANIFEST
    if not place.is_file() or not place.read_bytes().startswith(SHARDS_BEGIN):
        return {}
    log = LogReader(place, "the manifest of a folder of probes in shards")
    return {str(line["shard"]): str(line["sha256"]) for line in log.read() if {"shard", "sha256"} <= line.keys()}


def _read_sums(folder: Path) -> dict[str, str] | None:
    """The checksums in the list file of a folder; None for a folder without a list."""
    place, expected = folder / LIST, "a SHA-256, two spaces and the name of a file on each line"
    if not place.is_file():
        return None
    digests = {}
    for number, line in lines(place, expected):
        match = LISTED.fullmatch(line)
        if match is None:
            raise BadInput(place, "another line", f"{expected}; {FETCH_AGAIN}", number)
        digests[match[2]] = match[1]
    return digests


def check_listed(folder: Path, file: Path, digests: Mapping[str, str]) -> None:
    """Refuse a file that the folder's list does not name, or whose SHA-256 differs from the list."""
    name = file.relative_to(folder).as_posix()
    listing = LIST if (folder / LIST).is_file() else MANIFEST
    if name not in digests:
        expected = f"only files that {listing} lists: remove this file, or {FETCH_AGAIN}"
        raise BadInput(file, f"a file that {folder / listing} does not list", expected)
    if (digest := sha256_of(file)) != digests[name]:
        raise BadInput(file, f"SHA-256 {digest}", f"{digests[name]}, as {folder / listing} says; {FETCH_AGAIN}")


FETCH_AGAIN = "run what makes the folder again, or fetch it again"
