"""Names in a release: the same person is the same name throughout, and nobody without the secret can go back."""

import hmac
from collections.abc import Iterable
from dataclasses import replace

from catsofa.data.records import Annotation, Cat, Extra


def pseudonym(name: str, secret: str) -> str:
    """A name made of a keyed hash: who knows all worker ids cannot try them without the secret."""
    return f"a{hmac.new(secret.encode(), name.encode(), 'sha256').hexdigest()[:12]}"


def hidden(votes: Iterable[Annotation], secret: str) -> tuple[Annotation, ...]:
    """Votes with names replaced, and without times and whatever else they carried, in the order of the new names."""
    bare = [Annotation(item=v.item, annotator=pseudonym(v.annotator, secret), label=v.label) for v in votes]
    return tuple(sorted(bare, key=lambda vote: vote.annotator))


def without_names(cat: Cat, secret: str) -> Cat:
    """A Cat whose writer and judges are pseudonyms."""
    one, two, three = (replace(c, votes=hidden(c.votes, secret)) for c in cat.candidates)
    return replace(cat, candidates=(one, two, three), source=hidden_writer(cat.source, secret))


def hidden_writer(source: Extra, secret: str) -> Extra:
    """A source whose writer is a pseudonym; when it was written is left out."""
    kept = {name: value for name, value in source.items() if name not in ("writer", "written")}
    return kept | ({"writer": pseudonym(str(source["writer"]), secret)} if source.get("writer") else {})
