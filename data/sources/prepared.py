"""Released sets whose files are not UTF-8 or do not say their language: a copy that says both, beside the file."""

import csv
import io
from pathlib import Path

from catsofa.data.files import atomic_write
from catsofa.data.files.encodings import in_utf8
from catsofa.data.sources.released import Source, folders

LANGUAGE = "language"
"""The column of the copy that names the language of each row."""


def prepared(source: Source, file: Path) -> Path:
    """The file to read: the released one, or its copy in UTF-8 with the language of the table in each row.

    The copy is compared at every use and written anew if it differs. It lies in the cache where the folder of the
    released file cannot be written to.
    """
    if not source.language:
        return file
    with in_utf8(file, source.encoding or "utf-8") as (copy, _), copy.open(encoding="utf-8-sig", newline="") as text:
        head, *rows = list(csv.reader(text))
    out = io.StringIO(newline="")
    written = csv.writer(out, lineterminator="\n")
    written.writerows([[*head, LANGUAGE], *([*row, source.language] for row in rows if row)])
    content = out.getvalue().encode()
    name = f"{file.stem}.{source.language}{file.suffix}"
    places = [folder / name for folder in (file.parent, folders()[-1] / source.folder)]
    if kept := next((place for place in places if place.is_file() and place.read_bytes() == content), None):
        return kept
    try:
        return _write(places[0], content)
    except OSError:
        return _write(places[1], content)


def _write(place: Path, content: bytes) -> Path:
    """Write the copy."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as out:
        out.write(content)
    return place
