"""Confirms items by judgements: items with decided labels, CATs with three associations, reviewed whole items.

An annotation of a review names its item under `of` and the question under `question`, as `annotate pull` writes
them. A question in ACCEPTED must have the accepted answer. Other questions (how hurtful a probe is) are noted
and decide nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from catsofa.data.judging.accepted import ACCEPTED, SEVERITY
from catsofa.data.judging.adjudicated import ADJUDICATED, Adjudicated
from catsofa.data.judging.severities import OFFENSIVENESS
from catsofa.data.records import LABELS, Annotation, Association, Cat, Probe, Refused
from catsofa.data.records import Votes as RaterVotes
from catsofa.validation.annotation_files import Collected, facts
from catsofa.validation.decide.soft import Soft, as_extra, soft_labels
from catsofa.validation.decide.votes import Decision, Votes, decide_by_posterior, vote
from catsofa.validation.judgements import Rule, Seats


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """The decisions, and the CATs that they confirm or refuse if items form CATs."""

    votes: Votes
    cats: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The items of each CAT, if items form CATs."""
    refused: Sequence[Refused] = ()
    kept: Sequence[Cat] = ()
    """The CATs that are not refused, with the decided labels, if CATs were given."""

    @property
    def by(self) -> str:
        """The annotator of a decision that is written as an annotation."""
        return self.votes.by

    @property
    def seats(self) -> dict[str, Seats]:
        """The counted and wanted judgements of each CAT or item, including CATs without judgements."""
        wanted, counted = self.votes.rule.of, self.votes.counted.seats
        nobody = {name: Seats(taken=0, wanted=wanted, items=len(items)) for name, items in self.cats.items()}
        return nobody | dict(counted)

    def decided(self) -> Iterator[Cat | Annotation]:
        """The confirmed CATs, or the label of each item as an annotation by `majority` or `dawid-skene`."""
        yield from self.kept
        if self.kept:
            return
        out = {item for refusal in self.refused for item in self.cats[refusal.id]}
        soft = soft_labels(self.votes)
        for decision in self.votes.decisions.values():
            if decision.label is not None and decision.item not in out:
                share = f"{decision.votes.get(decision.label, 0)} of {decision.judges}"
                extra = {"votes": share, **as_extra(soft[decision.item])}
                yield Annotation(item=decision.item, annotator=self.by, label=decision.label, extra=extra)

    def not_decided(self) -> Iterator[Refused]:
        """The CATs, or items without CATs, that were not confirmed, with the reason."""
        if self.cats:
            yield from self.refused
            return
        yield from (Refused(id=d.item, reason=d.reason) for d in self.votes.undecided)


Rulings = Mapping[str, Adjudicated]
"""The decisions of a study's owner on items that votes left undecided."""


def confirm(
    collected: Collected,
    rule: Rule | None = None,
    posterior: float | None = None,
    rulings: Rulings = MappingProxyType({}),
) -> Confirmed:
    """Decide every item; items of one CAT are counted and kept together.

    With `posterior`, Dawid-Skene decides instead of votes: the label with a posterior above `posterior`. `rulings`
    complete CATs with an undecided item; they change no vote and no decision by votes.
    """
    rule = rule or Rule()
    annotations = [*written(collected), *collected.annotations] if rule.writer_counts else collected.annotations
    votes = vote(annotations, rule, collected.grouping)
    if posterior is not None:
        votes = decide_by_posterior(votes, posterior)
    if not collected.grouping or not collected.makes_cats:
        return Confirmed(votes=votes)
    members: dict[str, dict[str, None]] = {cat.id: {c.id: None for c in cat.candidates} for cat in collected.cats}
    for annotation in annotations:
        if annotation.item in votes.decisions:
            members.setdefault(collected.grouping(annotation), {})[annotation.item] = None
    cats = {name: list(items) for name, items in members.items()}
    settled = with_rulings(votes.decisions, rulings)
    refused = refused_cats(settled, cats)
    out = {refusal.id for refusal in refused}
    soft = soft_labels(votes)
    kept_cats = [relabelled(cat, settled, soft, rulings) for cat in collected.cats if cat.id not in out]
    return Confirmed(votes=votes, cats=cats, refused=refused, kept=kept_cats)


def written(collected: Collected) -> Iterator[Annotation]:
    """The labels that CATs were written with, as judgements by their writers, unless a writer judged the item again."""
    judgements = {(annotation.item, annotation.annotator) for annotation in collected.annotations}
    for cat in collected.cats:
        writer = str(cat.source.get("writer", "")) or f"the writer of {cat.id}"
        for candidate in cat.candidates:
            if (candidate.id, writer) not in judgements:
                yield Annotation(item=candidate.id, annotator=writer, label=candidate.label, extra=facts(cat))


def with_rulings(decisions: Mapping[str, Decision], rulings: Rulings) -> dict[str, Decision]:
    """The decisions, with the owner's label for items without a label by votes."""
    return {
        item: replace(decision, label=rulings[item].label) if decision.label is None and item in rulings else decision
        for item, decision in decisions.items()
    }


