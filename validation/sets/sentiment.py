"""Table 2 of StereoSet: the shares of positive stereotypes and anti-stereotypes; neutral counts as positive."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from catsofa.data.records import Cat, Pair

NEGATIVE = frozenset({"negative", "neg", "very negative", "1 star", "2 stars"})
KNOWN = NEGATIVE | {"positive", "pos", "very positive", "neutral", "neu", "3 stars", "4 stars", "5 stars"}
"""Known class names of classifiers; for other names (`LABEL_0`), the user must say which class is negative."""


class Classifier(Protocol):
    """A function that returns the most probable class of each text."""

    def __call__(self, texts: Sequence[str]) -> Sequence[str]:
        """One class per text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentiment:
    """The shares of negative and of other texts."""

    positive: float
    negative: float
    texts: int


def sentiments(
    records: Iterable[Any], classify: Classifier, negative: Iterable[str] = NEGATIVE
) -> dict[str, Sentiment]:
    """The sentiment of stereotypes and anti-stereotypes of CATs, and of both sentences of pairs."""
    sides: dict[str, list[str]] = {}
    for record in records:
        match record:
            case Cat():
                for label in ("stereotype", "anti-stereotype"):
                    sides.setdefault(label, []).append(next(c.text for c in record.candidates if c.label == label))
            case Pair():
                sides.setdefault("more", []).append(record.more)
                sides.setdefault("less", []).append(record.less)
    if not sides:
        raise ValueError("found no CATs and no pairs; expected stereotypes whose sentiment can be measured")
    result = {}
    for side, texts in sides.items():
        positive = is_positive(texts, classify, negative)
        share = sum(positive) / len(positive)
        result[side] = Sentiment(positive=share, negative=1 - share, texts=len(texts))
    return result


def is_positive(texts: Sequence[str], classify: Classifier, negative: Iterable[str] = NEGATIVE) -> list[bool]:
    """Returns for each text whether it is not negative.

    An unknown class is an error, since a wrong guess would reverse the table.
    """
    named = frozenset(name.lower() for name in negative)
    classes = [label.lower() for label in classify(texts)]
    if unknown := sorted(set(classes) - named - KNOWN) if named <= NEGATIVE else []:
        raise ValueError(
            f"the classifier calls its classes {', '.join(unknown)}; say which of them is negative (--negative)"
        )
    return [label not in named for label in classes]
