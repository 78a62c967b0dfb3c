"""Tests agreement statistics against two libraries, released data and hand computation."""

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
    """Returns one item per row, with one letter per person's answer; a dot is no answer."""
    return [
        Annotation(item=f"i{n}", annotator=f"p{person}", label=label)
        for n, row in enumerate(rows)
        for person, label in enumerate(row)
        if label != "."
    ]


def test_kappa_by_hand() -> None:
    """Items xx, xy, yy: P = 2/3, shares 1/2 and 1/2, so Pe = 1/2 and kappa = 1/3."""
    result = agreement(table("xx", "xy", "yy"), resamples=0)
    assert result.percent == result.unanimous == pytest.approx(2 / 3)
    assert (result.chance, result.fleiss_kappa) == (pytest.approx(0.5), pytest.approx(1 / 3))


def test_alpha_by_hand() -> None:
    """Items xx, xy, yy: D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 0.6, alpha = 1 - (1/3) / 0.6 = 4/9."""
    assert agreement(table("xx", "xy", "yy"), resamples=0).krippendorff_alpha == pytest.approx(4 / 9)


def test_kappa_of_two_questions_is_that_of_each() -> None:
    """Items xx, xy, yy and uv, uv have kappas 1/3 and -1; pooled it would be .19. Percent is (2 + 0) of 5 items."""
    rows = [
        replace(each, item=f"{question}-{each.item}", extra={"question": question, "of": each.item})
        for question, judged in {"first": table("xx", "xy", "yy"), "second": table("uv", "uv")}.items()
        for each in judged
    ]
    report = agreement_report(collect(rows), resamples=0)
    assert isnan(report["fleiss_kappa"])
    assert isnan(report["krippendorff_alpha"])
    assert report["percent"] == pytest.approx(2 / 5)
    by_question = report["by"]["question"]
    assert {name: by_question[name]["fleiss_kappa"] for name in by_question} == pytest.approx(
        {"first": 1 / 3, "second": -1}
    )
    assert "2 questions" in report["note"]


def test_answers_about_one_whole_item_are_one_unit() -> None:
    """Thirty texts with two questions each count as 30 units, not 60, in the interval of percent."""
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
    """Fleiss' kappa of four people equals statsmodels' to 1e-9; it is undefined if all answers are one label."""
    kappa = agreement(table(*rows), resamples=0).fleiss_kappa
    if len(set("".join(rows))) == 1:
        assert isnan(kappa)
    else:
        counts = [[row.count(label) for label in "xyz"] for row in rows]
        assert kappa == pytest.approx(fleiss_kappa(np.array(counts)), abs=1e-9)


@given(st.lists(st.text("xyz.", min_size=5, max_size=5), min_size=2, max_size=12))
@settings(deadline=None)
def test_alpha_is_that_of_krippendorff(rows: list[str]) -> None:
    """Alpha equals krippendorff's to 1e-9 for any number of answers per item, including gaps."""
    pairable = [row for row in rows if len(row.replace(".", "")) > 1]
    result = agreement(table(*rows), resamples=0)
    assert result.items == len(pairable)
    if len(set("".join(pairable)) - {"."}) < 2:
        assert isnan(result.krippendorff_alpha)
        return
    codes = {"x": 0.0, "y": 1.0, "z": 2.0, ".": np.nan}
    matrix = np.array([[codes[label] for label in row] for row in rows]).T
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
    assert result.krippendorff_alpha == pytest.approx(expected, abs=1e-9)


def test_nothing_to_agree_on_is_undefined_and_says_so() -> None:
    """With one person per item, or one label for all, the statistics are undefined, and the note says why."""
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
    """Nineteen of twenty items are x by all and one is split: 97 % agreement but a low kappa, and the note explains
    it."""
    result = agreement(table(*["xxx"] * 19, "xyy"))
    assert result.percent == pytest.approx(0.9667, abs=1e-4)
    assert result.fleiss_kappa < 0.5
    assert "prevalence paradox" in result.note
    assert not agreement(table("xxx", "yyy", "xxy")).note


def test_skipped_empty_and_gold_answers_are_no_answers() -> None:
    """Skipped, empty and gold answers do not change agreement."""
    noise = [
        Annotation(item="i0", annotator="q", label="x", extra={"skipped": True}),
        Annotation(item="i0", annotator="r", label=""),
        Annotation(item="g", annotator="q", label="x", extra={"gold": "x"}),
        Annotation(item="g", annotator="r", label="x", extra={"gold": "x"}),
    ]
    rows = table(*["xy", "yy"] * 5)
    assert agreement([*rows, *noise]) == agreement(rows)


def test_intervals_come_from_the_units_that_were_drawn() -> None:
    """Ninety items in thirty CATs have wider intervals than alone. 29 CATs have no interval, and a seed reproduces the
    result."""
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
    """Thirty unanimous items, a third of them y, have the limits [88, 100] by Wilson with Student's t, not [100, 100].
    t with 29 degrees of freedom is 2.045, so 30 / (30 + 2.045^2) = 0.8776.

    Chance agreement is 5/9, so the lower limit of kappa is 1 - (1 - 0.8776) / (4/9) = 0.7247.
    """
    result = agreement(table(*["xx"] * 20, *["yy"] * 10))
    assert (result.fleiss_kappa, result.percent, result.unanimous) == (1, 1, 1)
    assert result.low["percent"] == result.low["unanimous"] == pytest.approx(0.8776, abs=1e-4)
    assert result.low["fleiss_kappa"] == result.low["krippendorff_alpha"] == pytest.approx(0.7247, abs=1e-4)
    assert set(result.high.values()) == {1}


