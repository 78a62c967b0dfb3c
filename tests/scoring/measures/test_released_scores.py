"""Tests scores against the original code on two small real models: a sample in every run, all of them if slow."""

import json
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.data.formats import read_as
from catsofa.data.records import Cat, Pair, Probe, Score
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.results import report

RELATIVE = 1e-5
"""Tolerance to the scores of the original code, which computes in single precision."""
MASKED = 2e-5
"""Tolerance for a masked model on any processor, because processors sum products in different orders."""
NATS = 5e-4
"""Tolerance for sums of about forty log-probabilities."""


@cache
def backend(folder: Path) -> Backend:
    """Returns a model, loaded once."""
    return Backend(load(str(folder)))


def cats(shared: Path, every: int = 1) -> list[Cat]:
    """Returns every n-th released CAT, and all whose BLANK is glued to letters or occurs twice."""
    released = list(read_as(shared / "data/stereoset/dev.json", Cat))
    odd = [cat for cat in released if cat.kind == "intrasentence" and not all(c.fill for c in cat.candidates)]
    return list({cat.id: cat for cat in released[::every] + odd}.values())


def oracle(shared: Path, name: str) -> Any:
    """Returns an output of the original code."""
    return json.loads((shared / "oracles" / name).read_text())


def by_id(predictions: dict[str, Any]) -> dict[str, float]:
    """Returns the scores of a prediction file by id."""
    return {entry["id"]: entry["score"] for entries in predictions.values() for entry in entries}


def furthest(scores: list[Score], expected: dict[str, float]) -> float:
    """Returns the largest relative difference; fails if a score is missing."""
    assert [score.reason for score in scores if score.score is None] == []
    return max(abs(np.exp(score.score) / expected[score.item] - 1) for score in scores)


RELEASED = {
    "tiny-bert": "stereoset_dev_tinybert_released_code_predictions.json",
    "stories260K": "stereoset_dev_stories260K_released_code.json",
}


@pytest.mark.parametrize("model", RELEASED)
def test_a_sample_of_stereoset_as_the_released_code_scores_it(shared: Path, model: str) -> None:
    """The sample covers both tasks, the four glued contexts and the two with two BLANKs."""
    expected = by_id(oracle(shared, RELEASED[model]))
    scores = score_records(backend(shared / "models" / model), cats(shared, every=60), named("stereoset-code"))
    assert len(scores) >= 3 * 70
    assert furthest(scores, expected) < (MASKED if model == "tiny-bert" else RELATIVE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "overall"),
    [
        ("tiny-bert", (73.67703572289265, 53.670457188052254, 68.26846761562317)),
        ("stories260K", (55.8628, 50.160, 55.6841)),
    ],
)
def test_stereoset_as_the_released_code_scores_it(shared: Path, model: str, overall: tuple[float, ...]) -> None:
    """All 6,318 and 6,369 sentences match, and so do lms, ss and icat."""
    expected = by_id(oracle(shared, RELEASED[model]))
    every = cats(shared)
    scores = score_records(backend(shared / "models" / model), every, named("stereoset-code"))
    assert {score.item for score in scores} == set(expected)
    assert furthest(scores, expected) < (MASKED if model == "tiny-bert" else RELATIVE)
    measures = report(every, scores, named("stereoset-code"), data="dev", model=model, resamples=10).to_dict()
    measured = [measures["results"]["overall"][name] for name in ("lms", "ss", "icat")]
    np.testing.assert_allclose(measured, overall, atol=1e-9 if model == "tiny-bert" else 5e-5)


def test_a_sample_of_stereoset_with_every_token_conditioned(shared: Path) -> None:
    """In the corrected option, the start token precedes the whole sentence."""
    expected = by_id(oracle(shared, "stereoset_dev_intra_stories260K_bos_conditioned.json"))
    inside = [cat for cat in cats(shared, every=20) if cat.kind == "intrasentence"]
    assert furthest(score_records(backend(shared / "models/stories260K"), inside, DEFAULT), expected) < RELATIVE


@pytest.mark.slow
def test_stereoset_with_every_token_conditioned(shared: Path) -> None:
    """All 6,318 sentences match with every token conditioned."""
    expected = by_id(oracle(shared, "stereoset_dev_intra_stories260K_bos_conditioned.json"))
    inside = [cat for cat in cats(shared) if cat.kind == "intrasentence"]
    scores = score_records(backend(shared / "models/stories260K"), inside, DEFAULT)
    assert {score.item for score in scores} == set(expected)
    assert furthest(scores, expected) < RELATIVE


def pairs(shared: Path) -> list[Pair]:
    """Returns the 1,508 released pairs."""
    return list(read_as(shared / "data/crows/crows_pairs_anonymized.csv", Pair))


@cache
def pair_scores(shared: Path, protocol: str, every: int) -> list[Score]:
    """Returns the scores of both sides of every n-th pair."""
    return score_records(backend(shared / "models/tiny-bert"), pairs(shared)[::every], named(protocol))


PAIRS = {
    "crows-pairs": ("crows_tinybert_metric_py.json", NATS, 48.81),
    "aul": ("crows_tinybert_aul_aula.json", 1e-5, 43.83),
    "aula": ("crows_tinybert_aul_aula.json", 1e-5, 40.52),
}


