"""Scores of the original code on two small real models: a sample in every run, everything in the slow one."""

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
"""How far a score may lie from the original code's, which computes in single precision."""
MASKED = 2e-5
"""The same for a masked model, on any processor: they sum products in different orders."""
NATS = 5e-4
"""The same for sums of some forty log-probabilities."""


@cache
def backend(folder: Path) -> Backend:
    """A model, loaded once."""
    return Backend(load(str(folder)))


def cats(shared: Path, every: int = 1) -> list[Cat]:
    """Released CATs: each n-th, and all whose BLANK is glued or twice there."""
    released = list(read_as(shared / "data/stereoset/dev.json", Cat))
    odd = [cat for cat in released if cat.kind == "intrasentence" and not all(c.fill for c in cat.candidates)]
    return list({cat.id: cat for cat in released[::every] + odd}.values())


def oracle(shared: Path, name: str) -> Any:
    """An output of original code."""
    return json.loads((shared / "oracles" / name).read_text())


def by_id(predictions: dict[str, Any]) -> dict[str, float]:
    """A prediction file as id to score."""
    return {entry["id"]: entry["score"] for entries in predictions.values() for entry in entries}


def furthest(scores: list[Score], expected: dict[str, float]) -> float:
    """The largest relative difference; all must be scored."""
    assert [score.reason for score in scores if score.score is None] == []
    return max(abs(np.exp(score.score) / expected[score.item] - 1) for score in scores)


RELEASED = {
    "tiny-bert": "stereoset_dev_tinybert_released_code_predictions.json",
    "stories260K": "stereoset_dev_stories260K_released_code.json",
}


@pytest.mark.parametrize("model", RELEASED)
def test_a_sample_of_stereoset_as_the_released_code_scores_it(shared: Path, model: str) -> None:
    """Both tasks; the four glued contexts and the two with two BLANKs are among them."""
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
    """All 6,318 and 6,369 sentences, and lms, ss and icat made of them."""
    expected = by_id(oracle(shared, RELEASED[model]))
    every = cats(shared)
    scores = score_records(backend(shared / "models" / model), every, named("stereoset-code"))
    assert {score.item for score in scores} == set(expected)
    assert furthest(scores, expected) < (MASKED if model == "tiny-bert" else RELATIVE)
    found = report(every, scores, named("stereoset-code"), data="dev", model=model, resamples=10).to_dict()
    measured = [found["results"]["overall"][name] for name in ("lms", "ss", "icat")]
    np.testing.assert_allclose(measured, overall, atol=1e-9 if model == "tiny-bert" else 5e-5)


def test_a_sample_of_stereoset_with_every_token_conditioned(shared: Path) -> None:
    """The corrected option: the start token stands before the whole sentence."""
    expected = by_id(oracle(shared, "stereoset_dev_intra_stories260K_bos_conditioned.json"))
    inside = [cat for cat in cats(shared, every=20) if cat.kind == "intrasentence"]
    assert furthest(score_records(backend(shared / "models/stories260K"), inside, DEFAULT), expected) < RELATIVE


@pytest.mark.slow
def test_stereoset_with_every_token_conditioned(shared: Path) -> None:
    """All 6,318 sentences."""
    expected = by_id(oracle(shared, "stereoset_dev_intra_stories260K_bos_conditioned.json"))
    inside = [cat for cat in cats(shared) if cat.kind == "intrasentence"]
    scores = score_records(backend(shared / "models/stories260K"), inside, DEFAULT)
    assert {score.item for score in scores} == set(expected)
    assert furthest(scores, expected) < RELATIVE


def pairs(shared: Path) -> list[Pair]:
    """The 1,508 released pairs."""
    return list(read_as(shared / "data/crows/crows_pairs_anonymized.csv", Pair))


@cache
def pair_scores(shared: Path, protocol: str, every: int) -> list[Score]:
    """Both sides of each n-th pair."""
    return score_records(backend(shared / "models/tiny-bert"), pairs(shared)[::every], named(protocol))


PAIRS = {
    "crows-pairs": ("crows_tinybert_metric_py.json", NATS, 48.81),
    "aul": ("crows_tinybert_aul_aula.json", 1e-5, 43.83),
    "aula": ("crows_tinybert_aul_aula.json", 1e-5, 40.52),
}


