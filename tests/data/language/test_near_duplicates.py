"""Tests near-duplicates: exactly the similar pairs are found, with one definition for the filter and for lint."""

import json
import random
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from helpers.records import a_cat, a_pair
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from catsofa.builders.near_duplicates import without_near_duplicates
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.language.near_duplicates import (
    MISSED,
    SHORT,
    NearDuplicate,
    content,
    copies,
    near_duplicates,
    near_duplicates_between,
)
from catsofa.data.language.same_meaning import same_quantity
from catsofa.data.records import Cat, Probe, Refused, Score, Statement, Stereotype
from catsofa.validation.lint import lint


@cache
def pieces(text: str) -> frozenset[str]:
    """Returns every run of four letters of a text's lower-case words; word ends count as letters."""
    words = [word.replace("’", "'").lower() for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)]
    line = f" {' '.join(words or text.split())} "
    return frozenset(line[n : n + 4] for n in range(max(1, len(line) - 3)))


def similarity(one: str, other: str) -> float:
    """Returns the Jaccard index of the pieces by its definition."""
    a, b = pieces(one), pieces(other)
    return len(a & b) / len(a | b)


def brute_force(texts: list[str], near: float) -> list[NearDuplicate]:
    """Compares every text with each earlier text that stays; a negation or a number keeps two texts apart."""
    remaining: list[int] = []
    duplicates = []
    for place, text in enumerate(texts):
        alike = [(similarity(text, texts[other]), -other) for other in remaining]
        near_ones = [pair for pair in alike if pair[0] >= near and same_quantity(text, texts[-pair[1]])]
        if near_ones:
            best = max(near_ones)
            duplicates.append(NearDuplicate(first=-best[1], second=place, similarity=best[0]))
        else:
            remaining.append(place)
    return duplicates


def sentences(count: int, seed: int) -> list[str]:
    """Returns sentences of invented words; every fourth is an earlier one with a longer word."""
    rng = random.Random(seed)
    words = [
        "".join(rng.choice("bdgklmnprstv") + rng.choice("aeiou") for _ in range(rng.randint(1, 4))) for _ in range(900)
    ]
    texts: list[str] = []
    for number in range(count):
        new = [rng.choice(words) for _ in range(rng.randint(6, 12))]
        if number % 4 == 3:
            new = rng.choice(texts).split()
            new[rng.choice([0, -1])] += rng.choice(["x", "", words[0]])
        texts.append(" ".join(new))
    return texts


