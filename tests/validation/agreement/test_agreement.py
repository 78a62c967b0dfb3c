"""Agreement: our own statistics against two libraries, released data and hand computation."""

from collections import Counter
from dataclasses import replace
from math import isnan
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from catsofa.data import formats
from catsofa.data.records import Annotation
from catsofa.validation.agreement import STATISTICS, agreement, agreement_by, agreement_of_annotators
from catsofa.validation.annotation_files import Collected, collect
from catsofa.validation.columns import column
from catsofa.validation.json_reports import agreement_report
from catsofa.validation.judgements import alike_labels


def table(*rows: str) -> list[Annotation]:
    """One item a row, one letter a person's answer; a dot is no answer."""
    return [
        Annotation(item=f"i{n}", annotator=f"p{person}", label=label)
        for n, row in enumerate(rows)
        for person, label in enumerate(row)
        if label != "."
    ]


def test_kappa_by_hand() -> None:
    """Items xx, xy, yy: P = 2/3, shares 1/2 and 1/2, so Pe = 1/2 and kappa = 1/3."""
    found = agreement(table("xx", "xy", "yy"), resamples=0)
    assert found.percent == found.unanimous == pytest.approx(2 / 3)
    assert (found.chance, found.fleiss_kappa) == (pytest.approx(0.5), pytest.approx(1 / 3))


def test_alpha_by_hand() -> None:
    """Items xx, xy, yy: D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 0.6, alpha = 1 - (1/3) / 0.6 = 4/9."""
    assert agreement(table("xx", "xy", "yy"), resamples=0).krippendorff_alpha == pytest.approx(4 / 9)


def test_kappa_of_two_questions_is_that_of_each() -> None:
    """Items xx, xy, yy and uv, uv: kappa 1/3 and -1, which pooled would be .19; percent is (2 + 0) of 5 items."""
    rows = [
        replace(each, item=f"{question}-{each.item}", extra={"question": question, "of": each.item})
        for question, judged in {"first": table("xx", "xy", "yy"), "second": table("uv", "uv")}.items()
        for each in judged
    ]
    found = agreement_report(collect(rows), resamples=0)
    assert isnan(found["fleiss_kappa"])
    assert isnan(found["krippendorff_alpha"])
    assert found["percent"] == pytest.approx(2 / 5)
    by = found["by"]["question"]
    assert {name: by[name]["fleiss_kappa"] for name in by} == pytest.approx({"first": 1 / 3, "second": -1})
    assert "2 questions" in found["note"]


def test_answers_about_one_whole_item_are_one_unit() -> None:
    """Thirty texts with two questions each are 30 units, not 60, for the interval of percent."""
    rows = [
        Annotation(item=f"{n}/{q}", annotator=p, label=label, extra={"question": q, "of": str(n)})
        for n in range(30)
        for q in ("first", "second")
        for p, label in zip("ab", "xx" if n % 2 else "xy", strict=True)
    ]
    doubled = agreement(collect(rows).annotations, unit=collect(rows).units(), resamples=10)
    once = agreement([a for a in rows if a.extra["question"] == "first"], resamples=10)
    assert doubled.units == 30
    assert (doubled.low["percent"], doubled.high["percent"]) == pytest.approx(
        (once.low["percent"], once.high["percent"])
    )


@given(st.lists(st.text("xyz", min_size=4, max_size=4), min_size=2, max_size=12))
@settings(deadline=None)
def test_kappa_is_that_of_statsmodels(rows: list[str]) -> None:
    """Fleiss' kappa to 1e-9 whatever four people answer; undefined where all answers are one label."""
    found = agreement(table(*rows), resamples=0).fleiss_kappa
    if len(set("".join(rows))) == 1:
        assert isnan(found)
    else:
        counts = [[row.count(label) for label in "xyz"] for row in rows]
        assert found == pytest.approx(fleiss_kappa(np.array(counts)), abs=1e-9)


