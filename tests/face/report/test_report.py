"""Reports: what is beside what, what is folded away, and that no text of the data is ever markup."""

import csv
import json
import warnings
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from helpers import gate_runs
from helpers.report_runs import EVIL, Page, association, cats, measures, pairs, probes, run

from catsofa.data.files import jsonl
from catsofa.report import document
from catsofa.report.cells import stars
from catsofa.report.elements import Number, Table, written
from catsofa.report.figures import LONGEST, told_apart
from catsofa.report.formats import FORMATS, WRITE, Format

TERM = {"term": "zorbish", "domain": "d", "items": 8, "ss": 60.0, "ss_low": 50.0, "ss_high": 70.0}


def evil(folder: Path) -> Path:
    """Runs of every measure with markup in every text."""
    term = {"term": EVIL, "domain": EVIL, "items": 8, "ss": 60.0, "ss_low": 50.0, "ss_high": 70.0}
    run(folder / "a", cats(EVIL), EVIL, EVIL, EVIL, terms=[term], unscored={EVIL: 3})
    run(folder / "b", probes(EVIL), EVIL, EVIL, EVIL)
    run(folder / "c", association(EVIL, 0.01), EVIL, EVIL, EVIL)
    run(folder / "d", pairs(EVIL), EVIL, EVIL, EVIL)
    return folder


def test_no_text_of_the_data_is_markup(tmp_path: Path) -> None:
    """Script, quotes and event handlers in terms, domains, reasons, data and model names stay text."""
    text = WRITE["html"](document([evil(tmp_path)]))
    page = Page(text)
    assert not {"img", "iframe", "object", "link"} & set(page.tags)
    assert page.tags.count("script") == 1
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "&lt;script&gt;" in text


CONTROLS = "zorb\x1b[31m\x07\x9b\u202eof\r99.9,1"


@pytest.mark.parametrize("form", FORMATS)
def test_no_character_of_the_data_steers_a_reader(form: Format, tmp_path: Path) -> None:
    """Controls and overrides of direction are written out in every format, and a CR begins no row of a sheet."""
    term = {**TERM, "term": CONTROLS, "domain": CONTROLS}
    for name, results in {"a": cats(CONTROLS), "b": probes(CONTROLS), "d": pairs(CONTROLS)}.items():
        run(tmp_path / name, results, CONTROLS, CONTROLS, CONTROLS, terms=[term], unscored={CONTROLS: 3})
    text = WRITE[form](document([tmp_path]))
    assert not set("\x07\x1b\x9b\u202e\r") & set(text)
    if form == "csv":
        assert {len(row) for row in csv.reader(StringIO(text, newline=""))} == {10}
    if form == "json":
        assert any(CONTROLS in table["caption"] for one in json.loads(text)["sections"] for table in one["tables"])


def test_names_of_models_in_headings_are_no_markup_and_no_formulas(tmp_path: Path) -> None:
    """The differences of models have a column for each of them, in Markdown and in a sheet."""
    jsonl.write(gate_runs.cats(2, 2), tmp_path / "cats.jsonl")
    for name in ("=one", "=<script>two\nlines"):
        gate_runs.planted(tmp_path / name[1:4], tmp_path / "cats.jsonl", gate_runs.even, model=name, model_digest="aa")
    found = document([tmp_path])
    bars = [line for line in WRITE["markdown"](found).splitlines() if line.startswith("|")]
    assert all(line.endswith("|") and "<script>" not in line for line in bars)
    columns = [row["column"] for row in csv.DictReader(StringIO(WRITE["csv"](found)))]
    assert "'=one" in columns
    assert not [column for column in columns if column.startswith("=")]


def test_a_page_needs_nothing_else(tmp_path: Path) -> None:
    """Every address in a page is a place in the page itself, and ids are unique."""
    page = Page(WRITE["html"](document([evil(tmp_path)])))
    for name, value in page.attributes:
        assert name not in ("src", "srcset")
        assert not name.endswith("href") or str(value).startswith("#")
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert page.tags.count("caption") == page.tags.count("table") == 8


