"""Extracts annotations from collected records: annotations, CATs with labels, pairs with chosen bias types."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catsofa.data.records import Annotation, Cat, Pair
from catsofa.validation.columns import Column, item_values
from catsofa.validation.judgements import Grouping, questions_of

FACETS = {"domain": ("domain", "bias_type"), "term": ("term", "target")}
"""The keys in an annotation's `extra` for its item's domain and target term."""
UNIT = ("cat", "cluster_id")
"""The keys in an annotation's `extra` for the CAT it was judged with."""
REVIEWED = "of"
"""The key in an answer's `extra` for the whole item that its question is about."""
CHOSEN, NOT_CHOSEN = "chosen", "not chosen"
NO_TYPE = "no bias type"
"""The label of an annotator of a pair who chooses no bias type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Annotations, and the CATs or pairs that they judge, if given."""

    annotations: Sequence[Annotation]
    cats: Sequence[Cat] = ()
    pairs: Sequence[Pair] = ()
    group: str = ""
    """The key in `extra` for the group that an item was judged with: a CAT, or the whole item of a review.

    Empty if each item is judged alone.
    """

    @property
    def grouping(self) -> Grouping | None:
        """The function from an annotation to the group that it was judged with; None without groups."""
        return (lambda annotation: str(annotation.extra[self.group])) if self.group else None

    @property
    def makes_cats(self) -> bool:
        """True if items judged together are the associations of a CAT, not questions about a whole item."""
        return bool(self.group) and self.group != REVIEWED

    def facets(self) -> dict[str, Column]:
        """Columns with each item's domain and target term, if known, and question, if there are several."""
        values = {name: item_values(self.annotations, keys) for name, keys in FACETS.items()}
        if len(questions_of(self.annotations)) > 1:
            values["question"] = item_values(self.annotations, ("question",))
        return {name: Column(name=name, describes="items", values=held) for name, held in values.items() if held}

    def units(self) -> dict[str, str]:
        """The CAT of each item, if the annotations name it, or the whole item of a review."""
        return item_values(self.annotations, (REVIEWED,) if self.group == REVIEWED else UNIT)

    def agreed_on(self) -> Sequence[Annotation]:
        """The annotations to measure agreement on; for pairs, whether each person chose the pair's own bias type."""
        return list(type_chosen(self.pairs)) if self.pairs else self.annotations


def collect(records: Iterable[Any], group: str = "") -> Collected:
    """Every annotation, with the known facts about its item (domain, term, CAT) in `extra`.

    The key `group` groups items; by default `cat` does, or `of` in a review, if all annotations have it.
    """
    annotations: list[Annotation] = []
    cats: list[Cat] = []
    pairs: list[Pair] = []
    for record in records:
        match record:
            case Annotation():
                annotations.append(record)
            case Cat():
                cats.append(record)
                annotations += of_cat(record)
            case Pair():
                pairs.append(record)
                annotations += of_pair(record)
            case _:
                raise ValueError(f"{type(record).__name__} {getattr(record, 'id', '')!r} holds no annotations")
    if not annotations:
        raise ValueError(
            "there are no annotations: these items have no labels beside them; give the annotations themselves "
            "(item, annotator, label), or items that carry the labels people gave them"
        )
    if group:
        for annotation in annotations:
            if not annotation.extra.get(group) and not annotation.extra.get("gold"):
                carried = ", ".join(annotation.extra) or "nothing"
                raise ValueError(
                    f"the annotation of item {annotation.item!r} has no {group!r}, which is to say its CAT; "
                    f"beside item, annotator and label it carries {carried}"
                )
    elif all(annotation.extra.get("cat") for annotation in annotations):
        group = "cat"
    elif all(annotation.extra.get(REVIEWED) and annotation.extra.get("question") for annotation in annotations):
        group = REVIEWED
    return Collected(annotations=annotations, cats=cats, pairs=pairs, group=group)


def onto(cats: Iterable[Cat], collected: Collected) -> Collected:
    """The annotations as judgements of these CATs, matched by the ids of their associations."""
    cats = list(cats)
    facts_by_item = {candidate.id: facts(cat) for cat in cats for candidate in cat.candidates}
    annotations = []
    for annotation in collected.annotations:
        if annotation.item in facts_by_item:
            annotations.append(about(annotation, annotation.item, facts_by_item[annotation.item]))
        elif annotation.extra.get("gold"):
            annotations.append(annotation)
        else:
            raise ValueError(
                f"somebody judged {annotation.item!r}, which is no association of the CATs and no attention item; "
                "give all the CATs that were judged, those that will be refused too, or only their judgements"
            )
    return Collected(annotations=annotations, cats=cats, group="cat")


def of_cat(cat: Cat) -> Iterator[Annotation]:
    """The labels that people gave to a CAT's associations."""
    cat_facts = facts(cat)
    for candidate in cat.candidates:
        for vote in candidate.votes:
            yield about(vote, candidate.id, cat_facts)


def facts(cat: Cat) -> dict[str, str]:
    """The facts about a CAT that its annotations get in `extra`."""
    values = {"cat": cat.id, "bias_type": cat.bias_type, "target": cat.target}
    return values | ({"writer": str(cat.source["writer"])} if cat.source.get("writer") else {})


def of_pair(pair: Pair) -> Iterator[Annotation]:
    """The bias types that people chose for a pair; choosing none is also an answer."""
    for vote in pair.votes:
        yield about(replace(vote, label=vote.label or NO_TYPE), pair.id, {"bias_type": pair.bias_type})


def about(vote: Annotation, item: str, item_facts: Mapping[str, str]) -> Annotation:
    """An annotation with the known facts about its item in `extra`."""
    return replace(vote, item=item, extra={**vote.extra, **item_facts})


def type_chosen(pairs: Iterable[Pair]) -> Iterator[Annotation]:
    """For each annotator of a pair, whether the pair's own bias type is among the chosen ones."""
    for pair in pairs:
        for vote in pair.votes:
            chosen = pair.bias_type in vote.label.split("|")
            label = CHOSEN if chosen else NOT_CHOSEN
            yield replace(about(vote, pair.id, {"bias_type": pair.bias_type}), label=label)
