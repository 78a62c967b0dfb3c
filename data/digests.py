"""SHA-256 digests of texts, JSON values and record contents; `files.checksums` has the digests of files."""

import json
from collections.abc import Callable
from hashlib import blake2b, sha256
from typing import Any

DIGITS = 12
"""The number of hexadecimal digits of a digest shown to users."""
FIELD = "checksum"
"""The field of a document or of a line of a log that holds the checksum of all its other fields.

The checksum detects mistakes, swapped files and flipped bits. It is not a signature: anybody can recompute it.
"""


def hex_digest(content: str | bytes, digits: int = 64) -> str:
    """The first hexadecimal digits of the SHA-256 of a text or of bytes."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return sha256(data).hexdigest()[:digits]


def json_digest(value: Any, digits: int = 64, *, compact: bool = True, ascii: bool = True) -> str:
    """The digest of a JSON value, independent of key order; `compact` and `ascii` are those of the stored digest."""
    separators = (",", ":") if compact else None
    return hex_digest(json.dumps(value, sort_keys=True, separators=separators, ensure_ascii=ascii), digits)


def row_checksum(identity: str) -> Callable[[tuple[Any, ...]], bytes]:
    """A function from a database row to its 8-byte checksum, keyed with the identity digest of the store."""
    keyed = blake2b(key=bytes.fromhex(identity), digest_size=8)

    def checksum(row: tuple[Any, ...]) -> bytes:
        state = keyed.copy()
        state.update(ascii(row).encode())
        return state.digest()

    return checksum


def content_id(kind: str, *parts: object) -> str:
    """32 hex digits that depend on the kind of record and its defining content alone."""
    canonical = json.dumps([kind, *parts], ensure_ascii=False, separators=(",", ":"))
    return hex_digest(canonical, 32)


def give_id(record: Any, kind: str, *parts: object) -> None:
    """Set the content id of a frozen record that has no id."""
    if not record.id:
        object.__setattr__(record, "id", content_id(kind, *parts))
