"""Tests lists of prompts: the same scores as one by one, and one by one where a server cannot."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.served_models import CATS, PAIRS, directly, server

from catsofa.data.records import Probe
from catsofa.data.servers.prompt_lists import split
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring import protocols, served
from catsofa.scoring.served.replies import Reading
from catsofa.scoring.served.scores import score

Tiny = Callable[[str], Path]

pytestmark = pytest.mark.usefixtures("key")

GRID = [
    Probe(category="c", identity=f"{hill} zorbs of the {road}", stereotype=stereotype)
    for hill in ("kind", "long", "quiet", "stubborn", "salted")
    for road in ("rivers", "müde hills", "roads")
    for stereotype in ("love long meetings", "are stubborn", "sing")
]


def _scored(model: served.ServedModel, expected: Any, records: Any) -> None:
    """Asserts that all scores equal those of the same model run directly."""
    scores = score(model, records, protocols.named("catsofa"))
    assert [s.score for s in scores] == pytest.approx([expected[s.item, s.task].score for s in scores], abs=1e-4)


def _lists(behind: Any) -> list[list[str]]:
    """Returns the lists of prompts that a server received."""
    return [body["prompt"] for body in behind.asked if isinstance(body["prompt"], list)]


@pytest.mark.parametrize("records", [CATS, PAIRS, GRID])
@pytest.mark.parametrize("dialect", ["echo", "prompt_logprobs"])
@pytest.mark.parametrize("fault", ["", "choices"])
def test_texts_sent_together_score_as_alone(tiny: Tiny, records: Any, dialect: str, fault: str) -> None:
    """Up to 16 texts go into a request and are joined by the index. Texts that tokens may not identify go alone."""
    expected = directly(tiny("llama"), records)
    with server(tiny("llama"), dialect=dialect, lists=16, fault_of_lists=fault) as (endpoint, behind):
        model = served.connect("llama", replace(endpoint, concurrency=64))
        assert model.capability.lists
        behind.asked.clear()
        behind.answered.clear()
        _scored(model, expected, records)
    listable = {text for text in behind.answered if text.isascii() and not text.startswith(" ")}
    lists = _lists(behind)
    assert {text for prompts in lists for text in prompts} == (listable if len(listable) > 1 else set())
    assert len(lists) == (-(-len(listable) // 16) if len(listable) > 1 else 0)
    assert set(behind.answered.values()) == {1}


def test_a_server_that_numbers_choices_wrongly_is_asked_one_by_one(tiny: Tiny) -> None:
    """The probe compares each text of a list with the same text alone."""
    with server(tiny("llama"), lists=16, fault_of_lists="numbered") as (endpoint, behind):
        model = served.connect("llama", replace(endpoint, concurrency=64))
        assert not model.capability.lists
        behind.asked.clear()
        _scored(model, directly(tiny("llama"), CATS), CATS)
    assert not _lists(behind)


@pytest.mark.parametrize("fault", ["numbered", "number", "without"])
def test_a_wrong_reply_to_a_longer_list_is_not_used(tiny: Tiny, tmp_path: Path, fault: str) -> None:
    """Nothing of it is stored: the texts go alone, and so do all later ones."""
    with (
        server(tiny("llama"), lists=16, honest=5, fault_of_lists=fault) as (endpoint, behind),
        ReplyStore(tmp_path / "replies.jsonl") as store,
    ):
        model = served.connect("llama", replace(endpoint, concurrency=64), replies=store)
        assert model.capability.lists
        behind.asked.clear()
        for half in (GRID[:24], GRID[24:]):
            _scored(model, directly(tiny("llama"), half), half)
    assert 1 <= len(_lists(behind)) <= 4


def test_unknown_words_are_not_matched_by_a_list(tiny: Tiny) -> None:
    """A token without a name shows no text, so its reply is asked for alone."""
    behaviour = {"lists": 16, "dialect": "prompt_logprobs", "adds_start": False}
    with server(tiny("gpt2"), **behaviour) as (endpoint, _):
        assert not served.connect("gpt2", replace(endpoint, concurrency=64)).capability.lists
        assert served.connect("gpt2", replace(endpoint, concurrency=64), start="<|endoftext|>").capability.lists
    known, unknown = Reading(("zorbs", " sing"), (-1.0, -2.0)), Reading(("<unk>", " sing"), (-1.0, -2.0))
    assert known.shows("zorbs sing")
    assert unknown.spells("zorbs sing")
    assert not unknown.shows("zorbs sing")


@pytest.mark.parametrize(("longest", "refusal"), [(8, 400), (8, 403), (8, 500), (1, 403)])
def test_a_list_that_is_refused_is_halved(tiny: Tiny, longest: int, refusal: int) -> None:
    """The texts of a refused list go alone, and later lists are shorter; no refusal of a list ends the run."""
    with server(tiny("llama"), lists=longest, refusal=refusal) as (endpoint, behind):
        model = served.connect("llama", replace(endpoint, concurrency=64))
        assert model.capability.lists == (longest > 1)
        behind.asked.clear()
        for third in (GRID[:15], GRID[15:30], GRID[30:]):
            _scored(model, directly(tiny("llama"), third), third)
    lengths = [len(prompts) for prompts in _lists(behind)]
    assert len([length for length in lengths if length > longest]) <= 4
    assert any(1 < length <= longest for length in lengths) == (longest > 1)


def test_no_list_is_tried_at_a_low_concurrency(tiny: Tiny) -> None:
    """Below 8 texts at once, a list could have only one."""
    with server(tiny("llama"), lists=16) as (endpoint, behind):
        served.connect("llama", replace(endpoint, concurrency=7))
    assert not _lists(behind)


def test_passing_faults_lose_no_text(tiny: Tiny) -> None:
    """A list is sent again after a 429; after any other fault, its texts are sent alone."""
    with server(tiny("llama"), lists=16, faults=("429", "500", "reset", "cut"), share=0.3) as (endpoint, behind):
        _scored(served.connect("llama", replace(endpoint, concurrency=64)), directly(tiny("llama"), GRID), GRID)
    assert len(behind.met) > 10


def test_only_a_text_with_a_lasting_fault_is_unscored(tiny: Tiny, tmp_path: Path) -> None:
    """The other texts of its list are scored, and the next run asks for that text alone."""
    bad = GRID[4].text
    with server(tiny("llama"), lists=16, lasting={bad: "500"}) as (endpoint, behind):
        quick = replace(endpoint, concurrency=64, attempts=2)
        with ReplyStore(tmp_path / "replies.jsonl") as store:
            model = served.connect("llama", quick, replies=store)
            scores = score(model, GRID, protocols.named("catsofa"))
        assert [s.item for s in scores if s.score is None] == [GRID[4].id]
        behind.behaviour.lasting.clear()
        with ReplyStore(tmp_path / "replies.jsonl") as store:
            model = served.connect("llama", quick, replies=store)
            behind.asked.clear()
            _scored(model, directly(tiny("llama"), GRID), GRID)
    assert [body["prompt"] for body in behind.asked] == [bad]


CHOICES = [{"index": 1, "text": "b"}, {"index": 0, "text": "a"}]


def test_a_reply_is_split_by_the_index_of_its_choices() -> None:
    """Each reply has the choice with its number and its share of the written tokens, but no count of prompt tokens."""
    reply = {"model": "m", "choices": CHOICES, "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    assert split(reply, 2) == [
        {"model": "m", "choices": [{"index": 0, "text": text}], "usage": {"completion_tokens": 1}} for text in "ab"
    ]


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"choices": None},
        {"choices": 5},
        {"choices": True},
        {"choices": CHOICES[:1]},
        {"choices": [CHOICES[0], CHOICES[0]]},
        {"choices": [{"text": "a"}, {"text": "b"}]},
        {"choices": [{"index": [0]}, {"index": 1}]},
        {"choices": [*CHOICES, CHOICES[0]]},
        {"choices": CHOICES, "usage": {"completion_tokens": 3}},
        {"choices": CHOICES, "usage": {"completion_tokens": "2"}},
    ],
)
def test_a_reply_without_one_choice_for_each_prompt_is_refused(reply: Any) -> None:
    """Missing, doubled or unnumbered choices are no replies, nor are written tokens that cannot be shared equally."""
    with pytest.raises(ValueError, match=r"2 prompts"):
        split(reply, 2)
