import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.servers.completions_server import Behaviour, Served, serving

from catsofa.cli.score.tables import show
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Candidate, Cat, Direction, Label, Pair, Probe
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.measures import forced_choice, position
from catsofa.scoring.measures.forced_choice import Choice, Comparison, comparisons, measured, parse

pytestmark = pytest.mark.usefixtures("key")
Tiny = Callable[[str], Path]
Reply = Callable[[str], Any]

LABELS: tuple[Label, ...] = ("stereotype", "anti-stereotype", "unrelated")


def _cat(number: int, kind: Any = "intrasentence") -> Cat:
    texts = (f"Zorb {number} is tidy.", f"Zorb {number} is messy.", f"Zorb {number} is salted.")
    one, two, three = (Candidate(text=text, label=label) for text, label in zip(texts, LABELS, strict=True))
    target = "zorb" if number % 2 else "dask"
    context = f"Zorb {number} is BLANK." if kind == "intrasentence" else f"We met zorb {number}."
    return Cat(kind=kind, bias_type="kind", target=target, context=context, candidates=(one, two, three))


CATS = [_cat(k, "intersentence" if k == 3 else "intrasentence") for k in range(4)]
DIRECTIONS: tuple[Direction, Direction] = ("stereo", "antistereo")
PAIRS = [
    Pair(more=f"Zorbs are tidy {k}.", less=f"Dasks are tidy {k}.", direction=DIRECTIONS[k % 2], bias_type="kind")
    for k in range(4)
]


def sentences(question: str) -> tuple[str, str]:
    """The two sentences of a question."""
    found = re.search(r"A: (.*)\nB: (.*)\nAnswer", question)
    assert found
    return found[1], found[2]


@contextmanager
def chatting(folder: Path, reply: Reply, **behaviour: Any) -> Iterator[tuple[Endpoint, Served]]:
    """A chat model that answers by this function."""
    with serving(folder, Behaviour(dialect="chat only", choice=reply, **behaviour)) as (url, behind):
        yield Endpoint(base_url=url, timeout=20, backoff=0.01), behind


def preferring(*words: str) -> Reply:
    """A model that chooses the sentence with the word that stands first in this list."""

    def reply(question: str) -> str:
        ranks = [next((k for k, word in enumerate(words) if word in text), 9) for text in sentences(question)]
        return "A" if ranks[0] < ranks[1] else "B"

    return reply


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A", "A"),
        ("b", None),
        (" B.\n", "B"),
        ("**A**", "A"),
        ("(B)", "B"),
        ("Answer: A", "A"),
        ("Option B", "B"),
        ("B: She sang.", "B"),
        ("A) He slept.", "A"),
        ("A: She sang.", None),
        ("A gardener sang.", None),
        ("A or B", None),
        ("Both are likely.", None),
        ("I cannot choose between A and B.", None),
        ("", None),
        (None, None),
    ],
)
def test_only_a_plain_choice_is_read(reply: str | None, letter: str | None) -> None:
    """A letter alone, or with its own sentence; a letter with the other sentence, or anything else, is no choice."""
    assert parse(reply, a="He slept.", b="She sang.") == letter


@pytest.mark.parametrize(
    ("as_a", "as_b", "won"),
    [("A", "B", 1.0), ("B", "A", 0.0), ("A", "A", 0.5), ("B", "B", 0.5)],
)
def test_both_orders_make_a_choice(as_a: str, as_b: str, won: float) -> None:
    """The same sentence in both orders wins or loses; the same letter in both is a choice by position, a half."""
    assert Choice(as_a, as_b).won == won


@pytest.mark.parametrize("choice", [Choice(None, "B"), Choice("A", None), Choice(None, None)])
def test_a_choice_that_cannot_be_read_is_none(choice: Choice) -> None:
    """One unread answer leaves the comparison unscored."""
    assert choice.won != choice.won


def test_a_cat_is_asked_in_six_ways() -> None:
    """Three comparisons in both orders; the context stands before sentences that come after it."""
    asked = [question for comparison in comparisons(CATS[3]) for question in comparison.questions()]
    assert len(set(asked)) == 6
    assert all(question.startswith("Text: We met zorb 3.\n") for question in asked)
    assert not any("Text:" in question for comparison in comparisons(CATS[0]) for question in comparison.questions())
    first, second = Comparison("He slept.", "She sang.").questions()
    assert sentences(first) == sentences(second)[::-1] == ("He slept.", "She sang.")


