"""Answers of people that several rooms read, and those that confirm an item; other questions decide nothing."""

from collections.abc import Mapping

from catsofa.data.records import Association, Cat, Probe

SEVERITY = ("not at all", "a little", "much", "very much")
"""How hurtful people find an item, from 0 up."""
NEUTRAL = "neutral"
"""The label that no CAT has, and the place in a CAT's `extra` of the sentence written as neutral."""
WRITTEN = "written"
"""The name under which an annotation carries what its item was written as."""
ACCEPTED: Mapping[type[Cat | Probe | Association], Mapping[str, str]] = {
    Cat: {"same_meaning": "same", "grammatical": "correct", "about_target": "about it"},
    Probe: {"plausible": "plausible"},
    Association: {"association": "yes"},
}
"""The answer to each question that confirms an item of a kind."""
