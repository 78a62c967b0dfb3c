"""The record types that all packages use: frozen, typed, with an id that is the same on every machine.

A record keeps the id of its source if there is one; otherwise the id is a hash of the content that defines
the record. The hash leaves out labels and provenance: a vote may change a label, but does not create another
item.

Fields of most records: `id`, given or computed from the content; `language`, an ISO 639 code; `source`, provenance
(file, row, builder); `extra`, fields of the source that the record type lacks.
"""

__all__ = [
    "Annotation", "Answer", "Association", "AssociationTest", "Candidate", "Cat", "Identity", "Pair", "Probe",
    "Question", "Refused", "Score", "Statement", "Stereotype", "Term", "Votes", "WordSet", "content_id",
]  # fmt: skip

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from catsofa.data.associations import Association, Votes
from catsofa.data.digests import content_id, give_id
from catsofa.data.questions import Answer, Question
from catsofa.data.set_names import refuse_taken_name

Kind = Literal["intrasentence", "intersentence"]
Label = Literal["stereotype", "anti-stereotype", "unrelated"]
Direction = Literal["stereo", "antistereo"]

SIDES = ("more", "less")
"""The names of the two sentences of a pair; also the tasks of their scores."""
KINDS: tuple[Kind, ...] = get_args(Kind)
LABELS: tuple[Label, ...] = get_args(Label)
BLANK = "BLANK"