def refused_cats(decisions: Mapping[str, Decision], cats: Mapping[str, Sequence[str]]) -> list[Refused]:
    """The CATs that these decisions do not confirm, with the reason; `cats` maps a CAT to its associations' ids."""
    refused = []
    for cat, associations in cats.items():
        decided = [decisions.get(association) for association in associations]
        labels = sorted(d.label for d in decided if d and d.label)
        if len(labels) < len(decided):
            reasons = ("no votes" if d is None else d.reason for d in decided if not (d and d.label))
            refused.append(Refused(id=cat, reason="; ".join(reasons)))
        elif labels != sorted(LABELS):
            refused.append(Refused(id=cat, reason=f"not one of each label: {', '.join(labels)}"))
    return refused


def relabelled(cat: Cat, decisions: Mapping[str, Decision], soft: Mapping[str, Soft], rulings: Rulings) -> Cat:
    """The CAT with decided labels and soft labels; a different original label is under `written_as`.

    The owner's decision is under ADJUDICATED, with the reason.
    """
    candidates = []
    for candidate in cat.candidates:
        decided = next(label for label in LABELS if label == decisions[candidate.id].label)
        extra = {**candidate.extra, **as_extra(soft[candidate.id])}
        if decided != candidate.label:
            extra["written_as"] = candidate.label
        if candidate.id in rulings:
            extra[ADJUDICATED] = as_said(rulings[candidate.id])
        candidates.append(replace(candidate, label=decided, extra=extra))
    first, second, third = candidates
    return replace(cat, candidates=(first, second, third))


def as_said(ruling: Adjudicated) -> dict[str, str]:
    """A ruling in the form for `extra`, without the name of the person who decided."""
    return {"label": ruling.label} | ({"cause": ruling.cause} if ruling.cause else {}) | {"reason": ruling.reason}


Item = Cat | Probe | Association
"""The record types that people can review as a whole."""
REVIEW = "review"
"""The key in an item's `extra` of its reviews."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The confirmed items, with their reviews under REVIEW in `extra`, and the refused items."""

    kept: Sequence[Item]
    refused: Sequence[Refused]
    votes: Votes


def is_review(annotations: Iterable[Annotation]) -> bool:
    """Returns whether an annotation answers a question about a whole item."""
    return any(annotation.extra.get("question") for annotation in annotations)


def reviewed(
    items: Sequence[Item],
    annotations: Iterable[Annotation],
    rule: Rule | None = None,
    rulings: Rulings = MappingProxyType({}),
) -> Reviewed:
    """Keep the items for which people gave every accepted answer; refuse the others with what is missing.

    `rulings` settle what votes leave undecided; they change no vote and no decision by votes.
    """
    known, names = {item.id for item in items}, defaultdict[str, dict[str, str]](dict)
    judged = list(annotations)
    for annotation in judged:
        item_id, question = (str(annotation.extra.get(name, "")) for name in ("of", "question"))
        if annotation.extra.get("gold"):
            continue
        if item_id not in known or not question:
            raise ValueError(
                f"somebody judged {annotation.item!r}, which is none of these items and no attention item; expected "
                "the annotations.jsonl of a study of these items"
            )
        names[item_id][question] = annotation.item
    votes = vote(judged, rule, lambda annotation: str(annotation.extra["of"]))
    kept_items, refused, soft = [], [], soft_labels(votes)
    settled = with_rulings(votes.decisions, rulings)
    for item in items:
        if reason := "; ".join(_missing(item, names[item.id], settled)):
            refused.append(Refused(id=item.id, reason=reason))
        else:
            review = _said(names[item.id], votes, soft, rulings)
            rated = review["severity"]["votes"] if "severity" in review else ()
            ratings = sorted(float(SEVERITY.index(vote["label"])) for vote in rated)
            if isinstance(item, Association):
                item = replace(item, votes=(*item.votes, _counted(review["association"]["votes"])))
                if ratings and not item.offensiveness:  # never mix ratings of two scales
                    item = replace(item, offensiveness=tuple(ratings))
            elif isinstance(item, Probe) and ratings:
                item = replace(item, extra={**item.extra, OFFENSIVENESS: ratings})
            kept_items.append(replace(item, extra={**item.extra, REVIEW: review}))
    return Reviewed(kept=kept_items, refused=refused, votes=votes)


def _missing(item: Item, names: Mapping[str, str], decisions: Mapping[str, Decision]) -> Iterator[str]:
    """The questions without the accepted answer, each as text."""
    for question, accepted in ACCEPTED[type(item)].items():
        if question not in names:
            yield f"{question}: no people were asked"
        elif (decision := decisions[names[question]]).label != accepted:
            yield f"{question}: {decision.reason.removeprefix('decided: ')}"


def _counted(votes: Iterable[Mapping[str, str]]) -> RaterVotes:
    """The counts of the answers yes, no and unsure, as votes of raters of the region."""
    labels = Counter(vote["label"] for vote in votes)
    return RaterVotes(raters="region", yes=labels["yes"], no=labels["no"], unsure=labels["unsure"])


def _said(names: Mapping[str, str], votes: Votes, soft: Mapping[str, Soft], rulings: Rulings) -> dict[str, Any]:
    """Each question with its label decided by votes (or None), the counted votes, and the soft labels.

    The owner's decision is under ADJUDICATED, with the reason.
    """
    return {
        question: {
            "label": votes.decisions[name].label,
            "votes": [{"annotator": vote.annotator, "label": vote.label} for vote in votes.counted.votes[name]],
        }
        | as_extra(soft.get(name, Soft()))
        | ({ADJUDICATED: as_said(rulings[name])} if name in rulings else {})
        for question, name in names.items()
    }
