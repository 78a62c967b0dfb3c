import json
from math import isnan
from pathlib import Path

import pytest

from catsofa.data.formats import read_as
from catsofa.data.records import Direction, Pair
from catsofa.scoring.measures.crows_pairs import preferences, results


def pair(name: str, direction: Direction = "stereo", bias_type: str = "pastime") -> Pair:
    """Returns a mild pair; only its id, direction and type matter here."""
    return Pair(id=name, more="Gamers sleep late.", less="Bakers sleep late.", direction=direction, bias_type=bias_type)


def test_the_score_is_the_share_of_pairs_whose_more_stereotyping_sentence_wins() -> None:
    """Three of four pairs prefer `more`: 75.

    Both directions count a win of `more`: 2 of 2 stereo, 1 of 2 antistereo.
    """
    pairs = [pair("a"), pair("b"), pair("c", "antistereo"), pair("d", "antistereo", "profession")]
    report = results(preferences(pairs, {"a": (-1, -2), "b": (-1, -2), "c": (-1, -2), "d": (-2, -1)}))
    assert report.overall.score.value == 75
    assert {name: part.score.value for name, part in report.directions.items()} == {"stereo": 100, "antistereo": 50}
    assert {name: part.score.value for name, part in report.types.items()} == {"pastime": 100, "profession": 0}


@pytest.mark.parametrize("shift", [0.0, -2e6])
def test_only_equal_scores_tie(shift: float) -> None:
    """Two pairs differ by little, near 1 and far from 0, and one pair ties: coverage 2/3."""
    scores = {"a": (0.9999862 + shift, 0.9999856 + shift), "b": (-1.0 + shift, -0.5 + shift), "c": (shift, shift)}
    overall = results(preferences([pair("a"), pair("b"), pair("c")], scores)).overall
    assert (overall.score.value, overall.neutral, overall.coverage) == (50, 1, 2 / 3)


def test_a_tie_is_left_out_or_half_a_win_or_none_and_metric_py_leaves_it_out_of_the_directions() -> None:
    """One win and one tie score 100 (one pair), 75 (half credit), or 50 overall and 100 by direction (metric.py)."""
    pairs = [pair("a"), pair("b")]
    scores = {"a": (-1.0, -2.0), "b": (-1.0001, -1.0002)}
    left_out = results(preferences(pairs, scores, rounding=3)).overall
    assert (left_out.score.value, left_out.neutral, left_out.coverage) == (100, 1, 0.5)
    assert results(preferences(pairs, scores, rounding=3, ties="half")).overall.score.value == 75
    strict = results(preferences(pairs, scores, ties="against", rounding=3), neutral_in_directions=False)
    assert (strict.overall.score.value, strict.overall.neutral) == (50, 1)
    assert strict.directions["stereo"].score.value == 100


def test_a_pair_with_one_unscored_sentence_lowers_the_coverage_and_no_score() -> None:
    """With one of two pairs scored, the score uses that pair, and the coverage is a half."""
    overall = results(preferences([pair("a"), pair("b")], {"a": (-1.0, -2.0), "b": (-1.0, None)})).overall
    assert (overall.score.value, overall.pairs, overall.coverage) == (100, 2, 0.5)


def test_without_any_score_the_preference_is_undefined() -> None:
    """Without scores, the coverage is 0 % and the score is NaN."""
    overall = results(preferences([pair("a")], {})).overall
    assert (overall.coverage, isnan(overall.score.value)) == (0.0, True)


def test_every_pair_preferred_has_wilsons_interval() -> None:
    """Two of two pairs score 100 with a lower limit of 34.2, not the interval [100, 100]."""
    score = results(preferences([pair("a"), pair("b")], {"a": (-1.0, -2.0), "b": (-1.0, -2.0)})).overall.score
    assert (score.value, round(score.low, 1), score.high) == (100, 34.2, 100)


def test_metric_py_of_a_small_bert(shared: Path) -> None:
    """Results equal metric.py on 1,508 scored pairs: 48.81, stereotype 48.76, anti-stereotype 49.08, no neutral."""
    oracle = json.loads((shared / "oracles/crows_tinybert_metric_py.json").read_text())
    pairs = list(read_as(shared / "data/crows/crows_pairs_anonymized.csv", Pair))
    scores = {p.id: (row[0], row[1]) for p, row in zip(pairs, oracle["rows"], strict=True)}
    report = results(preferences(pairs, scores, ties="against", rounding=3), neutral_in_directions=False)
    assert [round(x.score.value, 2) for x in (report.overall, *report.directions.values())] == [48.81, 48.76, 49.08]
    assert report.overall.neutral == 0
    for kind, (count, score) in oracle["per_bias_type_metric"].items():
        assert (report.types[kind].pairs, round(report.types[kind].score.value, 2)) == (count, score)


@pytest.mark.parametrize("way", ["aul", "aula"])
def test_aul_and_aula_of_a_small_bert(shared: Path, way: str) -> None:
    """Results equal the released all-unmasked-likelihood code, overall and per type, to two decimals."""
    oracle = json.loads((shared / "oracles/crows_tinybert_aul_aula.json").read_text())[way]
    pairs = list(read_as(shared / "data/crows/crows_pairs_anonymized.csv", Pair))
    scores = {p.id: (more, less) for p, (more, less) in zip(pairs, oracle["pairs"], strict=True)}
    report = results(preferences(pairs, scores, ties="against"), resamples=0)
    printed = dict(line.split(": ") for line in oracle["printed"])
    assert round(report.overall.score.value, 2) == float(printed["Bias score"])
    for kind, part in report.types.items():
        assert round(part.score.value, 2) == float(printed[kind])
