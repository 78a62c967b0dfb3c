"""Tests of `catsofa multiverse`: its output, errors and files, and its section of a report."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.records import PAIRS, PROBES, cats
from helpers.tiny_models import BUILDERS
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.verify.verdicts import Verdict
from catsofa.report import document
from catsofa.report.figures import draw
from catsofa.report.formats import write
from catsofa.scoring.evaluate import evaluate
from catsofa.specifications import multiverse
from catsofa.verify import verify

Tiny = Callable[[str], Path]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Returns a function from the name of an architecture to the folder of its tiny random model."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("gpt2", "bert"):
        (folder / name).mkdir()
        BUILDERS[name](folder / name)
    return lambda name: folder / name


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with CATs, pairs and probes."""
    folder = tmp_path_factory.mktemp("data")
    for name, records in {"cats": cats(), "pairs": PAIRS, "probes": PROBES}.items():
        formats.named("jsonl").write(records, folder / f"{name}.jsonl")
    return folder


@pytest.fixture(scope="module")
def runs(tiny: Tiny, data: Path) -> Path:
    """Returns the runs of two models on CATs."""
    multiverse([str(tiny("gpt2")), str(tiny("bert"))], data / "cats.jsonl", out=data / "runs", resamples=50)
    return data / "runs"


def called(*words: object, columns: int = 80) -> tuple[int, str]:
    """Returns exit code and output, or the text of an error."""
    done = CliRunner().invoke(app, ["multiverse", *map(str, words)], env={"COLUMNS": str(columns)})
    return (2, str(done.exception)) if isinstance(done.exception, ValueError) else (done.exit_code, done.output)


def test_tables_fit_a_narrow_terminal_and_nothing_is_dropped_in_silence(tiny: Tiny, data: Path) -> None:
    """At 60 columns, inapplicable protocols and those of other measures are named, and each cell has its signature."""
    code, output = called(tiny("gpt2"), "--on", data / "pairs.jsonl", columns=60)
    assert code == 0
    tables = output.partition("not applicable to gpt2")[0]
    assert max(len(line) for line in tables.splitlines() if ": " not in line) <= 60
    assert "not applicable to gpt2: aul: aul is defined for masked models" in output
    assert "protocols of other measures: stereoset-v1" in output
    assert [output.count(f"| protocol:{name} |") for name in ("catsofa", "crows-pairs", "bias-bench")] == [1, 1, 1]


def test_json_has_the_keys_of_the_page(runs: Path, tiny: Tiny, data: Path) -> None:
    """A finished multiverse is read from its runs; the JSON has cells, protocols and orders by part."""
    code, output = called(tiny("gpt2"), tiny("bert"), "--on", data / "cats.jsonl", "--out", runs, "--json")
    assert code == 0
    report = json.loads(output)
    part = report["results"]["intrasentence"]
    cell = {row["protocol"]: row for row in part["cells"] if row["model"] == "bert"}
    assert cell["bias-bench"]["same_as"] == "stereoset-code"
    assert {"lms", "ss", "icat", "items", "scored", "coverage", "ties", "coverage_differs", "signature"} < {
        *cell["catsofa"]
    }
    ss = part["protocols"]["gpt2"]["measures"]["ss"]
    assert {*ss} == {"values", "median", "lowest", "highest", "range", "sides", "choices"}
    assert ss["range"]["value"] == pytest.approx(
        ss["values"][ss["highest"]]["value"] - ss["values"][ss["lowest"]]["value"]
    )
    # a random model's ss may be undefined, its lms never is
    assert {*part["orders"]["lms"]} == {"models", "protocols", "items", "kept", "of", "tau", "pairs"}
    inter = [row for row in report["results"]["intersentence"]["cells"] if row["model"] == "gpt2"]
    assert {row["protocol"]: row["coverage_differs"] for row in inter}["stereoset-v1"]
    assert "next-sentence head" in next(iter(report["unscored"]["gpt2"]["stereoset-v1"]))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--on", "probes.jsonl"), "expected CATs or pairs"),
        (("--on", "cats.jsonl", "--protocol", "catsofa"), "expected two or more"),
        (("--on", "cats.jsonl", "--protocol", "aul", "--protocol", "aul"), "found a protocol twice"),
        (("--on", "cats.jsonl", "--protocol", "no", "--protocol", "aul"), "no protocol 'no'"),
        (("--on", "pairs.jsonl", "--protocol", "aul", "--protocol", "aula"), "aul is defined for masked models"),
        (("--on", "cats.jsonl", "--out", "runs/gpt2/catsofa"), "a run of one protocol"),
        (("--on", "cats.jsonl", "--vary", "colour"), "no choice of stereoset is called 'colour'"),
        (("--on", "cats.jsonl", "--vary", "pooling"), "no choice of stereoset is called 'pooling'"),
        (("--on", "cats.jsonl", "--vary", "length", "--vary", "length=sum"), "found length twice"),
        (("--on", "cats.jsonl", "--vary", "length=mean"), "found one value of length"),
        (("--on", "cats.jsonl", "--vary", "length=least"), "length cannot be 'least'"),
        (("--on", "cats.jsonl", "--vary", "length", "--protocol", "aul", "--protocol", "aula"), "found 2 protocols"),
        (("--on", "cats.jsonl", "--claim", "ss ≥ 50"), "expected lms, ss, icat, then > or <"),
        (("--on", "pairs.jsonl", "--claim", "ss > 50"), "expected score, then > or <"),
    ],
)
def test_a_wrong_call_is_a_sentence(words: tuple[str, ...], why: str, tiny: Tiny, data: Path, runs: Path) -> None:
    """The error says what was found and expected; the exit code is 2."""
    places = [data / word if word.endswith(("jsonl", "gpt2/catsofa")) else word for word in words]
    code, output = called(tiny("gpt2"), *places)
    assert code == 2
    assert why in output


