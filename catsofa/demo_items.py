"""The demo's items about invented groups: CATs, pairs, probes, an association test, and simulated judgements."""

import random
from collections.abc import Iterator, Sequence

from catsofa.builders import contexts, probes
from catsofa.data.records import (
    LABELS,
    Annotation,
    AssociationTest,
    Candidate,
    Cat,
    Identity,
    Label,
    Pair,
    Probe,
    Stereotype,
    WordSet,
)
from catsofa.planted import (
    ABOUT_PEOPLE,
    ABOUT_THINGS,
    PLACES,
    SCENES,
    SEQUELS,
    SIDES,
    THINGS,
    TRAITS,
    UNRELATED,
    plural,
)

SOURCE = {"builder": "catsofa demo"}
PEOPLE = {
    "Ada": 0.95,
    "Ben": 0.95,
    "Cleo": 0.9,
    "Dan": 0.9,
    "Eve": 0.9,
    "Faye (careless)": 0.4,
    "Gus (adversarial)": 0.0,
}
"""Simulated annotators and how often each of them answers rightly."""


def cats() -> Iterator[Cat]:
    """Every group with every pair of traits: a sentence with a BLANK, and a scene with what comes next."""
    for side, groups in enumerate(SIDES):
        for group in groups:
            for at, pair in enumerate(TRAITS):
                traits: dict[Label, str] = {
                    "stereotype": pair[side],
                    "anti-stereotype": pair[1 - side],
                    "unrelated": UNRELATED[at],
                }
                yield from (_intrasentence(group, template, traits) for template in ABOUT_PEOPLE)
                yield _intersentence(group, at, traits)


def _intrasentence(group: str, template: str, traits: dict[Label, str]) -> Cat:
    """A sentence about a group with its trait left out."""
    context = template.format(group=group, trait="BLANK")
    one, two, three = (
        Candidate(text=contexts.fill(context, words), label=label, fill=words) for label, words in traits.items()
    )
    return Cat(
        kind="intrasentence",
        bias_type="invented people",
        target=group,
        context=context,
        candidates=(one, two, three),
        source=SOURCE,
    )


def _intersentence(group: str, at: int, traits: dict[Label, str]) -> Cat:
    """A scene with a group, and three sentences of which one says nothing of it."""
    sequel = SEQUELS[at % len(SEQUELS)]
    texts = {label: sequel.format(trait=words) for label, words in traits.items()}
    texts["unrelated"] = ABOUT_THINGS[0].format(thing=THINGS[at], trait=traits["unrelated"])
    one, two, three = (Candidate(text=text, label=label) for label, text in texts.items())
    return Cat(
        kind="intersentence",
        bias_type="invented people",
        target=group,
        context=SCENES[at % len(SCENES)].format(group=group, place=PLACES[at]),
        candidates=(one, two, three),
        source=SOURCE,
    )


def pairs() -> Iterator[Pair]:
    """The same trait said of a group it is planted on, and of one of the other side."""
    template = ABOUT_PEOPLE[0]
    for first, second in zip(*SIDES, strict=True):
        for one, other in TRAITS:
            for more, less, trait in ((first, second, one), (second, first, other)):
                yield Pair(
                    more=template.format(group=more, trait=trait),
                    less=template.format(group=less, trait=trait),
                    direction="stereo",
                    bias_type="invented people",
                    source=SOURCE,
                )


def grid() -> list[Probe]:
    """Every group before every trait, by SoFa's builder."""
    groups = [
        Identity(category="invented people", identity=plural(group), form="plural")
        for groups in SIDES
        for group in groups
    ]
    traits = [Stereotype(text=f"are {trait}.", category="invented people") for pair in TRAITS for trait in pair]
    return [probe for probe in probes.build(groups, traits, source=SOURCE) if isinstance(probe, Probe)]


def association() -> AssociationTest:
    """Do the groups of the first side stand nearer to the traits planted on them?"""
    first, second = zip(*TRAITS, strict=True)
    return AssociationTest(
        id="planted",
        x=WordSet(name="first side", items=SIDES[0]),
        y=WordSet(name="second side", items=SIDES[1]),
        a=WordSet(name="planted on the first side", items=first),
        b=WordSet(name="planted on the second side", items=second),
    )


def judgements(items: Sequence[Cat], seed: int = 0) -> Iterator[Annotation]:
    """Five of the simulated people judge each CAT's candidates; the adversarial one answers wrongly on purpose."""
    rng = random.Random(seed)
    for cat in items:
        for person in rng.sample(sorted(PEOPLE), 5):
            for candidate in cat.candidates:
                right = rng.random() < PEOPLE[person]
                label = candidate.label if right else rng.choice([lab for lab in LABELS if lab != candidate.label])
                yield Annotation(item=candidate.id, annotator=person, label=label, extra={"cat": cat.id})
