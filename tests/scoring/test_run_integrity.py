"""A run folder that was swapped, edited, cut or rotted is refused in a sentence; no wrong number leaves it."""

import json
import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from few_records import PROBES, cats
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run_reports import read_report
from catsofa.scoring.run_rows import Unchecked
from catsofa.scoring.runs import Run, read_numbers, read_scores
from catsofa.scoring.score_files import compare_on, report_on
from catsofa.scoring.signature import name_of

Tiny = Callable[[str], Path]
FLIPS = 200
"""Flipped bits for each file."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, tiny: Tiny) -> Path:
    """Finished runs of two models on the same CATs, and one of them on probes."""
    folder = tmp_path_factory.mktemp("runs")
    formats.named("jsonl").write(cats(), folder / "cats.jsonl")
    formats.named("jsonl").write(PROBES, folder / "probes.jsonl")
    for name in ("gpt2", "llama"):
        evaluate(str(tiny(name)), folder / "cats.jsonl", out=folder / name, resamples=20)
    evaluate(str(tiny("gpt2")), folder / "probes.jsonl", out=folder / "probes", resamples=20)
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    shutil.copytree(made, tmp_path / "runs")
    return tmp_path / "runs"


def edit(run: Path, statement: str) -> None:
    """Change the database of a run by hand."""
    with sqlite3.connect(run / "scores.sqlite") as connection:
        connection.execute(statement)
    connection.close()


def told(run: Path) -> Iterator[Any]:
    """All numbers that leave a run: its scores, its measures and its report."""
    yield sorted(map(repr, read_scores(run)))
    yield sorted(read_numbers(run).items())
    yield read_report(run)["results"]
    yield [section.tables for section in document([run]).sections]


def verdict(path: Path) -> tuple[int, str]:
    """Exit code and output of `catsofa verify`."""
    done = CliRunner().invoke(app, ["verify", str(path)])
    assert done.exception is None or isinstance(done.exception, SystemExit | ValueError), done.exception
    return (2 if isinstance(done.exception, ValueError) else done.exit_code), done.output


def refused(run: Path, name: str) -> str:
    """The sentence with which a run is refused, by everything that reads this file of it and by verify."""
    with pytest.raises(BadInput) as error:
        list(told(run))
    assert error.value.path.name == name
    code, said = verdict(run)
    assert code == 1
    assert f"{run / name}: run, wrong: " in said
    return str(error.value)


def test_a_run_as_it_was_written_is_all_right(runs: Path) -> None:
    """Three runs: scores, report, model and data are checked."""
    code, said = verdict(runs)
    assert code == 0, said
    for name in ("gpt2", "llama", "probes"):
        assert f"{runs / name}: run, all right: manifest.json, " in said
    assert said.count("report.json, model, data") == 3
    assert verdict(runs / "gpt2" / "report.json")[0] == 0


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
def test_swapped_files_of_two_runs_are_refused(runs: Path, name: str) -> None:
    """Two models on the same data: every file is bound to its run."""
    kept = (runs / "gpt2" / name).read_bytes()
    shutil.copy(runs / "llama" / name, runs / "gpt2" / name)
    (runs / "llama" / name).write_bytes(kept)
    for run in ("gpt2", "llama"):
        with pytest.raises(BadInput):
            list(told(runs / run))
        assert verdict(runs / run)[0] == 1


def test_a_run_with_anothers_scores_does_not_go_on(runs: Path, tiny: Tiny) -> None:
    """The same command again refuses the swapped database before it scores anything."""
    shutil.copy(runs / "llama" / "scores.sqlite", runs / "gpt2" / "scores.sqlite")
    with pytest.raises(BadInput, match=r"gpt2/scores\.sqlite: .* another run"):
        evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=runs / "gpt2", resamples=0)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE scores SET score = score - 0.001 WHERE item = (SELECT min(item) FROM scores)",
        "UPDATE scores SET score = NULL, reason = 'too long' WHERE item = (SELECT max(item) FROM scores)",
        "UPDATE scores SET tokens = tokens + 1",
        "UPDATE scores SET item = item || 'x' WHERE item = (SELECT max(item) FROM scores)",
        "DELETE FROM scores WHERE item = (SELECT min(item) FROM scores)",
        "DELETE FROM scores",
        "UPDATE self_checks SET findings = '{}'",
        "DELETE FROM self_checks",
        "UPDATE chunks SET records = records + 1",
        "DELETE FROM chunks",
        "DELETE FROM seals",
        "UPDATE seals SET value = '0'",
        "DROP TABLE scores",
        "DROP TABLE seals",
        "ALTER TABLE scores DROP COLUMN checksum",
    ],
)
def test_an_edited_database_is_refused(runs: Path, statement: str) -> None:
    """A score, a reason, a token count, an id, a lost row, a lost table."""
    edit(runs / "gpt2", statement)
    assert "scores.sqlite" in refused(runs / "gpt2", "scores.sqlite")


def test_removed_findings_are_refused_by_whoever_reads_the_scores(runs: Path) -> None:
    """Without its self-check, a run would lose the mark that its signature gets from it."""
    edit(runs / "gpt2", "DELETE FROM self_checks")
    with pytest.raises(BadInput):
        report_on(runs / "gpt2", runs / "cats.jsonl")


def test_an_edited_report_and_an_edited_manifest_are_refused(runs: Path) -> None:
    """Ten points more for ss; another dtype."""
    path = runs / "gpt2" / "report.json"
    report = json.loads(path.read_text())
    report["results"]["overall"]["ss"] += 10
    path.write_text(json.dumps(report))
    refused(runs / "gpt2", "report.json")
    assert verdict(path)[0] == 1
    path = runs / "llama" / "manifest.json"
    path.write_text(path.read_text().replace("float32", "float16"))
    refused(runs / "llama", "manifest.json")


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
@pytest.mark.parametrize("share", [0, 0.3, 0.9])
def test_a_file_that_was_cut_is_refused(runs: Path, name: str, share: float) -> None:
    """Nothing of it, a third, most."""
    path = runs / "gpt2" / name
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    refused(runs / "gpt2", name)


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
@pytest.mark.parametrize("run", ["gpt2", "probes"])
def test_no_flipped_bit_changes_a_number_or_ends_in_a_traceback(
    made: Path, tmp_path: Path, name: str, run: str
) -> None:
    """One bit at a time, anywhere in a file: the same numbers as before, or a sentence."""
    shutil.copytree(made / run, tmp_path / run)
    path = tmp_path / run / name
    whole, before = path.read_bytes(), [*told(made / run)]
    draw = random.Random(f"{name} {run}")
    for _ in range(FLIPS // 2):
        place, bit = draw.randrange(len(whole)), 1 << draw.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with suppress(ValueError):
            assert [*told(tmp_path / run)] == before, f"flip at {place} by {bit}"


def test_verify_finds_each_flip_that_a_reader_refuses(made: Path, tmp_path: Path) -> None:
    """Exit code 1 wherever reading is refused; never a traceback."""
    shutil.copytree(made / "gpt2", tmp_path / "gpt2")
    draw = random.Random(5)
    for name in ("scores.sqlite", "report.json", "manifest.json"):
        path = tmp_path / "gpt2" / name
        whole = path.read_bytes()
        for _ in range(15):
            place = draw.randrange(len(whole))
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            code, said = verdict(tmp_path / "gpt2")
            try:
                list(told(tmp_path / "gpt2"))
            except ValueError:
                assert code == 1, f"{name} at {place}: {said}"
        path.write_bytes(whole)


def test_another_model_or_other_data_at_its_place_is_said(runs: Path, tiny: Tiny, tmp_path: Path) -> None:
    """The run is as it was; what stands at the places that it read is not."""
    model = shutil.copytree(tiny("gpt2"), tmp_path / "model")
    evaluate(str(model), runs / "cats.jsonl", out=tmp_path / "run", resamples=0)
    assert verdict(tmp_path / "run")[0] == 0
    (model / "config.json").write_text((model / "config.json").read_text().replace("{", "{ ", 1))
    formats.named("jsonl").write(cats()[1:], runs / "cats.jsonl")
    code, said = verdict(tmp_path / "run")
    assert code == 1
    assert f"{model}: run, wrong: this is not the model" in said
    assert f"{runs / 'cats.jsonl'}: run, wrong: this is not the data" in said


def test_a_report_without_its_scores_is_refused(runs: Path) -> None:
    """The file of the scores is gone: nothing can be held against the report."""
    (runs / "gpt2" / "scores.sqlite").unlink()
    with pytest.raises(BadInput, match=r"scores\.sqlite"):
        document([runs / "gpt2"])
    assert verdict(runs / "gpt2")[0] == 1


def test_an_unfinished_run_is_measured_nowhere(runs: Path) -> None:
    """Its end is not sealed and scores are missing: measuring and comparing refuse it."""
    edit(runs / "gpt2", "DELETE FROM seals WHERE name = 'finished'")
    edit(runs / "gpt2", "DELETE FROM scores WHERE item = (SELECT min(item) FROM scores)")
    for measure in (
        lambda: report_on(runs / "gpt2", runs / "cats.jsonl"),
        lambda: compare_on([runs / "gpt2", runs / "llama"]),
        lambda: document([runs / "gpt2"]),
    ):
        with pytest.raises(BadInput):
            measure()


def test_a_run_that_grows_after_its_report_is_not_finished(runs: Path, tiny: Tiny) -> None:
    """The first records, then all: the report of the first is refused until the run is finished again."""
    model = str(tiny("gpt2"))
    evaluate(model, runs / "cats.jsonl", out=runs / "grown", limit=1, resamples=0)
    manifest = json.loads((runs / "grown" / "manifest.json").read_text())
    with Run.begin(runs / "grown", manifest["identity"], {}) as run:
        run.add([Score(item="one more", task="intrasentence", score=-1.0)])
    with pytest.raises(BadInput, match="run the same `catsofa score` again"):
        read_report(runs / "grown")
    evaluate(model, runs / "cats.jsonl", out=runs / "grown", resamples=0)
    assert read_report(runs / "grown")["results"]


def older(run: Path) -> Path:
    """The run as the version before checksums wrote it."""
    for name in ("manifest.json", "report.json"):
        content = json.loads((run / name).read_text())
        content.pop("checksum")
        content.pop("made_from", None)
        if name == "manifest.json":
            content["about"]["data"] = name_of(Path(content["about"]["on"]))
            content["identity"]["data"] = content["about"]["data"].partition("@")[2]
        (run / name).write_text(json.dumps(content))
    with sqlite3.connect(run / "scores.sqlite") as connection:
        connection.execute("ALTER TABLE scores DROP COLUMN checksum")
        connection.execute("DROP TABLE seals")
    connection.close()
    return run


def test_a_run_of_an_earlier_version_is_read_with_a_warning_and_not_resumed(runs: Path, tiny: Tiny) -> None:
    """Its numbers are the same and are said to be unchecked; nothing is added to it."""
    before = read_numbers(runs / "gpt2")
    run = older(runs / "gpt2")
    for read in (read_numbers, read_scores, read_report, lambda path: document([path])):
        with pytest.warns(Unchecked, match="not checked"):
            read(run)
    with pytest.warns(Unchecked):
        found = report_on(run, runs / "cats.jsonl")
    assert any("not checked" in said for said in found.warnings)
    code, said = verdict(run)
    assert (code, "earlier version" in said) == (0, True)
    with pytest.raises(BadInput, match="another --out"):
        evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=run, resamples=0)
    with pytest.warns(Unchecked):
        assert read_numbers(run) == before


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
    """The bit that made 3e77 of a log-probability; infinities; texts in place of numbers."""
    edit(older(runs / "gpt2"), statement)
    with warnings.catch_warnings(action="ignore", category=Unchecked), pytest.raises(BadInput) as error:
        read_scores(runs / "gpt2")
    assert error.value.path.name == "scores.sqlite"


@pytest.mark.parametrize("name", ["report.json", "manifest.json", "scores.sqlite"])
def test_no_flip_in_an_old_run_ends_in_a_traceback(made: Path, tmp_path: Path, name: str) -> None:
    """Without checksums a number can change; the program still says what it cannot read."""
    run = older(shutil.copytree(made / "gpt2", tmp_path / "gpt2"))
    whole, draw = (run / name).read_bytes(), random.Random(name)
    for _ in range(FLIPS // 2):
        place = draw.randrange(len(whole))
        (run / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
        with warnings.catch_warnings(action="ignore", category=Unchecked), suppress(ValueError):
            list(told(run))


def test_an_about_that_is_no_object_is_refused(tmp_path: Path) -> None:
    """A list where names should be."""
    (tmp_path / "manifest.json").write_text('{"identity": {}, "about": [1]}')
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(BadInput, match="manifest"):
        document([tmp_path])


@pytest.mark.parametrize(
    ("protocol", "task", "score", "fits"),
    [
        ({}, "intrasentence", 0.5, False),
        ({}, "intrasentence", 0.0004, True),
        ({}, "probe", float("inf"), False),
        ({}, "more", -2e6, False),
        ({"causal_pair": "pmi"}, "intersentence", 0.5, True),
        ({"causal_pair": "ratio-code"}, "intersentence", 0.5, True),
        ({"causal_pair": "nsp"}, "intersentence", 0.5, False),
        ({"causal_pair": "pmi"}, "intersentence", 2e6, False),
    ],
)
def test_a_run_keeps_only_what_a_log_probability_can_be(
    tmp_path: Path, protocol: dict[str, str], task: str, score: float, fits: bool
) -> None:
    """At most 0 but for rounding; a difference of two may be positive; nothing is beyond a million nats."""
    with Run.begin(tmp_path / "run", {"protocol": protocol}, {}) as run:
        given = Score(item="a", task=task, score=score, tokens=1)
        if fits:
            run.add([given])
            return
        with pytest.raises(ValueError, match="'a'"):
            run.add([given])
        assert run.count() == 0


def test_a_conditional_that_is_positive_is_refused(tmp_path: Path) -> None:
    """What stands beside a probe's score is a log-probability too."""
    with Run.begin(tmp_path / "run", {}, {}) as run, pytest.raises(ValueError, match="at most 0"):
        run.add([Score(item="a", task="probe", score=-1.0, extra={"identity": None, "conditional": 2.0})])
