"""What a run keeps for reports, whether it was asked for or not."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.records import a_cat

from catsofa.data.records import Probe, Score
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.measures import sofa
from catsofa.scoring.run.score_files import scores_of
from catsofa.scoring.run.store import read_scores


def test_target_terms_are_always_kept(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """The folder of a run names the terms; what is returned does only where they are asked for."""
    cats = [a_cat(id=term, target=term) for term in ("zorb", "quib")]
    found = evaluate(str(tiny("gpt2")), cats, out=tmp_path / "run", resamples=10)
    assert not found.terms
    kept = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert {row["term"] for row in kept["terms"]} == {"zorb", "quib"}
    assert {row["term"] for row in evaluate(str(tiny("gpt2")), cats, resamples=10, with_terms=True).terms} == {
        "zorb",
        "quib",
    }
    scores = read_scores(tmp_path / "run")
    assert scores_of(tmp_path / "run") == {score.item: score.score for score in scores}


def test_hundredths_of_log_ppl_are_kept() -> None:
    """PPL* of 10, 100 and 1000: the least hundredth is 1, the middle one 2, the greatest 3; one is unscored."""
    probes = [Probe(category="c", identity=f"zorbs {n}", stereotype="are late") for n in range(4)]
    scores = [
        Score(item=probe.id, score=-float(np.log(10) * (n + 1)), extra={"identity": 0.0, "conditional": 0.0})
        for n, probe in enumerate(probes[:3])
    ]
    quantiles = sofa.results(probes, scores).categories["c"].quantiles
    assert len(quantiles) == 101
    assert [quantiles[0], quantiles[50], quantiles[100]] == pytest.approx([1, 2, 3])