def test_what_may_offend_is_folded_away(tmp_path: Path) -> None:
    """A term of the data stands in the page only inside `details` that are closed."""
    term = {"term": "zorbish", "domain": "d", "items": 8, "ss": 60.0, "ss_low": 50.0, "ss_high": 70.0}
    text = WRITE["html"](document([run(tmp_path / "a", cats("d"), terms=[term], unscored={"no zorbish": 1})]))
    parts = text.split("zorbish")[:-1]
    before = ""
    for part in parts:
        before += part
        assert before.count("<details") > before.count("</details>")
    assert "<details open" not in text
    assert text.index("Content warning") < text.index("<table")


def test_other_signatures_stand_in_other_tables(tmp_path: Path) -> None:
    """Two models of one protocol share a table; one of another protocol has its own, and the report says so."""
    run(tmp_path / "a", cats("d"), "one")
    run(tmp_path / "b", cats("d"), "two")
    run(tmp_path / "c", cats("d"), "one", protocol="stereoset-code")
    found = document([tmp_path])
    assert [{row[0] for row in section.tables[0].rows} for section in found.sections] == [{"one", "two"}, {"one"}]
    assert "protocol: catsofa and stereoset-code" in found.notes[0]


def test_models_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two models called `m` carry the hash of their signature."""
    run(tmp_path / "aa", cats("d"))
    run(tmp_path / "bb", cats("d"))
    (section,) = document([tmp_path]).sections
    assert {row[0] for row in section.tables[0].rows} == {"m@aa", "m@bb"}


@pytest.mark.parametrize(("name", "digests"), [("m@1", ("aa", "bb")), ("m", ("v1", "v2"))])
def test_models_of_one_name_are_never_one_model(name: str, digests: tuple[str, str], tmp_path: Path) -> None:
    """A name with a hash of its own, or digests that are no hash: both rows and both columns of the summary stay."""
    jsonl.write(gate_runs.cats(2, 2), tmp_path / "cats.jsonl")
    for digest in digests:
        folder = tmp_path / digest / "run"
        gate_runs.planted(folder, tmp_path / "cats.jsonl", gate_runs.even, model=name, model_digest=digest)
    found = document([tmp_path])
    assert {row[0] for row in found.sections[0].tables[0].rows} == {f"{name}@{digest}" for digest in digests}
    assert found.summary is not None
    assert len(found.summary.rows) == 2


def test_a_copy_of_the_data_makes_no_second_model(tmp_path: Path) -> None:
    """A run on a renamed file with the same records and other numbers is refused, as one on the file itself."""
    run(tmp_path / "a", cats("d"), data="dev@abcdef")
    copy = run(tmp_path / "b", cats("d"), data="copy@abcdef")
    report = json.loads((copy / "report.json").read_text())
    report["signature"]["model"], report["results"]["overall"]["ss"] = "m@a", 1.0
    del report["checksum"]
    (tmp_path / "copy.json").write_text(json.dumps(report))
    with pytest.raises(ValueError, match="give one"):
        document([tmp_path / "a", tmp_path / "copy.json"])


def test_every_table_says_how_many_are_scored(tmp_path: Path) -> None:
    """80 % of 50 CATs are 40 of 50; half of 10 probes are 5 of 10."""
    run(tmp_path / "a", cats("d"))
    run(tmp_path / "b", probes("d"))
    one, two = document([tmp_path]).sections
    assert {row[-1] for row in one.tables[0].rows} == {"40 of 50"}
    assert {row[-1] for row in two.tables[0].rows} == {"5 of 10"}
    assert all("5 of 10" in table.caption for table in two.tables[1:])
    assert all(table.signatures for section in (one, two) for table in section.tables)


def test_a_table_of_terms_says_how_many_it_shows_and_in_what_order(tmp_path: Path) -> None:
    """Of 13 terms, 12 of which have an ss, the first and the last five stand in the table."""
    terms = [{**TERM, "term": f"zorb {n:02}", "ss": 60.0 if n < 12 else None} for n in range(13)]
    (section,) = document([run(tmp_path / "a", cats("d"), terms=terms)]).sections
    shown = section.tables[1]
    assert len(shown.rows) == 10
    assert "10 of 13 shown" in shown.caption
    assert "12 of 13 terms have an ss" in shown.notes[0]
    assert "alphabetical" in shown.notes[0]


COUNTED = {"ties": 0, "ties_unrelated": 0, "ties_all": 0, "unknown": 0}


@pytest.mark.parametrize(
    ("counts", "notes"),
    [
        (COUNTED, ["No scores tie.", "No token is unknown."]),
        ({**COUNTED, "unknown": None}, ["No scores tie.", "Nobody counted unknown tokens: m."]),
        ({}, ["Nobody counted ties or ties with unrelated or all three tie: m.", "Nobody counted unknown tokens: m."]),
    ],
)
def test_what_nobody_counted_is_not_called_none(tmp_path: Path, counts: dict[str, int], notes: list[str]) -> None:
    """A file of scores has no count of unknown tokens, and a run of an earlier version none of ties."""
    whole = {**measures(90, 60), **counts}
    (section,) = document([run(tmp_path / "a", {"intrasentence": {"overall": whole}, "overall": whole})]).sections
    assert list(section.tables[0].notes[:2]) == notes


def test_a_run_without_any_score_draws_without_a_warning(tmp_path: Path) -> None:
    """No model has a mark in a drawing whose every number is missing, so that it has no legend."""
    none = {**measures(90, 60), **dict.fromkeys(("lms", "ss", "icat"))}
    none["intervals"] = {measure: {"low": None, "high": None} for measure in ("lms", "ss", "icat")}
    pair = {
        "score": None,
        "pairs": 9,
        "neutral": 0,
        "coverage": 0.0,
        "intervals": {"score": {"low": None, "high": None}},
    }
    run(tmp_path / "a", {"intrasentence": {"d": none, "overall": none}, "overall": none})
    run(tmp_path / "b", {"overall": pair, "types": {"d": pair}, "directions": {"stereo": pair}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = WRITE["html"](document([tmp_path]))
    assert 'class="plot"' in text


def test_holm_is_over_all_models_of_the_table(tmp_path: Path) -> None:
    """p = 0.03 and 0.04 of two models: Holm makes 0.06 of both, so that no star remains."""
    run(tmp_path / "a", association("t", 0.03), "one")
    run(tmp_path / "b", association("t", 0.04), "two")
    (section,) = document([tmp_path]).sections
    assert [row[4].value for row in section.tables[0].rows if isinstance(row[4], Number)] == [0.06, 0.06]
    assert all(isinstance(row[2], Number) and not row[2].mark for row in section.tables[0].rows)
    assert [stars(p) for p in (0.0009, 0.009, 0.049, 0.05, float("nan"))] == ["***", "**", "*", "", ""]


def test_numbers_are_whole_in_csv_and_json(tmp_path: Path) -> None:
    """A score of 0.125 is 0.125 in CSV and JSON; a text that begins like a formula is none. A sheet begins with the
    summary."""
    found = document([run(tmp_path / "a", probes("d"), "=1+1")])
    rows = list(csv.DictReader(StringIO(WRITE["csv"](found))))
    assert [row["table"] for row in rows].index(found.sections[0].tables[0].name) == len(found.summary.columns)
    assert rows[0]["table"] == found.summary.name
    assert {row["value"] for row in rows if row["column"] == "PPL(i + s)"} == {"0.125"}
    assert {row["value"] for row in rows if row["column"] == "model"} == {"'=1+1"}
    table = json.loads(WRITE["json"](found))["sections"][0]["tables"][0]
    assert table["rows"][0][4]["value"] == 0.125


def test_markup_of_papers_is_escaped(tmp_path: Path) -> None:
    """Markdown and LaTeX hold no tag and no command of the data."""
    found = document([evil(tmp_path)])
    tables = [line for line in WRITE["markdown"](found).splitlines() if line.startswith(("|", "#", ">"))]
    assert not any("<script>" in line.replace("\\<", "") for line in tables)
    assert "{{7" not in WRITE["latex"](found)
    assert r"\$\{\{7*7\}\}" in WRITE["latex"](found).replace(r"\allowbreak{}", "")


def test_latex_knows_its_signs(tmp_path: Path) -> None:
    """Greek letters and the minus are commands, no row begins with a bracket, and what may offend is marked."""
    found = document([run(tmp_path / "a", cats("d"), terms=[TERM | {"term": "[zorb]"}])])
    assert "\n{}[zorb]" in WRITE["latex"](found)
    assert WRITE["latex"](found).count("% May offend.") == 1
    section = replace(found.sections[0], limits="ρ and τ − |ss − 50| of 100 % & more_", tables=found.sections[0].tables)
    text = WRITE["latex"](replace(found, sections=(section,)))
    assert r"$\rho$ and $\tau$ $-$ \textbar{}ss $-$ 50\textbar{} of 100 \% \& more\_" in text


def test_long_names_stay_apart_in_drawings() -> None:
    """Names that differ in their middle or their end stay two; what all begin with is left out; short ones stay."""
    names = [f"predictions_{model}-cased_BertNextSentence" for model in ("bert-base", "bert-large", "roberta")]
    names += ["predictions_" + "m" * 60 + end for end in "12"]
    found = told_apart(names)
    assert list(found) == names
    assert len(set(found.values())) == 5
    assert found[names[0]].startswith("…bert-base")
    assert all(len(label) <= LONGEST for label in found.values())
    assert told_apart(["gpt_2", "gpt_3"]) == {"gpt_2": "gpt_2", "gpt_3": "gpt_3"}


def test_notes_on_what_is_apart_are_one_for_each_measure(tmp_path: Path) -> None:
    """Four protocols of one measure are four sections and one note, not one for each of the six pairs."""
    for protocol in ("a", "b", "c", "d"):
        run(tmp_path / protocol, cats("d"), "one", protocol=protocol)
    (note,) = document([tmp_path]).notes
    assert "has 4 sections" in note
    assert "(protocol)" in note


def test_no_heading_has_a_hash_unless_two_would_be_alike(tmp_path: Path) -> None:
    """One set: its name alone. Two sets of one name: the hash of each, after the name."""
    run(tmp_path / "a", cats("d"), "one", data="set@0123456789ab")
    assert "(set, protocol" in document([tmp_path]).sections[0].title
    run(tmp_path / "b", cats("d"), "one", data="set@ba9876543210")
    titles = [section.title for section in document([tmp_path]).sections]
    assert [("0123456789ab" in title, "ba9876543210" in title) for title in titles] == [(True, False), (False, True)]


def test_counts_are_flush_right_with_their_thousands_apart() -> None:
    """A column of counts is flush right, 1,234, with empty cells too; one with limits or words is not."""
    table = Table(
        name="t",
        caption="c",
        columns=("word", "count", "score", "p", "difference"),
        rows=(("a", 1234, Number(1, 0, 2), Number(0.5), Number(3)), ("b", "—", Number(1), Number(None), "")),
        signatures=("s",),
    )
    assert table.flush == {"count", "p", "difference"}
    assert (written(1234), written("a"), written(Number(1, 0, 2))) == ("1,234", "a", "1.0 [0.0, 2.0]")


@pytest.mark.parametrize("cells", [(), ("a",), ("a", 1, 2)])
def test_a_row_has_a_cell_for_each_column(cells: tuple[str | int, ...]) -> None:
    """A shorter and a longer row are refused by their number, with both counts."""
    with pytest.raises(ValueError, match=f"row 2.*'t'.*{len(cells)} cells.*2 columns"):
        Table(name="t", caption="c", columns=("word", "count"), rows=(("a", 1), cells), signatures=("s",))


def test_a_number_reads_as_in_a_paper() -> None:
    """61.24 [55.0, 67.1] has one decimal, -0.0 no sign, and what is unscored says so."""
    assert str(Number(61.24, 55.0, 67.12)) == "61.2 [55.0, 67.1]"
    assert str(Number(-1e-14, -1e-14, 48.5)) == "0.0 [0.0, 48.5]"
    assert str(Number(None)) == "unscored"
