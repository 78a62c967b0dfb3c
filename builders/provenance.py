"""Where a record comes from: what its builder writes into `source`, so that the record can be made again."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of, sha256_of_files


def provenance(builder: str, *files: Path | str, **options: Any) -> dict[str, Any]:
    """The builder with its version, the files it read with the start of their hash, and the options that matter."""
    for path in map(Path, files):
        if not path.exists():
            raise BadInput(path, "no such file", f"the input of build {builder}, in the form that its --help describes")
    made: dict[str, Any] = {"builder": f"catsofa {version('catsofa')} {builder}"}
    if files:
        made["files"] = {Path(file).name: hash_of(Path(file)) for file in files}
    return made | {name: value for name, value in options.items() if value not in (None, (), "")}


def hash_of(path: Path) -> str:
    """The first 16 hex digits of a file's SHA-256; of a folder, that of its files' names and hashes."""
    if not path.is_dir():
        return sha256_of(path)[:16]
    return sha256_of_files(path, sorted(file for file in path.rglob("*") if file.is_file()))[:16]
