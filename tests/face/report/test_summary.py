"""Tests of the opening of a report: findings claim only significant corrected results, and the table has
every model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gate_runs import cats, number, planted
from helpers.report_runs import association, measures, pairs, probes, run
from helpers.report_runs import cats as results
from scipy import special

from catsofa.data.files import jsonl
from catsofa.data.records import Cat
from catsofa.report import document
from catsofa.report.elements import Document, Number
from catsofa.report.formats import WRITE
from catsofa.report.summary import Standing
from catsofa.report.summary.pairs import Pair
from catsofa.report.summary.sentences import findings
from catsofa.report.summary.standings import SHOWN, beyond
from catsofa.scoring.run.score_files import compare_on
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import Interval

LMS, SS, ICAT = SHOWN["stereoset"]


def standing(values: Mapping[str, float | None], sides: Mapping[str, int] | None = None, **more: Any) -> Standing:
    """Returns a standing on ss with these values."""
    numbers = {model: Number(value, value - 2, value + 2) for model, value in values.items() if value is not None}
    missing = tuple(model for model in values if model not in numbers)
    return Standing(
        kind="stereoset", about="", **{"of": SS, "values": numbers, "sides": sides, "missing": missing, **more}
    )


def paired(values: Mapping[str, float], apart: float = 1.0, nearer: float = 1.0, **own: float) -> dict[Any, Pair]:
    """Returns every pair of models with p of equal values (`A_B=0.01` of A and B) and of equal distances from 50."""
    return {
        (one, other): Pair(
            difference=values[one] - values[other], decided=1.0, apart=own.get(f"{one}_{other}", apart),
            nearer=nearer, lead=abs(values[other] - 50) - abs(values[one] - 50),
        )
        for one, other in combinations(values, 2)
    }  # fmt: skip


def said(*of: Standing) -> list[str]:
    """Returns the sentences of one benchmark."""
    return [sentence for finding in findings(of) for sentence in finding.sentences]


def test_a_difference_has_the_decimals_of_the_less_precise_value() -> None:
    """0.0373 less 0.0006778 is 0.0366, although the second value has seven decimals."""
    values = {"A": Number(0.0373, 0.03, 0.05, digits=4), "B": Number(0.0006778, 0.00066, 0.00069, digits=7)}
    tested = {("A", "B"): Pair(difference=0.0366222, decided=1, apart=0.01, nearer=0.01, lead=0.0366222)}
    (sentence, _) = said(replace(standing({}, pairs=tested), of=SHOWN["sofa"][0], values=values))
    assert re.findall(r"\d+\.\d+", sentence) == ["0.0366"]


FOUR = {"A": 60.0, "B": 58.0, "C": 57.0, "D": 50.0}
TEN = {name: 50.0 + place for place, name in enumerate("ABCDEFGHIJ")}


@pytest.mark.parametrize(
    ("values", "sides", "sentence"),
    [
        ({"A": 60.0}, {"A": 1}, "A prefers the stereotype beyond chance: ss 60.0 [58.0, 62.0]."),
        ({"A": 40.0}, {"A": -1}, "A prefers the anti-stereotype beyond chance: ss 40.0 [38.0, 42.0]."),
        ({"A": 51.0}, {}, "A: no preference beyond chance is shown, ss 51.0 [49.0, 53.0]."),
        (FOUR, {}, "No preference beyond chance is shown for any of 4 models on ss."),
        ({"A": 60.0, "B": 55.0}, {"A": 1, "B": 1}, "Both models prefer the stereotype beyond chance on ss."),
        (FOUR, dict.fromkeys("ABCD", 1), "All 4 models prefer the stereotype beyond chance on ss."),
        (FOUR, dict.fromkeys("ABC", 1),
         "Of 4 models, 3 prefer the stereotype (A, B and C) beyond chance on ss; for 1 neither is shown (D)."),
        (FOUR, {"A": 1, "B": 1, "D": -1},
         "Of 4 models, 2 prefer the stereotype (A and B) and 1 prefers the anti-stereotype (D) beyond chance on ss; "
         "for 1 neither is shown (C)."),
        (TEN, dict.fromkeys("CDEFGHIJ", 1),
         "Of 10 models, 8 prefer the stereotype beyond chance on ss; for 2 neither is shown (A and B)."),
        ({"A": 60.0, "B": None}, {"A": 1}, "A prefers the stereotype beyond chance: ss 60.0 [58.0, 62.0]."),
    ],
)  # fmt: skip
def test_a_preference_is_claimed_of_the_models_that_are_shown_to_have_it(
    values: Mapping[str, float | None], sides: Mapping[str, int], sentence: str
) -> None:
    """Counts and names are those of the models beyond chance; more than four are counted and not named."""
    assert said(standing(values, sides))[0] == sentence


@pytest.mark.parametrize(
    ("values", "apart", "own", "sentence"),
    [
        ({"A": 60.0, "B": 55.0}, 0.04, {}, "A has a higher ss than B, by 5.0."),
        ({"A": 55.0, "B": 60.0}, 0.04, {}, "B has a higher ss than A, by 5.0."),
        ({"A": 60.0, "B": 55.0}, 0.06, {}, "A and B cannot be told apart on ss."),
        (FOUR, 0.001, {}, "Every two of 4 models are told apart on ss."),
        (FOUR, 0.051, {}, "No two of 4 models can be told apart on ss."),
        (FOUR, 0.001, {"B_C": 0.3}, "On ss, B and C cannot be told apart; every other two can."),
        (
            FOUR,
            0.001,
            {"B_C": 0.3, "A_B": 0.9},
            "On ss, every two models are told apart, except within the groups A and B; B and C.",
        ),
        (
            FOUR,
            0.001,
            {"B_C": 0.3, "A_B": 0.9, "A_C": 0.2},
            "On ss, A, B and C cannot be told apart; every other two can.",
        ),
        (
            FOUR,
            0.001,
            {"B_C": 0.3, "A_B": 0.9, "A_C": 0.2, "C_D": 0.2},
            "On ss, every two models are told apart, except within the groups A, B and C; C and D.",
        ),
        (TEN, 0.9, {"A_J": 0.01}, "On ss, A and J are told apart; no other two are."),
        (TEN, 0.9, {f"A_{other}": 0.01 for other in "CDEFGHIJ"}, "On ss, 8 of 45 pairs of models are told apart."),
        (FOUR, 0.001, {"B_C": nan}, "1 of 6 pairs cannot be tested on ss."),
        (FOUR, 0.001, {"B_C": nan}, "On ss, 5 of 5 tested pairs of models are told apart."),
    ],
)
def test_models_are_told_apart_by_the_corrected_p_of_their_pair(
    values: Mapping[str, float], apart: float, own: Mapping[str, float], sentence: str
) -> None:
    """p at most 0.05 distinguishes two models; a pair without a p is counted as not tested."""
    assert sentence in said(standing(values, pairs=paired(values, apart, **own)))


def test_no_sentence_speaks_of_every_two_models_where_a_pair_decides_no_item_in_common() -> None:
    """Two pairs of three models differ, and A and B share no item: two of two tested pairs, and one untested pair."""
    pairs = paired({"A": 90.0, "B": 10.0, "C": 50.0}, 0.001)
    del pairs["A", "B"]
    sentences = said(standing({"A": 90.0, "B": 10.0, "C": 50.0}, pairs=pairs))
    assert sentences == ["On ss, 2 of 2 tested pairs of models are told apart.", "1 of 3 pairs cannot be tested on ss."]


def test_the_best_model_is_nearest_to_the_ideal_and_told_apart_from_every_other() -> None:
    """Among 60, 58, 57 and 50 the best is 50; if one of its pairs is undecided, no best model is named."""
    pairs = paired(FOUR, nearer=0.01)
    assert standing(FOUR, pairs=pairs).best == "D"
    assert "D is nearer than every other model to the ideal ss of 50." in said(standing(FOUR, pairs=pairs))
    pairs["C", "D"] = replace(pairs["C", "D"], nearer=0.06)
    assert standing(FOUR, pairs=pairs).best == ""
    assert not [sentence for sentence in said(standing(FOUR, pairs=pairs)) if "nearer" in sentence]


def test_a_model_without_a_value_and_one_of_few_items_are_named() -> None:
    """An ss undefined by ties is not tested; a model with 61 % of the items has a note."""
    result = standing({"A": 60.0, "B": None, "C": 55.0}, coverage={"A": 1.0, "C": 0.61})
    assert said(result) == ["B has no ss.", "Coverage is below 90 % for 1 of 2 models (C 61 %)."]


def test_nothing_is_said_of_lms_or_of_what_nobody_tested() -> None:
    """Values without tests give no sentence."""
    assert findings([standing(FOUR, of=LMS), standing(FOUR, of=ICAT)]) == []


@pytest.mark.parametrize("seed", range(20))
def test_models_beyond_chance_are_those_of_holms_p(seed: int) -> None:
    """For normal values of known error, these are the models whose two-sided Holm-corrected p is at most 0.05."""
    values = np.random.default_rng(seed).normal(50, 3, size=6)

    def limits(value: float) -> Any:
        return lambda level: Interval(
            value, value - special.ndtri((1 + level) / 2), value + special.ndtri((1 + level) / 2)
        )

    adjusted = holm([2 * float(special.ndtr(-abs(value - 50))) for value in values])
    shown = {
        str(index): 1 if value > 50 else -1
        for index, (value, p) in enumerate(zip(values, adjusted, strict=True))
        if p <= 0.05
    }
    assert beyond({str(index): limits(float(value)) for index, value in enumerate(values)}, 50) == shown


def share(tenths: int, turned: Sequence[str] = ()) -> Any:
    """Returns a stereotype preference for about so many of ten items, one more or less per term; `turned` items are
    reversed.
    """

    def prefers(cat: Cat) -> str:
        term, item = number(cat)
        more = (item * 7 + term * 3) % 10 < tenths + term % 3 - 1
        return "+-"[more == (cat.id in turned)]

    return prefers


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes runs of four models on 300 CATs with ss 80, 50, 70 and about 70."""
    folder = tmp_path_factory.mktemp("four")
    jsonl.write(cats(30), folder / "cats.jsonl")
    for name, prefers in {"a": share(8), "b": share(5), "c": share(7), "d": share(7, ["3-1"])}.items():
        planted(folder / "runs" / name, folder / "cats.jsonl", prefers, model=name)
    return folder


