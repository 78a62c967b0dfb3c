"""Does a paraphrase still mean the same? Cosines of the filled sentences, a floor, and a queue for people.

The score is an instrument for a floor, not a judge: of paraphrases that a negation turned round, 86 % still reach 0.65
with all-MiniLM-L6-v2. What lies between floor and review goes to people, and so does what carries an alarm of
`build paraphrases`, unless the models clear it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from catsofa.builders.similarity.character_overlap import chrf
from catsofa.builders.similarity.encoders import Encoder, Inference, PairScorer, Reading
from catsofa.data.records import LABELS, Cat, Refused, content_id

Queue = Literal["partition", "review"]


class Pair(NamedTuple):
    """A paraphrase of one partition beside its original."""

    partition: int
    paraphrase: Cat
    original: Cat


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """How alike two CATs are: mean and least cosine over the three candidates, and chrF of the contexts.

    `cross` is a cross-encoder's opinion. `entailment` is the least, `contradiction` the largest probability over both
    directions and two fills. `things` is the cosine of the words that the two slots describe, where these differ.
    """

    mean: float
    least: float
    chrf: float
    cross: float | None = None
    contradiction: float | None = None
    entailment: float | None = None
    things: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What compares: an encoder always, a cross-encoder and a model of inference where there is one."""

    encoder: Encoder
    cross: PairScorer | None = None
    inference: Inference | None = None

    @property
    def signature(self) -> str:
        """All of the models."""
        return " + ".join(model.signature for model in (self.encoder, self.cross, self.inference) if model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where the lines run: below `floor` refused, below `review` to people; above `same` it is no paraphrase at all.

    From `things` on two slots describe the same. Inference: `entailed` in both directions clears, `contradicted`
    refuses, and so does a contradiction that is likelier than not where an alarm says the same.
    """

    floor: float = 0.60
    review: float = 0.75
    same: float = 85.0
    things: float = 0.5
    entailed: float = 0.5
    contradicted: float = 0.9

    def __post_init__(self) -> None:
        """Refuse lines that are no cosines, or in the wrong order."""
        for line, at in (("floor", self.floor), ("review line", self.review)):
            if not -1 <= at <= 1:
                raise ValueError(
                    f"the {line} ({at:g}) is a cosine, which lies between -1 and 1; the usual is 0.6 to 0.8"
                )
        if self.floor > self.review:
            raise ValueError(f"the floor ({self.floor:g}) must not lie above the review line ({self.review:g})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A paraphrase that was not refused: kept in its partition, or queued for people."""

    queue: Queue
    partition: int
    cat: Cat


def key_of(pair: Pair, signature: str) -> str:
    """The same for the same texts and models: a score under this key need not be computed again."""
    texts = [[cat[label].text for label in LABELS] + [cat.context] for cat in (pair.original, pair.paraphrase)]
    return content_id("similarity", signature, texts, [alarm["words"] for alarm in _alarms(pair)])


def similarities(pairs: Sequence[Pair], models: Models) -> list[Similarity]:
    """The similarity of each pair; a text that stands in several is encoded once."""
    texts = list(dict.fromkeys(cat[label].text for pair in pairs for cat in pair[1:] for label in LABELS))
    row = {text: number for number, text in enumerate(texts)}
    vectors = models.encoder.encode(texts)
    sides = [[[row[cat[label].text] for label in LABELS] for cat in pair[1:]] for pair in pairs]
    cosines = np.array([np.einsum("ij,ij->i", vectors[ours], vectors[theirs]) for ours, theirs in sides])
    alike = [(p.original["stereotype"].text, p.paraphrase["stereotype"].text) for p in pairs]
    cross = models.cross.score(alike) if models.cross else [None] * len(pairs)
    read, things = _readings(pairs, models.inference), _things(pairs, models.encoder)
    return [
        Similarity(
            mean=float(three.mean()),
            least=float(three.min()),
            chrf=chrf(_plain(pair.paraphrase.context), _plain(pair.original.context)),
            cross=cross[at],
            contradiction=max((one.contradiction for one in read[at]), default=None),
            entailment=min((one.entailment for one in read[at]), default=None),
            things=things[at],
        )
        for at, (pair, three) in enumerate(zip(pairs, cosines, strict=True))
    ]


def _readings(pairs: Sequence[Pair], model: Inference | None) -> list[list[Reading]]:
    """What a model says of each pair, filled with the stereotype and the anti-stereotype, in both directions."""
    if model is None:
        return [[] for _ in pairs]
    filled = [(pair.original[label].text, pair.paraphrase[label].text) for pair in pairs for label in LABELS[:2]]
    forth, back = model.read(filled), model.read([(theirs, ours) for ours, theirs in filled])
    return [[*forth[at : at + 2], *back[at : at + 2]] for at in range(0, len(filled), 2)]


def _things(pairs: Sequence[Pair], encoder: Encoder) -> list[float | None]:
    """The cosine of the two words that an alarm says the slots describe; None without that alarm."""
    words = [next((one["words"] for one in _alarms(pair) if one["kind"] == "described"), None) for pair in pairs]
    if not any(words):
        return [None] * len(pairs)
    vectors = encoder.encode([word for two in words if two for word in two])
    cosines = iter(np.einsum("ij,ij->i", vectors[::2], vectors[1::2]).tolist())
    return [next(cosines) if two else None for two in words]


def _alarms(pair: Pair) -> list[Mapping[str, Any]]:
    """The alarms of a paraphrase; those of earlier versions, which were called warnings, have no words."""
    extra = pair.paraphrase.extra
    return [*extra.get("alarms", ()), *({"kind": kind, "words": ()} for kind in extra.get("warnings", ()))]


def _plain(context: str) -> str:
    """A context for comparison: lower case, its slot without brackets."""
    return context.replace("[BLANK]", "BLANK").lower()


def place(scored: Iterable[tuple[Pair, Similarity]], cut: Cut, signature: str) -> Iterator[Placed | Refused]:
    """Each pair where its score puts it; the score goes with it either way."""
    for pair, found in scored:
        known = {name: value for name, value in asdict(found).items() if value is not None and isfinite(value)}
        numbers = {name: round(value, 6) for name, value in known.items()}
        told = {"model": signature, **numbers}
        alarms = {str(alarm["kind"]) for alarm in _alarms(pair)} - _cleared(found, cut)
        if reason := _fault(found, cut, alarms):
            yield Refused(
                id=f"{pair.paraphrase.id}/{pair.partition}",
                reason=reason,
                text=pair.paraphrase.context,
                score=known.get("mean"),
                source={"original_context": pair.original.context, "similarity": told},
            )
        else:
            cat = replace(pair.paraphrase, extra={**pair.paraphrase.extra, "similarity": told})
            queue: Queue = "review" if alarms or _is_unsure(found, cut) else "partition"
            yield Placed(queue=queue, partition=pair.partition, cat=cat)


def _cleared(found: Similarity, cut: Cut) -> set[str]:
    """The alarms that the models clear: what the slots describe is alike, or the sentences entail each other."""
    if found.entailment is not None and found.entailment >= cut.entailed:
        return {"described", "added"}
    return {"described"} if found.things is not None and found.things >= cut.things else set()


def _is_unsure(found: Similarity, cut: Cut) -> bool:
    """Whether people should look: a low cosine that no other model lifts, or no entailment in some direction."""
    if (found.contradiction or 0.0) > 0.5:
        return True
    if found.entailment is not None:
        return found.entailment < cut.entailed
    return found.mean < cut.review and (found.cross is None or found.cross < cut.review)


def _fault(found: Similarity, cut: Cut, alarms: Collection[str]) -> str:
    """Why a paraphrase is refused: the same sentence again, another meaning, or a model that answered NaN."""
    if not all(isfinite(value) for value in asdict(found).values() if value is not None):
        return "unscored"
    if found.chrf > cut.same:
        return "same_sentence"
    if (found.contradiction or 0.0) > (0.5 if alarms else cut.contradicted):
        return "contradiction"
    return "dissimilar" if found.mean < cut.floor else ""
