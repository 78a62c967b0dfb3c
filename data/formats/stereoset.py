"""StereoSet JSON: `{version, data: {intrasentence: [...], intersentence: [...]}}`, with all annotator labels."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from catsofa.data.files import json_files, jsonl
from catsofa.data.files.json_files import Node
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.language.blanks import fill_of
from catsofa.data.records import KINDS, LABELS, Annotation, Candidate, Cat, Kind, Label

EXPECTED = "StereoSet JSON"
DEFAULTS = {"version": "1.0"}
SOURCE = "stereoset"
"""The key in `source` for the fields of a file that differ from the defaults."""
Seen = dict[tuple[str, str], str]
"""Maps what was read (`cluster` or `sentence`, and its id) to its place in the document."""
_HEAD = re.compile(rb'"data"\s*:\s*\{\s*"int(?:ra|er)sentence"')


def read(path: Path) -> Iterator[Cat]:
    """Each cluster as a Cat, in file order; the file's own fields (`version`) go to `source`."""
    document = Node(json_files.read(path, EXPECTED), path, EXPECTED)
    data = document.child("data")
    if unknown := data.others(*KINDS):
        data.refuse(f"the task {min(unknown)!r}", f"the tasks {' and '.join(KINDS)} of {EXPECTED}")
    file = document.others("data")
    source = {} if file == DEFAULTS else {SOURCE: file}
    places: Seen = {}
    tasks: list[Kind] = [kind for kind in data.fields() if kind in KINDS]
    for kind in tasks:
        for cluster in data.items(kind):
            yield _cat(cluster, kind, source, places)
    if not places:
        data.refuse("not one cluster", f"at least one, in {EXPECTED}")


def write(cats: Iterable[Cat], path: Path) -> int:
    """Write one document with both tasks; it states one version, so records of different versions are refused."""
    data: dict[str, list[Any]] = {}
    file: dict[str, Any] | None = None
    ids = jsonl.Seen(path, EXPECTED)
    for number, cat in enumerate(cats, start=1):
        ids.add_all(cat, number)
        own = _file_fields(cat)
        if file not in (None, own):
            raise ValueError(
                f"CAT {cat.id!r} comes from a file with {own}, those before it from one with {file}. "
                "StereoSet JSON states this once a file; write a file for each"
            )
        file = own
        data.setdefault(cat.kind, []).append(_cluster(cat))
    if not data:
        raise ValueError(f"there is no CAT to write to {path}")
    document = {**(DEFAULTS if file is None else file), "data": {**data, **{k: [] for k in KINDS if k not in data}}}
    json_files.write(document, path)
    return sum(map(len, data.values()))


def matches(path: Path, head: bytes) -> bool:
    """Returns whether `data` begins with a task."""
    return head.lstrip()[:1] == b"{" and bool(_HEAD.search(head))


def loses(cat: Cat) -> Iterator[str]:
    """The fields that are lost: language, other provenance, times of votes, and a fill that alignment cannot find."""
    source = {SOURCE: _file_fields(cat)} if SOURCE in cat.source else {}
    return lost(cat, _cat(Node(_cluster(cat), "", EXPECTED), cat.kind, source, {}))


def _file_fields(cat: Cat) -> dict[str, Any]:
    """The fields of the file that a Cat came from, or the defaults."""
    fields = cat.source.get(SOURCE, DEFAULTS)
    return dict(fields) if isinstance(fields, Mapping) else DEFAULTS


def _cat(cluster: Node, kind: Kind, source: dict[str, Any], places: Seen) -> Cat:
    """A cluster as a Cat."""
    cluster.of = f"cluster {cluster.text('id')!r}"
    context = cluster.text("context")
    sentences = list(cluster.items("sentences"))
    labels = [_gold(sentence) for sentence in sentences]
    if sorted(labels) != sorted(LABELS):
        cluster.refuse(
            f"the gold labels {', '.join(labels) or '(none)'}", f"three sentences, one {', one '.join(LABELS)}"
        )
    _once(cluster, "cluster", places)
    blank = context if kind == "intrasentence" else ""
    one, two, three = (_candidate(s, label, blank, places) for s, label in zip(sentences, labels, strict=True))
    return Cat(
        id=cluster.text("id"),
        kind=kind,
        bias_type=cluster.text("bias_type"),
        target=cluster.text("target"),
        context=context,
        candidates=(one, two, three),
        source=source,
        extra=cluster.others("id", "bias_type", "target", "context", "sentences"),
    )


def _gold(sentence: Node) -> Label:
    """The gold label of a sentence, which must be one of the three."""
    text = sentence.text("gold_label")
    if text not in LABELS:
        sentence.refuse(f"the gold label {text!r}", f"one of {', '.join(LABELS)}")
    return next(label for label in LABELS if label == text)


def _once(node: Node, part: str, places: Seen) -> str:
    """The id of a cluster or sentence; refuses a repeated or empty id."""
    item = node.text("id")
    if not item:
        node.refuse("an empty id", f"an id of its own for every {part} of {EXPECTED}")
    if (part, item) in places:
        node.refuse(f"id {item!r} a second time (first at {places[part, item]})", f"{EXPECTED} with every id once")
    places[part, item] = node.where
    return item


def _candidate(sentence: Node, label: Label, context: str, places: Seen) -> Candidate:
    """A sentence as a Candidate; its fill is found by alignment if the context has a BLANK."""
    item, text = _once(sentence, "sentence", places), sentence.text("sentence")
    if not text.strip():
        sentence.refuse("an empty sentence", f"a sentence in {EXPECTED}")
    votes = sentence.items("labels") if sentence.has("labels") else ()
    return Candidate(
        id=item,
        text=text,
        label=label,
        fill=fill_of(context, text),
        votes=tuple(
            Annotation(
                item=item,
                annotator=vote.text("human_id"),
                label=vote.text("label"),
                extra=vote.others("human_id", "label"),
            )
            for vote in votes
        ),
        extra=sentence.others("id", "sentence", "gold_label", "labels"),
    )


def _cluster(cat: Cat) -> dict[str, Any]:
    """A Cat as a cluster."""
    fields = {
        "id": cat.id,
        "target": cat.target,
        "bias_type": cat.bias_type,
        "context": cat.context,
        "sentences": [_sentence(candidate) for candidate in cat.candidates],
    }
    return fields | {name: value for name, value in cat.extra.items() if name not in fields}


def _sentence(candidate: Candidate) -> dict[str, Any]:
    """A Candidate as a sentence."""
    fields = {
        "sentence": candidate.text,
        "id": candidate.id,
        "gold_label": candidate.label,
        "labels": [{**vote.extra, "label": vote.label, "human_id": vote.annotator} for vote in candidate.votes],
    }
    return fields | {name: value for name, value in candidate.extra.items() if name not in fields}


FORMAT = Format(
    name="stereoset", holds=(Cat,), about=EXPECTED, matches=matches, read=read, write=write, loses=loses, suffix=".json"
)
