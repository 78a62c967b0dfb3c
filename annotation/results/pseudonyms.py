"""Pseudonyms in a release: each person has one pseudonym throughout, and nobody can compute whose it is."""

import hmac
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from catsofa.data.digests import hex_digest
from catsofa.data.records import Annotation, Association, Cat, Extra, Probe

Names = Callable[[str], str]
"""Function that returns a person's pseudonym."""


def pseudonym(name: str, secret: str) -> str:
    """Returns a keyed hash of a name; without the secret, nobody can try all worker ids."""
    return f"a{hmac.new(secret.encode(), name.encode(), 'sha256').hexdigest()[:12]}"


def keyed(secret: str) -> Names:
    """Returns pseudonyms by a secret: a person has the same pseudonym in every release with this secret."""
    return partial(pseudonym, secret=secret)


def numbered(items: Iterable[Cat | Probe | Association]) -> Names:
    """Returns pseudonyms a1, a2, … for the people of these items alone, the same whenever the items are the same.

    People are ordered by a hash of what they wrote and judged, which the release publishes in any case. Neither their
    names nor their order in a file enters a pseudonym, so a list of worker ids does not help to reverse it.
    """
    parts: dict[str, list[object]] = defaultdict(list)
    for item in items:
        for name, part in _parts(item):
            parts[name].append(part)
    order = {name: hex_digest(json.dumps(sorted(map(json.dumps, part)))) for name, part in parts.items()}
    width = len(str(len(order)))
    return {
        name: f"a{number:0{width}}" for number, name in enumerate(sorted(order, key=order.__getitem__), 1)
    }.__getitem__


def people_of(items: Iterable[Cat | Probe | Association]) -> set[str]:
    """Returns the people who wrote or judged these items."""
    return {name for item in items for name, _ in _parts(item)}


def _parts(item: Cat | Probe | Association) -> Iterator[tuple[str, object]]:
    """Yields each person of an item, with what the person did."""
    if item.source.get("writer"):
        yield str(item.source["writer"]), (item.id, "writer")
    for question, review in item.extra.get("review", {}).items():
        yield from ((vote["annotator"], (item.id, question, vote["label"])) for vote in review["votes"])
    for candidate in item.candidates if isinstance(item, Cat) else ():
        yield from ((vote.annotator, (vote.item, vote.label)) for vote in candidate.votes)


def without_names(item: Cat | Probe | Association, names: Names) -> Cat | Probe | Association:
    """Returns an item with pseudonyms for its writer and judges."""
    source, extra = hidden_writer(item.source, names), hidden_review(item.extra, names)
    if not isinstance(item, Cat):
        return replace(item, source=source, extra=extra)
    one, two, three = (replace(c, votes=hidden(c.votes, names)) for c in item.candidates)
    return replace(item, candidates=(one, two, three), source=source, extra=extra)


def hidden(votes: Iterable[Annotation], names: Names) -> tuple[Annotation, ...]:
    """Returns votes with pseudonyms, in the order of the pseudonyms, without times and other facts."""
    bare = [Annotation(item=v.item, annotator=names(v.annotator), label=v.label) for v in votes]
    return tuple(sorted(bare, key=lambda vote: (vote.annotator, vote.label)))


def hidden_writer(source: Extra, names: Names) -> Extra:
    """Returns a source with a pseudonym for its writer and without the time of writing."""
    rest = {name: value for name, value in source.items() if name not in ("writer", "written")}
    return rest | ({"writer": names(str(source["writer"]))} if source.get("writer") else {})


def hidden_review(extra: Extra, names: Names) -> Extra:
    """Returns `extra` with pseudonyms in the reviews of the whole item, by question.

    The votes are in the order of the pseudonyms.
    """
    reviews = {}
    for question, review in extra.get("review", {}).items():
        votes = [{"annotator": names(vote["annotator"]), "label": vote["label"]} for vote in review["votes"]]
        reviews[question] = {**review, "votes": sorted(votes, key=str)}
    return {**extra, "review": reviews} if reviews else extra
