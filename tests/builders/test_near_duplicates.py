import json
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from catsofa.builders.near_duplicates import (
    Duplicate,
    band_keys,
    near_duplicates,
    rows_in_a_band,
    text_of,
    without_near_duplicates,
)
from catsofa.cli import app
from catsofa.data import jsonl
from catsofa.data.records import Pair, Refused, Score, Statement, Stereotype


@cache
def grams(text: str) -> frozenset[str]:
    """The 4-character sequences of a text."""
    padded = f"{text}   "
    return frozenset(padded[i : i + 4] for i in range(len(text)))


def jaccard(one: str, other: str) -> float:
    """What both have, of what either has."""
    return len(grams(one) & grams(other)) / len(grams(one) | grams(other))


def brute_force(texts: list[str], threshold: float) -> list[Duplicate]:
    """Every text against every earlier one that stays: what the bands must find without looking at all pairs."""
    kept: list[int] = []
    found = []
    for at, text in enumerate(texts):
        best = max(((jaccard(text, texts[other]), -other) for other in kept), default=(0.0, 0))
        if best[0] >= threshold:
            found.append(Duplicate(at, -best[1], best[0]))
        else:
            kept.append(at)
    return found


def sentences(count: int, seed: int) -> list[str]:
    """Sentences of invented words, every fourth of them an earlier one with a word made longer."""
    rng = random.Random(seed)
    words = [
        "".join(rng.choice("bdgklmnprstv") + rng.choice("aeiou") for _ in range(rng.randint(1, 4))) for _ in range(900)
    ]
    made: list[str] = []
    for number in range(count):
        new = [rng.choice(words) for _ in range(rng.randint(6, 12))]
        if number % 4 == 3:
            new = rng.choice(made).split()
            new[rng.choice([0, -1])] += rng.choice(["x", "", words[0]])
        made.append(" ".join(new))
    return made


@pytest.mark.parametrize("threshold", [0.7, 0.9])
def test_the_bands_find_what_comparing_all_pairs_finds(threshold: float) -> None:
    """500 sentences, 125 of them changed copies: 99 % of the duplicates at least, and none that is not one."""
    texts = sentences(500, seed=1)
    wanted, found = brute_force(texts, threshold), near_duplicates(texts, threshold)
    assert len(wanted) > 50
    assert len(set(found) & set(wanted)) >= 0.99 * len(wanted)
    assert all(d.jaccard == jaccard(texts[d.index], texts[d.of]) >= threshold for d in found)


