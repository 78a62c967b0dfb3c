"""Tests reports on annotators: what their answers show, whom to exclude, and what changes then."""

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
    """Returns one item per row, with one letter per person's answer; a dot is no answer."""
    return [
        Annotation(item=f"i{n}", annotator=f"p{person}", label=label, extra=extra)
        for n, row in enumerate(rows)
        for person, label in enumerate(row)
        if label != "."
    ]


def by_name(people: list[Annotator]) -> dict[str, Annotator]:
    """Returns the reports by the annotator's name."""
    return {person.name: person for person in people}


def test_consensus_leaves_a_persons_own_answer_out() -> None:
    """For xxy, the first two people see a tie, and the third sees xx and disagrees. For xxx, all three agree."""
    agreeing = agrees_with_others(Ratings.of(table("xxy", "xxx")))
    assert np.array_equal(agreeing, [np.nan, np.nan, 0, 1, 1, 1], equal_nan=True)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 7), (40, 40)])
def test_the_interval_of_a_share_is_wilsons(right: int, n: int) -> None:
    """The interval equals statsmodels'; for no answers it is [0, 1]."""
    expected = pytest.approx(proportion_confint(right, n, method="wilson"), abs=1e-6)
    assert score_limits(right / n, n, WIDE) == expected
    alone = annotators(table("x"))[0]
    assert (alone.low, alone.high) == (0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_those_who_answer_blindly_are_found(seed: int) -> None:
    """Of 60 people with 125 answers each, exactly the 12 who answer randomly are excluded."""
    _, answers = crowd(seed)
    excluded = {person.name for person in annotators(answers) if person.exclude}
    assert excluded == {f"person {n}" for n in range(12)}


def test_who_answers_each_question_in_one_way_is_found() -> None:
    """In forty items with two questions, only the person who always says x to one and u to the other is excluded."""
    rng = np.random.default_rng(1)
    rows = []
    for n in range(40):
        for question, labels in (("first", "xyz"), ("second", "uvw")):
            right = str(rng.choice([*labels]))
            for person in range(6):
                answer = right if rng.random() < 0.8 else str(rng.choice([*labels]))
                about = {"question": question, "of": str(n)}
                label = labels[0] if person == 0 else answer
                rows.append(Annotation(item=f"{n}/{question}", annotator=f"p{person}", label=label, extra=about))
    reports = by_name(annotators(rows))
    assert {name for name, each in reports.items() if each.exclude} == {"p0"}
    assert reports["p0"].commonest == 1
    assert any("x, u for all 80 items" in reason for reason in reports["p0"].exclude)
    assert reports["p0"].spam < 0.1 < min(each.spam for name, each in reports.items() if name != "p0")


def test_leaving_them_out_is_said_in_decisions() -> None:
    """A person who always says y decided two items; without them both are lost. In another set, one item turns to x."""
    rows = table("xyyyx", "xxxyy", "xxyyy", "xxyyz", "zzzyy")
    exclusion = without(Collected(annotations=rows), ["p3"])
    assert (exclusion.excluded, exclusion.annotations) == (["p3"], 5)
    assert (exclusion.lost, exclusion.gained, exclusion.changed) == (["i0", "i2"], [], [])
    six = table("xyyyxx")
    assert without(Collected(annotations=six), ["p1"]).changed == ["i0"]


def test_speed_is_against_the_crowds_median() -> None:
    """A person who needs one second where others need ten is too fast; without times, speed is unknown."""
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
    """Sixteen equal answers in a row are a reason to exclude if half of all are x; without times, order is unknown."""
    rows = table(*["xxx"] * 16, *["yyy"] * 16)
    assert all(person.longest_run == 0 for person in annotators(rows))

    def minute(a: Annotation) -> int:
        n = int(a.item[1:])
        return n if a.annotator == "p0" else 2 * (n % 16) + n // 16

    people = by_name(annotators([replace(a, at=f"2024-05-01T12:{minute(a):02}:00Z") for a in rows]))
    assert (people["p0"].longest_run, people["p0"].exclude) == (16, ("16 times x in a row",))
    assert (people["p1"].longest_run, people["p1"].exclude) == (1, ())


def test_one_answer_to_everything_is_a_reason() -> None:
    """A person who says x to all of twenty items, half of which are y for the others, is excluded."""
    people = by_name(annotators(table(*["xxxx", "xyyy"] * 10)))
    assert "x for all 20 items" in people["p0"].exclude
    assert people["p0"].commonest == 1


def test_failing_gold_is_a_reason() -> None:
    """One of two attention items right is below three quarters, so the person is excluded."""
    gold = [Annotation(item=f"g{n}", annotator="p0", label=label, extra={"gold": "x"}) for n, label in enumerate("xy")]
    person = by_name(annotators([*table("xxx", "yyy"), *gold]))["p0"]
    assert person.exclude == ("1 of 2 attention items right",)
    assert person.answers == 2


def test_limits_are_arguments() -> None:
    """A limit of 0 excludes no one, a high limit many people. The report is by name."""
    _, answers = crowd(0, items=300)
    assert not [p for p in annotators(answers, Limits(consensus=0.0)) if p.exclude]
    people = annotators(answers, Limits(consensus=0.99))
    report = annotators_report(people, without(Collected(annotations=answers), []))
    assert sum(bool(p["exclude"]) for p in report["annotators"].values()) > 30
    assert report["exclusion"]["annotations"] == 0
    with pytest.raises(ValueError, match="no answer"):
        annotators([Annotation(item="i", annotator="p", label="")])


def test_stereoset_annotators(shared: Path) -> None:
    """Of 1,082 people, 38 agree with the others significantly too little. Without them, 38 items lose their label."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"))
    people = annotators(collected.annotations)
    excluded = [person.name for person in people if person.exclude]
    assert (len(people), len(excluded)) == (1082, 38)
    exclusion = without(collected, excluded)
    assert (exclusion.annotations, len(exclusion.lost), exclusion.changed) == (1824, 38, [])
