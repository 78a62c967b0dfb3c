from pathlib import Path

import pytest
from helpers.architectures.families import FAMILIES, t5gemma
from helpers.architectures.matrix import CLOSE, compare
from helpers.architectures.positions import READ_BY_LENGTH

from catsofa.scoring.likelihood import self_check


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tiny models are made, with the tokenizers that they share."""
    return tmp_path_factory.mktemp("architectures")


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_scores_as_a_plain_loop_at_every_batch_size(folder: Path, name: str) -> None:
    """CATs of both tasks, pairs and probes of mixed lengths: every sum of log-probabilities is within 1e-4 nats of
    one forward a text, at batches of 1, 64 and the default number of tokens, and at the width of a GPU's rows."""
    found = compare(FAMILIES[name], folder)
    assert max(found.differences.values()) <= CLOSE, found.differences
    assert found.between <= CLOSE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt-neo", "gemma2", "fnet", "mobilebert", "convbert"])
def test_the_matrix_sees_windows_and_padding_that_are_not_obeyed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the self-check a local window and padding that is read change these families by more than 0.01 nats."""
    monkeypatch.setattr(self_check, "CLOSE", {"float32": float("inf")})
    assert compare(FAMILIES[name], tmp_path).largest > 0.01


def test_t5gemma_with_a_start_token_scores_as_a_plain_loop(tmp_path: Path) -> None:
    """Its network is read rightly at every batch size; only its released configuration is not that of a gap filler."""
    found = compare(t5gemma(start=0), tmp_path)
    assert max(found.differences.values()) <= CLOSE
    assert found.between <= CLOSE


def test_an_encoder_decoder_without_a_start_token_is_not_scored(tmp_path: Path) -> None:
    """T5Gemma's configuration names none: each item says so, and no attribute is missing in a traceback."""
    with pytest.raises(ValueError, match=r"not scored: .*t5gemma.*decoder starts"):
        compare(t5gemma(start=None), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [family.name for family in READ_BY_LENGTH if "longrope" in family.name])
def test_the_matrix_sees_positions_that_depend_on_the_longest_text_of_a_batch(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the self-check the long factors change the texts below the limit, by more than 0.01 nats."""
    monkeypatch.setattr(self_check, "CLOSE", {"float32": float("inf")})
    assert compare(FAMILIES[name], tmp_path).largest > 0.01