@pytest.mark.parametrize("protocol", PAIRS)
@pytest.mark.parametrize("every", [pytest.param(40, id="sample"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_pairs_as_the_released_code_scores_them(shared: Path, protocol: str, every: int) -> None:
    """1,508 × 2: sums over the shared tokens; means over all tokens, weighted by attention for AULA."""
    file, close, _ = PAIRS[protocol]
    numbers = oracle(shared, file)
    rows = numbers["rows"] if protocol == "crows-pairs" else numbers[protocol]["pairs"]
    found = {(score.item, score.task): score.score for score in pair_scores(shared, protocol, every)}
    for pair, row in zip(pairs(shared)[::every], rows[::every], strict=True):
        for at, side in enumerate(("more", "less")):
            assert found[pair.id, side] == pytest.approx(row[at], abs=close)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PAIRS)
def test_the_printed_crows_pairs_scores(shared: Path, protocol: str) -> None:
    """What the original scripts print for this model: 48.81, 43.83 and 40.52."""
    scores = pair_scores(shared, protocol, 1)
    found = report(pairs(shared), scores, named(protocol), data="crows", model="tiny-bert", resamples=10).to_dict()
    assert round(found["results"]["overall"]["score"], 2) == PAIRS[protocol][2]


def modified(shared: Path, pair: Pair) -> list[dict[str, float]]:
    """SSS of both sentences of a pair by a plain loop: in the correct form, and as the released code averages."""
    import torch

    model = backend(shared / "models/tiny-bert").model
    rows = [model.tokenizer(text)["input_ids"] for text in (pair.more, pair.less)]
    blocks = SequenceMatcher(None, *rows).get_matching_blocks()
    found = []
    for side, row in enumerate(rows):
        kept = {(block.a, block.b)[side] + step for block in blocks for step in range(block.size)}
        places = [at for at in range(len(row)) if at not in kept]
        hidden = [token if at in kept else model.tokenizer.mask_token_id for at, token in enumerate(row)]
        with torch.no_grad():
            logs = model.module(torch.tensor([hidden])).prediction_logits[0].double().log_softmax(-1)
        own = [logs[at, row[at]].item() for at in places]
        every = [logs[at, row[of]].item() for at in places for of in places]
        found.append({"modified": np.mean(own or np.nan), "modified-code": np.mean(every or np.nan)})
    return found


@pytest.mark.parametrize("every", [pytest.param(40, id="sample"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("crows", ["modified", "modified-code"])
def test_modified_tokens_are_scored_all_hidden_at_once(shared: Path, crows: str, every: int) -> None:
    """SSS: the mean over modified tokens, each at its place or, by the bug of the released code, each at each place.

    A sentence without one is unscored. The released code counts its pair as lost: its number is score × coverage.
    """
    released = [pair for at, pair in enumerate(pairs(shared)) if at % every == 0 or at in (0, 1506)]
    protocol = named(f"sss,crows={crows}")
    assert protocol.changed(name="sss", crows="modified-code", why=named("sss").why) == named("sss")
    scores = score_records(backend(shared / "models/tiny-bert"), released, protocol)
    found = {(score.item, score.task): np.nan if score.score is None else score.score for score in scores}
    won = []
    for pair in released:
        more, less = (side[crows] for side in modified(shared, pair))
        assert [found[pair.id, side] for side in ("more", "less")] == pytest.approx([more, less], abs=1e-5, nan_ok=True)
        won.append(more > less)
    of = report(released, scores, protocol, data="crows", model="tiny-bert", resamples=10).to_dict()
    overall = of["results"]["overall"]
    number = overall["score"] * overall["coverage"]
    assert number == pytest.approx(100 * np.mean(won))
    if every == 1:
        assert round(number, 2) == {"modified": 46.09, "modified-code": 46.42}[crows]


def test_the_pseudo_likelihood_of_whole_sentences(shared: Path) -> None:
    """200 sentences as minicons scores them (PLL metric `original`): one token hidden at a time, all of them summed."""
    expected = oracle(shared, "crows200_tinybert_minicons_pll_original.json")["original"]["sum"]
    protocol = DEFAULT.changed(crows="all", pseudo="plain", length="sum")
    scores = score_records(backend(shared / "models/tiny-bert"), pairs(shared)[:100], protocol)
    np.testing.assert_allclose([score.score for score in scores], expected, atol=NATS)


@pytest.mark.parametrize(("protocol", "mode"), [("catsofa", "right_padding"), ("sofa-hf", "as_is_left_padding")])
def test_the_perplexities_of_the_probe_grid(shared: Path, protocol: str, mode: str) -> None:
    """600 probes and 24 identities; only `sofa-hf` reproduces what a left-padding tokenizer does to them."""
    found = oracle(shared, "sofa_stories260K_hf_evaluate.json")
    grid = {
        (category, identity, stereotype): Probe(category=category, identity=identity, stereotype=stereotype)
        for category, given in found["inputs"].items()
        for identity in given["identities"]
        for stereotype in given["stereotypes"]
    }
    made = score_records(backend(shared / "models/stories260K"), list(grid.values()), named(protocol))
    scores = {score.item: score for score in made}
    for (category, identity, stereotype), probe in grid.items():
        given, numbers = found["inputs"][category], found["modes"][mode]["categories"][category]
        column = given["identities"].index(identity)
        expected = numbers["ppl_probe"][given["stereotypes"].index(stereotype)][column]
        score = scores[probe.id]
        assert score.score is not None
        assert np.exp(-score.score) == pytest.approx(expected, rel=RELATIVE)
        assert np.exp(-score.extra["identity"]) == pytest.approx(numbers["ppl_identity"][column], rel=RELATIVE)
