"""Tests judgements of sentences written as neutral: shares by hand, with their denominators."""

import pytest

from catsofa.data.records import Annotation
from catsofa.validation.decide.neutral import written_as
from catsofa.validation.judgements import Rule


def judged(target: str, number: int, written: str, labels: str) -> list[Annotation]:
    """Returns the labels (n, s, a, u) of a sentence about a target, written as `written`."""
    names = {"n": "neutral", "s": "stereotype", "a": "anti-stereotype", "u": "unrelated"}
    about = {"cluster_id": f"{target}{number}", "target": target, "written": written}
    item = f"{target}{number}/{written}"
    return [Annotation(item=item, annotator=f"p{n}", label=names[one], extra=about) for n, one in enumerate(labels)]


def test_how_often_neutral_wins_is_counted_over_sentences_with_all_judgements() -> None:
    """Of four neutral sentences with three judges, one is decided neutral, two stereotype, one undecided.

    A fifth with two judges is in no share, although its two judges agree. Of the 12 judgements 5 say neutral.
    """
    answers = [
        *judged("Zorbs", 1, "neutral", "nnn"),
        *judged("Zorbs", 2, "neutral", "ssn"),
        *judged("Dravians", 1, "neutral", "ssa"),
        *judged("Dravians", 2, "neutral", "nsu"),
        *judged("Dravians", 3, "neutral", "nn"),
        *judged("Zorbs", 1, "stereotype", "sss"),
    ]
    rows, _ = written_as(answers, Rule(need=2, of=3))
    neutral, stereotype = rows[0], rows[1]
    assert (neutral.written, neutral.items, neutral.short, neutral.targets) == ("neutral", 4, 1, 2)
    counts = {name: share.count for name, share in neutral.decided.items()}
    assert counts == {
        "neutral": 1,
        "stereotype": 2,
        "anti-stereotype": 0,
        "unrelated": 0,
        "undecided": 1,
        "two or more": 2,
    }
    won = neutral.decided["neutral"]
    assert won.share == 0.25
    assert won.low < 0.25 < won.high
    assert neutral.judgements["neutral"].share == pytest.approx(5 / 12)
    assert (stereotype.written, stereotype.items, stereotype.decided["stereotype"].share) == ("stereotype", 1, 1.0)


def test_annotations_without_what_was_written_are_refused() -> None:
    """Annotations without the written label are refused; the error names the kind of study."""
    with pytest.raises(ValueError, match="validate-neutral"):
        written_as([Annotation(item="i", annotator="p", label="neutral")], Rule())
