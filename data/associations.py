"""Associations of an attribute with a group of people, with the votes of raters on each association."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.digests import give_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """The answers of one group of raters: is this association a stereotype that people hold?"""

    raters: str
    """The group of raters, as the source names it: `region`, `NA` (North America)."""
    yes: int = 0
    """Raters who said that people make the association."""
    no: int = 0
    """Raters who said that people do not make the association."""
    unsure: int = 0
    """Raters who were not sure."""

    def __post_init__(self) -> None:
        """Raise a ValueError for a negative number of votes."""
        if min(self.yes, self.no, self.unsure) < 0:
            raise ValueError(f"votes are counts from 0 up; found {self.yes}, {self.no}, {self.unsure}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """An attribute that people in a region may associate with an identity; a claim about opinions, not a fact."""

    id: str = ""
    identity: str
    """The group of people."""
    attribute: str
    """The word or phrase associated with the group."""
    region: str = ""
    """The region whose people make the association, by the source; empty if unknown."""
    votes: tuple[Votes, ...] = ()
    """The answers of each group of raters; empty before raters are asked."""
    offensiveness: tuple[float | None, ...] = ()
    """One rating per rater, on the scale of the source; None where a rating is missing."""
    language: str = "en"
    source: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise a ValueError if the identity or the attribute is empty, and set the id."""
        if not (self.identity.strip() and self.attribute.strip()):
            raise ValueError("an association needs an identity and an attribute; one of them is empty")
        give_id(self, "association", self.identity, self.attribute, self.region, self.language)

    def votes_of(self, raters: str) -> Votes:
        """The votes of one group of raters; zeros if the group was not asked."""
        return next((votes for votes in self.votes if votes.raters == raters), Votes(raters=raters))
