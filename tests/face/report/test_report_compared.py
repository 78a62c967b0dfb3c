"""Tests of reports that compare paraphrases, protocols and benchmarks, and of other inputs of a report."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from helpers.records import a_cat
from helpers.report_runs import association, cats, measures, pairs, probes, run, scored
from typer.testing import CliRunner

from catsofa.builders.probes.perplexity_filter import histogram
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Cat
from catsofa.data.visible import without_folders
from catsofa.report import document
from catsofa.report.elements import Document, Number, Section, Table
from catsofa.report.formats import FORMATS, WRITE
from catsofa.scoring.dataset import open_data
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.run.score_files import compare_on, robustness_on

TERMS = ("zorb", "quib", "marn", "tollit")


def some_cats(verb: str) -> list[Cat]:
    """Returns a CAT about each of four invented terms; another verb gives another wording."""
    return [a_cat(f"The {term} {verb} BLANK.", id=term, target=term) for term in TERMS]


@pytest.fixture
def rephrased(tmp_path: Path) -> tuple[Path, Path]:
    """Writes a run on four CATs, and one on their paraphrases in which the preference about `quib` has turned."""
    for name, verb in (("cats", "was"), ("rephrased", "seemed")):
        jsonl.write(some_cats(verb), tmp_path / f"{name}.jsonl")
    first = scored(tmp_path / "runs" / "m", tmp_path / "cats.jsonl", some_cats("was"), [])
    second = scored(tmp_path / "other" / "m", tmp_path / "rephrased.jsonl", some_cats("seemed"), ["quib"])
    return first, second


def section(of: Document, name: str) -> Section:
    """Returns the section of this name."""
    return next(section for section in of.sections if section.name == name)


def table(of: Section, ending: str) -> Table:
    """Returns the table of a section with this name ending."""
    return next(table for table in of.tables if table.name.endswith(ending))


def test_one_flip_of_four_is_a_quarter(rephrased: tuple[Path, Path]) -> None:
    """One of four preferences turns: 25 %, ss falls from 100 to 75, and the item and both sentences are named."""
    part = section(document([rephrased[0]], paraphrases=[rephrased[1]]), "robustness1")
    (row,) = table(part, "-flips").rows
    assert isinstance(row[2], Number)
    assert row[2].value == 25
    assert row[3] == "4 (100 % of originals)"
    changes = {row[2]: row[5] for row in table(part, "-changes").rows}
    assert isinstance(changes["ss"], Number)
    assert changes["ss"].value == -25
    note = "originals: 0 ties, unknown tokens not counted; paraphrases: 0 ties, unknown tokens not counted."
    assert table(part, "-flips").notes[1].endswith(note)
    items = table(part, "-items1")
    assert items.offensive
    assert items.rows == (
        ("quib", "invented", "The quib was late. (stereotype)", "The quib seemed early. (anti-stereotype)", "quib"),
    )


def test_paraphrases_below_the_runs_have_no_section_of_their_own(tmp_path: Path, rephrased: tuple[Path, Path]) -> None:
    """Runs named by --paraphrase appear only in the comparison, even if RUN is a folder above them."""
    report = document([tmp_path], paraphrases=[rephrased[1]])
    assert [section.name for section in report.sections] == ["s1", "robustness1"]


def test_a_paraphrase_without_its_original_is_refused(rephrased: tuple[Path, Path], tmp_path: Path) -> None:
    """A run on paraphrases without a run of the same model on originals is an error that names the missing input."""
    other = scored(tmp_path / "stranger", tmp_path / "cats.jsonl", some_cats("was"), [], model="another")
    with pytest.raises(BadInput, match="their originals"):
        document([other], paraphrases=[rephrased[1]])


def test_what_robustness_prints_is_shown(rephrased: tuple[Path, Path], tmp_path: Path) -> None:
    """The JSON of `catsofa robustness` gives the same numbers as the runs, and its items without their sentences."""
    printed = tmp_path / "robustness.json"
    printed.write_text(json.dumps(robustness_on([rephrased[0]], [rephrased[1]]).to_dict()).replace("NaN", "null"))
    from_json = section(document([printed]), "robustness1")
    from_runs = section(document([rephrased[0]], paraphrases=[rephrased[1]]), "robustness1")
    assert table(from_json, "-changes").rows == table(from_runs, "-changes").rows
    assert table(from_json, "-items1").rows == (("quib", "invented", "stereotype", "anti-stereotype", "quib"),)


def test_runs_on_the_first_items_say_so(rephrased: tuple[Path, Path], tmp_path: Path) -> None:
    """A run on the first two of four is compared with one on all: 2 items, none refused, both subsets in
    the signatures.
    """
    first = open_data(some_cats("was"), 2).subset
    short = scored(tmp_path / "short" / "m", tmp_path / "cats.jsonl", some_cats("was")[:2], [], subset=first)
    result = robustness_on([short], [rephrased[1]])
    assert result.signature.subset == f"{first} and all, 2 in common"
    (one,) = result.compared
    assert (one.comparison.items, one.comparison.coverage, one.comparison.refused) == (2, 1, {})
    changes = table(section(document([short], paraphrases=[rephrased[1]]), "robustness1"), "-changes")
    assert result.signature.subset in changes.signatures[0]
    whole = scored(tmp_path / "whole", tmp_path / "cats.jsonl", some_cats("was"), ["zorb"], model="other")
    models = compare_on([short, whole])
    assert models.signature is not None
    assert models.signature.subset == f"{first} and all, 2 in common"
    assert any("(2)" in warning for warning in models.to_dict()["warnings"])


def test_the_same_scores_on_both_sides_are_named(rephrased: tuple[Path, Path]) -> None:
    """A run compared with itself cannot change, so a warning appears."""
    result = robustness_on([rephrased[0]], [rephrased[0]])
    assert len(result.warnings) == 1 + len(robustness_on([rephrased[0]], [rephrased[1]]).warnings)


@pytest.mark.parametrize("name", ["m@http://127.0.0.1:8000/v1", "predictions:scores.json@ab12"])
def test_an_address_keeps_its_slashes(name: str) -> None:
    """Folders of a file are removed, but addresses of servers keep their slashes."""
    assert without_folders(name) == name
    assert without_folders(f"{name} a=/home/zorb/x.json") == f"{name} a=x.json"


def test_likelihood_stands_against_pseudo_likelihood(tmp_path: Path) -> None:
    """One model has two protocols: the change is paired by item, and a custom protocol is identified by its hash."""
    data, items = tmp_path / "cats.jsonl", some_cats("was")
    jsonl.write(items, data)
    scored(tmp_path / "ll", data, items, [])
    scored(tmp_path / "pll", data, items, ["quib"], DEFAULT.changed(name="pll", masked="pseudo"))
    part = section(document([tmp_path]), "protocols-1")
    assert part.title.startswith("LL against PLL")
    changes = {row[1]: row for row in table(part, "-changes").rows}
    assert [cell.value for cell in changes["ss"][2:5] if isinstance(cell, Number)] == [100, 75, -25]
    assert str(changes["ss"][6]).startswith("25.0")
    assert changes["ss"][7] == "4 of 4"
    assert any("LL" in note and "PLL" in note for note in table(part, "-changes").notes)


def test_protocols_that_count_otherwise_are_not_paired(tmp_path: Path) -> None:
    """Two protocols that treat ties differently have no paired change, and the report gives the reason."""
    data, items = tmp_path / "cats.jsonl", some_cats("was")
    jsonl.write(items, data)
    scored(tmp_path / "one", data, items, [])
    scored(tmp_path / "two", data, items, [], named("stereoset-acl"))
    part = section(document([tmp_path]), "protocols-1")
    assert not table(part, "-changes").rows
    assert "ties" in table(part, "-changes").notes[0]


def test_benchmarks_that_order_models_alike_have_tau_one(tmp_path: Path) -> None:
    """|ss − 50| of 5, 10, 20 and |score − 50| of 1, 2, 3 agree: τ = 1; SoFa's 3, 2, 1 is the reverse: τ = −1."""
    for at, (ss, score, uneven) in enumerate([(45, 51, 3), (60, 48, 2), (70, 53, 1)]):
        of = measures(90, ss)
        run(tmp_path / f"a{at}", {"intrasentence": {"d": of, "overall": of}, "overall": of}, f"m{at}")
        crows = pairs("d")
        run(tmp_path / f"b{at}", {**crows, "overall": {**crows["overall"], "score": score}}, f"m{at}")
        run(tmp_path / f"c{at}", {**probes("d"), "score": uneven}, f"m{at}")
    matrix = table(section(document([tmp_path]), "agreement"), "-kendall")
    assert [round(row[2].value or 0, 6) for row in matrix.rows if isinstance(row[2], Number)] == [1, -1, -1]
    assert {row[4] for row in matrix.rows} == {"3 of 3"}
    spearman = table(document([tmp_path]).sections[0], "-spearman")
    assert all(row[3] == "3 of 3" for row in spearman.rows)


