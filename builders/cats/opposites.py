"""Anti-stereotypes for associations without one, such as SeeGULL's: the opposite of an adjective."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from catsofa.builders.cats import Association, refused, shared_parts
from catsofa.data.language.demonyms import same_group
from catsofa.data.language.opposites import opposites
from catsofa.data.language.wordlists import wordlist
from catsofa.data.records import Cat, Refused

CHOSEN = "anti_stereotype_chosen"
"""The field of a source with the origin of an anti-stereotype that the association lacked."""


def with_opposites(associations: Iterable[Association | Refused]) -> Iterator[Association | Refused]:
    """Yields each association; one without an anti-stereotype gets WordNet's opposite of its adjective.

    Among several opposites, the one that the file assigns to most groups comes first, because people use it about
    groups. If the file assigns it to the same target, it is no anti-stereotype, and the association is refused.
    """
    listed = list(associations)
    groups_by_word: dict[str, set[str]] = defaultdict(set)
    for one in listed:
        if isinstance(one, Association) and not _denied(one):
            groups_by_word[one.words["stereotype"].casefold()] |= {one.target.lower(), *same_group(one.target)}
    for one in listed:
        if isinstance(one, Refused) or one.words["anti-stereotype"] or not (one.target and one.words["stereotype"]):
            yield one
            continue
        stereotype = one.words["stereotype"]
        candidates = [
            word for word in opposites(stereotype) if word not in wordlist("fills.toml")["opposites"]["not_of_people"]
        ]
        candidates = [word for word in candidates if "adjective" in shared_parts([stereotype, word], one.context)]
        word = max(candidates, key=lambda each: len(groups_by_word.get(each, ())), default=None)
        if word is None:
            yield refused(one, "no_anti_stereotype", failed={"stereotype": stereotype})
        elif one.target.lower() in groups_by_word.get(word, ()):
            yield refused(one, "opposite_said_too", failed={"stereotype": stereotype, "anti-stereotype": word})
        else:
            source = {**one.source, CHOSEN: "WordNet's opposite"}
            yield replace(one, words={**one.words, "anti-stereotype": word}, source=source)


def counting_chosen(outcomes: Iterable[Cat | Refused], chosen: Counter[str], mark: str) -> Iterator[Cat | Refused]:
    """Yields the outcomes; `chosen` counts the CATs of each association whose source has `mark`."""
    for one in outcomes:
        if isinstance(one, Cat) and mark in one.source:
            chosen[one.source["association"]] += 1
        yield one


def _denied(one: Association) -> bool:
    """Returns True if more raters denied an association than confirmed it."""
    votes = one.source.get("votes", {}).values()
    return bool(sum(each["no"] for each in votes) > sum(each["yes"] for each in votes))