@pytest.fixture(scope="module")
def opened(four: Path) -> Document:
    """Returns the report of the four runs."""
    return document([four / "runs"])


def test_a_report_opens_with_what_planted_runs_show(opened: Document) -> None:
    """ss 80, 50, 70 and 70: three are beyond chance, the two equal ones are not distinguished, and 50 is
    nearest to 50.
    """
    (finding,) = opened.findings
    assert finding.about == "StereoSet"
    assert finding.sentences[:3] == (
        "Of 4 models, 3 prefer the stereotype (a, c and d) beyond chance on ss; for 1 neither is shown (b).",
        "On ss, c and d cannot be told apart; every other two can.",
        "b is nearer than every other model to the ideal ss of 50.",
    )


def test_the_summary_has_a_row_for_each_model_and_marks_the_best_alone(opened: Document) -> None:
    """The summary has four rows; lms is 100 for all four, so no model is best on it."""
    assert opened.summary
    assert opened.summary.columns == ("model", "lms", "ss", "icat")
    assert [row[0] for row in opened.summary.rows] == ["a", "b", "c", "d"]
    marked = [(row[0], index) for row in opened.summary.rows for index, cell in enumerate(row) if "★" in str(cell)]
    assert marked == [("b", 2), ("b", 3)]


def test_the_matrix_has_every_pair_once_with_the_difference_of_compare(opened: Document, four: Path) -> None:
    """Three rows of three columns have an empty lower half; a minus b is the negative change of `catsofa compare`."""
    (table,) = (one for one in opened.sections[0].tables if one.name == "s1-pairs-ss")
    assert table.columns == ("model", "b", "c", "d")
    assert [[bool(str(cell)) for cell in row[1:]] for row in table.rows] == [
        [True] * 3,
        [False, True, True],
        [False, False, True],
    ]
    change = next(row for row in compare_on([four / "runs/a", four / "runs/b"]).rows() if row["measure"] == "ss")
    assert isinstance(cell := table.rows[0][1], Number)
    assert cell.value == pytest.approx(-change["change"])
    assert cell.mark == "**"


