from pathlib import Path

import pytest

from catsofa.builders.cats import Association, proposed
from catsofa.builders.cats.opposites import CHOSEN, with_opposites
from catsofa.data.language.opposites import opposed, opposites
from catsofa.data.records import Refused

HEAD = (
    "identity,attribute,region_stereo,region_nonstereo,region_unsure,NA_stereo,NA_nonstereo,NA_unsure,"
    "Annotation1,Annotation2,Annotation3,mean offensiveness_score\n"
)


def found(folder: Path, *rows: str) -> list[tuple[str, str]]:
    """Returns stereotype and anti-stereotype, or "" and the refusal's reason, of each row of a SeeGULL file."""
    path = folder / "associations.csv"
    path.write_text(HEAD + "".join(f"{row},-1,-1,-1,-1\n" for row in rows))
    return [
        ("", one.reason) if isinstance(one, Refused) else (one.words["stereotype"], one.words["anti-stereotype"])
        for one in with_opposites(proposed.read(path, bias_type="nationality"))
    ]


def test_opposites_come_in_the_order_of_the_senses_of_a_word() -> None:
    """WordNet's first sense of "generous" is opposed to "stingy", a later one to "ungenerous"; a noun has no
    opposite."""
    assert opposites("Generous")[0] == "stingy"
    assert "dishonest" in opposites("honest")
    assert opposites("table") == ()


def test_alarms_leave_pairs_that_a_prefix_makes_to_their_rule() -> None:
    """A pair made by a prefix has its own rule, and would count twice in the parity of negations."""
    assert opposed(["honest"], ["dishonest"]) == []
    assert opposed(["poor"], ["rich"]) == [("poor", "rich")]


def test_an_association_without_an_anti_stereotype_gets_the_opposite_of_its_adjective(tmp_path: Path) -> None:
    """A noun, a verb and an adjective without an opposite get no anti-stereotype."""
    rows = ("Dravian,stingy,3,0,0,3,0,0", "Dravian,thief,3,0,0,3,0,0", "Dravian,love tea,3,0,0,3,0,0")
    assert found(tmp_path, *rows) == [("stingy", "generous"), *[("", "no_anti_stereotype")] * 2]


def test_of_several_opposites_the_one_said_of_people_is_taken(tmp_path: Path) -> None:
    """`thin` is opposed to "thick" before "fat", but the file uses "fat" for people."""
    assert found(tmp_path, "Dravian,thin,3,0,0,3,0,0", "Pelloran,fat,3,0,0,3,0,0") == [("thin", "fat"), ("fat", "thin")]


@pytest.mark.parametrize(("no", "outcome"), [(0, ("", "opposite_said_too")), (3, ("honest", "dishonest"))])
def test_what_is_said_of_the_same_group_is_no_anti_stereotype(
    tmp_path: Path, no: int, outcome: tuple[str, str]
) -> None:
    """An opposite that is said of the same group is refused, unless more raters deny it than affirm it."""
    rows = ("Dravian,honest,3,0,0,3,0,0", f"Dravian,dishonest,{3 - no},{no},0,{3 - no},{no},0")
    assert found(tmp_path, *rows)[0] == outcome


def test_an_anti_stereotype_that_is_given_stays() -> None:
    """A given anti-stereotype is kept; the source notes only chosen ones."""
    words = {"stereotype": "kind", "anti-stereotype": "rude", "unrelated": "wooden"}
    (one,) = with_opposites([Association("Dravian", "nationality", words, source={"row": 1})])
    assert isinstance(one, Association)
    assert (one.words, CHOSEN in one.source) == (words, False)
