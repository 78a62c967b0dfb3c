"""Checks if a paraphrase keeps the meaning: cosines of the filled sentences, a floor, and a review queue.

The score supports a floor, not a verdict: of paraphrases reversed by a negation, 86 % still reach 0.65 with
all-MiniLM-L6-v2. Pairs between the floor and the review line go to people. So do pairs with an alarm of `build
paraphrases`, unless the models clear it.
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
KEPT = {"target", "disclaimer", "negation", "question", "language"}
"""The alarms that no model clears: another target, a comment, a reversal, a question, another language."""


class Pair(NamedTuple):
    """A paraphrase of one partition with its original."""

    partition: int
    paraphrase: Cat
    original: Cat


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """Similarity of two CATs: mean and least cosine over the three candidates, and chrF of the contexts.

    `cross` is the score of a cross-encoder. `entailment` is the least, `contradiction` the largest probability over
    both directions and two fills. `things` is the cosine of the words that the two slots describe, if these differ.
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
    """Models for the comparison: an encoder, and optionally a cross-encoder and an inference model."""

    encoder: Encoder
    cross: PairScorer | None = None
    inference: Inference | None = None

    @property
    def signature(self) -> str:
        """The signatures of all models."""
        return " + ".join(model.signature for model in (self.encoder, self.cross, self.inference) if model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Thresholds: a pair below `floor` is refused, below `review` goes to people, above `same` (chrF) is refused.

    From the cosine `things` on, two slots describe the same. With an inference model, a pair below `unsure` in one
    direction goes to people. From `entailed` in both directions, inference clears the alarms of other words; from
    `certain` on, all alarms about the meaning. Above `contradicted` it refuses; with an alarm, a contradiction above
    0.5 is enough.
    """

    floor: float = 0.60
    review: float = 0.75
    same: float = 85.0
    things: float = 0.5
    unsure: float = 0.5
    entailed: float = 0.5
    certain: float = 1.1
    contradicted: float = 0.9

    def __post_init__(self) -> None:
        """Raises ValueError for a line that is no cosine, or for lines in the wrong order."""
        for line, value in (("floor", self.floor), ("review line", self.review)):
            if not -1 <= value <= 1:
                raise ValueError(f"the {line} ({value:g}) is a cosine, which is between -1 and 1; 0.6 to 0.8 is usual")
        if self.floor > self.review:
            raise ValueError(f"the floor ({self.floor:g}) must not be above the review line ({self.review:g})")
        if not 0 <= self.same <= 100:
            raise ValueError(f"the line for the same sentence ({self.same:g}) is a chrF, from 0 to 100; 85 is usual")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A paraphrase that was not refused: kept in its partition, or queued for people."""

    queue: Queue
    partition: int
    cat: Cat


def key_of(pair: Pair, signature: str) -> str:
    """Returns the key of a score; equal texts and models have equal keys, so a score need not be computed again."""
    texts = [[cat[label].text for label in LABELS] + [cat.context] for cat in (pair.original, pair.paraphrase)]
    return content_id("similarity", signature, texts, [alarm["words"] for alarm in _alarms(pair)])


def similarities(pairs: Sequence[Pair], models: Models) -> list[Similarity]:
    """Returns the similarity of each pair; a text in several pairs is encoded once."""
    texts = list(dict.fromkeys(cat[label].text for pair in pairs for cat in pair[1:] for label in LABELS))
    row = {text: number for number, text in enumerate(texts)}
    vectors = models.encoder.encode(texts)
    sides = [[[row[cat[label].text] for label in LABELS] for cat in pair[1:]] for pair in pairs]
    cosines = np.array([np.einsum("ij,ij->i", vectors[ours], vectors[theirs]) for ours, theirs in sides])
    alike = [(p.original["stereotype"].text, p.paraphrase["stereotype"].text) for p in pairs]
    cross = models.cross.score(alike) if models.cross else [None] * len(pairs)
    inferences, things = _readings(pairs, models.inference), _things(pairs, models.encoder)
    return [
        Similarity(
            mean=float(three.mean()),
            least=float(three.min()),
            chrf=chrf(_plain(pair.paraphrase.context), _plain(pair.original.context)),
            cross=cross[index],
            contradiction=max(
                (one.contradiction for one in inferences[index] if one.contradiction is not None), default=None
            ),
            entailment=min((one.entailment for one in inferences[index]), default=None),
            things=things[index],
        )
        for index, (pair, three) in enumerate(zip(pairs, cosines, strict=True))
    ]


def _readings(pairs: Sequence[Pair], model: Inference | None) -> list[list[Reading]]:
    """Returns a model's readings of each pair, for the stereotype and the anti-stereotype, in both directions."""
    if model is None:
        return [[] for _ in pairs]
    filled = [(pair.original[label].text, pair.paraphrase[label].text) for pair in pairs for label in LABELS[:2]]
    forth, back = model.read(filled), model.read([(theirs, ours) for ours, theirs in filled])
    return [[*forth[start : start + 2], *back[start : start + 2]] for start in range(0, len(filled), 2)]


def _things(pairs: Sequence[Pair], encoder: Encoder) -> list[float | None]:
    """Returns the cosine of the two words in the alarm "described"; None without that alarm."""
    words = [next((one["words"] for one in _alarms(pair) if one["kind"] == "described"), None) for pair in pairs]
    if not any(words):
        return [None] * len(pairs)
    vectors = encoder.encode([word for two in words if two for word in two])
    cosines = iter(np.einsum("ij,ij->i", vectors[::2], vectors[1::2]).tolist())
    return [next(cosines) if two else None for two in words]


def _alarms(pair: Pair) -> list[Mapping[str, Any]]:
    """Returns the alarms of a paraphrase; those of earlier versions, called warnings, have no words."""
    extra = pair.paraphrase.extra
    return [*extra.get("alarms", ()), *({"kind": kind, "words": ()} for kind in extra.get("warnings", ()))]


def _plain(context: str) -> str:
    """Returns a context for comparison: lower case, its slot without brackets."""
    return context.replace("[BLANK]", "BLANK").lower()


def place(scored: Iterable[tuple[Pair, Similarity]], cut: Cut, signature: str) -> Iterator[Placed | Refused]:
    """Yields each pair, placed or refused by its score; both records include the score."""
    for pair, similarity in scored:
        values = {name: value for name, value in asdict(similarity).items() if value is not None and isfinite(value)}
        numbers = {name: round(value, 6) for name, value in values.items()}
        scores = {"model": signature, **numbers}
        raised = {str(alarm["kind"]) for alarm in _alarms(pair)}
        alarms = _remaining(raised, similarity, cut)
        if reason := _fault(similarity, cut, alarms):
            yield Refused(
                id=f"{pair.paraphrase.id}/{pair.partition}",
                reason=reason,
                text=pair.paraphrase.context,
                score=values.get("mean"),
                source={"original_context": pair.original.context, "alarms": sorted(raised), "similarity": scores},
            )
            continue
        doubt = _doubt(similarity, cut)
        doubts = sorted(alarms) or ([doubt] if doubt else [])
        about = {"similarity": scores, **({"doubts": doubts} if doubts else {})}
        cat = replace(pair.paraphrase, extra={**pair.paraphrase.extra, **about})
        yield Placed(queue="review" if doubts else "partition", partition=pair.partition, cat=cat)


def _remaining(alarms: set[str], similarity: Similarity, cut: Cut) -> set[str]:
    """Returns the alarms that the models do not clear.

    Similar words in the slots clear "described". Entailment in both directions also clears "added", and from `certain`
    on all alarms that are about the meaning.
    """
    if (entailment := similarity.entailment) is not None and entailment >= cut.entailed:
        return alarms & KEPT if entailment >= cut.certain else alarms - {"described", "added"}
    return alarms - {"described"} if similarity.things is not None and similarity.things >= cut.things else alarms


def _doubt(similarity: Similarity, cut: Cut) -> str:
    """Returns why people should review: a likely contradiction, missing entailment, or a low cosine; empty if nothing.

    A high score of the cross-encoder compensates for a low cosine. An inference model decides instead, except between
    `unsure` and `entailed`.
    """
    if (similarity.contradiction or 0.0) > 0.5:
        return "contradiction"
    if similarity.entailment is not None and not cut.unsure <= similarity.entailment < cut.entailed:
        return "entailment" if similarity.entailment < cut.unsure else ""
    low = similarity.mean < cut.review and (similarity.cross is None or similarity.cross < cut.review)
    return "cosine" if low else ""


def _fault(similarity: Similarity, cut: Cut, alarms: Collection[str]) -> str:
    """Returns the refusal reason of a paraphrase, or an empty string.

    Reasons are the same sentence, another meaning, or a model that returned NaN.
    """
    if not all(isfinite(value) for value in asdict(similarity).values() if value is not None):
        return "unscored"
    if similarity.chrf > cut.same:
        return "same_sentence"
    if (similarity.contradiction or 0.0) > (0.5 if alarms else cut.contradicted):
        return "contradiction"
    return "dissimilar" if similarity.mean < cut.floor else ""
