"""Values that are kept between runs in the user's cache. A lost, damaged or unwritable cache changes no result."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput, atomic_write


def kept(kind: str, key: Any) -> Any:
    """The value that was kept under this key; None if there is none, or if its checksum is wrong."""
    with suppress(OSError, ValueError):
        match json.loads(_place(kind, key).read_bytes()):
            case {"key": found, "value": value, "checksum": checksum}:
                return value if found == key and checksum == json_digest([found, value]) else None
    return None


def keep(kind: str, key: Any, value: Any) -> None:
    """Keep a JSON value under a JSON key, in place of an earlier value."""
    content = json.dumps({"key": key, "value": value, "checksum": json_digest([key, value])})
    with suppress(OSError, BadInput), atomic_write(_place(kind, key)) as file:
        file.write(content.encode())


def _place(kind: str, key: Any) -> Path:
    """The file of this key."""
    from platformdirs import user_cache_path

    return user_cache_path("catsofa", appauthor=False) / kind / f"{json_digest(key)}.json"