def test_tests_of_many_files_are_one_matrix(tmp_path: Path) -> None:
    """Each SEAT test is its own data set; all share a table, and Holm's correction covers all of them."""
    run(tmp_path / "a", association("t", 0.03), "one", data="t@1")
    run(tmp_path / "b", association("u", 0.04), "one", data="u@2")
    (part,) = document([tmp_path]).sections
    assert [row[1] for row in part.tables[0].rows] == ["t", "u"]
    assert [row[4].value for row in part.tables[0].rows if isinstance(row[4], Number)] == [0.06, 0.06]
    assert len(part.tables[0].signatures) == 2


def test_the_cut_of_the_perplexity_filter_is_shown(tmp_path: Path) -> None:
    """Of perplexities 10, 10, 10 and 1000 in two bins the lower is kept: 3 of 4, cut at 10^2."""
    drawn = asdict(histogram([10, 10, 10, 1000], "zorbs", bins=2, keep=1))
    printed = tmp_path / "filter.json"
    printed.write_text(json.dumps({"kept": 3, "refused": {"high_perplexity": 1}, "file": "f", "histograms": [drawn]}))
    ((row,),) = (table.rows for table in section(document([printed]), "filter1").tables)
    assert row[:3] == ("zorbs", "3 of 4", "1 of 2")
    assert isinstance(row[3], Number)
    assert row[3].value == pytest.approx(100)