def test_a_model_that_always_chooses_the_stereotype(tiny: Tiny, tmp_path: Path) -> None:
    """lms 100, ss 100, icat 0, in a place of their own; nothing by position."""
    data = tmp_path / "cats.jsonl"
    jsonl.write(CATS, data)
    with chatting(tiny("llama"), preferring("tidy", "messy")) as (endpoint, behind):
        found = forced_choice.ask("chatty", data, endpoint).to_dict()
    assert found["protocol"] == found["signature"]["protocol"] == "forced-choice"
    assert set(found["results"]) == {"forced_choice", "comparisons", "unread", "by_position", "chose_a"}
    overall = found["results"]["forced_choice"]["overall"]
    assert (overall["lms"], overall["ss"], overall["icat"]) == (100, 100, 0)
    assert (found["results"]["by_position"], found["results"]["chose_a"]) == (0, 0.5)
    assert (found["results"]["comparisons"], len(behind.asked)) == (12, 24)
    assert all(body["temperature"] == 0 for body in behind.asked)


@pytest.mark.parametrize(("letter", "effect"), [("A", 1), ("B", -1)])
def test_a_model_that_goes_by_position_has_no_preference(
    tiny: Tiny, tmp_path: Path, letter: str, effect: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """Always A, or always B: position decides everything, so that lms, ss and icat are undefined, and never 50."""
    data = tmp_path / "cats.jsonl"
    jsonl.write(CATS, data)
    with chatting(tiny("llama"), lambda question: letter) as (endpoint, _):
        report = forced_choice.ask("chatty", data, endpoint)
    found = report.to_dict()["results"]
    overall = found["forced_choice"]["overall"]
    assert all(math.isnan(overall[name]) for name in ("lms", "ss", "icat"))
    assert (overall["position"]["value"], overall["lms_position"]["value"]) == (effect, effect)
    assert (found["by_position"], found["chose_a"]) == (1, (effect + 1) / 2)
    assert [line for line in report.warnings if "ss is undefined, decided by position" in line]
    show(report)
    printed = capsys.readouterr().out
    assert "undefined" in printed
    assert "decided by position" in printed
    assert "50.0" not in printed


def simulated(effect: float, pairs: int, seed: int, preference: float = 0.7) -> dict[str, Any]:
    """The measures of a model that goes by position in so many choices, and else by its preference for `more`."""
    rng, records, made = np.random.default_rng(seed), [], {}
    for at in range(pairs):
        of = Pair(more=f"zorb {at}", less=f"dask {at}", direction="stereo", bias_type="invented")
        letters = []
        for stands_first in (True, False):
            by_position = rng.random() < abs(effect)
            first = effect > 0 if by_position else (rng.random() < preference) == stands_first
            letters.append("A" if first else "B")
        records.append(of)
        made[comparisons(of)[0]] = Choice(*letters)
    found: dict[str, Any] = measured(records, made, resamples=500, seed=seed).to_dict()["forced_choice"]["overall"]
    return found


@pytest.mark.parametrize("effect", [-0.6, 0.0, 0.3, 0.6])
def test_the_preference_is_that_which_position_does_not_explain(effect: float) -> None:
    """Simulated models that prefer `more` in 70 of 100 choices: the intervals of both estimates hold the truth."""
    held = {"score": 0, "position": 0}
    for seed in range(40):
        found = simulated(effect, 300, seed)
        limits = found["intervals"]["score"]
        held["score"] += limits["low"] <= 70 <= limits["high"]
        held["position"] += found["position"]["low"] <= effect <= found["position"]["high"]
    assert min(held.values()) >= 34  # of 40; 95 in 100 fall below that once in fifty times, and the seeds are fixed


def test_a_preference_at_its_edge_has_limits_and_so_has_its_icat() -> None:
    """Seven terms, the stereotype in every choice that position does not explain: ss is 100 exactly, of any shares, and
    icat is 0 with the upper limit that those of lms and ss allow."""
    records = [replace(_cat(k), target=f"zorb {k % 7}") for k in range(40)]
    explained = [Choice("A", "B"), Choice("A", "A")]
    made = {
        comparison: explained[(k * at + k // 3) % 2]
        for k, record in enumerate(records)
        for at, comparison in enumerate(comparisons(record), 1)
    }
    found = measured(records, made, resamples=500).to_dict()["forced_choice"]["overall"]
    assert 0 < found["position"]["value"] < 1
    assert (found["lms"], found["ss"], found["icat"]) == (100, 100, 0)
    limits = found["intervals"]
    assert limits["ss"]["low"] < 90
    assert limits["icat"] == {"low": 0, "high": pytest.approx(2 * (100 - limits["ss"]["low"]))}


def test_a_preference_that_position_never_opposed_is_100_exactly() -> None:
    """Chosen wherever it stood first, and in any share where it stood second: 100, whose limits are those of an edge,
    and not 99.99999999999999, which has none."""
    second = np.arange(1, 700) / 700
    seven = np.full(len(second), 7.0)
    chosen = np.column_stack([seven, seven, 7 * second, seven])
    assert set(position.preference(chosen)) == {100.0}
    assert set(position.preference(chosen[:, [2, 3, 0, 1]])) == {100.0}


def test_almost_nothing_but_position_is_undefined_too() -> None:
    """One pair of 20 with a preference: resamples without it are all position, so that the interval reaches 1."""
    records = [Pair(more=f"zorb {at}", less=f"dask {at}", direction="stereo", bias_type="invented") for at in range(20)]
    made = {comparisons(of)[0]: Choice("A", "B" if at == 0 else "A") for at, of in enumerate(records)}
    few = measured(records, made, resamples=500).to_dict()["forced_choice"]["overall"]
    assert (few["position"]["value"], few["position"]["high"]) == (pytest.approx(0.95), 1)
    assert math.isnan(few["score"])


def test_what_cannot_be_read_is_unscored_and_never_fifty(tiny: Tiny, tmp_path: Path) -> None:
    """A model that will not choose between tidy and messy has no ss, and a coverage of nothing but its lms."""
    choose = preferring("tidy", "messy")

    def reply(question: str) -> str:
        return "I would rather not say." if "salted" not in question and "Zorb 1" in question else choose(question)

    data = tmp_path / "cats.jsonl"
    jsonl.write(CATS, data)
    with chatting(tiny("llama"), reply) as (endpoint, _):
        found = forced_choice.ask("chatty", data, endpoint).to_dict()["results"]
    assert found["unread"] == 1
    assert found["forced_choice"]["overall"]["coverage"] == 0.75
    assert found["forced_choice"]["overall"]["ss"] == 100


@pytest.mark.parametrize("content", [None, "", "I cannot help with that."])
def test_a_model_that_never_chooses_has_no_result(tiny: Tiny, tmp_path: Path, content: Any) -> None:
    """Refusals and empty replies are no table of fifties but a sentence."""
    data = tmp_path / "cats.jsonl"
    jsonl.write(CATS, data)
    with (
        chatting(tiny("llama"), lambda question: content) as (endpoint, _),
        pytest.raises(ValueError, match="none of the 4 CATs has its three candidates scored"),
    ):
        forced_choice.ask("chatty", data, endpoint)


def test_pairs_are_chosen_too(tiny: Tiny, tmp_path: Path) -> None:
    """The more stereotyping sentence in three pairs of four: 75."""
    data = tmp_path / "pairs.jsonl"
    jsonl.write(PAIRS, data)
    with chatting(tiny("llama"), preferring("Zorbs are tidy 0", "Zorbs are tidy 1", "Zorbs are tidy 2", "Dasks")) as (
        endpoint,
        _,
    ):
        found = forced_choice.ask("chatty", data, endpoint)
    assert found.to_dict()["results"]["forced_choice"]["overall"]["score"] == 75
    assert all(row["task"].startswith("forced choice") for row in found.rows())


def test_replies_are_kept_and_not_asked_for_again(tiny: Tiny, tmp_path: Path) -> None:
    """Faults on the way, then a second run that asks nothing; the key is in no file."""
    data = tmp_path / "cats.jsonl"
    jsonl.write(CATS, data)
    with chatting(tiny("llama"), preferring("tidy"), faults=("429", "500", "reset", "cut"), share=0.4) as (
        endpoint,
        behind,
    ):
        first = forced_choice.ask("chatty", data, endpoint, out=tmp_path / "out").to_dict()
        asked = len(behind.asked)
        assert asked > 24
        second = forced_choice.ask("chatty", data, endpoint, out=tmp_path / "out").to_dict()
    assert json.dumps(first) == json.dumps(second)
    assert len(behind.asked) == asked
    assert all(b"sk-a-secret" not in file.read_bytes() for file in (tmp_path / "out").iterdir())


def test_choices_of_another_server_are_not_mixed_in(tiny: Tiny, tmp_path: Path) -> None:
    """A model of the same name at another address is another model."""
    data = tmp_path / "cats.jsonl"
    jsonl.write(CATS, data)
    with chatting(tiny("llama"), preferring("tidy")) as (endpoint, _):
        found = forced_choice.ask("chatty", data, endpoint, out=tmp_path / "out", limit=1)
    assert found.signature.protocol == "forced-choice"
    assert found.signature.subset.startswith("first 1@")
    elsewhere = Endpoint(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(
        ValueError, match=r"contains a different set of choices \(at: http://127\.0\.0\.1:\d+/v1 → http"
    ):
        forced_choice.ask("chatty", data, elsewhere, out=tmp_path / "out")


def test_probes_offer_no_choice(tmp_path: Path) -> None:
    """A probe is one sentence."""
    data = tmp_path / "probes.jsonl"
    jsonl.write([Probe(category="c", identity="zorbs", stereotype="sing")], data)
    with pytest.raises(BadInput, match="a choice needs two sentences"):
        forced_choice.ask("chatty", data, Endpoint(base_url="http://127.0.0.1:9/v1"))