def test_all_combinations_of_choices_have_the_numbers_of_their_runs(tiny: Tiny, data: Path, tmp_path: Path) -> None:
    """Length × first token gives four cells, each equal to `score` alone; the shares of a full grid sum to at most 100
    %.
    """
    varied = ["--vary", "length", "--vary", "first_token=bos,skip", "--claim", "lms > 10"]
    code, output = called(tiny("gpt2"), "--on", data / "cats.jsonl", *varied, "--out", tmp_path / "grid", "--json")
    assert code == 0
    part = json.loads(output)["results"]["intrasentence"]
    names = ["catsofa", "catsofa,first_token=skip", "catsofa,length=sum", "catsofa,length=sum,first_token=skip"]
    cells = {row["protocol"]: row for row in part["cells"]}
    assert [*cells] == names
    for name in names[1:]:
        alone = evaluate(str(tiny("gpt2")), data / "cats.jsonl", protocol=name).to_dict()
        assert cells[name]["lms"]["value"] == alone["results"]["intrasentence"]["overall"]["lms"]
    lms = part["protocols"]["gpt2"]["measures"]["lms"]
    assert {*lms["choices"]} == {"length", "first_token"}
    assert sum(effect["share"]["value"] for effect in lms["choices"].values()) <= 100 + 1e-9
    assert lms["claims"]["lms > 10"]["holds"] == sum(v["value"] > 10 for v in lms["values"].values())


def test_a_report_has_one_section_for_all_protocols(runs: Path, tmp_path: Path) -> None:
    """The report has cells, ranges and a curve, and no section per pair of protocols; LaTeX and HTML are written."""
    report = document([runs])
    own = [section for section in report.sections if section.name.startswith("multiverse")]
    assert len(own) == 1
    assert not [section for section in report.sections if section.name.startswith("protocols")]
    names = [table.name.rpartition("-")[2] for table in own[0].tables]
    assert names == ["cells", "ranges", "choices"] * 2
    rows = [row for row in own[0].tables[0].rows if row[0] == "bert"]
    assert [row[1] for row in rows] == [
        "catsofa", "stereoset-v1", "stereoset-acl", "stereoset-code", "bias-bench", "repro-004",
    ]  # fmt: skip
    assert (
        "bert: bias-bench has the scores and the outcomes of stereoset-code and counts once." in own[0].tables[0].notes
    )
    drawn = draw(own[0].figures[0].draw)
    labels = [label.get_text() for label in drawn.axes[1].get_yticklabels()]
    assert "catsofa" in labels
    assert any(": " in label for label in labels)
    write(report, tmp_path / "report.html")
    write(report, tmp_path / "report.tex", "latex")
    assert "ss by each protocol" in (tmp_path / "report.html").read_text("utf-8")
    assert "stereoset-acl" in (tmp_path / "report.tex").read_text("utf-8")


@pytest.mark.parametrize("dropped", [(), ("checksum",), ("checksum", "made_from")])
def test_an_edited_report_of_a_cell_is_found(runs: Path, tmp_path: Path, dropped: tuple[str, ...]) -> None:
    """`verify` and `report` find the edit, in the folder and the single file, even if the checksum was removed."""
    place = shutil.copytree(runs / "gpt2", tmp_path / "gpt2") / "catsofa" / "report.json"
    content = json.loads(place.read_text())
    content["results"]["intrasentence"]["overall"]["ss"] = 60.0
    place.write_text(json.dumps({name: value for name, value in content.items() if name not in dropped}))
    for path in (tmp_path / "gpt2", place):
        faults = [fault.path for verdict in verify([path]) if isinstance(verdict, Verdict) for fault in verdict.faults]
        assert faults == [place]
        with pytest.raises(BadInput, match=r"report\.json.*checksum"):
            document([path])