@given(st.lists(st.text("xyz.", min_size=5, max_size=5), min_size=2, max_size=12))
@settings(deadline=None)
def test_alpha_is_that_of_krippendorff(rows: list[str]) -> None:
    """Alpha to 1e-9 with any number of answers an item, gaps included."""
    pairable = [row for row in rows if len(row.replace(".", "")) > 1]
    found = agreement(table(*rows), resamples=0)
    assert found.items == len(pairable)
    if len(set("".join(pairable)) - {"."}) < 2:
        assert isnan(found.krippendorff_alpha)
        return
    codes = {"x": 0.0, "y": 1.0, "z": 2.0, ".": np.nan}
    matrix = np.array([[codes[label] for label in row] for row in rows]).T
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
    assert found.krippendorff_alpha == pytest.approx(expected, abs=1e-9)


def test_nothing_to_agree_on_is_undefined_and_says_so() -> None:
    """One person an item, and one label for all: no number stands where none can be, and the note says why."""
    single = agreement(table("x", "y"))
    assert single.items == 0
    assert isnan(single.percent)
    assert single.note == "no item was judged by two people"
    same = agreement(table("xx", "xx"))
    assert (same.percent, same.unanimous) == (1, 1)
    assert isnan(same.fleiss_kappa)
    assert isnan(same.krippendorff_alpha)
    assert "undefined" in same.note


def test_the_prevalence_paradox_is_explained() -> None:
    """Nineteen of twenty items x by all, one split: 97 % agreement, and yet kappa is below 0.4; the note says why."""
    found = agreement(table(*["xxx"] * 19, "xyy"))
    assert found.percent == pytest.approx(0.9667, abs=1e-4)
    assert found.fleiss_kappa < 0.5
    assert "prevalence paradox" in found.note
    assert not agreement(table("xxx", "yyy", "xxy")).note


def test_skipped_empty_and_gold_answers_are_no_answers() -> None:
    """Agreement is over answers to the items themselves."""
    noise = [
        Annotation(item="i0", annotator="q", label="x", extra={"skipped": True}),
        Annotation(item="i0", annotator="r", label=""),
        Annotation(item="g", annotator="q", label="x", extra={"gold": "x"}),
        Annotation(item="g", annotator="r", label="x", extra={"gold": "x"}),
    ]
    rows = table(*["xy", "yy"] * 5)
    assert agreement([*rows, *noise]) == agreement(rows)


def test_intervals_come_from_the_units_that_were_drawn() -> None:
    """The same items in thirty CATs spread more than ninety alone; 29 CATs have no interval; seeds repeat."""
    rows = table(*["xxx"] * 30, *["xyz"] * 30, *["yyy"] * 30)
    cats = {f"i{n}": f"cat {n // 3}" for n in range(90)}
    alone, together = agreement(rows, seed=3), agreement(rows, unit=cats, seed=3)
    assert alone == agreement(rows, seed=3)
    for name in STATISTICS:
        assert getattr(alone, name) == getattr(together, name)
        assert together.high[name] - together.low[name] > alone.high[name] - alone.low[name]
        assert together.low[name] <= getattr(together, name) <= together.high[name]
    assert not together.withheld
    fewer = agreement(rows, unit={item: cat.replace("29", "28") for item, cat in cats.items()})
    assert all(isnan(limit) for limit in (*fewer.low.values(), *fewer.high.values()))
    assert "fewer than 30" in fewer.withheld


def test_unanimous_items_have_wilsons_limits() -> None:
    """Thirty items on which two agree, a third of them y: [88, 100] by Wilson with Student's t, not [100, 100].

    t with 29 degrees of freedom is 2.045, so 30 / (30 + 2.045^2) = 0.8776; chance agrees on 5/9, and the lower limit
    of kappa is 1 - (1 - 0.8776) / (4/9) = 0.7247.
    """
    found = agreement(table(*["xx"] * 20, *["yy"] * 10))
    assert (found.fleiss_kappa, found.percent, found.unanimous) == (1, 1, 1)
    assert found.low["percent"] == found.low["unanimous"] == pytest.approx(0.8776, abs=1e-4)
    assert found.low["fleiss_kappa"] == found.low["krippendorff_alpha"] == pytest.approx(0.7247, abs=1e-4)
    assert set(found.high.values()) == {1}


def test_the_interval_of_a_share_over_items_is_wilsons() -> None:
    """12 of 40 items unanimous: Wilson's [18.1, 45.4] for 40 answers and a normal error, [17.6, 45.9] for 39 and t."""
    rows = table(*["xx"] * 6, *["yy"] * 6, *["xy"] * 28)
    found = agreement(rows)
    assert (found.low["unanimous"], found.high["unanimous"]) == pytest.approx((0.176, 0.461), abs=0.002)


