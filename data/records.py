"""The records every room works on: frozen, typed, with an id that is the same on every machine.

A record keeps a foreign id where its source has one; otherwise the id is a hash of the content that defines
the record. Labels and provenance are left out of the hash: a vote may change a label, it does not make
another item.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["intrasentence", "intersentence"]
Label = Literal["stereotype", "anti-stereotype", "unrelated"]
Direction = Literal["stereo", "antistereo"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LABELS: tuple[Label, ...] = get_args(Label)
BLANK = "BLANK"

Extra = Mapping[str, Any]
"""What a source holds and we do not model: carried through, never dropped."""


def content_id(kind: str, *parts: object) -> str:
    """32 hex digits that depend on the kind of record and its defining content alone."""
    canonical = json.dumps([kind, *parts], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _give_id(record: Any, kind: str, *parts: object) -> None:
    """Set the content id of a frozen record that came without one."""
    if not record.id:
        object.__setattr__(record, "id", content_id(kind, *parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One person's judgement of one item; several labels are joined by `|`, none is the empty string."""

    item: str
    annotator: str
    label: str
    at: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One association of a Cat: `text` is the sentence a model reads, `fill` the words put in the BLANK."""

    id: str = ""
    text: str
    label: Label
    fill: str | None = None
    votes: tuple[Annotation, ...] = ()
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an empty text."""
        if not self.text.strip():
            raise ValueError("a candidate's text must not be empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cat:
    """A Context Association Test: a context about a target and three candidates, one of each label."""

    id: str = ""
    kind: Kind
    bias_type: str
    target: str
    context: str
    candidates: tuple[Candidate, Candidate, Candidate]
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the three labels are a permutation, and give the Cat and its candidates their ids."""
        labels = [c.label for c in self.candidates]
        if sorted(labels) != sorted(LABELS):
            raise ValueError(f"a CAT needs one candidate of each of {', '.join(LABELS)}; found {', '.join(labels)}")
        about = (self.kind, self.bias_type, self.target, self.context, self.language)
        for candidate in self.candidates:
            _give_id(candidate, "candidate", *about, candidate.text)
        if len({c.id for c in self.candidates}) < len(self.candidates):
            raise ValueError("two candidates of a CAT have the same id (or the same text)")
        _give_id(self, "cat", *about, sorted(c.text for c in self.candidates))

    def __getitem__(self, label: Label) -> Candidate:
        """The candidate with this label."""
        return next(c for c in self.candidates if c.label == label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A CrowS-Pairs minimal pair: `more` is the more stereotyping sentence, whichever the direction."""

    id: str = ""
    more: str
    less: str
    direction: Direction
    bias_type: str
    votes: tuple[Annotation, ...] = ()
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the pair its id."""
        _give_id(self, "pair", self.more, self.less, self.bias_type, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A SoFa probe: an identity of a category joined with a stereotype; `text` is what a model reads."""

    id: str = ""
    category: str
    identity: str
    stereotype: str
    text: str = ""
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the text from its parts unless the source gave one, and give the probe its id."""
        if not self.text:
            object.__setattr__(self, "text", f"{self.identity} {self.stereotype}")
        _give_id(self, "probe", self.category, self.identity, self.stereotype, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSet:
    """A named list of words or sentences; a list, since a text may stand in it twice."""

    name: str
    items: tuple[str, ...]
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an empty set: a mean over nothing is no number."""
        if not self.items:
            raise ValueError(f"word set {self.name!r} is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationTest:
    """A WEAT or SEAT test: targets `x` and `y`, attributes `a` and `b`."""

    id: str = ""
    x: WordSet
    y: WordSet
    a: WordSet
    b: WordSet
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the test its id."""
        _give_id(self, "test", *[(s.name, list(s.items)) for s in (self.x, self.y, self.a, self.b)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A lexicon entry: a word for a group of people, as a lexicon lists it (`pos` n, adj or pp)."""

    id: str = ""
    category: str
    term: str
    pos: str = ""
    group: str = ""
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the term its id."""
        _give_id(self, "term", self.category, self.term, self.pos, self.group, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A plural subject made from a term; `form` says how, since length and head noun move perplexity."""

    id: str = ""
    category: str
    identity: str
    form: str
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the identity its id."""
        _give_id(self, "identity", self.category, self.identity, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An implied statement as people wrote it, with the group it is about where the source says so."""

    id: str = ""
    statement: str
    target: str = ""
    category: str = ""
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the statement its id."""
        _give_id(self, "statement", self.statement, self.target, self.category, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stereotype:
    """A plural-verb predicate without its subject, ready to follow any identity of its category."""

    id: str = ""
    text: str
    category: str = ""
    notes: tuple[str, ...] = ()
    language: str = "en"
    source: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the stereotype its id."""
        _give_id(self, "stereotype", self.text, self.category, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One number about one text; None is unscored, and then `reason` says why."""

    item: str
    score: float | None
    tokens: int = 0
    task: str = ""
    reason: str = ""
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take NaN for what it means: unscored."""
        if self.score is not None and math.isnan(self.score):
            object.__setattr__(self, "score", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What a filter turned away, and why."""

    id: str
    reason: str
    text: str = ""
    score: float | None = None
    source: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take NaN for what it means: there was no number."""
        if self.score is not None and math.isnan(self.score):
            object.__setattr__(self, "score", None)


Record = Annotation | Cat | Pair | Probe | AssociationTest | Term | Identity | Statement | Stereotype | Score | Refused
"""Everything that can stand on a line of our JSONL."""

RECORDS: dict[str, type[Any]] = {
    "annotations": Annotation,
    "cats": Cat,
    "pairs": Pair,
    "probes": Probe,
    "association tests": AssociationTest,
    "terms": Term,
    "identities": Identity,
    "statements": Statement,
    "stereotypes": Stereotype,
    "scores": Score,
    "refusals": Refused,
}
"""The name people read for each kind of record."""


def kind_name(record_type: type[Any]) -> str:
    """What a person calls many of these records: `cats`, `pairs`, `association tests`."""
    return next(name for name, known in RECORDS.items() if known is record_type)