def test_the_interval_of_a_share_over_items_is_wilsons() -> None:
    """12 of 40 items are unanimous: Wilson's [18.1, 45.4] for 40 answers and a normal error, [17.6, 45.9] for 39 and
    t."""
    rows = table(*["xx"] * 6, *["yy"] * 6, *["xy"] * 28)
    result = agreement(rows)
    assert (result.low["unanimous"], result.high["unanimous"]) == pytest.approx((0.176, 0.461), abs=0.002)


def test_limits_hold_a_value_that_is_the_same_on_every_item() -> None:
    """Forty items judged 2 to 1 have agreement 1/3 each, so kappa has no interval."""
    result = agreement(table(*["xxy", "yyx"] * 20))
    assert result.percent == pytest.approx(1 / 3)
    assert result.low["percent"] < 1 / 3 < result.high["percent"]
    assert isnan(result.low["fleiss_kappa"])
    assert "kappa" in result.withheld


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("xyz.", min_size=3, max_size=5), min_size=30, max_size=40))
def test_limits_always_hold_the_value(rows: list[str]) -> None:
    """For any answers, every interval contains its value."""
    result = agreement(table(*rows), resamples=100)
    for name in STATISTICS:
        value, low, high = getattr(result, name), result.low[name], result.high[name]
        assert isnan(low) or low - 1e-9 <= value <= high + 1e-9, name


def test_a_label_of_one_item_leaves_kappa_without_an_interval() -> None:
    """Without the single deviating item, kappa is undefined and has no interval; percent has one, and the reason is
    given."""
    result = agreement(table(*["xx"] * 39, "xy"))
    assert isnan(result.low["fleiss_kappa"])
    assert 0 < result.low["percent"] < result.high["percent"] <= 1
    assert "kappa" in result.withheld
    assert result.withheld in result.heading()


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Over 100 samples of 80 items with a true agreement of 62.5 %, about 95 % of the intervals contain 0.625."""
    rng, held = np.random.default_rng(0), 0
    for seed in range(100):
        same = rng.random(80) < 0.25
        labels = rng.choice(["xx", "yy", "xy", "yx"], size=80)
        result = agreement(table(*["xx" if s else word for s, word in zip(same, labels, strict=True)]), seed=seed)
        held += result.low["percent"] <= 0.625 <= result.high["percent"]
    assert 89 <= held <= 100


def test_an_annotator_agrees_with_the_others_on_shared_items() -> None:
    """p0 shares i0 with two people who agree and i1 with one of two who agrees: (1 + 1/2) / 2. i2 is not shared."""
    by_annotator = agreement_of_annotators(table("xxx", "xxy", "x.."))
    assert (by_annotator["p0"].percent, by_annotator["p0"].items) == (pytest.approx(0.75), 2)
    assert by_annotator["p2"].percent == pytest.approx(0.5)


def test_the_report_has_each_number_and_its_interval() -> None:
    """The report has numbers by name, the same names in `intervals`, and parts by facet."""
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
    """On all 45,270 labels kappa and alpha are 0.6485, and 48.3 % of items are unanimous. The dev figures by domain are
    the data README's."""
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
    """Among items of one gold label, kappa is between -0.04 and 0 although percent reaches 86 %."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"))
    parts = agreement_by(collected.annotations, column(collected.annotations, "gold_label"), resamples=0)
    assert all(-0.04 < part.fleiss_kappa < 0 for part in parts.values())
    assert all("prevalence paradox" in part.note for part in parts.values())
    assert parts["unrelated"].percent == pytest.approx(0.8588, abs=5e-5)


def test_crows_pairs_agreement(shared: Path) -> None:
    """Five people agree on 72.25 % about the pair's own bias type."""
    collected = collect(formats.read(shared / "data/crows/crows_pairs_anonymized.csv"))
    result = agreement(collected.agreed_on())
    assert (result.items, result.percent) == (1508, pytest.approx(0.7225, abs=5e-5))


def items_of(population: str, count: int, rng: np.random.Generator) -> list[Annotation]:
    """Returns items of two labels, each with its own probability of x."""
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
"""Judges per item, the items' probabilities of x, and the frequencies of these."""


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("items", [30, 100])
def test_an_interval_holds_the_truth(population: str, items: int) -> None:
    """In 400 sets, 92 to 99 % of the intervals contain the true value computed by hand (93 to 98 % plus an error of
    1)."""
    people, shares, frequencies = POPULATIONS[population]
    x, weights = np.array(shares), np.array(frequencies)
    percent, mean = float(weights @ (x**2 + (1 - x) ** 2)), float(weights @ x)
    chance = mean**2 + (1 - mean) ** 2
    kappa = (percent - chance) / (1 - chance)
    truth = {"fleiss_kappa": kappa, "krippendorff_alpha": kappa, "percent": percent}
    truth["unanimous"] = float(weights @ (x**people + (1 - x) ** people))
    held, rng = Counter[str](), np.random.default_rng([items, 5])
    for seed in range(400):
        result = agreement(items_of(population, items, rng), resamples=400, seed=seed)
        held.update(name for name, value in truth.items() if result.low[name] <= value <= result.high[name])
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
    """Equal numbers, reordered parts, other case and words for an empty cell are named; other labels are not."""
    annotations = [Annotation(item=f"i{n}", annotator="a", label=label) for n, label in enumerate(labels)]
    warnings = alike_labels(annotations)
    assert len(warnings) == bool(named)
    assert all(part in warnings[0] for part in named)
