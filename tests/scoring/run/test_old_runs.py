"""Runs of earlier versions, without checksums: read with a warning, never resumed, impossible scores refused."""

import random
import shutil
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import cats
from helpers.run_folders import Tiny, edit, numbers_of, older, verdict

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run.reports import read_report
from catsofa.scoring.run.rows import Unchecked
from catsofa.scoring.run.score_files import compare_on, report_on, scores_of
from catsofa.scoring.run.store import read_scores

FLIPS = 100
"""Flipped bits for each file."""


def test_a_run_of_an_earlier_version_is_read_with_a_warning_and_not_resumed(runs: Path, tiny: Tiny) -> None:
    """The numbers of an old run are the same, with a warning that they are unchecked; the run is not extended."""
    before = scores_of(runs / "gpt2")
    run = older(runs / "gpt2")
    for reader in (scores_of, read_scores, read_report, lambda path: document([path])):
        with pytest.warns(Unchecked, match="not checked"):
            reader(run)
    with pytest.warns(Unchecked):
        report = report_on(run, runs / "cats.jsonl")
    assert any("not checked" in text for text in report.warnings)
    code, text = verdict(run)
    assert (code, "earlier version" in text) == (0, True)
    with pytest.raises(BadInput, match="another --out"):
        evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=run, resamples=0)
    with pytest.warns(Unchecked):
        assert scores_of(run) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE scores SET score = 3e77 WHERE item = (SELECT min(item) FROM scores)",
        "UPDATE scores SET score = -1e7",
        "UPDATE scores SET score = 9e999",
        "UPDATE scores SET score = 'much'",
        "UPDATE scores SET extra = '[1'",
        "UPDATE scores SET extra = '[1]'",
        "UPDATE scores SET tokens = 'x'",
    ],
)
def test_what_no_log_probability_can_be_is_refused_even_without_checksums(runs: Path, statement: str) -> None:
    """Impossible values are refused: 3e77 from one flipped bit, infinities, and texts in place of numbers."""
    edit(older(runs / "gpt2"), statement)
    with warnings.catch_warnings(action="ignore", category=Unchecked), pytest.raises(BadInput) as error:
        read_scores(runs / "gpt2")
    assert error.value.path.name == "scores.sqlite"


@pytest.mark.parametrize("name", ["report.json", "manifest.json", "scores.sqlite"])
def test_no_flip_in_an_old_run_ends_in_a_traceback(made: Path, tmp_path: Path, name: str) -> None:
    """Without checksums a flipped bit may change a number, but an unreadable file is a ValueError."""
    run = older(shutil.copytree(made / "gpt2", tmp_path / "gpt2"))
    whole, draw = (run / name).read_bytes(), random.Random(name)
    for _ in range(FLIPS):
        place = draw.randrange(len(whole))
        (run / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
        with warnings.catch_warnings(action="ignore", category=Unchecked), suppress(ValueError):
            list(numbers_of(run))


def test_an_about_that_is_no_object_is_refused(tmp_path: Path) -> None:
    """A manifest with a list in place of an object is refused."""
    (tmp_path / "manifest.json").write_text('{"identity": {}, "about": [1]}')
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(BadInput, match="manifest"):
        document([tmp_path])


def test_a_run_whose_hash_left_out_the_order_of_candidates_is_named_as_such(runs: Path, tiny: Tiny) -> None:
    """Earlier hashes ignored the order of candidates: the error names that order, and not other data."""
    by_label = [replace(cat, candidates=tuple(sorted(cat.candidates, key=lambda one: one.label))) for cat in cats()]
    formats.named("jsonl").write(by_label, runs / "sorted.jsonl")
    evaluate(str(tiny("gpt2")), runs / "sorted.jsonl", out=runs / "old", resamples=0)
    formats.named("jsonl").write([replace(c, candidates=c.candidates[::-1]) for c in by_label], runs / "sorted.jsonl")
    with pytest.raises(BadInput, match=r"sorted\.jsonl.*candidates.*--on"):
        compare_on([runs / "old", runs / "llama"])
    code, output = verdict(runs / "old")
    assert (code, "data but for the order of candidates" in output) == (0, True)
    formats.named("jsonl").write(cats()[1:], runs / "sorted.jsonl")
    with pytest.raises(BadInput, match="other data"):
        compare_on([runs / "old", runs / "llama"])
    assert compare_on([runs / "old", runs / "llama"], runs / "cats.jsonl")


def test_a_run_whose_model_had_fewer_files_in_its_hash_is_not_called_wrong(tiny: Tiny, tmp_path: Path) -> None:
    """Earlier versions hashed no file in subfolders of the model; a new file beside its configuration is an error."""
    model, run = shutil.copytree(tiny("gpt2"), tmp_path / "model"), tmp_path / "run"
    formats.named("jsonl").write(cats(), tmp_path / "cats.jsonl")
    evaluate(str(model), tmp_path / "cats.jsonl", out=run, resamples=0)
    (model / "original").mkdir()
    (model / "original/params.json").write_text("{}")
    code, output = verdict(run)
    assert (code, "files that an earlier version did not hash" in output) == (0, True)
    (model / "special_tokens_map.json").write_text("{}")
    assert verdict(run)[0] == 1
