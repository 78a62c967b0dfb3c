"""Tests `items`: one row per item of any run, from which its numbers follow."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.choice_runs import pairs, questions, run
from helpers.records import PAIRS, PROBES, TEST, cats

import catsofa
from catsofa.data.records import Score
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.protocols import named
from catsofa.scoring.results import Report, report

Tiny = Callable[[str], Path]


def by_hand(rows: Any) -> tuple[float, float]:
    """Returns ss and lms of rows of CATs by the mean over target terms."""
    terms = rows.groupby("term")[["ss_won", "ss_of", "lms_won", "lms_of"]].sum()
    ss, lms = (terms[f"{name}_won"] / terms[f"{name}_of"] for name in ("ss", "lms"))
    return 100 * float(ss.mean()), 100 * float(lms.mean())


@pytest.mark.parametrize("protocol", ["catsofa", "catsofa,ties=half", "stereoset-code"])
def test_lms_and_ss_follow_from_the_rows_of_cats(tiny: Tiny, protocol: str) -> None:
    """Under every protocol, lms and ss are means over terms of comparisons won divided by comparisons made."""
    result = evaluate(str(tiny("gpt2")), cats(), protocol=protocol, resamples=0)
    rows = result.items()
    assert list(rows["id"]) == [cat.id for cat in cats()]
    results = result.to_dict()["results"]
    for task, part in rows.groupby("task"):
        overall = results[task]["overall"]
        assert by_hand(part) == pytest.approx((overall["ss"], overall["lms"]), nan_ok=True)
    assert set(rows["outcome"]) <= {"stereotype", "anti-stereotype", "tie"}
    assert ((rows["score_stereotype"] > rows["score_anti-stereotype"]) == (rows["outcome"] == "stereotype")).all()


def test_a_tie_is_an_outcome_whatever_the_protocol_makes_of_it() -> None:
    """Equal scores are a tie, which the default leaves out and `ties=against` counts as lost."""
    cat = cats()[0]
    scores = [Score(item=one.id, task=cat.kind, score=-1.0) for one in cat.candidates]
    for protocol, counted in (("catsofa", 0), ("catsofa,ties=against", 1)):
        [row] = report([cat], scores, named(protocol), data="d", model="m", resamples=0).items().to_dict("records")
        assert (row["outcome"], row["ss_won"], row["ss_of"]) == ("tie", 0, counted)


def test_an_unscored_item_says_why(tiny: Tiny) -> None:
    """RoBERTa has no next-sentence head: intersentence CATs are unscored, with that reason."""
    rows = evaluate(str(tiny("roberta")), cats(), resamples=0).items()
    after = rows[rows["task"] == "intersentence"]
    assert set(after["outcome"]) == {"unscored"}
    assert after["reason"].str.contains("next-sentence head").all()
    assert set(rows[rows["task"] == "intrasentence"]["reason"]) == {""}


def test_the_score_of_pairs_is_the_mean_of_their_rows(tiny: Tiny) -> None:
    """The score is 100 · mean of `won` over the pairs that count."""
    result = evaluate(str(tiny("gpt2")), PAIRS, resamples=0)
    rows = result.items()
    assert 100 * rows["won"].mean() == pytest.approx(result.to_dict()["results"]["overall"]["score"])
    assert list(rows["score_more"] > rows["score_less"]) == list(rows["outcome"] == "stereotype")


def test_the_sofa_score_is_the_mean_of_the_rows_of_probes(tiny: Tiny) -> None:
    """Each stereotype of a category has a row: the score is the mean over categories of their mean variance."""
    result = evaluate(str(tiny("gpt2")), PROBES, resamples=0)
    rows = result.items()
    assert rows.groupby("domain")["variance"].mean().mean() == pytest.approx(result.to_dict()["results"]["score"])
    assert (rows["lowest"] != rows["highest"]).all()


def test_the_statistic_of_an_association_test_is_the_difference_of_its_rows(tiny: Tiny) -> None:
    """The statistic is the sum of the associations of X minus that of Y."""
    result = evaluate(str(tiny("bert-encoder")), [TEST], resamples=0)
    rows = result.items()
    sums = rows.groupby("set")["association"].sum()
    assert sums[TEST.x.name] - sums[TEST.y.name] == pytest.approx(result.to_dict()["results"][0]["statistic"])
    assert list(rows["term"]) == [*TEST.x.items, *TEST.y.items]


def test_the_accuracy_of_questions_is_the_mean_of_their_rows(tiny: Tiny) -> None:
    """The accuracy of each condition, ambiguous and disambiguated, is the mean of `correct`."""
    result = evaluate(str(tiny("gpt2")), questions(), resamples=0)
    right = result.items().groupby("condition")["correct"].mean()
    overall = result.to_dict()["results"]["overall"]
    assert [right["ambig"], right["disambig"]] == pytest.approx([overall["acc_amb"], overall["acc_dis"]])


def test_an_item_of_choices_has_the_side_that_both_orders_name(tmp_path: Path) -> None:
    """A model picks the stereotype for even items, and for odd items the opposite or the first option."""

    def said(item: Any, order: Any) -> str:
        number = int(item.id[1:])
        return "stereotype" if number % 2 == 0 else "anti-stereotype" if number % 4 == 1 else order[0]

    (tmp_path / "b").mkdir()
    one = run(tmp_path / "a", pairs(8), said)
    other = run(tmp_path / "b" / "c", pairs(8), lambda item, order: "" if item.id == "p0" else "stereotype")
    rows = catsofa.items(one)
    assert list(rows["outcome"]) == ["stereotype", "anti-stereotype", "stereotype", "tie"] * 2
    assert list(rows["stereotype"] + rows["anti_stereotype"]) == [2] * 8
    first = catsofa.items(other).iloc[0]
    assert (first["outcome"], first["refusal"]) == ("unscored", 2)
    assert "no choice" in first["reason"]


@pytest.mark.parametrize(("model", "data"), [("gpt2", "cats.jsonl"), ("gpt2", "pairs.jsonl"), ("bert", "tests")])
def test_a_finished_run_has_the_rows_of_its_report(tiny: Tiny, files: Path, model: str, data: str) -> None:
    """A run folder has the rows of its report; a run in memory has them too, but for the rounding of other threads."""
    testing = pytest.importorskip("pandas").testing
    alone = evaluate(str(tiny(model)), files / data, resamples=0).items()
    stored = evaluate(str(tiny(model)), files / data, resamples=0, out=files / "run").items()
    loaded = catsofa.items(files / "run").drop(columns=["model", "data", "measure"])
    assert stored.equals(loaded)
    testing.assert_frame_equal(alone, stored, check_exact=False, rtol=0, atol=1e-5)


def test_a_report_of_numbers_alone_has_no_items(tiny: Tiny) -> None:
    """A report without scores refuses `items`, and says what has items."""
    result = evaluate(str(tiny("gpt2")), PAIRS, resamples=0)
    with pytest.raises(ValueError, match="without scores"):
        Report(protocol="p", results=result.results, signature=result.signature).items()
