"""Decisions of a study's owner on items that votes left undecided; stored beside the votes, never counted as votes."""

from dataclasses import dataclass

ADJUDICATED = "adjudicated"
"""The key in an item's `extra` of the label and the reason."""
CAUSES = ("the text is ambiguous", "the instructions leave it open", "people erred", "people disagree", "other")
"""The possible reasons why votes do not decide an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicated:
    """One person's decision about an item; a later decision of the same person replaces it."""

    at: str
    token: str
    """The task in which people judged the item."""
    item: str
    label: str
    """The decided label; empty if the item stays undecided."""
    cause: str = ""
    """One of CAUSES; empty in decisions of earlier versions."""
    reason: str
    by: str = ""
    """The person who decided; empty in decisions of earlier versions."""
