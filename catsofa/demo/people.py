"""Simulated people of different skill judge the demo's CATs: a majority decides, and the bad ones are found."""

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
"""Simulated people, and how often each of them answers rightly."""
BAD = sorted(name for name, skill in SKILLS.items() if skill < 0.5)
EVERY = 4
"""One CAT in so many is judged: enough to know the people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """What the votes decide, how far people agree, and who is to be excluded and why."""

    cats: int
    judgements: int
    items: int
    decided: int
    right: int
    """Decisions that are what the item was written as."""
    alpha: float
    alpha_without: float
    """Krippendorff's alpha, and the same without those to exclude."""
    exclude: Mapping[str, Sequence[str]]
    """Who, and the reasons."""
    server: str = ""
    """The server that the votes went through."""

    @property
    def found(self) -> bool:
        """Whether the careless and the adversarial, and nobody else, are to be excluded."""
        return sorted(self.exclude) == BAD


def judged(cats: Sequence[Cat]) -> list[Cat]:
    """The CATs that are judged."""
    return list(cats)[::EVERY]


def judgements(cats: Sequence[Cat], seed: int = 0) -> Iterator[Annotation]:
    """Five of the people judge each CAT's candidates; the adversarial one answers wrongly on purpose."""
    rng = random.Random(seed)
    for cat in cats:
        for person in rng.sample(sorted(SKILLS), 5):
            for candidate in cat.candidates:
                right = rng.random() < SKILLS[person]
                label = candidate.label if right else rng.choice([lab for lab in LABELS if lab != candidate.label])
                yield Annotation(item=candidate.id, annotator=person, label=label, extra={"cat": cat.id})


def decide(cats: Sequence[Cat], votes: Sequence[Annotation], server: str = "") -> People:
    """A majority of five decides each association, and the votes show who is not to be trusted."""
    from catsofa.validation.agreement import agreement
    from catsofa.validation.agreement.annotators import annotators
    from catsofa.validation.decide.votes import vote

    found = vote(votes, group=lambda annotation: str(annotation.extra["cat"]))
    written = {candidate.id: candidate.label for cat in cats for candidate in cat.candidates}
    exclude = {person.name: person.exclude for person in annotators(votes) if person.exclude}
    return People(
        cats=len(cats),
        judgements=len(votes),
        items=len(found.decisions),
        decided=len(found.decisions) - len(found.undecided),
        right=sum(decision.label == written[item] for item, decision in found.decisions.items()),
        alpha=agreement(votes).krippendorff_alpha,
        alpha_without=agreement([one for one in votes if one.annotator not in exclude]).krippendorff_alpha,
        exclude=exclude,
        server=server,
    )
