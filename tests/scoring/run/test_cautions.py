"""The warnings of a run are shown beside every number computed from its scores."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.records import PROBES, a_cat, cats
from helpers.run_folders import Tiny, older

from catsofa import evaluate
from catsofa.data import formats
from catsofa.report import document
from catsofa.scoring.run.score_files import compare_on, report_on, robustness_on

UNUSED = "weights of layers in the model's files that it does not use"
HALF = "bfloat16: differences are off by up to"


@pytest.fixture
def runs(tmp_path: Path, tiny: Tiny) -> Path:
    """Returns runs on CATs and probes of a whole model, and of one in half precision without its last layer."""
    formats.named("jsonl").write(cats(), tmp_path / "cats.jsonl")
    formats.named("jsonl").write(PROBES, tmp_path / "probes.jsonl")
    cut = shutil.copytree(tiny("gpt2"), tmp_path / "cut")
    config = json.loads((cut / "config.json").read_text())
    (cut / "config.json").write_text(json.dumps(config | {"n_layer": config["n_layer"] - 1}))
    for data in ("cats", "probes"):
        evaluate(str(tiny("llama")), tmp_path / f"{data}.jsonl", out=tmp_path / f"whole-{data}", resamples=10)
        evaluate(str(cut), tmp_path / f"{data}.jsonl", out=tmp_path / f"cut-{data}", dtype="bfloat16", resamples=10)
    return tmp_path


def test_every_reader_of_runs_shows_their_warnings(runs: Path) -> None:
    """`score --predictions`, `compare` and `robustness` show unused weights and half precision once, with the model."""
    whole, cut = runs / "whole-cats", runs / "cut-cats"
    on_probes = compare_on([runs / "whole-probes", runs / "cut-probes"])
    for report in (compare_on([whole, cut]), robustness_on([cut], [cut]), report_on(cut, runs / "cats.jsonl")):
        assert sum(UNUSED in warning for warning in report.warnings) == 1
        assert sum(HALF in warning for warning in report.warnings) == 1
    for report in (compare_on([whole, cut]), on_probes):
        warning = next(warning for warning in report.warnings if UNUSED in warning)
        assert warning.startswith("cut@")
    llama = [warning for warning in compare_on([whole, cut]).warnings if warning.startswith("llama@")]
    assert not [warning for warning in llama if "may be chance" not in warning]


def test_a_report_of_paraphrases_shows_the_warnings_of_their_runs(runs: Path) -> None:
    """A report shows the warnings of all joined runs, not only of those with their own table."""
    formats.named("jsonl").write(cats()[::-1][1:], runs / "reworded.jsonl")
    evaluate(str(runs / "cut"), runs / "reworded.jsonl", out=runs / "again", dtype="bfloat16", resamples=10)
    sections = document([runs / "cut-cats"], paraphrases=[runs / "again"]).sections
    robust = [table for section in sections for table in section.tables if table.name.startswith("robustness")]
    assert any(UNUSED in warning for table in robust for warning in table.warnings)


def test_power_ensemble_and_export_show_the_warnings_of_the_runs_they_read(
    runs: Path, catsofa: Callable[..., tuple[str, str]], few_simulations: None
) -> None:
    """Warnings are on stdout and in the JSON beside numbers, and on stderr beside scores that may go to stdout."""
    whole, cut, data = runs / "whole-cats", runs / "cut-cats", runs / "cats.jsonl"
    power = ("power", "--on", data, "--predictions", whole, "--against", cut)
    ensemble = ("ensemble", "--scores", whole, "--scores", cut, "--on", data, "--out", runs / "both.json")
    outputs = [catsofa(*power)[0], catsofa(*ensemble)[0], catsofa("export", cut)[1]]
    outputs.append("\n".join(json.loads(catsofa(*power, "--json")[0])["warnings"]))
    assert [(one.count(UNUSED), one.count(HALF)) for one in outputs] == [(1, 1)] * 4
    assert catsofa("export", whole)[1] == ""


def test_reasons_and_warnings_name_no_folder(
    runs: Path, tmp_path: Path, catsofa: Callable[..., tuple[str, str]], few_simulations: None
) -> None:
    """The reason for a text that is too long names no folder, in a current run and in one of an earlier version."""
    long = a_cat("The zorb was BLANK." + " Zorbs rise." * 999, id="long", ids="long")
    formats.named("jsonl").write([*cats(), long], tmp_path / "long.jsonl")
    run = tmp_path / "long"
    evaluate(str(runs / "cut"), tmp_path / "long.jsonl", out=run, dtype="bfloat16", resamples=10)
    report = (run / "report.json").read_text()
    assert "cut reads at most" in report
    shown = [report]
    for form in ("html", "json", "markdown"):
        catsofa("report", run, "--out", tmp_path / "r", "--format", form)
        shown.append((tmp_path / "r").read_text())
    older(run)
    content = json.loads((run / "report.json").read_text())
    content["unscored"] = {f"2000 tokens; {runs / 'cut'} reads at most 96": 3}
    (run / "report.json").write_text(json.dumps(content))
    catsofa("report", run, "--out", tmp_path / "r.html")
    shown += [
        (tmp_path / "r.html").read_text(),
        catsofa("power", "--on", tmp_path / "long.jsonl", "--predictions", run, "--json")[0],
    ]
    assert "earlier version" in shown[-1]
    assert not [one for one in shown if str(tmp_path) in one]
