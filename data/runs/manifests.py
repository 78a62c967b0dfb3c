"""What a folder is a run of: two such identities compared, and shown as people read them."""

from collections.abc import Iterator, Mapping
from typing import Any


def differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """What is not the same in two identities, each as `name: then → now`."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in sorted({*before, *now}):
            yield from differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name}: {_shown(before)} → {_shown(now)}"


def _shown(value: Any) -> str:
    """A value as people read it."""
    return "none" if value is None else str(value)
