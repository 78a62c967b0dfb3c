"""Makes UTF-8 copies with a language column of released sets that state no language."""

import csv
import io
from importlib.metadata import version
from pathlib import Path

from catsofa.data.digests import hex_digest
from catsofa.data.files import atomic_write
from catsofa.data.files.checksums import sha256_of
from catsofa.data.files.encodings import in_utf8
from catsofa.data.sources.checks import note_of
from catsofa.data.sources.released import Source, folders

LANGUAGE = "language"
"""The column of the copy with the language of each row."""


def prepared(source: Source, file: Path) -> Path:
    """The file to read: the released one, or its UTF-8 copy with the source's language in each row.

    The copy is made once: a note beside it has the checksums of both files, and a copy that differs is remade. If
    the folder of the released file is not writable, the copy is in the cache folder.
    """
    if not source.language:
        return file
    name = f"{file.stem}.{source.language}{file.suffix}"
    places = [folder / name for folder in (file.parent, folders()[-1] / source.folder)]
    recipe = f"# catsofa {version('catsofa')}, from {source.encoding or 'utf-8'}\n{sha256_of(file)}  {file.name}\n"
    for place in places:
        note = note_of(place)
        is_made = place.is_file() and note.is_file()
        if is_made and note.read_bytes() == f"{recipe}{sha256_of(place)}  {name}\n".encode():
            return place
    with in_utf8(file, source.encoding or "utf-8") as (copy, _), copy.open(encoding="utf-8-sig", newline="") as text:
        head, *rows = list(csv.reader(text))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[*head, LANGUAGE], *([*row, source.language] for row in rows if row)])
    content = out.getvalue().encode()
    try:
        return _write(places[0], content, recipe)
    except OSError:
        return _write(places[1], content, recipe)


def _write(place: Path, content: bytes, recipe: str) -> Path:
    """Write the copy, then the note with its checksum."""
    place.parent.mkdir(parents=True, exist_ok=True)
    for path, data in ((place, content), (note_of(place), f"{recipe}{hex_digest(content)}  {place.name}\n".encode())):
        with atomic_write(path) as out:
            out.write(data)
    return place
