"""What people confirmed of paraphrases and probes: whole items about which several questions were asked.

An annotation names its item under `of` and what was asked under `question`, as `annotate pull` writes it. A
question of ACCEPTED must be answered as it says there; any other (how hurtful a probe is) is noted and decides
nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catsofa.data.records import Annotation, Cat, Probe, Refused
from catsofa.validation.decide.votes import Votes, vote
from catsofa.validation.judgements import Rule

ACCEPTED: dict[type[Cat | Probe], dict[str, str]] = {
    Cat: {"same_meaning": "same", "grammatical": "correct", "about_target": "about it"},
    Probe: {"plausible": "plausible"},
}
"""The answers that confirm an item of each kind."""
REVIEW = "review"
"""Where in its `extra` an item carries what people said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The items that people confirmed, with what they said under REVIEW in their `extra`, and the others."""

    kept: Sequence[Cat | Probe]
    refused: Sequence[Refused]
    votes: Votes


def is_review(annotations: Iterable[Annotation]) -> bool:
    """Whether these are answers to questions about whole items."""
    return any(annotation.extra.get("question") for annotation in annotations)


def reviewed(items: Sequence[Cat | Probe], annotations: Iterable[Annotation], rule: Rule | None = None) -> Reviewed:
    """Keep the items of which enough people said everything that confirms them; say of the others what is missing."""
    known, asked = {item.id for item in items}, defaultdict[str, dict[str, str]](dict)
    judged = list(annotations)
    for annotation in judged:
        of, question = (str(annotation.extra.get(name, "")) for name in ("of", "question"))
        if annotation.extra.get("gold"):
            continue
        if of not in known or not question:
            raise ValueError(f"somebody judged {annotation.item!r}, which is none of these items and no attention item")
        asked[of][question] = annotation.item
    votes = vote(judged, rule, lambda annotation: str(annotation.extra["of"]))
    kept, refused = [], []
    for item in items:
        if reason := "; ".join(_missing(item, asked[item.id], votes)):
            refused.append(Refused(id=item.id, reason=reason))
        else:
            kept.append(replace(item, extra={**item.extra, REVIEW: _said(asked[item.id], votes)}))
    return Reviewed(kept=kept, refused=refused, votes=votes)


def _missing(item: Cat | Probe, asked: Mapping[str, str], votes: Votes) -> Iterator[str]:
    """What was not confirmed, in words."""
    for question, accepted in ACCEPTED[type(item)].items():
        if question not in asked:
            yield f"{question}: nobody was asked"
        elif (decision := votes.decisions[asked[question]]).label != accepted:
            yield f"{question}: {decision.reason.removeprefix('decided: ')}"


def _said(asked: Mapping[str, str], votes: Votes) -> dict[str, Any]:
    """Each question with the label that was decided, if one was, and the votes that count."""
    return {
        question: {
            "label": votes.decisions[name].label,
            "votes": [{"annotator": vote.annotator, "label": vote.label} for vote in votes.counted.votes[name]],
        }
        for question, name in asked.items()
    }
