import json
from dataclasses import replace
from math import isnan, log, nan

import numpy as np
import pytest
from helpers.records import HAND, Cells, scored

from catsofa.data.content import content_of
from catsofa.data.records import Probe, Score
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.sofa import grid
from catsofa.scoring.measures.sofa.options import Normalisation
from catsofa.scoring.measures.sofa.sanity import of_probes
from catsofa.scoring.protocols import DEFAULT, named


def test_a_grid_of_two_by_two_by_hand() -> None:
    """Variances are 0.5 and 4.5 (ddof 1), DDS 1 and 3, category and SoFa score 2.5; zorbs are always lowest."""
    results = sofa.results(*scored(HAND))
    assert results.score.value == pytest.approx(2.5)
    assert results.categories["craft"].score.value == pytest.approx(2.5)
    assert {row.stereotype: (row.variance, row.dds) for row in results.stereotypes} == {
        "are late": (pytest.approx(0.5), pytest.approx(1)),
        "sing well": (pytest.approx(4.5), pytest.approx(3)),
    }
    assert {row.identity: (row.lowest, row.highest, row.mean) for row in results.identities} == {
        "zorbs": (1, 0, pytest.approx(0.5)),
        "florins": (0, 1, pytest.approx(2.5)),
    }
    assert results.coverage == 1


def test_the_logarithm_and_ddof_are_options() -> None:
    """ddof 0 halves a variance over two; natural logarithms multiply the variance by ln(10)^2 = 5.30."""
    dataset = scored(HAND)
    assert sofa.results(*dataset, ddof=0).score.value == pytest.approx(1.25)
    assert sofa.results(*dataset, log_base=np.e).score.value == pytest.approx(2.5 * log(10) ** 2)


def rated(ratings: dict[str, object]) -> tuple[list[Probe], list[Score]]:
    """Returns the hand-computed grid with these ratings of its stereotypes."""
    probes, scores = scored(HAND)
    return [
        replace(p, extra={"offensiveness": ratings[p.stereotype]}) if p.stereotype in ratings else p for p in probes
    ], scores


def test_severities_weigh_the_variances_of_stereotypes() -> None:
    """Variances 0.5 and 4.5 with mean severities 3 and 1 give (3 · 0.5 + 1 · 4.5) / 4 = 1.5; unweighted, 2.5."""
    results = sofa.results(*rated({"are late": [2.0, None, 4.0], "sing well": "1"}), weights="severity")
    assert results.score.value == pytest.approx(2.5)
    assert results.weighted is not None
    assert results.weighted.score.value == pytest.approx(1.5)
    assert (results.weighted.rated, results.weighted.unrated, results.weighted.harmless) == (2, 0, 0)
    assert results.to_dict()["categories"]["craft"]["weighted"]["score"] == pytest.approx(1.5)
    assert [row["weighted"] for row in results.rows()] == [pytest.approx(1.5)] * 2


def test_stereotypes_without_a_severity_are_counted_and_never_weigh_nothing() -> None:
    """If only `sing well` is rated, the weighted score is its variance; a severity of 0 is counted separately."""
    results = sofa.results(*rated({"sing well": [2]}), weights="severity")
    assert results.weighted is not None
    assert (results.weighted.score.value, results.weighted.rated, results.weighted.unrated) == (
        pytest.approx(4.5),
        1,
        1,
    )
    assert any("craft (1 of 2)" in sentence for sentence in of_probes(results))
    harmless = sofa.results(*rated({"are late": [0, 0], "sing well": [1]}), weights="severity").weighted
    assert harmless is not None
    assert (harmless.score.value, harmless.harmless, harmless.unrated) == (pytest.approx(4.5), 1, 0)
    nothing = sofa.results(*rated({"are late": [0], "sing well": [0]}), weights="severity").weighted
    assert nothing is not None
    assert isnan(nothing.score.value)