def one_template(count: int) -> list[str]:
    """A sentence in which only the name changes, too much for a copy; every fourth name is an earlier one, extended."""
    rng = random.Random(5)
    names: list[str] = []
    for number in range(count):
        copied = number % 4 == 3
        names.append(rng.choice(names) + "x" if copied else "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=10)))
    return [f"{name} likes to drink strong black tea in the garden" for name in names]


def test_the_copies_in_a_template_are_found_though_its_buckets_are_full() -> None:
    """600 sentences, 150 of them copies: most of what all pairs would give, and none that is not one."""
    texts = one_template(600)
    wanted, found = brute_force(texts, 0.8), near_duplicates(texts, 0.8)
    assert len(wanted) > 120
    assert len(set(found) & set(wanted)) >= 0.95 * len(wanted)
    assert all(d.jaccard == jaccard(texts[d.index], texts[d.of]) >= 0.8 for d in found)


def test_the_comparisons_grow_with_the_texts_of_a_template_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three times the sentences, none taken for a copy: at most four times the comparisons; all pairs need nine."""
    compared = []

    def counted(_one: frozenset[str], _other: frozenset[str]) -> float:
        compared.append(1)
        return 0.0

    monkeypatch.setattr("catsofa.builders.near_duplicates._jaccard", counted)
    near_duplicates(one_template(1_000))
    few = len(compared)
    near_duplicates(one_template(3_000))
    assert len(compared) - few <= 4 * few


def test_the_first_of_its_kind_stays() -> None:
    """Capitals and spaces make no difference; what is dropped is no original for what comes later."""
    texts = ["They like tea.", "A cat sat.", "they  LIKE tea.", "They like tea!", "They like tea."]
    found = near_duplicates(texts, 0.5)
    assert [(d.index, d.of) for d in found] == [(2, 0), (3, 0), (4, 0)]
    assert [d.jaccard for d in found] == [1.0, pytest.approx(jaccard("they like tea.", "they like tea!")), 1.0]


def test_jaccard_by_hand() -> None:
    """abcde and abcdf, filled up: abcd is in both; bcde cde_ de__ e___ and the same with f are not: 1 of 9."""
    assert jaccard("abcde", "abcdf") == pytest.approx(1 / 9)
    assert near_duplicates(["abcde", "abcdf"], 0.1) == [Duplicate(1, 0, pytest.approx(1 / 9))]


@pytest.mark.parametrize(
    "texts", [[], ["a"], ["", ""], ["日本語の文です。", "日本語の文です！", "ok"], ["\ud800", "x"]]
)
def test_short_foreign_and_broken_texts_are_texts(texts: list[str]) -> None:
    """Nothing, one letter, no letter, another script, half a surrogate pair."""
    assert len(near_duplicates(texts)) <= 1


def test_the_rows_follow_from_the_recall() -> None:
    """At 0.8 p = 0.8⁴ = 0.41: of 16 bands none is met in 0.02 %, one in 0.24 % of the cases; 8 rows miss far more."""
    assert rows_in_a_band(0.8) == 4
    assert rows_in_a_band(1.0) == 8
    assert rows_in_a_band(0.5) == 2
    assert rows_in_a_band(0.1) == 1


def test_minima_agree_as_often_as_texts_are_alike() -> None:
    """With one row a band, the share of equal keys estimates the Jaccard similarity without bias, over 200 pairs."""
    texts = sentences(400, seed=3)
    pairs = [(a, b) for a, b in zip(texts[::2], texts[1::2], strict=True)]
    keys = band_keys([text for pair in pairs for text in pair], 1, np.random.default_rng(0))
    shared = (keys[::2] == keys[1::2]).mean(axis=1)
    assert np.mean(shared - [jaccard(*pair) for pair in pairs]) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("threshold", [0, -1, 1.1])
def test_a_threshold_is_a_share(threshold: float) -> None:
    """Nothing and more than all are none."""
    with pytest.raises(ValueError, match="a share above 0"):
        near_duplicates(["a"], threshold)


def test_what_tells_a_record_from_another() -> None:
    """A statement's, a stereotype's or a pair's text; a score has none."""
    assert text_of(Statement(statement="a")) == "a"
    assert text_of(Stereotype(text="b")) == "b"
    assert text_of(Pair(more="c", less="d", direction="stereo", bias_type="x")) == "c"
    with pytest.raises(ValueError, match="a Score has no text"):
        text_of(Score(item="a", score=1.0))


def test_the_command_keeps_the_first_and_names_it(tmp_path: Path) -> None:
    """Two stereotypes that differ in a mark: one stays, the refusal says of which it is a copy, and how near."""
    texts = ("are fond of very strong black tea", "are fond of very strong black tea!", "sing")
    records = [Stereotype(text=text) for text in texts]
    jsonl.write(records, tmp_path / "in.jsonl")
    command = ["filter", "near-duplicates", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl"), "--json"]
    done = CliRunner().invoke(app, [*command, "--refused", str(tmp_path / "r.jsonl")], catch_exceptions=False)
    assert json.loads(done.stdout) == {"kept": 2, "near_duplicate": 1}
    (refused,) = jsonl.read(tmp_path / "r.jsonl", Refused)
    assert (refused.id, refused.source) == (records[1].id, {"of": records[0].id})
    assert [type(r) for r in without_near_duplicates(records, text_of)] == [Stereotype, Refused, Stereotype]
