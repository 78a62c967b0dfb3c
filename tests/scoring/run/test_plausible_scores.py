"""A run stores only scores that are possible log-probabilities."""

from pathlib import Path

import pytest

from catsofa.data.records import Score
from catsofa.scoring.run.store import Run


@pytest.mark.parametrize(
    ("protocol", "task", "score", "fits"),
    [
        ({}, "intrasentence", 0.5, False),
        ({}, "intrasentence", 0.0004, True),
        ({}, "probe", float("inf"), False),
        ({}, "more", -2e6, False),
        ({"causal_pair": "pmi"}, "intersentence", 0.5, True),
        ({"causal_pair": "ratio-code"}, "intersentence", 0.5, True),
        ({"causal_pair": "nsp"}, "intersentence", 0.5, False),
        ({"causal_pair": "pmi"}, "intersentence", 2e6, False),
    ],
)
def test_a_run_keeps_only_what_a_log_probability_can_be(
    tmp_path: Path, protocol: dict[str, str], task: str, score: float, fits: bool
) -> None:
    """Scores are at most 0 but for rounding, differences may be positive, and no value exceeds a million nats."""
    with Run.begin(tmp_path / "run", {"protocol": protocol}, {}) as run:
        record = Score(item="a", task=task, score=score, tokens=1)
        if fits:
            run.add([record])
            return
        with pytest.raises(ValueError, match="'a'"):
            run.add([record])
        assert run.count() == 0


def test_an_encoder_decoder_has_differences_whatever_the_protocol_says(tmp_path: Path) -> None:
    """`stereoset-v1` asks for next-sentence scores; a BART gives differences, which may be positive."""
    identity = {"protocol": {"causal_pair": "nsp"}, "model": {"architecture": "BartForConditionalGeneration"}}
    with Run.begin(tmp_path / "run", identity, {}) as run:
        run.add([Score(item="a", task="intersentence", score=0.5, tokens=1)])
        assert run.count() == 1


def test_a_conditional_that_is_positive_is_refused(tmp_path: Path) -> None:
    """The conditional beside the score of a probe is a log-probability, so it is at most 0."""
    with Run.begin(tmp_path / "run", {}, {}) as run, pytest.raises(ValueError, match="at most 0"):
        run.add([Score(item="a", task="probe", score=-1.0, extra={"identity": None, "conditional": 2.0})])