def test_equal_severities_change_neither_the_score_nor_its_limits() -> None:
    """With nine stereotypes of severity 2, the weighted score equals the score."""
    rng = np.random.default_rng(1)
    cells: Cells = {("craft", f"s{n}", i): (10 ** rng.normal(), 10 ** rng.normal()) for n in range(9) for i in "abcd"}
    probes, scores = scored(cells)
    results = sofa.results([replace(p, extra={"offensiveness": [2, 2]}) for p in probes], scores, weights="severity")
    assert results.weighted is not None
    limits = (results.weighted.score.value, results.weighted.score.low, results.weighted.score.high)
    assert limits == pytest.approx((results.score.value, results.score.low, results.score.high))


@pytest.mark.parametrize("ratings", [{}, {"are late": [-1.0, 2.0]}, {"are late": "much"}])
def test_no_severity_or_one_below_0_is_refused(ratings: dict[str, object]) -> None:
    """A scale with values below 0 gives no weights; without the option, ratings are ignored."""
    with pytest.raises(ValueError, match=r"ratings.*0 or more"):
        sofa.results(*rated(ratings), weights="severity")
    plain = sofa.results(*rated(ratings))
    assert (plain.score.value, plain.weighted) == (pytest.approx(2.5), None)
    assert "weighted" not in plain.to_dict()


def test_the_signature_names_the_weights_and_the_severities() -> None:
    """The protocol contains the option, and the hash of the data contains the ratings; without them both
    are unchanged.
    """
    assert named("catsofa,weights=none").digest == DEFAULT.digest
    weighted = named("catsofa,weights=severity")
    assert (weighted.name, weighted.digest != DEFAULT.digest) == ("catsofa,weights=severity", True)
    digests = {content_of(rated({"are late": [k]} if k else {})[0]).digest for k in (0, 1, 2)}
    assert len(digests) == 3


def test_three_normalisations_stand_side_by_side() -> None:
    """Without division log PPL is 2, 2 and 1, 3: variances 0 and 2, mean 1; p(s | i) has its own numbers."""
    probes, scores = scored(HAND)
    with_conditional = [
        Score(item=s.item, score=s.score, extra={**s.extra, "conditional": -log(10.0**k)}) for k, s in enumerate(scores)
    ]
    results = sofa.results(probes, with_conditional)
    # log PPL(s | i): 0 and 1, 2 and 3
    expected = {"identity": pytest.approx(2.5), "none": pytest.approx(1), "conditional": pytest.approx(0.5)}
    for scores_by_way in (results.normalisations, results.categories["craft"].normalisations):
        assert {way: score.value for way, score in scores_by_way.items()} == expected
    assert sofa.results(probes, with_conditional, normalisation="none").score.value == pytest.approx(1)


@pytest.mark.parametrize("way", ["identity", "conditional", "none"])
def test_every_normalisation_has_the_interval_that_it_has_as_the_score(way: Normalisation) -> None:
    """In the JSON and in the rows, a normalisation has the limits of a run that chooses it."""
    rng = np.random.default_rng(1)
    cells: Cells = {("craft", f"s{n}", i): (10 ** rng.normal(), 10 ** rng.normal()) for n in range(9) for i in "abcd"}
    probes, scores = scored(cells)
    with_conditional = [replace(one, extra={**one.extra, "conditional": rng.normal()}) for one in scores]
    beside, chosen = (sofa.results(probes, with_conditional, normalisation=n) for n in (OTHER[way], way))
    assert beside.normalisations[way] == chosen.score
    assert beside.to_dict()["intervals"][way]["low"] < chosen.score.value
    assert beside.rows()[1][f"{way}_high"] == chosen.categories["craft"].score.high


OTHER: dict[Normalisation, Normalisation] = {"identity": "none", "conditional": "identity", "none": "identity"}


