"""Gold items that the owner of a study retired: what people answered there says nothing about them any more."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catsofa.annotation.study import rows

if TYPE_CHECKING:
    from catsofa.annotation.study import Study

FILE = "retired.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A gold item that counts no more, and why."""

    at: str
    token: str
    reason: str


def note(study: "Study", gone: Retired) -> None:
    """Retire a gold item; the first reason stays."""
    with study.locked():
        if gone.token not in retired(study):
            rows.append([gone], study.folder / FILE)


def retired(study: "Study") -> dict[str, Retired]:
    """The retired gold items by token."""
    return {row.token: row for row in rows.read(study.folder / FILE, Retired)}
