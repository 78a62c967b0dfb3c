"""Association tests with chat models, which choose one of two targets for each word."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data.files import jsonl
from catsofa.data.records import AssociationTest, WordSet
from catsofa.data.servers.endpoints import Endpoint
from catsofa.report import document
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.estimates import rows_of
from catsofa.scoring.choosing.items import Item, items_from
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.results import ASSOCIATION, DECISION, ChoiceReport, associations
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load

FIRST, SECOND = ("stereotype", "anti-stereotype"), ("anti-stereotype", "stereotype")


def trial(words: int = 8) -> AssociationTest:
    """Returns an association test with zorbs and quells as targets, and tidy and messy words as attributes."""
    return AssociationTest(
        id="tidy",
        x=WordSet(name="zorbs", items=("zorb", "zorbling")),
        y=WordSet(name="quells", items=("quell", "quelling")),
        a=WordSet(name="tidy", items=tuple(f"tidy{n}" for n in range(words))),
        b=WordSet(name="messy", items=tuple(f"messy{n}" for n in range(words))),
    )


def asked(answer: Any, folder: Path, out: Path | None = None, template: str = "word") -> ChoiceReport:
    """Returns the report on a server with the given reply function."""
    jsonl.write([trial()], folder / "test.jsonl")
    with serving(ChatServer(answer)) as server:
        model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2), Asking())
        return ask(model, choices(folder / "test.jsonl", [load(template)]), out=out, resamples=200)


def zorbish(body: dict[str, Any]) -> str:
    """Gives zorbs every tidy word and a quarter of the messy words."""
    prompt = str(body["messages"][0]["content"])
    zorb = "A" if "A: zorb" in prompt else "B"
    quarter = any(f"messy{n}" in prompt for n in (0, 4))
    return zorb if '"tidy' in prompt or quarter else "AB".replace(zorb, "")


def test_the_bias_is_the_share_of_both_halves_less_one(tmp_path: Path) -> None:
    """The bias is both shares minus 1: all tidy words for zorbs and 3/4 of the messy ones for quells give 0.75."""
    report = asked(zorbish, tmp_path)
    assert report.results.further["associations"].tests["tidy"].value == pytest.approx(0.75)
    assert (report.results.overall.items, report.results.overall.requests) == (16, 32)
    assert report.signature.protocol == "choice-words"


def test_liking_one_target_for_all_words_is_no_association(tmp_path: Path) -> None:
    """A model that gives every word to zorbs has a bias of 0; one that always says A has an undefined bias."""
    liking = asked(lambda body: "A" if "A: zorb" in str(body) else "B", tmp_path)
    assert liking.results.further["associations"].tests["tidy"].value == pytest.approx(0)
    first = asked(lambda body: "A", tmp_path, tmp_path / "run")
    (section,) = document([tmp_path / "run"]).sections
    assert [str(cell) for cell in section.tables[0].rows[0][1:]] == ["tidy", "undefined"]
    assert np.isnan(first.results.further["associations"].tests["tidy"].value)


def test_a_half_in_which_all_words_agree_is_no_certainty(tmp_path: Path) -> None:
    """The interval allows for other words: all tidy words go to zorbs, but the next one may go to quells."""
    bias = asked(zorbish, tmp_path).results.further["associations"].tests["tidy"]
    assert 0 < bias.low < 0.6
    assert 0.75 < bias.high < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "shares", "b"), [(8, (0.8, 0.8), 0.0), (8, (0.8, 0.3), 0.2), (25, (0.9, 0.9), 0.2), (25, (0.8, 0.7), 0.5)]
)
def test_intervals_of_small_tests_hold_the_bias(words: int, shares: tuple[float, float], b: float) -> None:
    """At least 92 % of 600 intervals contain the bias, with 25 words a side and with 8, where intervals are wide."""
    items = {item.id: item for item in items_from([trial(words)])}
    held = defined = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        replies = []
        for item in items.values():
            share = shares[item.group.startswith("B")]
            for order in (FIRST, SECOND):
                chosen = order[0] if rng.random() < b else FIRST[int(rng.random() > share)]
                replies.append(Reply(item=item.id, order=order, reply="", outcome=item.outcome(chosen)))
        bias = associations(rows_of(replies, items), ASSOCIATION, resamples=400, seed=seed).tests["tidy"]
        defined += not np.isnan(bias.value)
        held += sum(shares) - 1 in bias
    assert held / defined >= 0.92, (held, defined)


def simulated(items: Mapping[str, Item], seed: int) -> list[Reply]:
    """Returns replies of a server with shares 0.8 and 0.65; 0.2 of them name the first place and 0.1 refuse."""
    rng = np.random.default_rng(seed)
    replies = []
    for item in items.values():
        share = 0.8 if item.group.startswith("A") else 0.65
        for order in (FIRST, SECOND):
            chosen = order[0] if rng.random() < 0.2 else FIRST[int(rng.random() > share)]
            outcome = "refusal" if rng.random() < 0.1 else item.outcome(chosen)
            replies.append(Reply(item=item.id, order=order, reply="", outcome=outcome))
    return replies


@pytest.mark.slow
def test_intervals_hold_the_bias_of_simulated_servers() -> None:
    """With shares 0.8 and 0.65, position effect 0.2 and refusals, 92 to 98 % of 300 intervals contain 0.45."""
    items = {item.id: item for item in items_from([trial(40)])}
    held = 0
    for seed in range(300):
        rows = rows_of(simulated(items, seed), items)
        held += 0.45 in associations(rows, ASSOCIATION, resamples=500, seed=seed).tests["tidy"]
    assert 0.92 <= held / 300 <= 0.98, held


def test_a_decision_gives_each_of_two_attributes_to_one_target(tmp_path: Path) -> None:
    """A decision assigns two attributes to two targets, in four prompts for each pair; the bias is (1 + 0.75) / 2."""
    report = asked(zorbish_decision, tmp_path, template="decision")
    assert report.results.further["decisions"].tests["tidy"].value == pytest.approx(0.875)
    assert (report.results.overall.items, report.results.overall.requests) == (16, 32)
    assert report.signature.protocol == "choice-words-decision"


def zorbish_decision(body: dict[str, Any]) -> str:
    """Gives zorbs every tidy word and a quarter of the messy words."""
    asked_for = str(body["messages"][0]["content"]).split("Which one goes with ")[1]
    shown = str(body["messages"][0]["content"])
    zorb = "A" if "A: zorb" in shown else "B"
    quarter = any(f"messy{n}" in asked_for for n in (0, 4))
    return zorb if "tidy" in asked_for or quarter else "AB".replace(zorb, "")


def test_liking_one_target_for_both_attributes_is_an_unbiased_decision(tmp_path: Path) -> None:
    """A model that always names zorbs has a decision bias of 0.5; that of a model that always says A is undefined.

    Templates for words and for decisions cannot be combined.
    """
    liking = asked(lambda body: "A" if "A: zorb" in str(body) else "B", tmp_path, template="decision")
    assert liking.results.further["decisions"].tests["tidy"].value == pytest.approx(0.5)
    first = asked(lambda body: "A", tmp_path, tmp_path / "run", "decision")
    (section,) = document([tmp_path / "run"]).sections
    assert [str(cell) for cell in section.tables[0].rows[0][1:]] == ["tidy", "undefined"]
    assert np.isnan(first.results.further["decisions"].tests["tidy"].value)
    with pytest.raises(ValueError, match=r"template word.*words-decision"):
        choices(tmp_path / "test.jsonl", [load("decision"), load("word")])


def test_every_attribute_and_target_stands_at_every_place() -> None:
    """Each pair of attributes has two items, with places exchanged; all attributes (3 and 8) occur."""
    test = replace(trial(), a=WordSet(name="tidy", items=("tidy0", "tidy1", "tidy2")))
    items = list(items_from([test], second=True))
    assert len(items) == 16
    for one, other in zip(items[::2], items[1::2], strict=True):
        assert (one.about, one.other) == (other.other, other.about)
        assert one.texts["stereotype"] == other.texts["anti-stereotype"]
        assert one.cluster == other.cluster
    assert {item.about for item in items} == {*test.a.items, *test.b.items}


@pytest.mark.slow
def test_intervals_hold_the_decision_bias_of_simulated_servers() -> None:
    """With shares 0.8 and 0.65, position effect 0.2 and refusals, 92 to 98 % of 300 intervals contain 0.725."""
    items = {item.id: item for item in items_from([trial(40)], second=True)}
    held = 0
    for seed in range(300):
        rows = rows_of(simulated(items, seed), items)
        held += 0.725 in associations(rows, DECISION, resamples=500, seed=seed).tests["tidy"]
    assert 0.92 <= held / 300 <= 0.98, held