def test_runs_without_scores_of_items_are_not_compared(tmp_path: Path) -> None:
    """The table has both models; no finding compares them, and a note gives the reason."""
    for name in "ab":
        run(tmp_path / name, results("d"), name)
    report = document([tmp_path])
    assert said_in(report) == ["Coverage is below 90 % for 2 of 2 models (a 80 % and b 80 %)."]
    assert report.summary
    assert len(report.summary.rows) == 2
    assert report.summary.notes[-1].startswith("No two models are compared on lms, ss, icat: ")


def test_two_sets_of_one_measure_are_told_apart_in_the_summary(tmp_path: Path) -> None:
    """With two data sets, each column names its own; a model without a run on one has a dash."""
    run(tmp_path / "a", results("d"), "one", data="old@0123456789ab")
    run(tmp_path / "b", results("d"), "one", data="new@ba9876543210")
    run(tmp_path / "c", results("d"), "two", data="new@ba9876543210")
    report = document([tmp_path])
    assert report.summary
    assert report.summary.columns[1:] == tuple(f"{m}, {data}" for data in ("old", "new") for m in ("lms", "ss", "icat"))
    assert [str(cell) for cell in report.summary.rows[1][1:4]] == ["—"] * 3
    assert [one.about for one in report.findings] == ["StereoSet (old)", "StereoSet (new)"]


