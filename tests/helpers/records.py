"""Records about invented or harmless groups."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

from catsofa.data import formats
from catsofa.data.language.blanks import fill_of
from catsofa.data.records import (
    LABELS,
    Annotation,
    AssociationTest,
    Candidate,
    Cat,
    Kind,
    Label,
    Pair,
    Probe,
    Score,
    Term,
    WordSet,
)


def a_cat(
    context: str = "The zorb was BLANK.",
    stereotype: str = "late",
    anti: str = "early",
    unrelated: str = "purple",
    *,
    sentences: bool = False,
    ids: str = "",
    **fields: Any,
) -> Cat:
    """Returns a CAT whose options are fills of the context, whole sentences for its BLANK, or following sentences.

    `ids` is the prefix of the candidates' ids, and their labels the end; without it the ids come from the content.
    """
    votes: dict[str, tuple[Annotation, ...]] = fields.pop("votes", {})
    intrasentence = "BLANK" in context

    def candidate(label: Label, option: str) -> Candidate:
        text = context.replace("BLANK", option) if intrasentence and not sentences else option
        fill = fill_of(context, text) if intrasentence else None
        return Candidate(id=ids and f"{ids}{label}", text=text, label=label, fill=fill, votes=votes.get(label, ()))

    first, second, third = map(candidate, LABELS, (stereotype, anti, unrelated))
    values = {"id": "one", "bias_type": "invented", "target": "zorb", **fields}
    values.setdefault("kind", "intrasentence" if intrasentence else "intersentence")
    return Cat(context=context, candidates=(first, second, third), **values)


def a_pair(more: str, less: str, **fields: Any) -> Pair:
    """Returns a pair of sentences."""
    values = {"id": "one", "direction": "stereo", "bias_type": "invented", **fields}
    return Pair(more=more, less=less, **values)


def said(item: str, *labels: str) -> tuple[Annotation, ...]:
    """Returns one annotation per label, each by another person."""
    return tuple(Annotation(item=item, annotator=f"person {n}", label=label) for n, label in enumerate(labels))


def cat(name: str, *, target: str = "florin", bias_type: str = "pastime", kind: Kind = "intrasentence") -> Cat:
    """Returns a CAT whose candidates have the ids `name/stereotype`, `name/anti-stereotype` and `name/unrelated`."""
    words = ("tidy", "untidy", "seventeen")
    about: dict[str, Any] = {"target": target, "bias_type": bias_type, "kind": kind}
    return a_cat(f"Every {target} is BLANK.", *words, id=name, ids=f"{name}/", **about)


def scores(orders: Mapping[str, tuple[float | None, float | None, float | None]]) -> dict[str, float | None]:
    """Returns scores by id from the scores of each CAT's stereotype, anti-stereotype and unrelated candidate."""
    return {f"{name}/{label}": score for name, of in orders.items() for label, score in zip(LABELS, of, strict=True)}


HABITS = ("up", "awake", "out", "busy", "done", "home", "ready", "open", "off", "asleep")


def baker(number: int, who: str = "baker", writer: str = "") -> Cat:
    """Returns one CAT: bakers are early (or late, or cubic)."""
    context = f"Our neighbour, the {who}, is {HABITS[number % 10]} BLANK on day {number}."
    about: dict[str, Any] = {"bias_type": "profession", "target": who, "source": {"writer": writer} if writer else {}}
    return a_cat(context, "early", "late", "cubic", id="", **about)


def bakers(count: int, who: str = "baker", writer: str = "") -> list[Cat]:
    """Returns so many CATs."""
    return [baker(number, who, writer) for number in range(count)]


def paraphrased(count: int) -> list[Cat]:
    """Returns CATs whose context was paraphrased."""
    return [
        replace(cat, context=cat.context.replace("Our neighbour, the", "The"), extra={"original_context": cat.context})
        for cat in bakers(count)
    ]


def neutral(count: int) -> list[Cat]:
    """Returns CATs with a written neutral sentence."""
    return [replace(cat, extra={"neutral": {"text": cat.context.replace("BLANK", "tall")}}) for cat in bakers(count)]


def probes(count: int) -> list[Probe]:
    """Returns probes about bakers."""
    return [Probe(category="profession", identity="bakers", stereotype=f"get up at {n}") for n in range(count)]


def terms(count: int) -> list[Term]:
    """Returns targets to write about."""
    return [
        Term(category="profession", term=who) for who in ("baker", "florist", "gardener", "tailor", "weaver")[:count]
    ]


TARGETS = ("zorb", "florin", "glimmer")
FILLS = (("kind", "stubborn", "bread"), ("friendly", "asleep", "roses"), ("clever", "quiet", "tomatoes"))


def cats() -> list[Cat]:
    """Returns nine intrasentence and three intersentence CATs about invented groups, for any model."""
    after = ("She is friendly.", "She is asleep.", "Bread sang.")
    return [
        *(a_cat(f"The {one}s are BLANK.", *fills, id="", target=one) for one in TARGETS for fills in FILLS),
        *(a_cat(f"My neighbour is a {one}.", *after, id="", target=one) for one in TARGETS),
    ]


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
    """Writes one file of each kind of record, and returns the folder."""
    for name, records in {"cats": cats(), "pairs": PAIRS, "probes": PROBES}.items():
        formats.named("jsonl").write(records, folder / f"{name}.jsonl")
    formats.named("stereoset").write(cats(), folder / "cats.json")
    formats.named("seat").write([TEST], folder / "tests")
    return folder


Cells = Mapping[tuple[str, str, str], tuple[float, float]]
"""PPL(i + s) and PPL(i) by (category, stereotype, identity)."""

HAND: Cells = {
    ("craft", "are late", "zorbs"): (100, 10),
    ("craft", "are late", "florins"): (100, 1),
    ("craft", "sing well", "zorbs"): (10, 10),
    ("craft", "sing well", "florins"): (1000, 1),
}
"""log10 PPL* of zorbs and florins: 1 and 2 for being late, 0 and 3 for singing well."""


def scored(cells: Cells) -> tuple[list[Probe], list[Score]]:
    """Returns a probe for each cell, and its score."""
    probes = [Probe(category=c, stereotype=s, identity=i) for c, s, i in cells]
    scores = [
        Score(item=probe.id, score=-log(whole), task="probe", extra={"identity": -log(alone)})
        for probe, (whole, alone) in zip(probes, cells.values(), strict=True)
    ]
    return probes, scores
