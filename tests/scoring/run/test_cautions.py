"""The warnings of a run stand beside every number that is made from its scores."""

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
    """Runs of a whole model, of one in half precision that leaves a layer out, on CATs, paraphrases and probes."""
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
    """`score --predictions`, `compare` and `robustness`: unused weights and half precision, once, with the model."""
    whole, cut = runs / "whole-cats", runs / "cut-cats"
    on_probes = compare_on([runs / "whole-probes", runs / "cut-probes"])
    for found in (compare_on([whole, cut]), robustness_on([cut], [cut]), report_on(cut, runs / "cats.jsonl")):
        assert sum(UNUSED in told for told in found.warnings) == 1
        assert sum(HALF in told for told in found.warnings) == 1
    for found in (compare_on([whole, cut]), on_probes):
        told = next(told for told in found.warnings if UNUSED in told)
        assert told.startswith("cut@")
    llama = [told for told in compare_on([whole, cut]).warnings if told.startswith("llama@")]
    assert not [told for told in llama if "may be chance" not in told]


def test_a_report_of_paraphrases_shows_the_warnings_of_their_runs(runs: Path) -> None:
    """Of the runs that are joined, not only of those that have a table of their own."""
    formats.named("jsonl").write(cats()[::-1][1:], runs / "reworded.jsonl")
    evaluate(str(runs / "cut"), runs / "reworded.jsonl", out=runs / "again", dtype="bfloat16", resamples=10)
    sections = document([runs / "cut-cats"], paraphrases=[runs / "again"]).sections
    robust = [table for section in sections for table in section.tables if table.name.startswith("robustness")]
    assert any(UNUSED in told for table in robust for told in table.warnings)


def test_power_ensemble_and_export_show_the_warnings_of_the_runs_they_read(
    runs: Path, catsofa: Callable[..., tuple[str, str]], few_simulations: None
) -> None:
    """On stdout beside numbers, and in their JSON; on stderr beside scores that may be written to stdout."""
    whole, cut, on = runs / "whole-cats", runs / "cut-cats", runs / "cats.jsonl"
    power = ("power", "--on", on, "--predictions", whole, "--against", cut)
    ensemble = ("ensemble", "--scores", whole, "--scores", cut, "--on", on, "--out", runs / "both.json")
    said = [catsofa(*power)[0], catsofa(*ensemble)[0], catsofa("export", cut)[1]]
    said.append("\n".join(json.loads(catsofa(*power, "--json")[0])["warnings"]))
    assert [(one.count(UNUSED), one.count(HALF)) for one in said] == [(1, 1)] * 4
    assert catsofa("export", whole)[1] == ""


def test_reasons_and_warnings_name_no_folder(
    runs: Path, tmp_path: Path, catsofa: Callable[..., tuple[str, str]], few_simulations: None
) -> None:
    """A text that is too long for the model, on a run of today and on one of an earlier version."""
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
