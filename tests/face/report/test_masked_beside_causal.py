"""Tests of the caution about masked models beside causal models on pairs."""

from pathlib import Path

import pytest
from helpers.records import PAIRS
from helpers.tiny_models import BUILDERS

from catsofa.comparison import compare
from catsofa.data import formats
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the runs of two causal models and a masked one on pairs."""
    root = tmp_path_factory.mktemp("kinds")
    formats.named("jsonl").write(PAIRS, root / "pairs.jsonl")
    for name in ("gpt2", "llama", "bert"):
        (root / name).mkdir()
        BUILDERS[name](root / name)
        evaluate(str(root / name), root / "pairs.jsonl", out=root / "runs" / name, resamples=20)
    return root / "runs"


@pytest.mark.parametrize(("others", "marked"), [(("gpt2", "bert"), True), (("gpt2", "llama"), False)])
def test_pseudo_log_likelihoods_beside_log_likelihoods_are_marked(
    runs: Path, others: tuple[str, str], marked: bool
) -> None:
    """The summary, its findings and `compare` name the models of each measurement; two causal models have no mark."""
    found = document([runs / name for name in others])
    assert found.summary
    assert "★" not in " ".join(str(cell) for row in found.summary.rows for cell in row) or not marked
    assert any("pairs" in table.name for table in found.sections[0].tables) != marked
    assert len(set(found.summary.notes)) == len(found.summary.notes)
    sentences = found.findings[0].sentences if found.findings else ()
    for place in (found.summary.notes, sentences, compare([runs / name for name in others]).warnings):
        cautions = [text for text in place if "pseudo-log-likelihood" in text and "bert" in text and "gpt2" in text]
        assert len(cautions) == marked
        assert all("crows=shared" in text for text in cautions)
