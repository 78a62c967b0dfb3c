"""The labelled pairs of sentences in tests/builders/data, and what the rules of the gate say of a pair."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from catsofa.builders.paraphrases.meaning import alarms, find_target
from catsofa.builders.similarity import Cut, Pair, Placed, Similarity, place
from catsofa.data.language.alarms import Alarm
from catsofa.data.language.blanks import fill
from catsofa.data.records import LABELS, Candidate, Cat, content_id

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
        return _raised(self.sentence, self.original, self.target)

    def by_rules(self) -> str:
        """Returns `accepted`, `review` or `refused`."""
        raised = self.raised()
        return "refused" if raised is None else "review" if raised else "accepted"

    def as_paraphrase(self) -> Pair:
        """Returns both sentences as CATs, the second with its alarms, as `build paraphrases` writes it."""
        words = (*self.fillers, "wooden")[:3]
        cats = [
            Cat(
                id=content_id("labelled", *self),
                kind="intrasentence",
                bias_type="x",
                target=self.target,
                context=context,
                candidates=tuple(
                    Candidate(id=f"{number}-{label}", text=fill(context, word), label=label, fill=word)
                    for label, word in zip(LABELS, words, strict=True)
                ),  # type: ignore[arg-type]
                extra={"alarms": [alarm._asdict() for alarm in self.raised() or ()]} if number else {},
            )
            for number, context in enumerate((self.original, self.sentence))
        ]
        return Pair(1, cats[1], cats[0])


@cache
def _raised(sentence: str, original: str, target: str) -> list[Alarm] | None:
    """Returns the alarms of a pair, computed once for all its outcomes."""
    found = find_target(sentence, original, target, "derived")
    return None if found.lost else [*filter(None, [found.alarm]), *alarms(sentence, original, target)]


def placed(pair: LabelledPair, scored: tuple[Pair, Similarity], cut: Cut) -> str:
    """Returns `accepted`, `review` or the reason why the rules or the filter refuse the second sentence."""
    if pair.raised() is None:
        return "target_lost"
    (result,) = place([scored], cut, "a model")
    if not isinstance(result, Placed):
        return result.reason
    return {"partition": "accepted", "review": "review"}[result.queue]


def alike(entailment: float) -> Similarity:
    """Returns the similarity of two sentences that no cosine and no overlap of letters decides about."""
    return Similarity(mean=0.9, least=0.9, chrf=40, entailment=entailment)


def labelled_pairs(file: str, part: slice = slice(None)) -> Iterator[LabelledPair]:
    """Yields the pairs of a file, or of a part of its contexts."""
    for context in tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))["contexts"][part]:
        for kind in sorted(context.keys() - ABOUT):
            value, fillers = context[kind], tuple(context["fillers"])
            for sentence in [value] if isinstance(value, str) else value:
                yield LabelledPair(context["original"], sentence, fillers, context["target"], kind)
