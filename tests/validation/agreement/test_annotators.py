"""Annotators: what their answers show, whom to exclude, and what that changes."""

from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from helpers.simulated_people import crowd
from statsmodels.stats.proportion import proportion_confint

from catsofa.data import formats
from catsofa.data.judging.ratings import Ratings
from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits
from catsofa.validation.agreement.annotators import Annotator, Limits, agrees_with_others, annotators, without
from catsofa.validation.annotation_files import Collected, collect
from catsofa.validation.json_reports import annotators_report


def table(*rows: str, **extra: object) -> list[Annotation]:
    """One item a row, one letter a person's answer; a dot is no answer."""
    return [
        Annotation(item=f"i{n}", annotator=f"p{person}", label=label, extra=extra)
        for n, row in enumerate(rows)
        for person, label in enumerate(row)
        if label != "."
    ]


def by_name(people: list[Annotator]) -> dict[str, Annotator]:
    """The reports by the annotator's name."""
    return {person.name: person for person in people}


def test_consensus_leaves_a_persons_own_answer_out() -> None:
    """Of xxy the first two see a tie of x and y, the third sees xx and is not with them; of xxx all three agree."""
    found = agrees_with_others(Ratings.of(table("xxy", "xxx")))
    assert np.array_equal(found, [np.nan, np.nan, 0, 1, 1, 1], equal_nan=True)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 7), (40, 40)])
def test_the_interval_of_a_share_is_wilsons(right: int, n: int) -> None:
    """As statsmodels computes it; of nothing, everything is possible."""
    expected = pytest.approx(proportion_confint(right, n, method="wilson"), abs=1e-6)
    assert score_limits(right / n, n, WIDE) == expected
    alone = annotators(table("x"))[0]
    assert (alone.low, alone.high) == (0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_those_who_answer_blindly_are_found(seed: int) -> None:
    """60 people with 125 answers each, 12 of whom answer blindly: those twelve and nobody else."""
    _, answers = crowd(seed)
    found = {person.name for person in annotators(answers) if person.exclude}
    assert found == {f"person {n}" for n in range(12)}


def test_who_answers_each_question_in_one_way_is_found() -> None:
    """Forty items with two questions: who always says x to the one and u to the other, and nobody else."""
    rng = np.random.default_rng(1)
    rows = []
    for n in range(40):
        for question, labels in (("first", "xyz"), ("second", "uvw")):
            right = str(rng.choice([*labels]))
            for person in range(6):
                said = right if rng.random() < 0.8 else str(rng.choice([*labels]))
                about = {"question": question, "of": str(n)}
                label = labels[0] if person == 0 else said
                rows.append(Annotation(item=f"{n}/{question}", annotator=f"p{person}", label=label, extra=about))
    found = by_name(annotators(rows))
    assert {name for name, each in found.items() if each.exclude} == {"p0"}
    assert found["p0"].commonest == 1
    assert any("x, u for all 80 items" in reason for reason in found["p0"].exclude)
    assert found["p0"].spam < 0.1 < min(each.spam for name, each in found.items() if name != "p0")


def test_leaving_them_out_is_said_in_decisions() -> None:
    """Who always says y decided two items: without them one is lost, one turns to x, a third is decided at last."""
    rows = table("xyyyx", "xxxyy", "xxyyy", "xxyyz", "zzzyy")
    exclusion = without(Collected(annotations=rows), ["p3"])
    assert (exclusion.excluded, exclusion.annotations) == (["p3"], 5)
    assert (exclusion.lost, exclusion.gained, exclusion.changed) == (["i0", "i2"], [], [])
    six = table("xyyyxx")
    assert without(Collected(annotations=six), ["p1"]).changed == ["i0"]


def test_speed_is_against_the_crowds_median() -> None:
    """Who takes a second where the others take ten is too fast; without times nobody is."""
    rows = [
        replace(a, extra={"seconds": 1 if a.annotator == "p0" else "10.0"})
        for a in table("xxxxx", "yyyyy", "xxxxx", "yyyyy")
    ]
    people = by_name(annotators(rows))
    assert people["p0"].exclude == ("1.0 s per item, where the crowd takes 10.0 s",)
    assert not any(people[name].exclude for name in ("p1", "p2", "p3", "p4"))
    assert all(isnan(person.seconds) for person in annotators(table("xxx")))
    with pytest.raises(ValueError, match=r"'i0'.*'long' seconds"):
        annotators(table("xxx", seconds="long"))


def test_straight_lining_needs_the_order_of_time() -> None:
    """Sixteen equal answers in a row, where half of all are x, are no luck; a file without times has no rows."""
    rows = table(*["xxx"] * 16, *["yyy"] * 16)
    assert all(person.longest_run == 0 for person in annotators(rows))

    def minute(a: Annotation) -> int:
        n = int(a.item[1:])
        return n if a.annotator == "p0" else 2 * (n % 16) + n // 16

    people = by_name(annotators([replace(a, at=f"2024-05-01T12:{minute(a):02}:00Z") for a in rows]))
    assert (people["p0"].longest_run, people["p0"].exclude) == (16, ("16 times x in a row",))
    assert (people["p1"].longest_run, people["p1"].exclude) == (1, ())


def test_one_answer_to_everything_is_a_reason() -> None:
    """Who says x to all of twenty items, half of which are y to everybody else, is not looking."""
    people = by_name(annotators(table(*["xxxx", "xyyy"] * 10)))
    assert "x for all 20 items" in people["p0"].exclude
    assert people["p0"].commonest == 1


def test_failing_gold_is_a_reason() -> None:
    """One of two attention items right is below three quarters."""
    gold = [Annotation(item=f"g{n}", annotator="p0", label=label, extra={"gold": "x"}) for n, label in enumerate("xy")]
    person = by_name(annotators([*table("xxx", "yyy"), *gold]))["p0"]
    assert person.exclude == ("1 of 2 attention items right",)
    assert person.answers == 2


def test_limits_are_arguments() -> None:
    """A lower limit keeps people a higher one excludes; the report is by name."""
    _, answers = crowd(0, items=300)
    assert not [p for p in annotators(answers, Limits(consensus=0.0)) if p.exclude]
    people = annotators(answers, Limits(consensus=0.99))
    report = annotators_report(people, without(Collected(annotations=answers), []))
    assert sum(bool(p["exclude"]) for p in report["annotators"].values()) > 30
    assert report["exclusion"]["annotations"] == 0
    with pytest.raises(ValueError, match="no answer"):
        annotators([Annotation(item="i", annotator="p", label="")])


def test_stereoset_annotators(shared: Path) -> None:
    """Of 1,082 people 38 agree with the others too little for an accident; 38 items would lose their label."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"))
    people = annotators(collected.annotations)
    excluded = [person.name for person in people if person.exclude]
    assert (len(people), len(excluded)) == (1082, 38)
    exclusion = without(collected, excluded)
    assert (exclusion.annotations, len(exclusion.lost), exclusion.changed) == (1824, 38, [])
