from pathlib import Path

import pytest

from catsofa import slot_models
from catsofa.builders.cats.acceptability import LEAST, calibrate

AUCS = [("stories260K", "LlamaForCausalLM", 0.52), ("tiny-bert", "BertForPreTraining", 0.56)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "architecture", "auc"), AUCS)
def test_tiny_models_know_too_little_grammar_to_filter(shared: Path, name: str, architecture: str, auc: float) -> None:
    """A causal and a masked model are too weak; their source names them without their path."""
    likelihood, identity = slot_models.around(str(shared / "models" / name))
    assert (identity["model"], identity["architecture"]) == (name, architecture)
    assert len(identity["digest"]) == len("sha256:") + 64
    calibration = calibrate(likelihood)
    assert calibration.auc == pytest.approx(auc, abs=0.01)
    assert calibration.auc < LEAST
    with pytest.raises(ValueError, match="larger model"):
        calibration.require(name)