def test_limits_hold_a_value_that_is_the_same_on_every_item() -> None:
    """Forty items judged 2 to 1: each has agreement 1/3, which is not 0, and nothing says how kappa may differ."""
    found = agreement(table(*["xxy", "yyx"] * 20))
    assert found.percent == pytest.approx(1 / 3)
    assert found.low["percent"] < 1 / 3 < found.high["percent"]
    assert isnan(found.low["fleiss_kappa"])
    assert "kappa" in found.withheld


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("xyz.", min_size=3, max_size=5), min_size=30, max_size=40))
def test_limits_always_hold_the_value(rows: list[str]) -> None:
    """Whatever people answered, no interval leaves out the number beside it."""
    found = agreement(table(*rows), resamples=100)
    for name in STATISTICS:
        value, low, high = getattr(found, name), found.low[name], found.high[name]
        assert isnan(low) or low - 1e-9 <= value <= high + 1e-9, name


def test_a_label_of_one_item_leaves_kappa_without_an_interval() -> None:
    """Without that item kappa is undefined; percent has its interval, and the reason is given."""
    found = agreement(table(*["xx"] * 39, "xy"))
    assert isnan(found.low["fleiss_kappa"])
    assert 0 < found.low["percent"] < found.high["percent"] <= 1
    assert "kappa" in found.withheld
    assert found.withheld in found.heading()


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Over 100 samples of 80 items whose people agree on 62.5 %, about 95 % of the intervals hold 0.625."""
    rng, held = np.random.default_rng(0), 0
    for seed in range(100):
        same = rng.random(80) < 0.25
        labels = rng.choice(["xx", "yy", "xy", "yx"], size=80)
        found = agreement(table(*["xx" if s else word for s, word in zip(same, labels, strict=True)]), seed=seed)
        held += found.low["percent"] <= 0.625 <= found.high["percent"]
    assert 89 <= held <= 100


def test_an_annotator_agrees_with_the_others_on_shared_items() -> None:
    """p0 shares i0 with two who agree and i1 with one of two: (1 + 1/2) / 2; nobody shares i2."""
    found = agreement_of_annotators(table("xxx", "xxy", "x.."))
    assert (found["p0"].percent, found["p0"].items) == (pytest.approx(0.75), 2)
    assert found["p2"].percent == pytest.approx(0.5)


def test_the_report_has_each_number_and_its_interval() -> None:
    """The command's shape: numbers by name, the same names in `intervals`, and parts by facet."""
    rows = [Annotation(item=a.item, annotator=a.annotator, label=a.label, extra={"bias_type": "d", "k": a.item[:2]})
            for a in table(*["xx", "xy", "yy"] * 10)]  # fmt: skip
    report = agreement_report(Collected(annotations=rows), by=["k"])
    assert set(report["by"]) == {"domain", "k", "annotator"}
    for part in (report, report["by"]["domain"]["d"]):
        for name in ("fleiss_kappa", "krippendorff_alpha", "percent", "unanimous"):
            assert part["intervals"][name]["low"] <= part[name] <= part["intervals"][name]["high"]
    with pytest.raises(ValueError, match=r"'nowhere'.*bias_type, k"):
        agreement_report(Collected(annotations=rows), by=["nowhere"])


