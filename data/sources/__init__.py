"""Every released set by name, and where it lies on this machine; a local path always wins.

A set used by name is checked against its published SHA-256 at every use; a local path is the user's own file.

Data is looked for in the folder that CATSOFA_DATA names and then in the user's cache folder. What is fetched goes
into CATSOFA_DATA where that is set, else into the cache.
"""

__all__ = ["read"]

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from catsofa.data.files import BadInput

if TYPE_CHECKING:
    from catsofa.data.sources.fetch import Progress

TABLE = Path(__file__).with_name("sources.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a source; an empty checksum is one that nobody has published."""

    path: str
    url: str
    sha256: str = ""
    bytes: int | None = None
    megabytes: int | None = None
    """The size where only a round one is published."""

    @property
    def name(self) -> str:
        """What the file is called on this machine."""
        return PurePosixPath(self.path).name

    @property
    def size(self) -> int | None:
        """The bytes, exact or about."""
        return self.megabytes * 1_000_000 if self.bytes is None and self.megabytes else self.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A released set: what it holds, its files, its licence and whom to cite."""

    name: str
    holds: str
    format: str
    """The name of the format that reads it."""
    folder: str
    origin: str
    """Where people look at it."""
    revision: str
    licence: str
    citation: str
    paper: str
    files: tuple[SourceFile, ...]
    archive: SourceFile | None = None
    """What is downloaded where the files are members of an archive."""

    @property
    def downloads(self) -> tuple[SourceFile, ...]:
        """The files that lie on the server."""
        return (self.archive,) if self.archive else self.files

    def below(self, root: Path) -> Path:
        """Where the set lies in a data folder: a file, or the folder of several."""
        folder = root / self.folder
        return folder / self.files[0].name if len(self.files) == 1 else folder

    def is_whole_in(self, root: Path) -> bool:
        """Whether a data folder holds every file of the set."""
        return all((root / self.folder / file.name).is_file() for file in self.files)


@cache
def table() -> Mapping[str, Source]:
    """Every source by name, in the order of the table."""
    return {name: _source(name, entry) for name, entry in tomllib.loads(TABLE.read_text("utf-8")).items()}


def _source(name: str, entry: dict[str, Any]) -> Source:
    """One entry of the table, its addresses spelled out."""
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
    """The address of a file's bytes; the Hub's may be a mirror, as its own tools have it."""
    if where["github"]:
        return f"https://raw.githubusercontent.com/{where['github']}/{revision}/{quote(path)}"
    if where["hub"]:
        hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        return f"{hub}/datasets/{where['hub']}/resolve/{revision}/{quote(path)}"
    return where["url"]


def _origin(where: Mapping[str, str], revision: str) -> str:
    """The address people can look at."""
    if where["github"]:
        return f"https://github.com/{where['github']}/tree/{revision}"
    if where["hub"]:
        return f"https://huggingface.co/datasets/{where['hub']}/tree/{revision}"
    return where["url"]


def named(name: str) -> Source:
    """The source of this name."""
    if name in table():
        return table()[name]
    close = get_close_matches(name, table(), n=1)
    guess = f" ({close[0]}?)" if close else ""
    raise ValueError(f"no source {name!r}{guess}; 'catsofa data list' shows them all")


def home() -> Path:
    """The data folder that is written to: CATSOFA_DATA, or the user's cache folder."""
    return folders()[0]


def folders() -> list[Path]:
    """The data folders that are looked into, in their order."""
    from platformdirs import user_cache_path

    asked = os.environ.get("CATSOFA_DATA")
    cached = user_cache_path("catsofa", appauthor=False) / "data"
    return [Path(asked).expanduser(), cached] if asked else [cached]


def find(source: Source) -> Path | None:
    """Where a source lies on this machine, if all of it does; its bytes are not looked at."""
    root = root_of(source)
    return source.below(root) if root else None


def root_of(source: Source) -> Path | None:
    """The first data folder that holds every file of a source."""
    return next((root for root in folders() if source.is_whole_in(root)), None)


def find_checked(source: Source) -> Path | None:
    """Where a source lies on this machine; a file without the released SHA-256 is refused."""
    from catsofa.data.sources.checks import refuse_wrong

    if root := root_of(source):
        refuse_wrong(source, root)
        return source.below(root)
    return None


def path(name: str) -> Path:
    """Where a source lies on this machine, checked; if it is not here, an error says what to put where."""
    source = named(name)
    if found := find_checked(source):
        return found
    raise ValueError(f"{name} is not on this machine: run 'catsofa data fetch {name}', or {how_to_bring(source)}")


def how_to_bring(source: Source) -> str:
    """What to download by hand and where to put it."""
    if source.archive:
        file = source.archive
        return f"bring {file.url} (SHA-256 {file.sha256}) and run 'catsofa data fetch {source.name} --from {file.name}'"
    if len(source.files) > 1:
        return f"bring the {len(source.files)} files of {source.origin} and put them into {source.below(home())}"
    file = source.files[0]
    checksum = f"SHA-256 {file.sha256}" if file.sha256 else "no SHA-256 is published"
    return f"bring {file.url} ({checksum}) and put it at {source.below(home())}"


def resolve(name_or_path: str | Path, progress: "Progress | None" = None) -> Path:
    """The path to read: an existing file or folder, else the checked source of this name, fetched if need be."""
    if Path(name_or_path).exists() or isinstance(name_or_path, Path):
        return Path(name_or_path)
    if name_or_path in table():
        from catsofa.data.sources.fetch import fetch

        return find_checked(table()[name_or_path]) or fetch(name_or_path, progress=progress).path
    close = get_close_matches(name_or_path, table(), n=1)
    expected = "a file or folder, or the name of a source" + (f" ({close[0]}?)" if close else "")
    raise BadInput(name_or_path, "no such file", expected)


def read(name_or_path: str | Path) -> Iterator[Any]:
    """The records of a source or of a file in any format."""
    from catsofa.data import formats

    source = table().get(str(name_or_path)) if not Path(name_or_path).exists() else None
    return formats.read(resolve(name_or_path), source.format if source else None)