@pytest.mark.parametrize("protocol", PAIRS)
@pytest.mark.parametrize("every", [pytest.param(40, id="sample"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_pairs_as_the_released_code_scores_them(shared: Path, protocol: str, every: int) -> None:
    """1,508 × 2 scores match: sums over the shared tokens; means over all tokens, weighted by attention for AULA."""
    file, close, _ = PAIRS[protocol]
    numbers = oracle(shared, file)
    rows = numbers["rows"] if protocol == "crows-pairs" else numbers[protocol]["pairs"]
    values = {(score.item, score.task): score.score for score in pair_scores(shared, protocol, every)}
    for pair, row in zip(pairs(shared)[::every], rows[::every], strict=True):
        for column, side in enumerate(("more", "less")):
            assert values[pair.id, side] == pytest.approx(row[column], abs=close)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PAIRS)
def test_the_printed_crows_pairs_scores(shared: Path, protocol: str) -> None:
    """The original scripts print 48.81, 43.83 and 40.52 for this model."""
    scores = pair_scores(shared, protocol, 1)
    measures = report(pairs(shared), scores, named(protocol), data="crows", model="tiny-bert", resamples=10).to_dict()
    assert round(measures["results"]["overall"]["score"], 2) == PAIRS[protocol][2]


def modified(shared: Path, pair: Pair) -> list[dict[str, float]]:
    """Returns SSS of both sentences of a pair by a plain loop: in the correct form, and as the released
    code averages.
    """
    import torch

    model = backend(shared / "models/tiny-bert").model
    rows = [model.tokenizer(text)["input_ids"] for text in (pair.more, pair.less)]
    blocks = SequenceMatcher(None, *rows).get_matching_blocks()
    means = []
    for side, row in enumerate(rows):
        shared_places = {(block.a, block.b)[side] + step for block in blocks for step in range(block.size)}
        places = [place for place in range(len(row)) if place not in shared_places]
        hidden = [token if place in shared_places else model.tokenizer.mask_token_id for place, token in enumerate(row)]
        with torch.no_grad():
            logs = model.module(torch.tensor([hidden])).prediction_logits[0].double().log_softmax(-1)
        own = [logs[place, row[place]].item() for place in places]
        every = [logs[place, row[other]].item() for place in places for other in places]
        means.append({"modified": np.mean(own or np.nan), "modified-code": np.mean(every or np.nan)})
    return means


@pytest.mark.parametrize("every", [pytest.param(40, id="sample"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("crows", ["modified", "modified-code"])
def test_modified_tokens_are_scored_all_hidden_at_once(shared: Path, crows: str, every: int) -> None:
    """SSS averages modified tokens, each at its place; the released code's bug scores each token at each place.

    A sentence without one is unscored. The released code counts its pair as lost: its number is score × coverage.
    """
    released = [pair for index, pair in enumerate(pairs(shared)) if index % every == 0 or index in (0, 1506)]
    protocol = named(f"sss,crows={crows}")
    assert protocol.changed(name="sss", crows="modified-code", why=named("sss").why) == named("sss")
    scores = score_records(backend(shared / "models/tiny-bert"), released, protocol)
    values = {(score.item, score.task): np.nan if score.score is None else score.score for score in scores}
    won = []
    for pair in released:
        more, less = (side[crows] for side in modified(shared, pair))
        assert [values[pair.id, side] for side in ("more", "less")] == pytest.approx(
            [more, less], abs=1e-5, nan_ok=True
        )
        won.append(more > less)
    measures = report(released, scores, protocol, data="crows", model="tiny-bert", resamples=10).to_dict()
    overall = measures["results"]["overall"]
    number = overall["score"] * overall["coverage"]
    assert number == pytest.approx(100 * np.mean(won))
    if every == 1:
        assert round(number, 2) == {"modified": 46.09, "modified-code": 46.42}[crows]


def test_the_pseudo_likelihood_of_whole_sentences(shared: Path) -> None:
    """200 sentences match minicons (PLL metric `original`): one token masked at a time, and the sum of all tokens."""
    expected = oracle(shared, "crows200_tinybert_minicons_pll_original.json")["original"]["sum"]
    protocol = DEFAULT.changed(crows="all", pseudo="plain", length="sum")
    scores = score_records(backend(shared / "models/tiny-bert"), pairs(shared)[:100], protocol)
    np.testing.assert_allclose([score.score for score in scores], expected, atol=NATS)


@pytest.mark.parametrize(("protocol", "mode"), [("catsofa", "right_padding"), ("sofa-hf", "as_is_left_padding")])
def test_the_perplexities_of_the_probe_grid(shared: Path, protocol: str, mode: str) -> None:
    """600 probes and 24 identities match; only `sofa-hf` reproduces the effect of a left-padding tokenizer."""
    reference = oracle(shared, "sofa_stories260K_hf_evaluate.json")
    grid = {
        (category, identity, stereotype): Probe(category=category, identity=identity, stereotype=stereotype)
        for category, texts in reference["inputs"].items()
        for identity in texts["identities"]
        for stereotype in texts["stereotypes"]
    }
    records = score_records(backend(shared / "models/stories260K"), list(grid.values()), named(protocol))
    scores = {score.item: score for score in records}
    for (category, identity, stereotype), probe in grid.items():
        texts, numbers = reference["inputs"][category], reference["modes"][mode]["categories"][category]
        column = texts["identities"].index(identity)
        expected = numbers["ppl_probe"][texts["stereotypes"].index(stereotype)][column]
        score = scores[probe.id]
        assert score.score is not None
        assert np.exp(-score.score) == pytest.approx(expected, rel=RELATIVE)
        assert np.exp(-score.extra["identity"]) == pytest.approx(numbers["ppl_identity"][column], rel=RELATIVE)
