"""Runs of one model, and records with one id, are never confused."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import PROBES, cats
from helpers.run_folders import Tiny

from catsofa import evaluate
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.scoring.run.origins import labels


def test_runs_of_one_model_have_labels_of_their_own_or_are_refused(tiny: Tiny, tmp_path: Path) -> None:
    """The label of a run of the first records says so; two equal runs are refused with both folders."""
    formats.named("jsonl").write(cats(), tmp_path / "cats.jsonl")
    for name, limit in (("all", None), ("first", 2), ("again", None)):
        evaluate(str(tiny("gpt2")), tmp_path / "cats.jsonl", out=tmp_path / name, limit=limit, resamples=10)
    whole, first = labels([tmp_path / "all", tmp_path / "first"])
    assert whole != first
    assert "records=2" in first
    with pytest.raises(ValueError, match=r"all.*again"):
        labels([tmp_path / "all", tmp_path / "first", tmp_path / "again"])


def test_records_with_one_id_are_refused(tiny: Tiny) -> None:
    """A list follows the rule of files: ids of records and of candidates are unique."""
    one, other, *_ = cats()
    for records in (
        [one, one],
        [one, replace(other, candidates=one.candidates)],
        [PROBES[0], PROBES[1], PROBES[0]],
    ):
        with pytest.raises(BadInput, match="second time"):
            evaluate(str(tiny("gpt2")), records)
