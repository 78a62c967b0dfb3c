"""CATs and pairs about invented groups, with only what a test is about."""

from typing import Any, Literal

from catsofa.data.language.blanks import fill_of
from catsofa.data.records import LABELS, Annotation, Candidate, Cat, Pair


def a_cat(
    context: str = "The zorb was BLANK.",
    stereotype: str = "late",
    anti: str = "early",
    unrelated: str = "purple",
    *,
    sentences: bool = False,
    **fields: Any,
) -> Cat:
    """A CAT whose options are fills of the context; or whole sentences, of the context's BLANK or following it."""
    votes: dict[str, tuple[Annotation, ...]] = fields.pop("votes", {})
    intrasentence = "BLANK" in context

    def candidate(label: Literal["stereotype", "anti-stereotype", "unrelated"], option: str) -> Candidate:
        text = context.replace("BLANK", option) if intrasentence and not sentences else option
        fill = fill_of(context, text) if intrasentence else None
        return Candidate(text=text, label=label, fill=fill, votes=votes.get(label, ()))

    first, second, third = (
        candidate(label, option) for label, option in zip(LABELS, (stereotype, anti, unrelated), strict=True)
    )
    known = {"id": "one", "bias_type": "invented", "target": "zorb", **fields}
    return Cat(
        kind="intrasentence" if intrasentence else "intersentence",
        context=context,
        candidates=(first, second, third),
        **known,
    )


def a_pair(more: str, less: str, **fields: Any) -> Pair:
    """A pair of sentences."""
    known = {"id": "one", "direction": "stereo", "bias_type": "invented", **fields}
    return Pair(more=more, less=less, **known)


def said(item: str, *labels: str) -> tuple[Annotation, ...]:
    """One annotation a label, each by another person."""
    return tuple(Annotation(item=item, annotator=f"person {n}", label=label) for n, label in enumerate(labels))
