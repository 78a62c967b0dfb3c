"""Finds what a format cannot represent, by comparing a record with its written and re-read version."""

__all__ = ["lost"]

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def lost(record: Any, back: Any) -> Iterator[str]:
    """The fields of a record that differ in the re-read record: "votes", "language", "extra: harm"."""
    if record == back:
        return
    for field in fields(record):
        before, after = getattr(record, field.name), getattr(back, field.name)
        if before == after or before is None or before in ("", ()):
            continue  # an empty field cannot be lost
        if isinstance(before, Mapping):
            for key, value in before.items():
                if key not in after:
                    yield f"{field.name}: {key}"
                elif after[key] != value:
                    yield f"{field.name}: {key} (kept as text)" if after[key] == str(value) else f"{field.name}: {key}"
        elif isinstance(before, tuple) and len(before) == len(after) and all(map(is_dataclass, before)):
            for part, part_back in zip(before, after, strict=True):
                yield from (f"{field.name}: {loss}" for loss in lost(part, part_back))
        elif is_dataclass(before):
            yield from (f"{field.name}: {loss}" for loss in lost(before, after))
        else:
            yield field.name
