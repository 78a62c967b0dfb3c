"""HolisticBias descriptors: a JSON object of axes, each with buckets, each a list of descriptors.

A descriptor precedes a noun ("a deaf person"). It is a text, or an object that adds a preference, the article
or the gender of the noun. The nouns and the standalone noun phrases of HolisticBias are not lexicon entries
(the phrases are templates with slots), so they are not read.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, json_files
from catsofa.data.files.json_files import Node
from catsofa.data.formats import Format
from catsofa.data.formats.repeats import lost_beside_number, numbered
from catsofa.data.records import Term

EXPECTED = "HolisticBias descriptors (axis: {bucket: [descriptor, ...]})"
LONGEST = 4
"""Maximum words in a descriptor; the released descriptors have one or two."""
TEXT = rb'\s*"(?:[^"\\]|\\.)*"\s*'
START = re.compile(rb"\s*\{" + TEXT + rb":\s*\{" + TEXT + rb":\s*\[(?:" + TEXT + rb'[,\]]|\s*\{[^{}]*"descriptor"\s*:)')
"""The first bytes of such a file."""


def read(path: Path) -> Iterator[Term]:
    """Each descriptor as a term: the axis becomes its category, the bucket its group."""
    return numbered(_terms(Node(json_files.read(path, EXPECTED), path, EXPECTED)))


def _terms(document: Node) -> Iterator[Term]:
    """The descriptors of a document, in document order."""
    _refuse_empty(document)
    for axis in document.fields():
        buckets = document.child(axis)
        _refuse_empty(buckets)
        for bucket in buckets.fields():
            _refuse_empty(buckets.child(bucket))
            for item in buckets.items(bucket):
                text = item.as_text() if isinstance(item.value, str) else item.text("descriptor")
                if not text.strip():
                    item.refuse("an empty descriptor")
                yield _read(item.value, axis, bucket)


def _refuse_empty(node: Node) -> None:
    """Refuse an axis or bucket without descriptors: no term could represent it, so it would be lost."""
    if node.value in ({}, []):
        node.refuse("nothing")


def _read(item: Any, axis: str, bucket: str) -> Term:
    """A descriptor (a text or an object) as a term."""
    fields = {"descriptor": item} if isinstance(item, str) else dict(item)
    return Term(category=axis, group=bucket, term=fields.pop("descriptor"), pos="adj", extra=fields)


def _written(term: Term) -> Any:
    """A term as a descriptor: an object if the term has extra fields, otherwise a text."""
    beside = {name: value for name, value in term.extra.items() if name != "descriptor"}
    return {"descriptor": term.term} | beside if beside else term.term


def write(terms: Iterable[Term], path: Path) -> int:
    """Write terms by axis and bucket, in order of their first terms; returns the number of terms."""
    axes: dict[str, dict[str, list[Any]]] = {}
    count = 0
    for term in terms:
        if not term.term.strip():
            raise ValueError(f"term {term.id} of {term.category!r} is empty")
        axes.setdefault(term.category, {}).setdefault(term.group, []).append(_written(term))
        count += 1
    if not count:
        raise ValueError(f"there is nothing to write to {path}")
    json_files.write(axes, path)
    return count


def matches(path: Path, head: bytes) -> bool:
    """Returns whether a file is an object of objects of lists of descriptors; BOLD's prompts do not match."""
    if path.suffix.lower() == ".jsonl" or not START.match(head):
        return False
    try:
        document = json_files.read(path, EXPECTED)
    except BadInput:
        return True  # the reader reports the error
    return not any(isinstance(text, str) and not _is_descriptor(text) for text in _texts(document))


def _texts(document: Any) -> Iterator[Any]:
    """The descriptors in those parts of a document that have the layout."""
    for buckets in document.values() if isinstance(document, dict) else ():
        for items in buckets.values() if isinstance(buckets, dict) else ():
            for item in items if isinstance(items, list) else ():
                yield item.get("descriptor") if isinstance(item, dict) else item


def _is_descriptor(text: str) -> bool:
    """Returns whether a text is a few words that can precede a noun, not a sentence or the beginning of one."""
    return len(text.split()) <= LONGEST and text == text.strip() and text[-1:] not in tuple(".?!:,")


def loses(term: Term) -> Iterator[str]:
    """The fields that differ when the written descriptor is read again."""
    return lost_beside_number(term, _read(_written(term), term.category, term.group))


FORMAT = Format(
    name="holisticbias",
    holds=(Term,),
    about="HolisticBias descriptors",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".json",
)
