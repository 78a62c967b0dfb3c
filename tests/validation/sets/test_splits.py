"""Tests splits, near-duplicates and leaks."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from helpers.records import a_cat
from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data import formats
from catsofa.data.language.near_duplicates import content, near_duplicates_between
from catsofa.data.records import Cat
from catsofa.validation import siblings
from catsofa.validation.sets.leakage import leaks
from catsofa.validation.sets.splits import blocks, closest_subset, split, write
from catsofa.validation.siblings import group_of

TERMS = ["Norway", "Norwegian", "Italy", "zorb", "zorbs", "florin", "baker", "bakers", "elf", "dwarf"]


def test_blocks_join_what_is_connected() -> None:
    """1-2 and 2-4 form one block of three items. 0 and 3 are blocks of one, without a group or with their own."""
    assert blocks(["", "", "", "zorb", ""], [(1, 2), (4, 2)]) == [0, 1, 1, 2, 1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ethiopia", "Ethiopian", True),
        ("Norway", "Norweigan", True),
        ("attourney", "lawyer", True),
        ("Italian", "italy", True),
        ("gentleman", "gentlemen", True),
        ("lady", "ladies", True),
        ("he", "himself", True),
        ("church", "churches", True),
        ("Iran", "Iraq", False),
        ("bus driver", "bus drivers", True),
        ("boss", "bosses", True),
        ("princess", "prince", False),
    ],
)
def test_sibling_terms_have_one_group(one: str, other: str, same: bool) -> None:
    """Country and people, singular and plural, and StereoSet's misspellings share a group; others do not."""
    assert (group_of(one) == group_of(other)) is same


def test_sibling_groups_can_be_given(tmp_path: Path) -> None:
    """A CSV of term and group takes precedence."""
    (tmp_path / "groups.csv").write_text("term,group\nZorb,folk\nFlorin,folk\n")
    known = siblings.read(tmp_path / "groups.csv")
    assert group_of("zorb", known) == group_of("FLORIN", known) == "folk"


a_set = st.lists(
    st.builds(
        lambda term, domain, verb, n: (term, domain, verb, n),
        st.sampled_from(TERMS),
        st.sampled_from(["people", "places"]),
        st.sampled_from(["sings", "sleeps", "swims all day long"]),
        st.integers(0, 3),
    ),
    min_size=8,
    max_size=60,
)


def cats_of(drawn: list[tuple[str, str, str, int]]) -> list[Cat]:
    """Returns CATs of the drawn terms; with n = 0, some of different terms are near-duplicates."""
    words = ["bread", "apples and pears", "an old guitar", "questions about the weather"]
    return [
        a_cat(
            f"{'' if n == 0 else term} {verb} when the BLANK comes, and {words[n]} {place if n > 1 else ''}",
            target=term,
            bias_type=domain,
            id=str(place),
        )
        for place, (term, domain, verb, n) in enumerate(drawn)
    ]


@given(a_set, st.floats(0.1, 0.9), st.integers(0, 5))
@settings(deadline=None, max_examples=60)
def test_nothing_crosses_a_split(drawn: list[tuple[str, str, str, int]], dev: float, seed: int) -> None:
    """No term, sibling or near-duplicate is on both sides of any split, and each item is in exactly one side."""
    cats = cats_of(drawn)
    done = split(cats, dev=dev, seed=seed)
    assert sorted(c.id for c in (*done.dev, *done.test)) == sorted(c.id for c in cats)
    assert not {group_of(c.target) for c in done.dev} & {group_of(c.target) for c in done.test}
    assert not list(near_duplicates_between(list(map(content, done.dev)), list(map(content, done.test))))
    assert not leaks(done.dev, done.test)
    again = split(cats, dev=dev, seed=seed)
    assert [c.id for c in again.dev] == [c.id for c in done.dev]


@given(st.lists(st.integers(1, 40), max_size=12), st.integers(0, 200))
@settings(deadline=None)
def test_the_subset_is_the_closest_there_is(sizes: list[int], wanted: int) -> None:
    """No other choice of whole blocks is closer to the requested size."""
    sums = {sum(choice) for n in range(len(sizes) + 1) for choice in combinations(sizes, n)}
    places = closest_subset(sizes, wanted)
    assert len(set(places)) == len(places)
    assert abs(sum(sizes[place] for place in places) - wanted) == min(abs(s - wanted) for s in sums)


