"""The table of released sets: contents, files with checksums, and the folders that may hold them.

Data is searched in the folder that CATSOFA_DATA names, then in the user's cache folder. Fetched files go into
CATSOFA_DATA if it is set, otherwise into the cache.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

TABLE = Path(__file__).with_name("sources.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a source; an empty checksum means that none is published."""

    path: str
    url: str
    sha256: str = ""
    bytes: int | None = None
    megabytes: int | None = None
    """The size if only an approximate one is published."""

    @property
    def name(self) -> str:
        """The local name of the file."""
        return PurePosixPath(self.path).name

    @property
    def size(self) -> int | None:
        """The size in bytes, exact or approximate."""
        return self.megabytes * 1_000_000 if self.bytes is None and self.megabytes else self.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A released set: contents, files, licence and citation."""

    name: str
    holds: str
    format: str
    """The name of the format that reads the set."""
    folder: str
    origin: str
    """The web page of the set."""
    revision: str
    licence: str
    citation: str
    paper: str
    files: tuple[SourceFile, ...]
    archive: SourceFile | None = None
    """The archive to download, if the files are members of one."""
    encoding: str = ""
    """The encoding of the file; empty for UTF-8."""
    language: str = ""
    """The language of the records if the file does not state it; empty for English."""

    @property
    def downloads(self) -> tuple[SourceFile, ...]:
        """The files to download."""
        return (self.archive,) if self.archive else self.files

    def below(self, root: Path) -> Path:
        """The path of the set in a data folder: its file, or a folder if there are several."""
        folder = root / self.folder
        return folder / self.files[0].name if len(self.files) == 1 else folder

    def is_whole_in(self, root: Path) -> bool:
        """Returns whether a data folder holds every file of the set."""
        return all((root / self.folder / file.name).is_file() for file in self.files)


@cache
def table() -> Mapping[str, Source]:
    """All sources by name, in the order of the table."""
    return {name: _source(name, entry) for name, entry in tomllib.loads(TABLE.read_text("utf-8")).items()}


def _source(name: str, entry: dict[str, Any]) -> Source:
    """One entry of the table, with full addresses."""
    where = {key: entry.pop(key, "") for key in ("github", "hub", "url")}
    revision, archive = entry.pop("revision", ""), entry.pop("archive", None)
    files = entry.pop("members" if archive else "files")
    return Source(
        name=name,
        origin=_origin(where, revision),
        revision=revision,
        files=tuple(SourceFile(url="" if archive else _url(where, revision, f["path"]), **f) for f in files),
        archive=SourceFile(path=PurePosixPath(where["url"]).name, url=where["url"], **archive) if archive else None,
        **entry,
    )


def _url(where: Mapping[str, str], revision: str, path: str) -> str:
    """The download address of a file; HF_ENDPOINT may name a mirror of the Hub, as for the Hub's own tools."""
    if where["github"]:
        return f"https://raw.githubusercontent.com/{where['github']}/{revision}/{quote(path)}"
    if where["hub"]:
        hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        return f"{hub}/datasets/{where['hub']}/resolve/{revision}/{quote(path)}"
    return where["url"]


def _origin(where: Mapping[str, str], revision: str) -> str:
    """The address of the source's web page."""
    if where["github"]:
        return f"https://github.com/{where['github']}/tree/{revision}"
    if where["hub"]:
        return f"https://huggingface.co/datasets/{where['hub']}/tree/{revision}"
    return where["url"]


def named(name: str) -> Source:
    """The source with this name."""
    if name in table():
        return table()[name]
    close = get_close_matches(name, table(), n=1)
    guess = f" ({close[0]}?)" if close else ""
    raise ValueError(f"no source {name!r}{guess}; 'catsofa data list' shows them all")


def home() -> Path:
    """The data folder to write to: CATSOFA_DATA, or the user's cache folder."""
    return folders()[0]


def folders() -> list[Path]:
    """The data folders to search, in order."""
    from platformdirs import user_cache_path

    setting = os.environ.get("CATSOFA_DATA")
    cached = user_cache_path("catsofa", appauthor=False) / "data"
    return [Path(setting).expanduser(), cached] if setting else [cached]


def find(source: Source) -> Path | None:
    """The local path of a complete source, or None; the content is not checked."""
    root = root_of(source)
    return source.below(root) if root else None


def root_of(source: Source) -> Path | None:
    """The first data folder with every file of a source, or None."""
    return next((root for root in folders() if source.is_whole_in(root)), None)


def how_to_bring(source: Source) -> str:
    """Instructions to download a source by hand."""
    if source.archive:
        file = source.archive
        return f"bring {file.url} (SHA-256 {file.sha256}) and run 'catsofa data fetch {source.name} --from {file.name}'"
    if len(source.files) > 1:
        return f"bring the {len(source.files)} files of {source.origin} and put them into {source.below(home())}"
    file = source.files[0]
    checksum = f"SHA-256 {file.sha256}" if file.sha256 else "no SHA-256 is published"
    return f"bring {file.url} ({checksum}) and put it at {source.below(home())}"
