"""What the owner of a study decided where votes did not: stored beside the votes, and never counted as one."""

from dataclasses import dataclass

ADJUDICATED = "adjudicated"
"""Where in `extra` an item has the label and the reason."""
CAUSES = ("the text is ambiguous", "the instructions leave it open", "people erred", "people disagree", "other")
"""Why votes do not decide an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicated:
    """One person's decision about an item; a later one of the same person takes its place."""

    at: str
    token: str
    """The task in which people judged the item."""
    item: str
    label: str
    """Empty: the item is left undecided."""
    cause: str = ""
    """One of CAUSES; empty in decisions of earlier versions."""
    reason: str
    by: str = ""
    """Who decided; empty in decisions of earlier versions."""
