"""Tests ties: a difference within the numerical error of a score is no preference."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest
from helpers import records
from helpers.records import PROBES, cat, scores

from catsofa.data.files import jsonl
from catsofa.data.formats import predictions
from catsofa.data.records import Cat, Pair, Score
from catsofa.scoring.choices import Rule, Ties
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.cat_outcomes import LMS_OF, LMS_WON, SS_OF, SS_WON, outcomes
from catsofa.scoring.measures.crows_pairs import preferences
from catsofa.scoring.measures.robustness import flips
from catsofa.scoring.measures.ties import BATCH_ERROR
from catsofa.scoring.run.score_files import report_on

Tiny = Callable[[str], Path]
NEAR = scores({"a": (-3.0, -3.00005, -4.0), "b": (-3.0, -3.001, -3.00105)})
"""a: stereotype and anti-stereotype 5e-5 nats apart; b: 1e-3 apart, and anti-stereotype and unrelated 5e-5."""


@pytest.mark.parametrize(
    ("rule", "ties", "counts"),
    [
        ("pairwise", "excluded", [[2, 2, 0, 0], [1, 1, 1, 1]]),
        ("pairwise", "half", [[2, 2, 0.5, 1], [1.5, 2, 1, 1]]),
        ("pairwise", "against", [[2, 2, 1, 1], [2, 2, 1, 1]]),
        ("argmax", "excluded", [[1, 1, 0, 0], [1, 1, 1, 1]]),
        ("argmax", "half", [[1, 1, 0.5, 1], [1, 1, 1, 1]]),
        ("argmax", "against", [[1, 1, 1, 1], [1, 1, 1, 1]]),
    ],
)
def test_scores_within_the_error_tie_and_a_released_rule_decides_them(
    rule: Rule, ties: Ties, counts: list[list[float]]
) -> None:
    """Counts match hand-computed values under each rule; ties are counted under every protocol."""
    decisions = outcomes([cat("a"), cat("b")], NEAR, rule=rule, ties=ties, error=BATCH_ERROR)
    assert decisions.counts[:, [LMS_WON, LMS_OF, SS_WON, SS_OF]].tolist() == counts
    assert decisions.ties.tolist() == [[True, False, False], [False, True, False]]
    assert not outcomes([cat("a"), cat("b")], NEAR, rule=rule, ties=ties).ties.any()


def test_a_next_sentence_head_that_is_sure_of_both_still_prefers_one() -> None:
    """log p of logits 8 and 10, or 12 and 14, differ by less than the error but do not tie; such PMIs do."""
    sure = scores({"a": (-4.5e-5, -3.35e-4, -2.0), "b": (-6.1e-6, -8.3e-7, -2.0)})
    records = [cat("a", kind="intersentence"), cat("b", kind="intersentence")]
    assert not outcomes(records, sure, error=BATCH_ERROR).ties.any()
    pmi = scores({"a": (-4.5e-5, -1e-6, -2.0), "b": (6.1e-6, -8.3e-7, 0.5)})
    assert outcomes(records, pmi, error=BATCH_ERROR).ties[:, 0].all()


def test_noise_flips_no_preference() -> None:
    """A preference that turns by less than the error is undecided on both sides."""
    turned = NEAR | scores({"a": (-3.00005, -3.0, -4.0)})
    sides = [outcomes([cat("a"), cat("b")], by_item, error=BATCH_ERROR) for by_item in (NEAR, turned)]
    assert [repr(float(turn)) for turn in flips(*sides)] == ["nan", "0.0"]


def test_pairs_within_the_error_tie_and_metric_py_rounds_as_it_did() -> None:
    """Sums 5e-5 apart tie; if they straddle a thousandth, metric.py's rule decides them, and the count shows this."""
    pair = Pair(id="p", more="Zorbs sing.", less="Blickets sing.", bias_type="zorb", direction="stereo")
    sides = {"p": (-30.00048, -30.00052)}
    ours = preferences([pair], sides, error=BATCH_ERROR)
    released = preferences([pair], sides, ties="against", rounding=3, error=BATCH_ERROR)
    assert (ours.tied.tolist(), ours.decided.tolist()) == ([True], [False])
    assert (released.won.tolist(), released.tied.tolist(), released.near.tolist()) == ([1], [False], [True])


def test_identities_within_the_error_share_the_lowest_place() -> None:
    """Noise of 5e-5 nats changes neither the ranks of identities nor their order."""
    noisy = [
        Score(
            item=probe.id, task="probe", score=-3 - 5e-5 * (number % 2), extra={"identity": -2.0, "conditional": -3.0}
        )
        for number, probe in enumerate(PROBES)
    ]
    results = sofa.results(PROBES, noisy)
    counts = {category: sum(row.category == category for row in results.identities) for category in results.categories}
    assert all(part.ties == part.stereotypes for part in results.categories.values())
    assert {row.lowest for row in results.identities} == {1 / count for count in counts.values()}
    assert [row.identity for row in results.identities] == [
        row.identity for row in sorted(results.identities, key=lambda row: (row.category, row.identity))
    ]


def test_a_model_that_cannot_tell_tokens_apart_ties_at_every_length(tiny: Tiny, tmp_path: Path) -> None:
    """If all tokens have one embedding, up to one float32 step of batch noise, ss is undefined, with a warning."""
    import torch
    from safetensors.torch import load_file, save_file

    model = shutil.copytree(tiny("gpt2"), tmp_path / "model")
    weights = load_file(model / "model.safetensors")
    table = weights["transformer.wte.weight"]
    table[:] = table[7].clone() * (1 + 1e-6 * torch.rand(len(table), 1, generator=torch.manual_seed(0)))
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    report = evaluate(str(model), records.cats(), resamples=0)
    whole = report.to_dict()["results"]["overall"]
    assert (whole["ties_all"], isnan(whole["ss"])) == (whole["items"], True)
    assert any("equal scores in" in line for line in report.warnings)


def test_a_file_of_our_scores_ties_as_its_run_and_one_of_others_by_equality(tmp_path: Path) -> None:
    """Records with token counts are logarithms and tie within the error; a prediction file may hold probabilities."""
    dataset: list[Cat] = [cat("a"), cat("b")]
    data = tmp_path / "cats.jsonl"
    jsonl.write(dataset, data)
    own = [Score(item=item, score=value, task="intrasentence", tokens=3) for item, value in NEAR.items()]
    jsonl.write(own, tmp_path / "own.jsonl")
    predictions.write([replace(score, tokens=0) for score in own], tmp_path / "others.json")
    ties = [
        report_on(tmp_path / name, data).to_dict()["results"]["overall"]["ties"]
        for name in ("own.jsonl", "others.json")
    ]
    assert ties == [1, 0]
