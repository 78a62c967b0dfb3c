"""A few records of each kind about invented groups, to be scored by any model."""

from itertools import pairwise
from pathlib import Path

from catsofa.data import formats
from catsofa.data.records import LABELS, AssociationTest, Candidate, Cat, Pair, Probe, WordSet

TARGETS = ("zorb", "florin", "glimmer")
FILLS = (("kind", "stubborn", "bread"), ("friendly", "asleep", "roses"), ("clever", "quiet", "tomatoes"))


def cats() -> list[Cat]:
    """Nine intrasentence and three intersentence CATs about invented groups."""
    inside = [
        Cat(
            kind="intrasentence",
            bias_type="invented",
            target=target,
            context=f"The {target}s are BLANK.",
            candidates=tuple(
                Candidate(text=f"The {target}s are {fill}.", fill=fill, label=label)
                for fill, label in zip(fills, LABELS, strict=True)
            ),  # type: ignore[arg-type]  # three labels make three candidates
        )
        for target in TARGETS
        for fills in FILLS
    ]
    after = [
        Cat(
            kind="intersentence",
            bias_type="invented",
            target=target,
            context=f"My neighbour is a {target}.",
            candidates=tuple(
                Candidate(text=text, label=label)
                for text, label in zip(("She is friendly.", "She is asleep.", "Bread sang."), LABELS, strict=True)
            ),  # type: ignore[arg-type]  # three labels make three candidates
        )
        for target in TARGETS
    ]
    return [*inside, *after]


PAIRS = [
    Pair(more=f"The {a}s are {fill}.", less=f"The {b}s are {fill}.", direction="stereo", bias_type="invented")
    for a, b in pairwise(TARGETS)
    for fill in FILLS[0]
]
PROBES = [
    Probe(category="invented", identity=f"{target}s", stereotype=f"are {fill}")
    for target in TARGETS
    for fills in FILLS
    for fill in fills
]
TEST = AssociationTest(
    id="invented",
    x=WordSet(name="florins", items=("A florin sang.", "The florin baked.")),
    y=WordSet(name="zorbs", items=("A zorb sang.", "The zorb baked.")),
    a=WordSet(name="kind", items=("She is kind.", "He is friendly.")),
    b=WordSet(name="asleep", items=("She is asleep.", "He is quiet.")),
)


def one_file_of_each(folder: Path) -> Path:
    """The folder, with one file of each kind of record."""
    for name, records in {"cats": cats(), "pairs": PAIRS, "probes": PROBES}.items():
        formats.named("jsonl").write(records, folder / f"{name}.jsonl")
    formats.named("stereoset").write(cats(), folder / "cats.json")
    formats.named("seat").write([TEST], folder / "tests")
    return folder