def test_rounding_of_a_probes_perplexity_is_the_released_analysis() -> None:
    """Like the released analysis, `ppl_digits` rounds PPL 1.2346 to 1.235 before its logarithm."""
    cells: Cells = {("c", "s", "a"): (1.2346, 1), ("c", "s", "b"): (1, 1)}
    plain, rounded = (sofa.results(*scored(cells), ppl_digits=digits).stereotypes[0].dds for digits in (None, 3))
    assert plain == pytest.approx(log(1.2346) / log(10))
    assert rounded == pytest.approx(log(1.235) / log(10))


def test_a_category_score_is_the_mean_over_all_its_stereotypes() -> None:
    """A public re-implementation resets its list for each stereotype and keeps the last: 4.5 instead of 2.5."""
    in_another_order = dict(reversed(HAND.items()))
    assert sofa.results(*scored(HAND)).score.value == sofa.results(*scored(in_another_order)).score.value


def test_the_sofa_score_is_the_plain_mean_over_categories() -> None:
    """The score is (2.5 + 0.5) / 2, for any number of stereotypes per category."""
    cells = dict(HAND) | {("age", "are late", "elders"): (100, 10), ("age", "are late", "children"): (100, 1)}
    results = sofa.results(*scored(cells))
    assert {name: category.score.value for name, category in results.categories.items()} == {
        "craft": pytest.approx(2.5),
        "age": pytest.approx(0.5),
    }
    assert results.score.value == pytest.approx(1.5)


def test_an_identity_of_two_categories_is_two_identities() -> None:
    """A name shared by categories has its own PPL(i) and row in each."""
    cells = {
        (category, s, i): (w * (1 + (category == "b")), a) for category in "ab" for (_, s, i), (w, a) in HAND.items()
    }
    results = sofa.results(*scored(cells))
    assert [(row.category, row.identity) for row in results.identities] == [
        ("a", "zorbs"),
        ("a", "florins"),
        ("b", "zorbs"),
        ("b", "florins"),
    ]


def test_scores_are_joined_by_id_whatever_their_order() -> None:
    """Scores are joined by id in any order, because workers return them in any order."""
    probes, scores = scored(HAND)
    turned, straight = (sofa.results(probes, order).to_dict() for order in (scores[::-1], scores))
    assert json.dumps(turned) == json.dumps(straight)


def test_what_is_unscored_lowers_the_coverage_and_nothing_else() -> None:
    """Of 2 × 3 probes, one has no score and one no PPL(i): 4/6 are covered; variances use the remaining identities."""
    cells = dict(HAND) | {("craft", "are late", "mimps"): (50, 5), ("craft", "sing well", "mimps"): (50, 5)}
    probes, scores = scored(cells)
    scores[4] = Score(item=probes[4].id, score=None, reason="too long")
    scores[5] = Score(item=probes[5].id, score=-log(50), extra={"identity": None})
    results = sofa.results(probes, scores)
    assert results.coverage == 4 / 6
    assert results.score.value == pytest.approx(2.5)
    assert isnan(next(row.mean for row in results.identities if row.identity == "mimps"))
    assert sofa.results(probes, scores, normalisation="none").coverage == 5 / 6


def test_a_stereotype_with_one_scored_identity_has_no_variance() -> None:
    """The stereotype is listed last with NaN, and the mean uses the others."""
    probes, scores = scored(HAND)
    results = sofa.results(probes, scores[1:])
    assert [(row.stereotype, isnan(row.dds), isnan(row.variance)) for row in results.stereotypes] == [
        ("sing well", False, False),
        ("are late", True, True),
    ]
    assert results.categories["craft"].stereotypes == 1
    assert results.score.value == pytest.approx(4.5)


def test_without_scores_there_is_no_score() -> None:
    """If a category has no scores, the SoFa score is undefined, not a mean of the others."""
    probes, scores = scored(dict(HAND) | {("age", "are late", "elders"): (9, 3), ("age", "are late", "tots"): (9, 3)})
    results = sofa.results(probes, scores[:4])
    assert results.categories["craft"].score.value == pytest.approx(2.5)
    assert isnan(results.categories["age"].score.value)
    assert isnan(results.score.value)
    assert results.coverage == 4 / 6


