"""Simulated people of different skill judge the demo's CATs; a majority decides, and unreliable people are detected."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from catsofa.data.records import LABELS, Annotation, Cat

SKILLS = {
    "Ada": 0.95,
    "Ben": 0.95,
    "Cleo": 0.9,
    "Dan": 0.9,
    "Eve": 0.9,
    "Faye (careless)": 0.4,
    "Gus (adversarial)": 0.0,
}
"""Simulated people and the share of their answers that are correct."""
BAD = sorted(name for name, skill in SKILLS.items() if skill < 0.5)
EVERY = 4
"""One CAT in this many is judged, which is enough to measure the people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The decisions by vote, the agreement between people, and whom to exclude with the reasons."""

    cats: int
    judgements: int
    items: int
    decided: int
    right: int
    """Decisions that equal the label that the item was written with."""
    alpha: float
    alpha_without: float
    """Krippendorff's alpha (`alpha`), and alpha without the people to exclude (`alpha_without`)."""
    exclude: Mapping[str, Sequence[str]]
    """Name of each person to exclude, to the reasons."""
    server: str = ""
    """The server through which the votes passed; empty if none."""

    @property
    def found(self) -> bool:
        """True if exactly the careless and the adversarial people are to be excluded."""
        return sorted(self.exclude) == BAD


def judged(cats: Sequence[Cat]) -> list[Cat]:
    """Returns the CATs that people judge."""
    return list(cats)[::EVERY]


def judgements(cats: Sequence[Cat], seed: int = 0) -> Iterator[Annotation]:
    """Yields the votes of five people on the candidates of each CAT; the adversarial one always answers wrongly."""
    rng = random.Random(seed)
    for cat in cats:
        for person in rng.sample(sorted(SKILLS), 5):
            for candidate in cat.candidates:
                right = rng.random() < SKILLS[person]
                label = candidate.label if right else rng.choice([lab for lab in LABELS if lab != candidate.label])
                yield Annotation(item=candidate.id, annotator=person, label=label, extra={"cat": cat.id})


def decide(cats: Sequence[Cat], votes: Sequence[Annotation], server: str = "") -> People:
    """Decides each association by the majority of five votes, and names the people whose votes are unreliable."""
    from catsofa.validation.agreement import agreement
    from catsofa.validation.agreement.annotators import annotators
    from catsofa.validation.decide.votes import vote

    outcome = vote(votes, group=lambda annotation: str(annotation.extra["cat"]))
    intended = {candidate.id: candidate.label for cat in cats for candidate in cat.candidates}
    exclude = {person.name: person.exclude for person in annotators(votes) if person.exclude}
    return People(
        cats=len(cats),
        judgements=len(votes),
        items=len(outcome.decisions),
        decided=len(outcome.decisions) - len(outcome.undecided),
        right=sum(decision.label == intended[item] for item, decision in outcome.decisions.items()),
        alpha=agreement(votes).krippendorff_alpha,
        alpha_without=agreement([one for one in votes if one.annotator not in exclude]).krippendorff_alpha,
        exclude=exclude,
        server=server,
    )
