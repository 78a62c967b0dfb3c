"""Batching changes no number: some texts are scored again alone, and what changes them is left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import odd_models
import pytest
from few_records import PAIRS, cats

from catsofa.data.records import Pair
from catsofa.scoring.backend import Backend
from catsofa.scoring.models import Model, load
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.score_cats import score_cats
from catsofa.scoring.score_pairs import score_pairs

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
CLOSE = 1e-4
"""Nats: how far a batch size may move a score in float32."""
LONG = [
    Pair(more=f"{one} {two} {end}", less=f"{one} {two} {other}", direction="stereo", bias_type="invented")
    for one in ("The zorbs are kind and they bake bread.", "A florin walked into the kitchen and sang.")
    for two in ("It rained all day, and the roses were happy." * 3, "", "The gardener was friendly.")
    for end, other in (("Bread.", "Roses sang."), ("The baker was asleep.", "Nobody bought bread, said the zorb."))
]
BUDGETS = (1, 40, 300, 2048, 20000)


def numbers(model: Model, budget: int) -> Any:
    """Every score of CATs and pairs of many lengths."""
    backend = Backend(model, budget)
    found = [*score_cats(backend, cats(), DEFAULT), *score_pairs(backend, [*PAIRS, *LONG], DEFAULT)]
    return np.array([np.nan if score.score is None else score.score for score in found])


def check(model: Model) -> None:
    """The same scores whatever the batch size."""
    expected = numbers(model, BUDGETS[0])
    assert np.isfinite(expected).sum() > 40
    for budget in BUDGETS[1:]:
        np.testing.assert_allclose(numbers(model, budget), expected, atol=CLOSE, rtol=0, err_msg=str(budget))


@pytest.mark.parametrize("name", odd_models.MIXES_PADDING)
def test_a_model_that_mixes_padding_into_its_texts_has_one_number_a_text(name: str, tmp_path: Path) -> None:
    """Its rows are padded in no batch, whatever the size of a batch."""
    check(load(str(odd_models.mixing(name, tmp_path / name))))


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2", "bloom", "mamba", "bert", "albert", "t5", "bart", "xlnet"])
def test_the_batch_size_changes_no_number(name: str, tiny: Tiny) -> None:
    """Of any architecture."""
    check(load(str(tiny(name))))


def test_a_window_counted_in_a_row_is_noticed(tmp_path: Path) -> None:
    """GPT-Neo's window of 16 hides the beginning of a text from what stands farther on in its tree."""
    check(load(str(odd_models.gpt_neo(tmp_path / "neo", 16))))
