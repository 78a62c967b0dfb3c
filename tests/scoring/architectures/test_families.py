from pathlib import Path

import pytest
from helpers.architectures.families import FAMILIES, t5gemma
from helpers.architectures.matrix import CLOSE, compare
from helpers.architectures.positions import READ_BY_LENGTH

from catsofa.scoring.likelihood import self_check


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the tiny models and their shared tokenizers."""
    return tmp_path_factory.mktemp("architectures")


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_scores_as_a_plain_loop_at_every_batch_size(folder: Path, name: str) -> None:
    """Every sum of log-probabilities is within 1e-4 nats of one forward pass per text.

    The records are CATs of both tasks, pairs and probes of mixed lengths. Batches have 1, 64 and the default number of
    tokens, and the width of a GPU's rows.
    """
    comparison = compare(FAMILIES[name], folder)
    assert max(comparison.differences.values()) <= CLOSE, comparison.differences
    assert comparison.between <= CLOSE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt-neo", "gemma2", "fnet", "mobilebert", "convbert"])
def test_the_matrix_sees_windows_and_padding_that_are_not_obeyed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the self-check, ignored local windows and padding change these families by more than 0.01 nats."""
    monkeypatch.setattr(self_check, "CLOSE", {"float32": float("inf")})
    assert compare(FAMILIES[name], tmp_path).largest > 0.01


def test_t5gemma_with_a_start_token_scores_as_a_plain_loop(tmp_path: Path) -> None:
    """The network is scored correctly at every batch size; only its released configuration lacks a start token."""
    comparison = compare(t5gemma(start=0), tmp_path)
    assert max(comparison.differences.values()) <= CLOSE
    assert comparison.between <= CLOSE


def test_an_encoder_decoder_without_a_start_token_is_not_scored(tmp_path: Path) -> None:
    """T5Gemma's configuration names no start token: each item has this reason, instead of a traceback."""
    with pytest.raises(ValueError, match=r"not scored: .*t5gemma.*decoder starts"):
        compare(t5gemma(start=None), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [family.name for family in READ_BY_LENGTH if "longrope" in family.name])
def test_the_matrix_sees_positions_that_depend_on_the_longest_text_of_a_batch(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the self-check, the factors for long texts change texts below the limit by more than 0.01 nats."""
    monkeypatch.setattr(self_check, "CLOSE", {"float32": float("inf")})
    assert compare(FAMILIES[name], tmp_path).largest > 0.01
