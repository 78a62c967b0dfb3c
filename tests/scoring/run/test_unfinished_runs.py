"""Runs that are unfinished or have a wrong report are refused wherever their numbers are used."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.run_folders import Tiny
from helpers.sessions import Counted, Stopped

from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors import chunk_sizes
from catsofa.scoring.run.export import export
from catsofa.scoring.run.reports import read_report
from catsofa.scoring.run.score_files import compare_on, report_on, robustness_on
from catsofa.scoring.run.store import Run
from catsofa.share.hub import NotPushed, push

CONSUMERS: dict[str, Callable[[Path], object]] = {
    "score --predictions": lambda runs: report_on(runs / "gpt2", runs / "cats.jsonl"),
    "compare": lambda runs: compare_on([runs / "llama", runs / "gpt2"]),
    "robustness": lambda runs: robustness_on([runs / "gpt2"], [runs / "whole"]),
    "robustness of paraphrases": lambda runs: robustness_on([runs / "whole"], [runs / "gpt2"]),
    "report": lambda runs: document([runs / "llama", runs / "gpt2"]),
    "export": lambda runs: export(runs / "gpt2", runs / "out.json"),
    "push-to-hub": lambda runs: push([runs / "llama", runs / "gpt2"], "me/zorbs", endpoint="http://127.0.0.1:9"),
}
"""All functions that use the numbers of a run, here of gpt2."""


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets a token, so that a push looks at its files."""
    monkeypatch.setenv("HF_TOKEN", "hf_zorb")


@pytest.fixture
def beside(runs: Path) -> Path:
    """Returns the runs, with a whole copy of gpt2's run."""
    shutil.copytree(runs / "gpt2", runs / "whole")
    return runs


@pytest.mark.parametrize("name", CONSUMERS)
def test_whole_runs_pass_every_consumer(beside: Path, name: str) -> None:
    """Whole runs are accepted; a push fails only at the Hub, which is unreachable."""
    if name == "push-to-hub":
        with pytest.raises(NotPushed, match="cannot be reached"):
            push([beside / "gpt2"], "me/zorbs", endpoint="http://127.0.0.1:9", waits=())
    else:
        CONSUMERS[name](beside)


@pytest.mark.parametrize("name", CONSUMERS)
def test_an_unfinished_run_is_refused_by_every_consumer(
    beside: Path, tiny: Tiny, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every error has the folder, 5 of 12 records, and the command that resumes."""
    shutil.rmtree(beside / "gpt2")
    monkeypatch.setattr(chunk_sizes, "FIRST", 5)
    with pytest.raises(Stopped):
        evaluate(str(tiny("gpt2")), beside / "cats.jsonl", out=beside / "gpt2", progress=Counted(stop_after=1))
    with pytest.raises(BadInput) as error:
        CONSUMERS[name](beside)
    assert error.value.path == beside / "gpt2"
    assert "(5 of 12 records scored)" in error.value.found
    assert "`catsofa score` again" in error.value.expected


def test_a_report_on_a_folder_leaves_unfinished_runs_out_and_names_them(
    runs: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """Finished runs are shown, and unfinished ones named, also in the terminal; alone they are refused."""
    monkeypatch.setattr(chunk_sizes, "FIRST", 5)
    with pytest.raises(Stopped):
        evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=runs / "x" / "new", progress=Counted(stop_after=1))
    report = document([runs])
    assert len(report.sections) > 1
    assert report.notes[0] == "Left out: x/new, a run that is not finished (5 of 12 records scored)."
    assert report.notes[0] in catsofa("report", runs, "--out", runs / "report.html")[1]
    with pytest.raises(BadInput, match="not finished"):
        document([runs / "x"])


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_run_whose_report_was_edited_or_deleted_is_refused_by_every_consumer(beside: Path, name: str) -> None:
    """Ten more points of ss, the report of another run, and a missing report are refused with the name of the file."""
    path = beside / "gpt2" / "report.json"
    report = json.loads(path.read_text())
    report["results"]["overall"]["ss"] += 10
    path.write_text(json.dumps(report))
    for damage in (lambda: None, lambda: shutil.copy(beside / "llama" / "report.json", path), path.unlink):
        damage()
        with pytest.raises(BadInput) as error:
            CONSUMERS[name](beside)
        assert error.value.path == path


def test_a_run_that_grows_after_its_report_is_not_finished(runs: Path, tiny: Tiny) -> None:
    """The report of the first record is refused until all 12 are scored."""
    model = str(tiny("gpt2"))
    evaluate(model, runs / "cats.jsonl", out=runs / "grown", limit=1, resamples=0)
    manifest = json.loads((runs / "grown" / "manifest.json").read_text())
    with Run.begin(runs / "grown", manifest["identity"], {"records": 12}) as run:
        run.add([Score(item="one more", task="intrasentence", score=-1.0)], took=(1, 0.1))
    with pytest.raises(BadInput, match="2 of 12 records"):
        read_report(runs / "grown")
    evaluate(model, runs / "cats.jsonl", out=runs / "grown", resamples=0)
    assert read_report(runs / "grown")["results"]
