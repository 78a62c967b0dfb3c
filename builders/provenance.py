"""Provenance of records: what a builder writes into `source`, so that a record can be reproduced."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of, sha256_of_files


def provenance(builder: str, *files: Path | str, **options: Any) -> dict[str, Any]:
    """Returns the builder with its version, its input files with short hashes, and the options that are set.

    Raises BadInput if an input file is missing.
    """
    for path in map(Path, files):
        if not path.exists():
            raise BadInput(path, "no such file", f"the input of build {builder}, in the form that its --help describes")
    result: dict[str, Any] = {"builder": f"catsofa {version('catsofa')} {builder}"}
    if files:
        result["files"] = {Path(file).name: hash_of(Path(file)) for file in files}
    return result | {name: value for name, value in options.items() if value not in (None, (), "")}


def hash_of(path: Path) -> str:
    """Returns the first 16 hex digits of a file's SHA-256; for a folder, of the names and hashes of its files."""
    if not path.is_dir():
        return sha256_of(path)[:16]
    return sha256_of_files(path, sorted(file for file in path.rglob("*") if file.is_file()))[:16]