def test_stereoset_agreement(shared: Path) -> None:
    """All 45,270 labels: kappa and alpha 0.6485, unanimous 48.3 %; the dev figures by domain of the data's README."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"))
    whole = agreement(collected.annotations, unit=collected.units())
    assert [whole.fleiss_kappa, whole.krippendorff_alpha] == pytest.approx([0.6485, 0.6485], abs=5e-5)
    assert [whole.percent, whole.unanimous] == pytest.approx([0.7552, 0.4834], abs=5e-5)
    assert (whole.items, whole.annotations) == (9054, 45270)
    dev = [a for a in collected.annotations if a.extra["split"] == "dev"]
    parts = agreement_by(dev, column(dev, "bias_type"), resamples=0)
    assert {name: (p.items, round(p.percent, 4), round(p.fleiss_kappa, 4)) for name, p in parts.items()} == {
        "gender": (765, 0.7603, 0.6563),
        "race": (2886, 0.7556, 0.6484),
        "religion": (237, 0.7895, 0.6951),
    }
    assert [parts[n].unanimous for n in ("gender", "race", "religion")] == pytest.approx(
        [0.484, 0.483, 0.544], abs=5e-4
    )


def test_kappa_inside_one_gold_class_is_about_zero(shared: Path) -> None:
    """Among items of one gold label chance explains all: kappa from -0.04 to 0, percent up to 86 %, no crash."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"))
    parts = agreement_by(collected.annotations, column(collected.annotations, "gold_label"), resamples=0)
    assert all(-0.04 < part.fleiss_kappa < 0 for part in parts.values())
    assert all("prevalence paradox" in part.note for part in parts.values())
    assert parts["unrelated"].percent == pytest.approx(0.8588, abs=5e-5)


def test_crows_pairs_agreement(shared: Path) -> None:
    """Whether five people chose the pair's own bias type: they agree on 72.25 %."""
    collected = collect(formats.read(shared / "data/crows/crows_pairs_anonymized.csv"))
    found = agreement(collected.agreed_on())
    assert (found.items, found.percent) == (1508, pytest.approx(0.7225, abs=5e-5))


def items_of(population: str, count: int, rng: np.random.Generator) -> list[Annotation]:
    """Items of two labels, each with its own probability of x."""
    people, shares, frequencies = POPULATIONS[population]
    own = rng.choice(shares, size=count, p=frequencies)
    votes = rng.random((count, people)) < own[:, None]
    return table(*["".join("x" if vote else "y" for vote in row) for row in votes])


POPULATIONS: dict[str, tuple[int, list[float], list[float]]] = {
    "mixed": (5, [0.1, 0.5, 0.9], [1 / 3, 1 / 3, 1 / 3]),
    "pairs": (2, [0.1, 0.5, 0.9], [1 / 3, 1 / 3, 1 / 3]),
    "chance": (5, [0.5], [1.0]),
    "rare": (5, [0.05, 0.5, 0.9], [0.8, 0.1, 0.1]),
    "near perfect": (5, [0.03, 0.97], [0.5, 0.5]),
}
"""Judges of an item, the probabilities of x that items have, and how frequent these are."""


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("items", [30, 100])
def test_an_interval_holds_the_truth(population: str, items: int) -> None:
    """400 sets: 92 to 99 % of the intervals hold the truth by hand (93 to 98 % and an error of 1)."""
    people, shares, frequencies = POPULATIONS[population]
    x, weights = np.array(shares), np.array(frequencies)
    percent, mean = float(weights @ (x**2 + (1 - x) ** 2)), float(weights @ x)
    chance = mean**2 + (1 - mean) ** 2
    kappa = (percent - chance) / (1 - chance)
    truth = {"fleiss_kappa": kappa, "krippendorff_alpha": kappa, "percent": percent}
    truth["unanimous"] = float(weights @ (x**people + (1 - x) ** people))
    held, rng = Counter[str](), np.random.default_rng([items, 5])
    for seed in range(400):
        found = agreement(items_of(population, items, rng), resamples=400, seed=seed)
        held.update(name for name, value in truth.items() if found.low[name] <= value <= found.high[name])
    assert all(0.92 * 400 <= held[name] <= 0.99 * 400 for name in truth), held


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        (("1", "1.0", "+1"), ("'+1', '1', '1.0'", "3 labels")),
        (("x|y", "y|x", "z"), ("'x|y', 'y|x'", "2 labels")),
        (("Yes", " yes"), ("' yes', 'Yes'", "2 labels")),
        (("NaN", "None", "zorb", "NaN"), ("'NaN', 'None'", "3 answers")),
        (("1", "2", "x|y", "x|z", "nano", "1_0", "10"), ()),
    ],
)
def test_labels_that_read_as_one_are_named(labels: tuple[str, ...], named: tuple[str, ...]) -> None:
    """Numbers of one value, parts in another order, another case, and words for an empty cell; others are not."""
    given = [Annotation(item=f"i{n}", annotator="a", label=label) for n, label in enumerate(labels)]
    said = alike_labels(given)
    assert len(said) == bool(named)
    assert all(part in said[0] for part in named)
