"""Values that are kept between runs in the user's cache. A lost, damaged or unwritable entry is made again."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput, atomic_write

FAULTS = (OSError, ValueError, RuntimeError)
"""Errors of an unreadable or damaged entry, and of a user without a home folder."""


def kept(kind: str, key: Any) -> Any:
    """The value that was kept under this key; None if there is none, or if its checksum is wrong."""
    with suppress(*FAULTS):
        place = _place(kind, key)
        if place.is_file() and not place.is_symlink():
            match json.loads(place.read_bytes()):
                case {"value": value, "checksum": checksum} if checksum == json_digest([key, value]):
                    return value
    return None


def keep(kind: str, key: Any, value: Any) -> None:
    """Keep a JSON value under a JSON key, in place of an earlier value. The file does not contain the key."""
    content = json.dumps({"value": value, "checksum": json_digest([key, value])})
    with suppress(*FAULTS, BadInput):
        place = _place(kind, key)
        if not place.is_symlink():
            with atomic_write(place) as file:
                file.write(content.encode())


def _place(kind: str, key: Any) -> Path:
    """The file of this key."""
    from platformdirs import user_cache_path

    return user_cache_path("catsofa", appauthor=False) / kind / f"{json_digest(key)}.json"
