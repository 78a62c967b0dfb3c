"""Answers about bakers, for releases of validated items."""

from catsofa.data.records import Annotation, Cat
from catsofa.data.release.dataset_card import CardFacts

PEOPLE = [f"worker-{n}" for n in range(5)]


REVIEW = {"same_meaning": "same", "grammatical": "correct", "about_target": "about it"}
FACTS = CardFacts(pretty_name="Bakers")


def judged(cats: list[Cat], wrong: int) -> list[Annotation]:
    """Returns five judgements per candidate that agree with the writer, except `wrong` ones about the first CAT."""
    return [
        Annotation(
            item=c.id,
            annotator=who,
            label="unrelated" if cat is cats[0] and n < wrong else c.label,
            at="2026-01-02T03:04:05Z",
            extra={"cat": cat.id, "seconds": 3.0},
        )
        for cat in cats
        for c in cat.candidates
        for n, who in enumerate(PEOPLE)
    ]


def reviewed(items: list[Cat], wrong: str) -> list[Annotation]:
    """Returns five reviews that confirm all paraphrases, except that three answer `wrong` differently
    about the first.
    """
    return [
        Annotation(
            item=f"{item.id}/{question}",
            annotator=who,
            label="different" if item is items[0] and question == wrong and n < 3 else label,
            at="2026-01-02T03:04:05Z",
            extra={"of": item.id, "question": question, "seconds": 3.0},
        )
        for item in items
        for question, label in REVIEW.items()
        for n, who in enumerate(PEOPLE)
    ]