def one_template(count: int) -> list[str]:
    """Returns sentences of one template that differ in the name; every fourth name extends an earlier one."""
    rng = random.Random(5)
    names: list[str] = []
    for number in range(count):
        copied = number % 4 == 3
        names.append(rng.choice(names) + "x" if copied else "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=10)))
    return [f"{name} likes to drink strong black tea in the garden" for name in names]


LONG = st.lists(st.sampled_from(["ab", "ba", "aab", "bba"]), min_size=SHORT + 1, max_size=12).map(" ".join)


@given(st.lists(LONG, max_size=12), st.sampled_from([0.3, 0.5, 0.7, 0.8, 1.0]))
@settings(deadline=None, max_examples=200)
def test_long_texts_are_found_in_all_pairs(texts: list[str], near: float) -> None:
    """The optimised search finds exactly the pairs that comparing all pairs finds."""
    by_search = {(pair.first, pair.second): pair.similarity for pair in near_duplicates(texts, near)}
    by_hand = {(i, j): similarity(texts[i], texts[j]) for i, j in combinations(range(len(texts)), 2)}
    assert by_search == {places: s for places, s in by_hand.items() if s >= near}


@pytest.mark.parametrize("near", [0.7, 0.8, 0.9])
def test_sketches_of_many_texts_miss_less_than_they_say(near: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sketched search misses at most one pair in a thousand."""
    texts = [text for text in [*sentences(6000, seed=3), *one_template(150)] if len(text.split()) > SHORT]
    exact = list(near_duplicates(texts, near))
    monkeypatch.setattr("catsofa.data.language.near_duplicates.MANY", 1000)
    sketched = list(near_duplicates(texts, near))
    assert set(sketched) <= set(exact)
    assert len(exact) - len(sketched) <= MISSED * len(exact)
    assert len(exact) > 800


@pytest.mark.parametrize("near", [0.5, 0.8, 0.9])
def test_copies_are_those_of_comparing_all_pairs(near: float) -> None:
    """Long sentences with changed copies, and 150 of one template: each copy is found with its original."""
    texts = [text for text in [*sentences(600, seed=1), *one_template(150)] if len(text.split()) > SHORT]
    duplicates = list(copies(texts, near))
    assert duplicates == brute_force(texts, near)
    assert len(duplicates) > 50


def test_nothing_near_is_left_among_what_stays() -> None:
    """After its copies are removed, a set has no near-duplicate at any threshold."""
    for near in (0.4, 0.6, 0.8):
        texts = sentences(300, seed=2)
        twice = {pair.second for pair in copies(texts, near)}
        assert not list(near_duplicates([text for n, text in enumerate(texts) if n not in twice], near))


def test_the_first_of_its_kind_stays() -> None:
    """Capitals, spaces and punctuation are ignored. A dropped text is no original for later ones."""
    texts = ["They like tea.", "A cat sat.", "they  LIKE tea.", "They like tea!", "They like tea."]
    assert [(c.first, c.second, c.similarity) for c in copies(texts, 0.5)] == [(0, 2, 1), (0, 3, 1), (0, 4, 1)]


def test_near_duplicates_between_two_sets() -> None:
    """Only pairs with one text in each set are found, by their positions."""
    (pair,) = near_duplicates_between(["roses grow", "zorbs sing"], ["Zorbs sing!", "florins sleep"])
    assert (pair.first, pair.second, pair.similarity) == (1, 0, 1.0)


@pytest.mark.parametrize("near", [0, -1, 1.1])
def test_a_threshold_is_a_share(near: float) -> None:
    """A threshold of zero or less, or above one, is refused."""
    with pytest.raises(ValueError, match=r"near.*share"):
        list(near_duplicates(["a"], near))


@pytest.mark.parametrize(
    "texts", [[], ["a"], ["", ""], ["日本語の文です。", "日本語の文です！", "ok"], ["\ud800", "x"], ["👍", "👎", "?!"]]
)
def test_short_foreign_and_broken_texts_are_texts(texts: list[str]) -> None:
    """Empty texts, single letters, other scripts and half a surrogate pair are compared; different signs without a word
    are different."""
    assert [c.second for c in copies(texts)] == [c.second for c in brute_force(texts, 0.8)]
    assert len(list(copies(texts))) <= 1


def test_cats_that_differ_in_one_option_are_different() -> None:
    """A CAT is compared by its context and two options without the unrelated one, a pair by both sentences."""
    assert content(a_cat()) == content(a_cat(unrelated="green"))
    assert content(a_pair("one", "two")) == "one two"
    assert content(Statement(statement="they sing")) == "they sing"
    cats = [
        a_cat("The physicist is BLANK.", id=name, stereotype="smart", anti=anti)
        for name, anti in (("one", "bad"), ("two", "boring"), ("three", "bad"))
    ]
    cats_kept = [record for record in without_near_duplicates(cats) if isinstance(record, Cat)]
    assert [cat.id for cat in cats_kept] == ["one", "two"]
    pairs = [a_pair("The zorb sings.", "The florin sings.", id="p"), a_pair("The zorb sings.", "Roses grow.", id="q")]
    assert list(without_near_duplicates(pairs)) == pairs


def test_records_that_are_alike_by_design_are_refused() -> None:
    """Probes are refused, because they differ only in the identity; scores are refused, because they have no text."""
    with pytest.raises(ValueError, match=r"compare.*stereotypes.*identities"):
        content(Probe(category="c", identity="zorbs", stereotype="sing"))
    with pytest.raises(ValueError, match=r"Score.*not compared"):
        content(Score(item="a", score=1.0))


def test_the_command_keeps_the_first_and_names_it(tmp_path: Path) -> None:
    """Of two stereotypes that differ in a letter, one stays, and the refusal names the original."""
    texts = ("are fond of very strong black tea", "are fond of very strong black teas", "sing")
    records = [Stereotype(text=text) for text in texts]
    jsonl.write(records, tmp_path / "in.jsonl")
    files = [str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl")]
    command = ["filter", "near-duplicates", *files, "--model", "none", "--json"]
    done = CliRunner().invoke(app, [*command, "--refused", str(tmp_path / "r.jsonl")], catch_exceptions=False)
    assert json.loads(done.stdout) == {"kept": 2, "near_duplicate": 1}
    (refused,) = jsonl.read(tmp_path / "r.jsonl", Refused)
    assert (refused.id, refused.source, refused.score) == (
        records[1].id,
        {"of": records[0].id},
        1.0,
    )


def test_the_filter_and_lint_agree_on_a_released_set(shared: Path) -> None:
    """In StereoSet dev, lint L20 finds 8 pairs, the filter refuses one of each, and lint then finds none."""
    cats = list(formats.read(shared / "data/stereoset/dev.json"))
    before = [finding for finding in lint(cats, select=["L20"]).findings if finding.rule == "L20"]
    records = list(without_near_duplicates(cats))
    refused = {record.id for record in records if isinstance(record, Refused)}
    assert (len(before), len(refused)) == (8, 8)
    assert refused == {finding.item for finding in before}
    assert not lint([record for record in records if isinstance(record, Cat)], select=["L20"]).findings
