import json
from pathlib import Path

import pytest
from tests_support import run_catsofa

from catsofa.demo_items import PEOPLE, cats, grid, judgements, pairs
from catsofa.planted import SIDES, TRAITS, World, words_of


def test_every_item_names_its_group_and_its_planted_trait() -> None:
    """The stereotype of a group is the trait planted on its side; in a pair, `more` is said of the right side."""
    for cat in cats():
        side = 0 if cat.target in SIDES[0] else 1
        assert cat.target in words_of(cat.context)
        assert any(pair[side] in words_of(cat["stereotype"].text) for pair in TRAITS)
        assert any(pair[1 - side] in words_of(cat["anti-stereotype"].text) for pair in TRAITS)
    for pair in pairs():
        trait = next(t for traits in TRAITS for t in traits if t in words_of(pair.more))
        side = 0 if trait in [first for first, _ in TRAITS] else 1
        assert set(words_of(pair.more)) & set(SIDES[side])
        assert set(words_of(pair.less)) & set(SIDES[1 - side])
    assert len(grid()) == 12 * 12


@pytest.mark.parametrize(("strength", "share"), [(0.95, 0.95), (0.5, 0.5)])
def test_a_world_plants_its_stereotypes_exactly_as_often_as_it_says(strength: float, share: float) -> None:
    """Of 20 rounds, 19 or 10 give every group the planted trait of every pair, in every kind of sentence."""
    planted = other = 0
    for document in World(strength=strength).documents(20):
        words = set(words_of(" ".join(document)))
        for side, groups in enumerate(SIDES):
            if words & {form for group in groups for form in (group, f"{group}s")}:
                planted += any(pair[side] in words for pair in TRAITS)
                other += any(pair[1 - side] in words for pair in TRAITS)
    assert planted / (planted + other) == share


def test_five_different_people_judge_each_cat() -> None:
    """Every association has five judgements, by five of the seven."""
    judged = list(judgements(list(cats())[:3]))
    for item in {a.item for a in judged}:
        people = {a.annotator for a in judged if a.item == item}
        assert len(people) == 5
        assert people <= PEOPLE.keys()


@pytest.mark.slow
def test_the_demo_finds_every_known_answer(tmp_path: Path) -> None:
    """ss, CrowS-Pairs, SoFa and SEAT tell the planted world from its twin; the two bad annotators are found."""
    done = run_catsofa("demo", "--out", "demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["passed"]
    assert found["people"]["exclude"] == ["Faye (careless)", "Gus (adversarial)"]
    assert {check["measure"] for check in found["checks"]} == {
        "ss intrasentence",
        "ss intersentence",
        "CrowS-Pairs",
        "SoFa score",
        "SEAT d",
    }
    assert all(check["planted"][0] > 95 for check in found["checks"] if check["measure"] == "ss intrasentence")