def test_a_million_blocks_are_no_trouble() -> None:
    """Far from the target size, any block is taken, so the exact search stays small for a million blocks."""
    places = closest_subset([3] * 1_000_000, 750_000)
    assert len(places) == 250_000


def test_sizes_are_right_in_every_domain() -> None:
    """With twenty terms of ten items in each of two domains, a quarter of each is exactly five terms."""
    cats = [
        a_cat(f"Number {t} of {d} was BLANK {n} times.", target=f"{d}{t}", bias_type=d, id=f"{d}{t}{n}")
        for d in "ab"
        for t in range(20)
        for n in range(10)
    ]
    done = split(cats, near=1.0)
    report = done.report()
    assert {d: part["dev"] for d, part in report["domains"].items()} == {d: {"items": 50, "terms": 5} for d in "ab"}
    assert report["share"] == 0.25
    seeds = {tuple(c.id for c in split(cats, seed=seed, near=1.0).dev) for seed in range(5)}
    assert len(seeds) == 5


def test_a_split_is_written_in_the_format_it_came_in(tmp_path: Path) -> None:
    """Both sets are written in the input format with split.json. A set that cannot be split is refused."""
    cats = [a_cat(f"The {term} was BLANK.", target=term, id=term) for term in ("zorb", "florin", "elf", "dwarf")]
    formats.named("stereoset").write(cats, tmp_path / "all.json")
    records = list(formats.read(tmp_path / "all.json"))
    write(split(records, seed=1), tmp_path / "parts", like=tmp_path / "all.json", dev=0.25, seed=1, signature={})
    parts = {name: list(formats.read(tmp_path / f"parts/{name}.json")) for name in ("dev", "test")}
    assert {name: len(part) for name, part in parts.items()} == {"dev": 1, "test": 3}
    assert json.loads((tmp_path / "parts/split.json").read_text())["seed"] == 1
    with pytest.raises(ValueError, match=r"dev set.*empty"):
        write(split(records[:1]), tmp_path / "none", like=tmp_path / "all.json", dev=0.25, seed=0, signature={})
    with pytest.raises(ValueError, match="above 0 and below 1"):
        split(records, dev=25)
    with pytest.raises(ValueError, match="nothing to split"):
        split([])


def test_leaks_name_what_is_shared() -> None:
    """The same id, words, target or sibling of it is reported with the item and its counterpart."""
    first = [
        a_cat(id="a"),
        a_cat("In Norway it was BLANK.", target="Norway", id="b"),
        a_cat("Roses are BLANK.", target="rose", id="r"),
    ]
    second = [a_cat("The zorb was BLANK", id="c"), a_cat("A Norwegian is BLANK.", target="Norwegian", id="d"), first[2]]
    assert [(leak.shared, leak.item, leak.other) for leak in leaks(first, second)] == [
        ("id", "r", "r"),
        ("near-duplicate", "a", "c"),
        ("sibling", "b", "d"),
        ("term", "r", "r"),
        ("term", "a", "c"),
    ]


@pytest.mark.slow
def test_stereosets_own_split_separates_siblings(shared: Path) -> None:
    """The released sets share no term. 29 dev terms have a sibling in test, and one item a near-duplicate."""
    dev = list(formats.read(shared / "data/stereoset/dev.json"))
    test = list(formats.read(shared / "data/stereoset/test_intrasentence.json"))
    kinds = [leak.shared for leak in leaks(dev, test)]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"sibling": 29, "near-duplicate": 1}


@pytest.mark.slow
def test_a_split_of_all_of_stereoset(shared: Path) -> None:
    """Of 10,620 released CATs, dev has a quarter of each domain to half a point, and the sides share nothing."""
    records = [
        *formats.read(shared / "data/stereoset/dev.json"),
        *formats.read(shared / "data/stereoset/test_intrasentence.json"),
    ]
    done = split(records)
    assert all(abs(part["share"] - 0.25) < 0.005 for part in done.report()["domains"].values())
    assert not leaks(done.dev, done.test)