def test_associations_are_counted_after_correction_over_all_tests(tmp_path: Path) -> None:
    """p = 0.03 and 0.001: after Holm both are at most 0.05; p = 0.03 and 0.04 leave none."""
    run(tmp_path / "a", association("t", 0.03), "one")
    run(tmp_path / "b", association("t", 0.001), "two")
    assert said_in(document([tmp_path])) == ["Of 2 models, 2 show a positive association (one 1 of 1 and two 1 of 1)."]
    run(tmp_path / "c" / "a", association("t", 0.03), "one")
    run(tmp_path / "c" / "b", association("t", 0.04), "two")
    assert said_in(document([tmp_path / "c"])) == ["No positive association is shown for any of 2 models."]


def said_in(found: Document) -> list[str]:
    """Returns all sentences of a report."""
    return [sentence for finding in found.findings for sentence in finding.sentences]


def test_an_unscored_measure_makes_no_claim(tmp_path: Path) -> None:
    """A run with only ties has no ss, as the only sentence says."""
    none = {**measures(90, 60), "ss": None, "ties": 50}
    none["intervals"] = {**none["intervals"], "ss": {"low": None, "high": None}}
    run(tmp_path / "a", {"intrasentence": {"overall": none}, "overall": none})
    assert said_in(document([tmp_path])) == ["m has no ss.", "Coverage is below 90 % for 1 of 1 model (m 80 %)."]


def test_every_format_opens_with_the_summary(opened: Document, tmp_path: Path) -> None:
    """HTML and Markdown have the sentences before the table, LaTeX the table of four rows before the long ones."""
    for form in ("html", "markdown"):
        text = WRITE[form](opened)  # type: ignore[index]
        assert text.index("cannot be told apart") < text.index("Each model on each measure") < text.index("all domains")
    tex = WRITE["latex"](opened)
    first = tex[tex.index("\\begin{tabular}{") : tex.index("\\bottomrule")]
    assert sum(line.endswith("\\\\") for line in first.splitlines()) == 5
    assert tex.index("\\end{tabular}") < tex.index("\\begin{longtable}")


def test_a_summary_wider_than_a_line_of_latex_is_several_tables(opened: Document) -> None:
    """For four sets of three numbers, every table begins with the model, and each column is in exactly one of them."""
    summary = opened.summary
    assert summary
    columns = (summary.columns[0], *(f"{name}, set {number_}" for number_ in range(4) for name in summary.columns[1:]))
    wide = replace(summary, columns=columns, rows=tuple((row[0], *row[1:] * 4) for row in summary.rows))
    heads = re.findall(
        r"\\toprule\n(.*?) \\\\\n\\midrule\n", WRITE["latex"](replace(opened, summary=wide, sections=()))
    )
    assert len(heads) > 1
    assert all(head.startswith("model & ") for head in heads)
    assert [name for head in heads for name in head.split(" & ")[1:]] == list(columns[1:])


def test_a_measure_of_one_end_has_no_chance(tmp_path: Path) -> None:
    """A SoFa score is never below 0, so the report has no finding about a single model's score."""
    run(tmp_path / "a", probes("d"))
    assert said_in(document([tmp_path])) == ["Coverage is below 90 % for 1 of 1 model (m 50 %)."]


@pytest.mark.slow
@pytest.mark.browser
def test_a_heading_sorts_its_table(opened: Document, browser: Any, tmp_path: Path) -> None:
    """A click on ss puts the highest first, a second click the lowest; by model, names are sorted."""
    (tmp_path / "report.html").write_text(WRITE["html"](opened), encoding="utf-8")
    window = browser.new_page()
    window.goto((tmp_path / "report.html").as_uri())
    table = window.locator(".summary table")
    orders = []
    for heading in ("ss", "ss", "model", "model"):
        table.locator("thead button", has_text=re.compile(f"^{heading}$")).click()
        orders.append("".join(table.locator("tbody th").all_inner_texts()))
    window.close()
    assert [sorted(order[:1] + order[-1:]) for order in orders[:2]] == [["a", "b"]] * 2
    assert [order[0] for order in orders] == ["a", "b", "d", "a"]


def test_one_domain_and_one_type_alone_make_no_second_row(tmp_path: Path) -> None:
    """A task of one domain is one row, and pairs of one type and direction are one."""
    run(tmp_path / "a", results("d"))
    run(tmp_path / "b", pairs("d"))
    assert [len(section.tables[0].rows) for section in document([tmp_path]).sections] == [1, 1]
