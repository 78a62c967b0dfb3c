"""The answers by which people confirm an item; any other question (how hurtful a probe is) decides nothing."""

from collections.abc import Mapping

from catsofa.data.records import Association, Cat, Probe

SEVERITY = ("not at all", "a little", "much", "very much")
"""How hurtful people find an item, from 0 up."""
ACCEPTED: Mapping[type[Cat | Probe | Association], Mapping[str, str]] = {
    Cat: {"same_meaning": "same", "grammatical": "correct", "about_target": "about it"},
    Probe: {"plausible": "plausible"},
    Association: {"association": "yes"},
}
"""The answer to each question that confirms an item of a kind."""