Extra = Mapping[str, Any]
"""Fields of a source that the record type lacks: kept, never dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One person's judgement of one item; several labels are joined by `|`, no label is the empty string."""

    item: str
    """Id of the judged record."""
    annotator: str
    """Pseudonym of the person."""
    label: str
    """The judgement; several labels joined by `|`."""
    at: str = ""
    """Time of the judgement, as the source writes it."""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One association of a Cat: `text` is the sentence that a model reads, `fill` the words in the BLANK."""

    id: str = ""
    text: str
    """The sentence that a model reads."""
    label: Label
    """The label that people agreed on."""
    fill: str | None = None
    """The words in the BLANK; None in an intersentence CAT."""
    votes: tuple[Annotation, ...] = ()
    """The judgements behind the label."""
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise a ValueError for an empty text."""
        if not self.text.strip():
            raise ValueError("a candidate's text must not be empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cat:
    """A Context Association Test: a context about a target and three candidates, one per label."""

    id: str = ""
    kind: Kind
    """Candidates fill a BLANK (intrasentence) or follow the context (intersentence)."""
    bias_type: str
    """The domain: gender, profession, race, religion, or another."""
    target: str
    """The term for the group."""
    context: str
    """The sentence with the BLANK, or the sentence before the candidates."""
    candidates: tuple[Candidate, Candidate, Candidate]
    """One candidate per label, in the order of the source."""
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that each label occurs once, and set the ids of the Cat and its candidates."""
        refuse_taken_name(self.bias_type)
        labels = [c.label for c in self.candidates]
        if sorted(labels) != sorted(LABELS):
            raise ValueError(f"a CAT needs one candidate of each of {', '.join(LABELS)}; found {', '.join(labels)}")
        texts = sorted(c.text for c in self.candidates)
        about = (self.kind, self.bias_type, self.target, self.context, self.language)
        for candidate in self.candidates:  # another CAT may have the same sentence with other ones
            give_id(candidate, "candidate", *about, texts, candidate.text)
        if len({c.id for c in self.candidates}) < len(self.candidates):
            raise ValueError("two candidates of a CAT have the same id (or the same text)")
        give_id(self, "cat", *about, texts)

    def __getitem__(self, label: Label) -> Candidate:
        """The candidate with this label."""
        for candidate in self.candidates:  # a generator takes twice as long, and reports make millions of calls
            if candidate.label == label:
                return candidate
        raise KeyError(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A CrowS-Pairs minimal pair: `more` is the more stereotyping sentence in both directions."""

    id: str = ""
    more: str
    """The more stereotyping sentence."""
    less: str
    """The less stereotyping sentence."""
    direction: Direction
    """`more` states the stereotype (stereo) or violates it (antistereo)."""
    bias_type: str
    """The domain."""
    votes: tuple[Annotation, ...] = ()
    """The judgements of the annotators."""
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the pair its id."""
        refuse_taken_name(self.bias_type)
        give_id(self, "pair", self.more, self.less, self.bias_type, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A SoFa probe: an identity of a category joined with a stereotype; `text` is what a model reads."""

    id: str = ""
    category: str
    """The category of the identity."""
    identity: str
    """The plural subject."""
    stereotype: str
    """The predicate."""
    text: str = ""
    """The sentence that a model reads; by default identity and stereotype."""
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Build the text from its parts unless the source has one, and set the id."""
        refuse_taken_name(self.category)
        if not self.text:
            object.__setattr__(self, "text", f"{self.identity} {self.stereotype}")
        give_id(self, "probe", self.category, self.identity, self.stereotype, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSet:
    """A named list of words or sentences, in which a text may occur twice."""

    name: str
    """Name of the set, as the test lists it."""
    items: tuple[str, ...]
    """The words or sentences; a text may occur twice."""
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise a ValueError for an empty set, whose mean is undefined."""
        if not self.items:
            raise ValueError(f"word set {self.name!r} is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationTest:
    """A WEAT or SEAT test: targets `x` and `y`, attributes `a` and `b`."""

    id: str = ""
    x: WordSet
    """First set of targets."""
    y: WordSet
    """Second set of targets."""
    a: WordSet
    """First set of attributes."""
    b: WordSet
    """Second set of attributes."""
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the test its id."""
        give_id(self, "test", *[(s.name, list(s.items)) for s in (self.x, self.y, self.a, self.b)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A lexicon entry: a word for a group of people, as a lexicon lists it (`pos` n, adj or pp)."""

    id: str = ""
    category: str
    """The category of the group."""
    term: str
    """The word or phrase."""
    pos: str = ""
    """Part of speech: n, adj or pp; empty if unknown."""
    group: str = ""
    """The group that sibling terms share; empty if unknown."""
    language: str = "en"
    region: str = ""
    """Where people are asked about the group; empty if anywhere."""
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the term its id."""
        parts = [self.category, self.term, self.pos, self.group, self.language]
        give_id(self, "term", *parts, *filter(None, [self.region]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A plural subject made from a term; `form` says how, since length and head noun affect perplexity."""

    id: str = ""
    category: str
    """The category of the term."""
    identity: str
    """The plural subject."""
    form: str
    """The way in which the subject was made from the term."""
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the identity its id."""
        give_id(self, "identity", self.category, self.identity, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An implied statement as people wrote it, with its group if the source states one."""

    id: str = ""
    statement: str
    """The text as people wrote it; empty if they wrote none."""
    target: str = ""
    """The group, as the source names it."""
    category: str = ""
    """The category of the group."""
    language: str = "en"
    source: Extra = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the statement its id."""
        give_id(self, "statement", self.statement, self.target, self.category, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stereotype:
    """A plural-verb predicate without its subject, ready to follow any identity of its category."""

    id: str = ""
    text: str
    """The predicate."""
    category: str = ""
    """The category whose identities it can follow."""
    notes: tuple[str, ...] = ()
    """The builder's changes and doubts."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """The predicate by gender of its subject, in languages where the predicate agrees with the subject."""
    language: str = "en"
    source: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the stereotype its id."""
        give_id(self, "stereotype", self.text, self.category, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One number about one text; None means unscored, and `reason` says why."""

    item: str
    """Id of the scored text or record."""
    score: float | None
    """The number; None if unscored."""
    tokens: int = 0
    """Number of tokens that the score covers; 0 if unknown."""
    task: str = ""
    """The part that was scored: the kind of a CAT, the side of a pair."""
    reason: str = ""
    """The reason why the text is unscored."""
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Replace NaN by None, which means unscored."""
        if self.score is not None and math.isnan(self.score):
            object.__setattr__(self, "score", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A text that a filter refused, and the reason."""

    id: str
    reason: str
    """The reason, as one word with underscores."""
    text: str = ""
    """The refused text."""
    score: float | None = None
    """The number that the filter compared; None if there is none."""
    source: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Replace NaN by None, which means that there was no number."""
        if self.score is not None and math.isnan(self.score):
            object.__setattr__(self, "score", None)


RECORDS: dict[str, type[Any]] = {
    "annotations": Annotation,
    "cats": Cat,
    "pairs": Pair,
    "probes": Probe,
    "questions": Question,
    "associations": Association,
    "association tests": AssociationTest,
    "terms": Term,
    "identities": Identity,
    "statements": Statement,
    "stereotypes": Stereotype,
    "scores": Score,
    "refusals": Refused,
}
"""The record types by the names shown to users."""


def kind_name(record_type: type[Any]) -> str:
    """The plural name of a record type: `cats`, `pairs`, `association tests`."""
    return next(name for name, candidate in RECORDS.items() if candidate is record_type)
