"""Tests of what releases publish about a study's people: at least k people share all of it."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.asked import asked_study
from helpers.records import bakers
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from catsofa.annotation.crowd.people import background
from catsofa.annotation.crowd.people.background import Background, published, published_together
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.results.data_statement import works_of
from catsofa.annotation.study import Study, create, rows
from catsofa.annotation.study.checks import check_study
from catsofa.data.suppression import WITHHELD

PEOPLE = [f"p{n}" for n in range(30)]
SAID = st.fixed_dictionaries(
    {
        "country": st.sampled_from(["Fiji", "Samoa", "Peru", "Chile"]),
        "gender": st.sampled_from(["woman", "man"]),
    }
)
RELEASE = st.tuples(
    st.sets(st.sampled_from(PEOPLE), min_size=10),
    st.sampled_from([["country"], ["gender"], ["country", "gender"], ["gender", "country"]]),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Returns a study that asks for country and gender."""
    study_ = create(tmp_path_factory.mktemp("asks") / "s", kind="validate-cats", items=bakers(1))
    (study_.folder / "study.toml").write_text('[questionnaire]\nbundled = ["country", "gender"]\n')
    return study_


@hypothesis_settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SAID, min_size=24, max_size=30), st.lists(RELEASE, min_size=3, max_size=3))
def test_successive_releases_tell_no_fewer_than_k_people_apart(
    study: Study, said: list[dict[str, str]], releases: list[tuple[set[str], list[str]]]
) -> None:
    """After three releases of any people and questions, in any order, five people share all their published answers."""
    (study.folder / background.STORE).unlink(missing_ok=True)
    store = Background(study)
    for person, each in zip(PEOPLE, said, strict=False):
        store.keep(person, each)
    known: dict[str, tuple[object, ...]] = dict.fromkeys(PEOPLE, ())
    for number, (people, names) in enumerate(releases):
        found = published_together(study, people, names)
        assert published_together(study, people, names).rows == found.rows
        store.release("judgements", str(number), found.rows)
        assert published_together(study, people, names).rows.keys() == people
        known |= {person: (*known[person], tuple(sorted(row.items()))) for person, row in found.rows.items()}
        classes, shown = Counter(known[person] for person in people), Counter(map(str, found.rows.values()))
        for person, row in found.rows.items():
            assert set(row.values()) == {WITHHELD} or min(classes[known[person]], shown[str(row)]) >= found.k


def test_a_release_like_the_one_before_says_the_same(tmp_path: Path) -> None:
    """A repeated release generalises nothing further; a forgotten person is in no store any more."""
    study_ = asked_study(tmp_path / "s")
    people, store = [f"p{n}" for n in range(15)], Background(study_)
    first = published_together(study_, people, ["country", "gender"])
    assert Counter(row["country"] for row in first.rows.values()) == {"Fiji": 5, "Oceania": 5, WITHHELD: 5}
    assert first.changed["country"] == {"wider": 5, "withheld": 5}
    for digest in ("one", "two"):
        store.release("judgements", digest, first.rows)
        assert published_together(study_, people, ["country", "gender"]) == first
    assert store.released(["p0"], "judgements")["p0"]["two country"] == "Fiji"
    store.remove("p0")
    assert not store.released(["p0"], "judgements")


def test_nobody_follows_from_two_counts(tmp_path: Path) -> None:
    """Five of Fiji were counted; a sixth arrives and one of Samoa leaves: Fiji stays at 5, Oceania disappears."""
    study_ = asked_study(tmp_path / "s")
    people = [f"p{n}" for n in range(15)]
    first = published(study_, people, ["country"], again=True)
    assert Counter(row["country"] for row in first.values()) == {"Fiji": 5, "Oceania": 5, WITHHELD: 5}
    Background(study_).release("statement", "one", first)
    assert published(study_, people, ["country"], again=True) == first
    Background(study_).keep("p15", {"country": "Fiji", "gender": "man"})
    late = published(study_, [*people[:5], *people[6:], "p15"], ["country"], again=True)
    assert Counter(row["country"] for row in late.values()) == {"Fiji": 5, WITHHELD: 10}


def test_a_question_that_was_not_asked_is_refused(tmp_path: Path) -> None:
    """The error names the question, and the questions that were asked."""
    with pytest.raises(ValueError, match=r"'age_band'.*country, gender"):
        published_together(asked_study(tmp_path / "s"), ["p0"], ["age_band"])


def test_who_was_not_asked_is_withheld_with_others(tmp_path: Path) -> None:
    """One person without answers among fifteen: at least five people are withheld."""
    rows = published_together(asked_study(tmp_path / "s"), [*(f"p{n}" for n in range(15)), "late"], ["gender"]).rows
    assert Counter(row["gender"] for row in rows.values())[WITHHELD] >= 5


def test_what_releases_say_is_checked(tmp_path: Path) -> None:
    """A changed row is a fault of the study."""
    study_ = asked_study(tmp_path / "s")
    Background(study_).release("statement", "one", {"p0": {"country": "Fiji"}})
    path = study_.folder / background.STORE
    path.write_bytes(path.read_bytes().replace(b'"one", {"country": "Fiji"}]', b'"one", {"country": "Peru"}]'))
    verdict = check_study(study_.folder)
    assert verdict is not None
    assert [fault.wrong for fault in verdict.faults] == ["1 rows whose checksums do not fit"]


def test_nobody_follows_from_the_counts_of_two_studies_of_one_release(tmp_path: Path) -> None:
    """Fifteen people were in both studies, a sixteenth only in the second: her answers are in no count."""
    first, second = asked_study(tmp_path / "a"), asked_study(tmp_path / "b")
    row_ = {"token": min(second.keys), "annotator": "p15", "at": "9", "updated": "9"}
    rows.append([Raw(annotation="15/x", **row_)], second.folder / "raw.jsonl")
    Background(second).keep("p15", {"country": "Fiji", "gender": "woman"})
    alone = works_of([second])[0].about
    assert (alone["gender"], alone["country"]["Fiji"]) == ({"woman": 11, "man": 5}, 6)
    one, two = works_of([first, second])
    assert one.about["gender"] == {"woman": 10, "man": 5}
    assert two.about["gender"] == {"woman": 10, WITHHELD: 6}  # five men of both studies, and she
    assert two.about["country"] == {"Fiji": 5, "Oceania": 5, WITHHELD: 6}
