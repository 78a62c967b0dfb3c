"""Tests ways of asking for choices, by name and in all combinations."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from catsofa.scoring.choosing.asking import Way
from catsofa.scoring.choosing.items import QUESTIONS
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.multiverse.ways import is_choice, name_of, way_of, ways

FIRST = Way(templates=("likelihood",))


def test_a_name_is_what_differs_from_the_default_way() -> None:
    """A name lists the differences from the default way, with options in one order whatever the order of the input."""
    by_name = ways(["choice", "choice,labels=numbers,templates=plain"], (), "")
    assert [*by_name] == ["choice", "choice,templates=plain,labels=numbers"]
    assert by_name["choice"] == FIRST
    assert by_name["choice,templates=plain,labels=numbers"] == Way(templates=("plain",), labels="numbers")
    assert [is_choice(name) for name in ("choice", "choice,neutral=true", "choices", "catsofa")] == [True, True, 0, 0]


def test_all_combinations_of_two_options() -> None:
    """An option without a value stands for all its values; the first combination is the protocol's own."""
    by_name = ways(["choice"], ["labels", "temperature=1"], "")
    assert [*by_name] == [
        "choice", "choice,temperature=1.0", "choice,labels=numbers", "choice,labels=numbers,temperature=1.0",
        "choice,labels=sentence", "choice,labels=sentence,temperature=1.0",
    ]  # fmt: skip
    assert [*ways(["choice"], ["templates"], QUESTIONS)] == ["choice", "choice,templates=exam"]


@pytest.mark.parametrize(
    "way",
    [
        FIRST,
        Way(templates=("plain",), labels="numbers", neutral=True),
        Way(templates=("plain",), temperature=1.0, answer_tokens=9),
        Way(templates=("likelihood", "plain"), samples=3, temperature=0.5),
        Way(templates=("plain",), samples=1),
    ],
)
def test_the_replies_of_a_run_name_its_way(way: Way) -> None:
    """The way derived from a run's replies has the name that the multiverse gives to the cell."""
    fields = {"order": ("stereotype", "anti-stereotype"), "reply": "A", "labels": way.labels, "neutral": way.neutral}
    replies = [
        Reply(item="p", template=template, sample=sample, **fields)  # type: ignore[arg-type]
        for template in way.templates
        for sample in range(way.samples or 1)
    ]
    asking = way.asking()
    budgets = ("temperature", "sampled", "answer_tokens", "reasoning_tokens")
    parsed = way_of(replies, {name: getattr(asking, name) for name in budgets})
    assert name_of(parsed, "") == name_of(way, "")
    assert parsed == replace(way, samples=1 if asking.sampled and way.samples is None else way.samples)


@pytest.mark.parametrize(
    ("protocols", "vary", "why"),
    [
        (["choice"], [], "expected two or more, or --vary"),
        (["choice", "choice,labels=letters"], [], "found a protocol twice, choice"),
        (["choice", "choice,labels=numbers"], ["neutral"], "found 2 protocols to vary"),
        (["choice,colour=red"], [], "choice has no option 'colour'"),
        (["choice"], ["colour"], "no choice of choice is called 'colour'"),
        (["choice"], ["labels=words"], "labels cannot be 'words'"),
        (["choice"], ["templates=zorb"], "found no template 'zorb'"),
        (["choice"], ["samples"], "samples is a number; name its values"),
        (["choice"], ["labels=letters"], "found one value of labels"),
    ],
)
def test_a_wrong_way_is_a_sentence(protocols: Sequence[str], vary: Sequence[str], why: str) -> None:
    """A wrong way is refused with an error that states what was found or expected."""
    with pytest.raises(ValueError, match=why):
        ways(protocols, vary, "")
