"""Copies text in another encoding to UTF-8, so that every reader can read the copy."""

import codecs
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catsofa.data.files import MAX_DOCUMENT, BadInput, existing_file, open_to_read

SEEN = 256
"""First bytes of a file that show whether it is UTF-16."""


@contextmanager
def in_utf8(path: Path, encoding: str) -> Iterator[tuple[Path, int]]:
    """A UTF-8 copy of a file with the same name, and the number of lines that were already UTF-8 and stay unchanged.

    A BadInput about the copy is reported for the original file.
    """
    expected = f"text in {encoding}"
    try:
        high = [bytes([byte]).decode(encoding, "replace") for byte in range(128, 256)]
    except LookupError:
        names = "cp1252, latin-1, mac_roman, utf-16, gb18030 or another one of Python's"
        raise ValueError(f"no text encoding {encoding!r}; take {names}") from None
    with open_to_read(existing_file(path, expected), expected) as file:
        raw = file.read(MAX_DOCUMENT + 1)
    if len(raw) > MAX_DOCUMENT:
        raise BadInput(path, f"a file of over {MAX_DOCUMENT:,} bytes", f"{expected} that fits the memory")
    single = sum(character != "\ufffd" for character in high) > 80
    # in a single-byte encoding, a line with multi-byte characters that is valid UTF-8 is no accident
    parts = raw.splitlines(keepends=True) if single else [raw]
    utf8_flags = [single and _is_utf8(part) for part in parts]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name.removesuffix(".gz")
        with copy.open("wb") as text:
            for line, (part, as_it_is) in enumerate(zip(parts, utf8_flags, strict=True), start=1):
                try:
                    text.write(part if as_it_is else part.decode(encoding).encode())
                except UnicodeError as error:
                    content = f"byte 0x{part[error.start]:02x}" if isinstance(error, UnicodeDecodeError) else "text"
                    raise BadInput(
                        path, f"{content}, which is not {encoding}", expected, line if single else None
                    ) from None
        try:
            yield copy, sum(utf8_flags)
        except BadInput as error:
            if error.path != copy:
                raise
            raise BadInput(path, error.found, error.expected, error.line) from None


def utf_16_in(head: bytes) -> str:
    """The byte order of UTF-16 text without a mark, by its zero bytes: `utf-16-le` or `utf-16-be`; else empty."""
    even, odd = head[:SEEN:2], head[1:SEEN:2]
    for name, zeros, letters in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if len(odd) > 1 and zeros.count(0) > len(zeros) / 2 and 0 not in letters:
            return name
    return ""


def _is_utf8(line: bytes) -> bool:
    """Returns whether a line has non-ASCII characters and is valid UTF-8."""
    if line.isascii():
        return False
    try:
        codecs.utf_8_decode(line, "strict", True)
    except UnicodeDecodeError:
        return False
    return True
