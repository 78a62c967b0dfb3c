"""Tests requests with several prompts: the same scores as one by one, and one by one where a server cannot."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.served_models import CATS, PAIRS, directly, server

from catsofa.data.records import Probe
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.together import split
from catsofa.scoring import protocols, served
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


@pytest.mark.parametrize("records", [CATS, PAIRS, GRID])
@pytest.mark.parametrize("dialect", ["echo", "prompt_logprobs"])
@pytest.mark.parametrize("shuffled", ["", "choices"])
def test_texts_sent_together_score_as_alone(tiny: Tiny, records: Any, dialect: str, shuffled: str) -> None:
    """Up to 16 texts go into one request, the choices are joined by their index, and each text is sent once."""
    expected = directly(tiny("llama"), records)
    with server(tiny("llama"), dialect=dialect, lists=16, shuffled=shuffled) as (endpoint, behind):
        model = served.connect("llama", replace(endpoint, concurrency=64))
        assert model.capability.together
        behind.asked.clear()
        behind.answered.clear()
        _scored(model, expected, records)
    sizes = [len(body["prompt"]) for body in behind.asked if isinstance(body["prompt"], list)]
    assert sum(sizes) >= len(behind.answered) - 1
    assert len(behind.asked) == -(-len(behind.answered) // 16)
    assert set(behind.answered.values()) == {1}


def test_a_server_that_numbers_choices_wrongly_is_asked_one_by_one(tiny: Tiny) -> None:
    """The probe compares each text of a list with the same text alone."""
    with server(tiny("llama"), lists=16, shuffled="numbered") as (endpoint, behind):
        model = served.connect("llama", replace(endpoint, concurrency=64))
        assert not model.capability.together
        behind.asked.clear()
        _scored(model, directly(tiny("llama"), CATS), CATS)
    assert all(isinstance(body["prompt"], str) for body in behind.asked)


def test_a_list_that_is_too_long_is_sent_one_by_one(tiny: Tiny) -> None:
    """After a refused list, no other list is sent than those under way, and all texts are scored."""
    with server(tiny("llama"), lists=8) as (endpoint, behind):
        model = served.connect("llama", replace(endpoint, concurrency=64))
        assert model.capability.together
        behind.asked.clear()
        _scored(model, directly(tiny("llama"), GRID), GRID)
    assert 1 <= sum(isinstance(body["prompt"], list) for body in behind.asked) <= 4


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
