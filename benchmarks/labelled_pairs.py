"""The labelled pairs of sentences in tests/builders/data, and what the rules of the gate say of a pair."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from catsofa.builders.paraphrases.meaning import alarms, find_target
from catsofa.builders.similarity import Cut, Pair, Placed, Similarity, place
from catsofa.data.language.alarms import Alarm
from catsofa.data.language.blanks import fill
from catsofa.data.records import LABELS, Candidate, Cat

FOLDER = Path(__file__).parents[1] / "tests/builders/data"
KEEPS = {"keeps", "paraphrase", "target_synonym"}
"""Kinds of sentences that keep the meaning; all other kinds change it."""
ABOUT = {"original", "fillers", "target", "author", "style", "set"}
"""Fields of a context that are no sentences to compare."""


class LabelledPair(NamedTuple):
    """Two sentences with a BLANK, the words for it, the target, and the kind of the second sentence."""

    original: str
    sentence: str
    fillers: tuple[str, ...]
    target: str
    kind: str

    @property
    def keeps(self) -> bool:
        """True if the second sentence keeps the meaning."""
        return self.kind in KEEPS

    def filled(self, filler: str) -> list[str]:
        """Returns both sentences with a filler."""
        return [fill(text, filler) for text in (self.original, self.sentence)]

    def raised(self) -> list[Alarm] | None:
        """Returns the alarms of the rules; None if the rules refuse the second sentence, since it lost the target."""
        found = find_target(self.sentence, self.original, self.target, "derived")
        if found.lost:
            return None
        return [*filter(None, [found.alarm]), *alarms(self.sentence, self.original, self.target)]

    def by_rules(self) -> str:
        """Returns `accepted`, `review` or `refused`."""
        raised = self.raised()
        return "refused" if raised is None else "review" if raised else "accepted"

    def with_model(self, entailment: float, cut: Cut, model: str) -> str:
        """Returns the same, if a model of inference reads the pair too; no cosine decides."""
        if (raised := self.raised()) is None:
            return "refused"
        fills = tuple(Candidate(id=f"a-{label}", text="x", label=label, fill="x") for label in LABELS)
        cat = Cat(
            id="a", kind="intrasentence", bias_type="x", target=self.target, context=self.original, candidates=fills
        )
        noted = replace(cat, context=self.sentence, extra={"alarms": [alarm._asdict() for alarm in raised]})
        likeness = Similarity(mean=0.9, least=0.9, chrf=40, entailment=entailment, contradiction=0.0)
        (placed,) = place([(Pair(1, noted, cat), likeness)], cut, model)
        return {"partition": "accepted", "review": "review"}[placed.queue] if isinstance(placed, Placed) else "refused"


def labelled_pairs(file: str, part: slice = slice(None)) -> Iterator[LabelledPair]:
    """Yields the pairs of a file, or of a part of its contexts."""
    for context in tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))["contexts"][part]:
        for kind in sorted(context.keys() - ABOUT):
            value, fillers = context[kind], tuple(context["fillers"])
            for sentence in [value] if isinstance(value, str) else value:
                yield LabelledPair(context["original"], sentence, fillers, context["target"], kind)
