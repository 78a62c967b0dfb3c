"""Finished runs of tiny models, ways to damage them, and all numbers read from them."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run.reports import read_report
from catsofa.scoring.run.score_files import scores_of
from catsofa.scoring.run.store import read_scores
from catsofa.scoring.signature import name_of
from helpers.records import PROBES, cats

Tiny = Callable[[str], Path]


def make_runs(folder: Path, tiny: Tiny) -> Path:
    """Writes finished runs of two models on the same CATs, and of one of them on probes."""
    formats.named("jsonl").write(cats(), folder / "cats.jsonl")
    formats.named("jsonl").write(PROBES, folder / "probes.jsonl")
    for name in ("gpt2", "llama"):
        evaluate(str(tiny(name)), folder / "cats.jsonl", out=folder / name, resamples=20)
    evaluate(str(tiny("gpt2")), folder / "probes.jsonl", out=folder / "probes", resamples=20)
    return folder


def edit(run: Path, statement: str) -> None:
    """Changes the database of a run by hand."""
    with sqlite3.connect(run / "scores.sqlite") as connection:
        connection.execute(statement)
    connection.close()


def numbers_of(run: Path) -> Iterator[Any]:
    """Yields all numbers of a run: its scores, its measures and its report."""
    yield sorted(map(repr, read_scores(run)))
    yield sorted(scores_of(run).items())
    yield read_report(run)["results"]
    yield [section.tables for section in document([run]).sections]


def verdict(path: Path) -> tuple[int, str]:
    """Returns exit code and output of `catsofa verify`."""
    done = CliRunner().invoke(app, ["verify", str(path)])
    assert done.exception is None or isinstance(done.exception, SystemExit | ValueError), done.exception
    return (2 if isinstance(done.exception, ValueError) else done.exit_code), done.output


def refused(run: Path, name: str) -> str:
    """Returns the error with which all readers of this file of a run, and verify, refuse the run."""
    with pytest.raises(BadInput) as error:
        list(numbers_of(run))
    assert error.value.path.name == name
    code, output = verdict(run)
    assert code == 1
    assert f"{run / name}: run, wrong: " in output
    return str(error.value)


def older(run: Path) -> Path:
    """Rewrites the run as the version before checksums wrote it."""
    for name in ("manifest.json", "report.json"):
        content = json.loads((run / name).read_text())
        content.pop("checksum")
        content.pop("made_from", None)
        if name == "manifest.json":
            content["about"]["data"] = name_of(Path(content["about"]["on"]))
            content["identity"]["data"] = content["about"]["data"].partition("@")[2]
        (run / name).write_text(json.dumps(content))
    history = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    bare = ({name: value for name, value in line.items() if name != "checksum"} for line in history)
    (run / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in bare))
    with sqlite3.connect(run / "scores.sqlite") as connection:
        connection.execute("ALTER TABLE scores DROP COLUMN checksum")
        connection.execute("DROP TABLE seals")
    connection.close()
    return run
