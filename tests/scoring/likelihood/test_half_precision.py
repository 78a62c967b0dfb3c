"""Tests the report on scores in half precision: their error and the preferences that it may have decided."""

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from helpers.records import PAIRS, PROBES, cats
from tokenizers.normalizers import Lowercase

from catsofa.data.records import Cat, Score
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood import half_precision, memory, self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.models import load
from catsofa.scoring.models.in_float32 import in_float32
from catsofa.scoring.protocols import DEFAULT

Tiny = Callable[[str], Path]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, so that no earlier test has scored the sample."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_half_precision_says_how_many_preferences_it_may_have_decided(tiny: Tiny) -> None:
    """The error is measured against the same model in float32; preferences that flip between the two lie within it."""
    folder = str(tiny("gpt2"))
    assert "precision" not in evaluate(folder, cats(), resamples=10).to_dict()
    precision = evaluate(folder, cats(), dtype="bf16", resamples=10).to_dict()["precision"]
    half, full = (
        {score.item: score.score or 0 for score in score_records(Backend(load(folder, dtype=dtype)), cats(), DEFAULT)}
        for dtype in ("bf16", "fp32")
    )
    gaps = [
        (half[one.id] - half[other.id], full[one.id] - full[other.id])
        for cat in cats()
        for one, other in combinations(cat.candidates, 2)
    ]
    assert precision["preferences"] == precision["checked"] == len(gaps) == 36
    assert precision["error"] == pytest.approx(max(abs(one - other) for one, other in gaps), abs=1e-6)
    assert precision["within"] == sum(abs(one) <= precision["error"] for one, _ in gaps)
    assert sum(one * other < 0 for one, other in gaps) <= precision["within"]
    pairs = evaluate(folder, PAIRS, dtype="bf16", resamples=10)
    assert pairs.to_dict()["precision"]["preferences"] == len(PAIRS)
    assert f"of {len(PAIRS)} preferences are within that and could flip. " in " ".join(str(pairs).split())


def test_an_error_that_cannot_be_measured_is_said(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the error cannot be measured, for example for lack of memory, the report has a reason and no number."""
    folder = str(tiny("gpt2"))
    padded = evaluate(str(tiny("bloom")), PROBES, protocol="sofa-hf", dtype="bf16", resamples=10).to_dict()["precision"]
    assert padded == {
        "dtype": "bfloat16",
        "checked": 0,
        "reason": "scores depend on the whole call under this protocol",
    }
    monkeypatch.setattr(memory, "half_of_free", lambda _: 1000)
    precision = evaluate(folder, cats(), dtype="bf16", resamples=10).to_dict()["precision"]
    assert precision["checked"] == 0
    assert "in float32 needs" in precision["reason"]
    assert "preferences" not in precision


def test_the_sample_is_scored_with_the_parts_of_the_engine_that_the_run_used(
    tiny: Tiny,
) -> None:
    """A part that the self-check left out stays left out. The most strained texts are checked again, and 8 others."""
    backend = Backend(load(str(tiny("gpt2")), dtype="bf16"))
    backend.batching.left_out[self_check.PADDING] = None
    scores = score_records(backend, cats(), DEFAULT)
    full: list[Backend] = []

    def way(exact: Backend, *arguments: Any) -> list[Score]:
        full.append(exact)
        return score_records(exact, *arguments)

    measure = measure_of(Cat, DEFAULT)
    assert half_precision.precision(measure, backend, cats, scores, DEFAULT, way)["checked"] == 36
    assert full[0].dtype == "float32"
    assert full[0].batching.left_out == {self_check.PADDING: None}
    strained = full[0].tally.checked - half_precision.RANDOM
    assert 0 < strained < full[0].tally.checked < backend.tally.checked / 2


def test_the_scores_in_float32_are_kept_for_later_runs(
    tiny: Tiny, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run of the same model and data loads no other model; other data, options or weights do."""
    made: list[Any] = []
    monkeypatch.setattr(half_precision, "in_float32", lambda model: made.append(model) or in_float32(model))

    def precision(model: str, data: Any = PAIRS, dtype: str = "bf16", **how: Any) -> dict[str, Any]:
        found: dict[str, Any] = evaluate(model, data, dtype=dtype, resamples=10, **how).to_dict()["precision"]
        return found

    gpt2, bert = str(tiny("gpt2")), str(tiny("bert"))
    first = precision(gpt2)
    assert precision(gpt2) == first
    assert precision(gpt2, dtype="fp16")["error"] < first["error"]
    assert len(made) == 1
    for other in ((gpt2, PAIRS[:2]), (gpt2, cats()), (bert,)):
        precision(*other)
    precision(gpt2, protocol="catsofa,length=sum")
    assert len(made) == 5
    model = load(gpt2, dtype="bf16")
    model.tokenizer.backend_tokenizer.normalizer = Lowercase()
    changed = evaluate(model, PAIRS, resamples=10)
    assert "has changed" in changed.to_dict()["precision"]["reason"]
    assert len(made) == 6
    for file in cache.rglob("precision/*.json"):
        file.write_bytes(file.read_bytes().replace(b"-", b"-1", 1))
    assert precision(gpt2) == first
    assert len(made) == 7


def test_a_sample_comes_from_all_over_the_data() -> None:
    """A sample is every record of a small dataset; of a large one, 64 records at equal distances from the first on."""
    assert half_precision.spread(lambda: range(10)) == list(range(10))
    assert half_precision.spread(lambda: range(6400)) == list(range(0, 6400, 100))


def test_the_command_says_what_half_precision_may_have_decided(
    tiny: Tiny, files: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """The command reports the preferences within the error; for probes, which have no preferences, it reports the error
    of a score."""
    stderr = catsofa("score", tiny("gpt2"), "--on", files / "cats.jsonl", "--dtype", "bf16")[1]
    assert re.search(
        r"bfloat16: differences are off by up to 0\.\d{4} \(36 checked in float32\); \d+ of 36 preferences", stderr
    )
    assert "scores are off by" in catsofa("score", tiny("gpt2"), "--on", files / "probes.jsonl", "--dtype", "bf16")[1]
    assert "off by" not in catsofa("score", tiny("gpt2"), "--on", files / "cats.jsonl")[1]
