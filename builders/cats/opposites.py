"""Anti-stereotypes for associations that have none, such as SeeGULL's: the opposite of an adjective."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from catsofa.builders.cats import Association, refused, shared_parts
from catsofa.data.language.demonyms import same_group
from catsofa.data.language.opposites import opposites
from catsofa.data.language.wordlists import wordlist
from catsofa.data.records import Cat, Refused

CHOSEN = "anti_stereotype_chosen"
"""The field of a source that says where an anti-stereotype comes from that the association lacked."""


def with_opposites(associations: Iterable[Association | Refused]) -> Iterator[Association | Refused]:
    """Each association; one without an anti-stereotype gets WordNet's opposite of its stereotype, an adjective.

    Of several opposites the one comes first that the file says of most groups, since that is said of people. One that
    the file says of the same target is no anti-stereotype of it, and the association is refused.
    """
    given = list(associations)
    said: dict[str, set[str]] = defaultdict(set)
    for one in given:
        if isinstance(one, Association) and not _denied(one):
            said[one.words["stereotype"].casefold()] |= {one.target.lower(), *same_group(one.target)}
    for one in given:
        if isinstance(one, Refused) or one.words["anti-stereotype"] or not (one.target and one.words["stereotype"]):
            yield one
            continue
        stereotype = one.words["stereotype"]
        known = [
            word for word in opposites(stereotype) if word not in wordlist("fills.toml")["opposites"]["not_of_people"]
        ]
        known = [word for word in known if "adjective" in shared_parts([stereotype, word], one.context)]
        word = max(known, key=lambda each: len(said.get(each, ())), default=None)
        if word is None:
            yield refused(one, "no_anti_stereotype", failed={"stereotype": stereotype})
        elif one.target.lower() in said.get(word, ()):
            yield refused(one, "opposite_said_too", failed={"stereotype": stereotype, "anti-stereotype": word})
        else:
            source = {**one.source, CHOSEN: "WordNet's opposite"}
            yield replace(one, words={**one.words, "anti-stereotype": word}, source=source)


def counting_chosen(outcomes: Iterable[Cat | Refused], chosen: Counter[str], mark: str) -> Iterator[Cat | Refused]:
    """The outcomes; `chosen` counts the CATs of each association whose source has the mark of a chosen word."""
    for one in outcomes:
        if isinstance(one, Cat) and mark in one.source:
            chosen[one.source["association"]] += 1
        yield one


def _denied(one: Association) -> bool:
    """Whether more raters said that people do not make an association than that they do."""
    votes = one.source.get("votes", {}).values()
    return bool(sum(each["no"] for each in votes) > sum(each["yes"] for each in votes))