def test_what_score_prints_is_shown(tmp_path: Path) -> None:
    """The JSON of `catsofa score`, of one set or several, is shown like a run; other JSON is refused."""
    (tmp_path / "one.json").write_text(json.dumps(_printed("m", "d@1")))
    (tmp_path / "two.json").write_text(json.dumps([_printed("n", "d@1"), _printed("n", "e@2")]))
    report = document([tmp_path / "one.json", tmp_path / "two.json"])
    assert [{row[0] for row in section.tables[0].rows} for section in report.sections] == [{"m", "n"}, {"n"}]
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(BadInput, match="no result"):
        document([tmp_path / "bad.json"])


def _printed(model: str, data: str) -> dict[str, Any]:
    """Returns the output of `catsofa score --json`."""
    return {"results": cats("d"), "signature": {"data": data, "model": model, "protocol": "catsofa", "line": "…"}}


def test_no_folder_of_the_machine_is_shown(tmp_path: Path) -> None:
    """A model named by its path is shown by its folder name, in names and signatures."""
    run(tmp_path / "a", cats("d"), "/home/somebody/models/zorb-lm")
    text = WRITE["json"](document([tmp_path]))
    assert "zorb-lm" in text
    assert "somebody" not in text


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_every_section(rephrased: tuple[Path, Path], tmp_path: Path, form: str) -> None:
    """The flipped term and its sentence are in each format."""
    out = tmp_path / "out"
    arguments = ["report", str(rephrased[0]), "--paraphrase", str(rephrased[1]), "--out", str(out), "--format", form]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert "The quib seemed early." in text
    assert "25.0" in text


def test_without_matplotlib_a_page_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has figures, so it needs matplotlib; without it one sentence appears, and the other formats work."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report = document([run(tmp_path / "a", cats("d"))])
    with pytest.raises(ImportError, match=r"pip install 'catsofa\[score\]'"):
        WRITE["html"](report)
    assert "lms" in WRITE["markdown"](report)
