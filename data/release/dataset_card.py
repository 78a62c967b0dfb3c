"""The dataset card of a release: YAML metadata for the Hub, and text for people."""

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from catsofa.data.digests import hex_digest
from catsofa.data.visible import markdown, visible

TEMPLATES = Path(__file__).with_name("templates")
SIZES = (
    ("n<1K", 1_000),
    ("1K<n<10K", 10_000),
    ("10K<n<100K", 100_000),
    ("100K<n<1M", 1_000_000),
    ("1M<n<10M", 10_000_000),
    ("10M<n<100M", 100_000_000),
)
"""The Hub's names for sizes, each with its exclusive upper limit of records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """The facts of a card that are not in the records: names in the Hub's spelling, texts as Markdown."""

    pretty_name: str
    licence: str = "other"
    """A licence identifier of the Hub: `cc-by-sa-4.0`, `mit`, `other`, …"""
    language: tuple[str, ...] = ("en",)
    summary: str = ""
    source_datasets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ("stereotypes", "bias", "evaluation")
    citation: str = ""
    statement: str = ""
    """The data statement, as Markdown that includes its headings."""
    judgements: str = ""
    """Markdown about the file of judgements and its suppressed values; empty if there is no such file."""
    canary: str = ""
    """A GUID that identifies the set in a training corpus; computed from the data if none is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One split as a file on disk."""

    name: str
    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Canary:
    """The card's line that asks to keep the data out of training corpora, and its GUID."""

    line: str
    guid: str


def card(facts: CardFacts, kind: str, splits: Sequence[Split]) -> str:
    """The README.md of a release; names are plain text, and only the texts of `facts` may contain Markdown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown and YAML, not HTML
    )
    templates.filters |= {"yaml": lambda value: json.dumps(value, ensure_ascii=False), "plain": markdown}
    text = templates.get_template("dataset_card.md").render(
        facts=facts,
        kind=kind,
        splits=splits,
        size=size_category(sum(split.rows for split in splits)),
        canary=facts.canary or canary(splits),
    )
    return visible(text)  # in quotes, YAML reads \\x9b and \\u202e as the character


def size_category(records: int) -> str:
    """The Hub's name for this many records."""
    return next((name for name, below in SIZES if records < below), "n>100M")


def canary(splits: Sequence[Split]) -> str:
    """A GUID that depends only on the bytes of the splits."""
    return str(uuid.UUID(hex_digest("".join(split.sha256 for split in splits), 32)))


def canary_on(text: str) -> Canary | None:
    """The canary of a card, or None."""
    match = re.search(r"^[ \t]*(.*\bcanary GUID (\S+))[ \t]*$", text, re.MULTILINE)
    return Canary(*match.groups()) if match else None