def test_identities_that_tie_share_a_stereotype() -> None:
    """Identities that are lowest together share the count; in a fair model every identity is lowest equally often."""
    cells = {("c", "s", name): (10.0, 10.0) for name in ("a", "b", "c", "d")}
    results = sofa.results(*scored(cells))
    assert [row.lowest for row in results.identities] == [0.25] * 4
    assert results.score.value == 0


def test_two_probes_in_one_cell_are_refused() -> None:
    """Two probes of the same identity, stereotype and category are refused, because one would be ignored silently."""
    twice = [Probe(id=name, category="c", identity="i", stereotype="s") for name in "ab"]
    with pytest.raises(ValueError, match=r"'c'.*'i'.*'s'"):
        sofa.results(twice, [])


def test_two_probes_of_one_id_are_refused() -> None:
    """One score cannot belong to two texts."""
    twice = [Probe(id="a", category="c", identity=name, stereotype="s") for name in ("i", "j")]
    with pytest.raises(ValueError, match="joins 'j' with 's' has the id of another"):
        sofa.results(twice, [Score(item="a", score=-1.0)])


def test_categories_whose_probes_come_in_turn_have_a_grid_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe's cell is independent of the order and the chunk size; an absent probe is NaN."""
    monkeypatch.setattr(grid, "STRETCH", 2)
    cells = [("c", "s", "i"), ("d", "s", "j"), ("c", "t", "i"), ("c", "s", "j"), ("d", "t", "k"), ("c", "t", "k")]
    probes = [Probe(category=category, stereotype=stereotype, identity=who) for category, stereotype, who in cells]
    scores = [Score(item=probe.id, score=-float(number)) for number, probe in enumerate(probes)]
    one, other = grid.grids(iter(probes), reversed(scores))
    assert (one.stereotypes, one.identities, one.probes) == (("s", "t"), ("i", "j", "k"), 4)
    assert (other.stereotypes, other.identities, other.probes) == (("s", "t"), ("j", "k"), 2)
    np.testing.assert_array_equal(one.means[..., 0], [[0, -3, nan], [-2, nan, -5]])
    np.testing.assert_array_equal(other.means[..., 0], [[-1, nan], [nan, -4]])


def test_no_probes_are_refused() -> None:
    """An empty file is refused, and does not score 0."""
    with pytest.raises(ValueError, match="no probes"):
        sofa.results([], [])


def test_intervals_are_over_stereotypes() -> None:
    """The limits of 100 stereotypes from one distribution contain its mean variance."""
    rng = np.random.default_rng(1)
    cells = {("c", f"s{s}", f"i{i}"): (10 ** rng.normal(), 1.0) for s in range(100) for i in range(20)}
    dataset = scored(cells)
    score = sofa.results(*dataset).score
    assert 1.0 in score
    assert 0.05 < score.high - score.low < 0.3


def test_the_outcome_is_plain_data() -> None:
    """Results can be written to JSON, with the rows that scripts use."""
    outcome = json.loads(json.dumps(sofa.results(*scored(HAND)).to_dict()))
    assert outcome["score"] == pytest.approx(2.5)
    assert set(outcome["categories"]["craft"]) >= {"score", "stereotypes", "identities", "coverage", "intervals"}
    assert outcome["stereotypes"][0]["stereotype"] == "are late"
    assert outcome["identities"][0] == {
        "category": "craft",
        "identity": "zorbs",
        "lowest": 1.0,
        "highest": 0.0,
        "mean": pytest.approx(0.5),
    }


def test_two_stereotypes_with_unequal_variances_have_no_limits() -> None:
    """Variances 0.5 and 4.5 give limits beyond a hundred times 2.5, so they are omitted with a warning."""
    results = sofa.results(*scored(HAND))
    assert isnan(results.score.low)
    assert any("no interval" in warning and "craft (2 stereotypes)" in warning for warning in of_probes(results))
