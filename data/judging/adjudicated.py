"""What the owner of a study decided where votes did not: stored beside the votes, and never counted as one."""

from dataclasses import dataclass

ADJUDICATED = "adjudicated"
"""Where in `extra` an item has the label and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicated:
    """One decision about an item; a later one about the same item takes its place."""

    at: str
    token: str
    """The task in which people judged the item."""
    item: str
    label: str
    """Empty: the item is left undecided."""
    reason: str
