"""Names in a release: the same person is the same name throughout, and nobody without the secret can go back."""

import hmac
from collections.abc import Iterable
from dataclasses import replace

from catsofa.data.records import Annotation, Cat, Extra, Probe


def pseudonym(name: str, secret: str) -> str:
    """A name made of a keyed hash: who knows all worker ids cannot try them without the secret."""
    return f"a{hmac.new(secret.encode(), name.encode(), 'sha256').hexdigest()[:12]}"


def hidden(votes: Iterable[Annotation], secret: str) -> tuple[Annotation, ...]:
    """Votes with names replaced, and without times and whatever else they carried, in the order of the new names."""
    bare = [Annotation(item=v.item, annotator=pseudonym(v.annotator, secret), label=v.label) for v in votes]
    return tuple(sorted(bare, key=lambda vote: vote.annotator))


def without_names(item: Cat | Probe, secret: str) -> Cat | Probe:
    """An item whose writer and judges are pseudonyms."""
    source, extra = hidden_writer(item.source, secret), hidden_review(item.extra, secret)
    if isinstance(item, Probe):
        return replace(item, source=source, extra=extra)
    one, two, three = (replace(c, votes=hidden(c.votes, secret)) for c in item.candidates)
    return replace(item, candidates=(one, two, three), source=source, extra=extra)


def hidden_writer(source: Extra, secret: str) -> Extra:
    """A source whose writer is a pseudonym; when it was written is left out."""
    kept = {name: value for name, value in source.items() if name not in ("writer", "written")}
    return kept | ({"writer": pseudonym(str(source["writer"]), secret)} if source.get("writer") else {})


def hidden_review(extra: Extra, secret: str) -> Extra:
    """What people said of a whole item, question by question, with names replaced, in the order of the new names."""
    found = {
        question: {**said, "votes": sorted((_hidden_vote(vote, secret) for vote in said["votes"]), key=str)}
        for question, said in extra.get("review", {}).items()
    }
    return {**extra, "review": found} if found else extra


def _hidden_vote(vote: Extra, secret: str) -> dict[str, str]:
    """One vote under a pseudonym."""
    return {"annotator": pseudonym(vote["annotator"], secret), "label": vote["label"]}
