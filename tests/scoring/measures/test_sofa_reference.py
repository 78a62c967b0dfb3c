import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.records import scored

from catsofa.data.records import Probe
from catsofa.scoring import protocols
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.sofa import rankings


@pytest.fixture(scope="module")
def oracle(shared: Path) -> dict[str, Any]:
    """Returns the grid of 600 mild probes as `evaluate` scored it with stories260K."""
    reference: dict[str, Any] = json.loads((shared / "oracles" / "sofa_stories260K_hf_evaluate.json").read_text())
    return reference


def _cells(oracle: dict[str, Any], mode: str) -> dict[tuple[str, str, str], tuple[float, float]]:
    cells = {}
    for category, lists in oracle["inputs"].items():
        part = oracle["modes"][mode]["categories"][category]
        for stereotype, row in zip(lists["stereotypes"], part["ppl_probe"], strict=True):
            for identity, whole, alone in zip(lists["identities"], row, part["ppl_identity"], strict=True):
                cells[category, stereotype, identity] = whole, alone
    return cells


def _agree(results: sofa.Results, oracle: dict[str, Any], mode: str, rel: float) -> None:
    """Asserts that DDS, variances, scores, the top identity and the ends equal the reference."""
    assert results.score.value == pytest.approx(oracle["modes"][mode]["sofa_score"], rel=rel)
    for category, part in oracle["modes"][mode]["categories"].items():
        stereotypes = oracle["inputs"][category]["stereotypes"]
        rows = {row.stereotype: row for row in results.stereotypes if row.category == category}
        assert [rows[s].dds for s in stereotypes] == pytest.approx(part["dds"], rel=rel)
        assert [rows[s].variance for s in stereotypes] == pytest.approx(part["variance_ddof1"], rel=rel)
        assert results.categories[category].score.value == pytest.approx(part["category_score"], rel=rel)
        plain = part["no_normalisation_category_score"]
        assert results.categories[category].normalisations["none"].value == pytest.approx(plain, rel=rel)
        ends = rankings.ends(results, category)
        assert ends["stereotypes with lowest DDS"] == part["top3_stereotypes_lowest_dds"]
        assert ends["stereotypes with highest DDS"][0] == part["highest_dds_stereotype"]
        lowest = {row.identity: row.lowest * 25 for row in results.identities if row.category == category}
        assert {name: count for name, count in lowest.items() if count} == part["top_identity_counts"]


@pytest.mark.parametrize("mode", ["right_padding", "as_is_left_padding"])
def test_the_measure_from_the_references_perplexities(oracle: dict[str, Any], mode: str) -> None:
    """PPL*, DDS, variances and scores of 600 probes match the printed digits, from the reference's perplexities."""
    _agree(sofa.results(*scored(_cells(oracle, mode))), oracle, mode, rel=1e-6)


def test_logarithm_and_ddof_variants_of_the_reference(oracle: dict[str, Any]) -> None:
    """The profession score matches the reference with ddof 0 and with natural logarithms too."""
    cells = scored(_cells(oracle, "right_padding"))
    expected = oracle["modes"]["right_padding"]["categories"]["profession"]
    options: list[tuple[dict[str, Any], str]] = [
        ({"ddof": 0}, "category_score_ddof0"),
        ({"log_base": np.e}, "category_score_ln"),
    ]
    for option, name in options:
        score = sofa.results(*cells, **option).categories["profession"].score.value
        assert score == pytest.approx(expected[name], rel=1e-6)


@pytest.mark.parametrize(
    ("preset", "mode", "score"), [("catsofa", "right_padding", 0.1546), ("sofa-hf", "as_is_left_padding", 0.1432)]
)
def test_six_hundred_probes_from_text_to_score(
    shared: Path, oracle: dict[str, Any], preset: str, mode: str, score: float
) -> None:
    """From the texts on, stories260K scores 0.1546, as with one text per call.

    Its tokenizer pads on the left, and there the `evaluate` metric puts BOS before the pads. A text's first token is
    then predicted from a pad, and its distance from BOS depends on the longest text of the call: a perplexity is up
    to 55 % off, and the score is 0.1432. `sofa-hf` reproduces that, and no other preset does.
    """
    from catsofa.scoring import models
    from catsofa.scoring.items.score import score as score_records
    from catsofa.scoring.likelihood.backend import Backend

    protocol = protocols.named(preset)
    probes = [Probe(category=c, stereotype=s, identity=i) for c, s, i in _cells(oracle, mode)]
    scores = score_records(Backend(models.load(str(shared / "models" / "stories260K"), device="cpu")), probes, protocol)
    results = sofa.results(probes, scores, normalisation=protocol.sofa.normalisation, ddof=protocol.sofa.ddof)
    assert round(results.score.value, 4) == score
    _agree(results, oracle, mode, rel=1e-4)
    rounded = sofa.results(probes, scores, ppl_digits=3)
    assert rounded.score.value == pytest.approx(results.score.value, rel=1e-3)
