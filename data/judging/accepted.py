"""Constants about annotators' answers: the severity scale, labels, and the answers that confirm an item."""

from collections.abc import Mapping

from catsofa.data.records import Association, Cat, Probe

SEVERITY = ("not at all", "a little", "much", "very much")
"""The scale of how hurtful people find an item, from 0 up."""
NEUTRAL = "neutral"
"""A label that no CAT has, and the key in a CAT's `extra` of the sentence written as neutral."""
WRITTEN = "written"
"""The key under which an annotation stores the label that its item was written as."""
ACCEPTED: Mapping[type[Cat | Probe | Association], Mapping[str, str]] = {
    Cat: {"same_meaning": "same", "grammatical": "correct", "about_target": "about it"},
    Probe: {"plausible": "plausible"},
    Association: {"association": "yes"},
}
"""The answer to each question that confirms an item of a kind; other questions do not confirm items."""
