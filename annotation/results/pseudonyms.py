"""Names in a release: each person has one name throughout, and nobody can compute whose name it is."""

import hmac
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from catsofa.data.digests import hex_digest
from catsofa.data.records import Annotation, Association, Cat, Extra, Probe

Names = Callable[[str], str]
"""Gives a person's pseudonym."""


def pseudonym(name: str, secret: str) -> str:
    """A keyed hash of a name: without the secret, nobody can try all worker ids."""
    return f"a{hmac.new(secret.encode(), name.encode(), 'sha256').hexdigest()[:12]}"


def keyed(secret: str) -> Names:
    """Pseudonyms by a secret: the same person has the same name in every release with this secret."""
    return partial(pseudonym, secret=secret)


def numbered(items: Iterable[Cat | Probe | Association]) -> Names:
    """Pseudonyms a1, a2, … for the people of these items alone, the same whenever the items are the same.

    People are ordered by a hash of what they wrote and judged, which the release publishes in any case. Neither
    their names nor their order in a file enters a pseudonym, so a list of worker ids is of no use against it.
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
    """The people who wrote or judged these items."""
    return {name for item in items for name, _ in _parts(item)}


def _parts(item: Cat | Probe | Association) -> Iterator[tuple[str, object]]:
    """Each person of an item, with what the person did."""
    if item.source.get("writer"):
        yield str(item.source["writer"]), (item.id, "writer")
    for question, review in item.extra.get("review", {}).items():
        yield from ((vote["annotator"], (item.id, question, vote["label"])) for vote in review["votes"])
    for candidate in item.candidates if isinstance(item, Cat) else ():
        yield from ((vote.annotator, (vote.item, vote.label)) for vote in candidate.votes)


def without_names(item: Cat | Probe | Association, names: Names) -> Cat | Probe | Association:
    """An item whose writer and judges are pseudonyms."""
    source, extra = hidden_writer(item.source, names), hidden_review(item.extra, names)
    if not isinstance(item, Cat):
        return replace(item, source=source, extra=extra)
    one, two, three = (replace(c, votes=hidden(c.votes, names)) for c in item.candidates)
    return replace(item, candidates=(one, two, three), source=source, extra=extra)


def hidden(votes: Iterable[Annotation], names: Names) -> tuple[Annotation, ...]:
    """Votes with names replaced, and without times and whatever else they carried, in the order of the new names."""
    bare = [Annotation(item=v.item, annotator=names(v.annotator), label=v.label) for v in votes]
    return tuple(sorted(bare, key=lambda vote: (vote.annotator, vote.label)))


def hidden_writer(source: Extra, names: Names) -> Extra:
    """A source whose writer is a pseudonym; when it was written is left out."""
    kept = {name: value for name, value in source.items() if name not in ("writer", "written")}
    return kept | ({"writer": names(str(source["writer"]))} if source.get("writer") else {})


def hidden_review(extra: Extra, names: Names) -> Extra:
    """What people said of a whole item, question by question, with names replaced, in the order of the new names."""
    found = {}
    for question, said in extra.get("review", {}).items():
        votes = [{"annotator": names(vote["annotator"]), "label": vote["label"]} for vote in said["votes"]]
        found[question] = {**said, "votes": sorted(votes, key=str)}
    return {**extra, "review": found} if found else extra
