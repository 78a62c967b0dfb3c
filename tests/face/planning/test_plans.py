"""Tests of hypotheses and of plans: content frozen before runs."""

import tomllib
from contextlib import nullcontext
from pathlib import Path

import pytest
from helpers.gate_runs import AFTER, BEFORE
from typer.testing import CliRunner

import catsofa
from catsofa.cli import app
from catsofa.data.files import BadInput
from catsofa.planning import read
from catsofa.planning.hypotheses import parse, refuse_certain
from catsofa.scoring.protocols import named


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ss>50", "ss > 50"),
        (" ss/gender ( org/model-1.5 ) != 49.5 ", "ss/gender(org/model-1.5) != 49.5"),
        ("lms(a)=lms(b)", "lms(a) = lms(b)"),
        ("seat/weat 6(a) < -0.25", "seat/weat 6(a) < -0.25"),
        ("s_dis>0.00001", "s_dis > 0.00001"),
        ("sofa<1234567", "sofa < 1234567"),
        ("ss>50.1234567", "ss > 50.1234567"),
        ("seat/weat 6>-0", "seat/weat 6 > 0"),
    ],
)
def test_a_hypothesis_is_read_as_it_is_written(text: str, written: str) -> None:
    """Blanks do not count; the written form is read as the same hypothesis."""
    assert str(parse(text)) == written
    assert parse(written) == parse(text)


@pytest.mark.parametrize(
    "text",
    ["", "ss", "ss > ", "ss >= 50", "bias > 1", "ss > lms", "ss(a) > ss", "ss(a) > ss(a)", "ss(a) > lms(b)", "50 < ss",
     "ss/x(a) > ss/y(b)", "seat > 0", "icat(a) = icat(b)", "ss > 50 and lms > 80", "ss > nan"],
)  # fmt: skip
def test_what_is_no_hypothesis_is_refused_with_an_example(text: str) -> None:
    """The error says what was found, and shows the form of a hypothesis."""
    with pytest.raises(ValueError, match=r"found .*expected"):
        parse(text)


def test_a_plan_names_every_run_and_every_test_and_is_read_again(data: Path, tmp_path: Path) -> None:
    """Two models and two protocols give four runs; a hypothesis about every model has four tests, about
    two models two.
    """
    out = tmp_path / "plan.toml"
    two = ("catsofa", "stereoset-code")
    plan = catsofa.plan(["a", "b"], data, ["ss/trade > 50", "ss(a) > ss(b)"], protocols=two, out=out)
    assert len(plan.cells) == 4
    assert [str(one.hypothesis) for one in plan.tests] == [
        "ss/trade(a) > 50", "ss/trade(b) > 50", "ss/trade(a) > 50", "ss/trade(b) > 50", "ss(a) > ss(b)", "ss(a) > ss(b)"
    ]  # fmt: skip
    assert read(out) == plan
    assert tomllib.loads(out.read_text("utf-8"))["protocols"] == [f"{name}@{named(name).digest}" for name in two]


def test_a_plan_that_was_edited_is_refused_and_comments_may_be_added(data: Path, tmp_path: Path) -> None:
    """Every value is under the checksum, but comments are not."""
    out = tmp_path / "plan.toml"
    plan = catsofa.plan(["a"], data, ["ss > 50"], margins={"ss": 1}, out=out)
    text = out.read_text("utf-8")
    out.write_text(f"# a remark\n{text}")
    assert read(out) == plan
    for here, there in (("ss > 50", "ss > 40"), ("= 1.0", "= 2.0"), (BEFORE, AFTER), ('"a"', '"b"')):
        assert here in text
        out.write_text(text.replace(here, there))
        with pytest.raises(BadInput, match="checksum"):
            read(out)


def test_a_plan_is_never_replaced(data: Path, tmp_path: Path) -> None:
    """An existing file is refused, whatever it contains, and stays."""
    (tmp_path / "plan.toml").write_text("mine")
    with pytest.raises(BadInput, match="never replaced"):
        catsofa.plan(["a"], data, ["ss > 50"], out=tmp_path / "plan.toml")
    assert (tmp_path / "plan.toml").read_text() == "mine"


@pytest.mark.parametrize(
    ("models", "stated", "margins", "why"),
    [
        (["a"], ["ss(b) > 50"], {}, "the model 'b'"),
        (["a"], ["ss/planets > 50"], {}, "the set 'planets'.*overall, planet, trade"),
        (["a"], ["crows_pairs > 50"], {}, "no data with crows_pairs"),
        (["a", "a"], ["ss > 50"], {}, "twice"),
        (["a"], ["ss > 50", "ss>50.0"], {}, "twice"),
        (["a"], ["ss > 50", "ss(a) > 50"], {}, "twice"),
        (["a"], ["ss > 50"], {"lms": 1.0}, "of no hypothesis"),
        (["a"], ["ss > 50"], {"ss": -1.0}, "from 0"),
        (["a(b)"], ["ss > 50"], {}, "without"),
        (["a@main"], ["ss > 50"], {}, "commit"),
        (["a"], [], {}, "a plan needs one of each"),
        ([f"a@{'1' * 12}", f"b@{'1' * 12}"], ["ss > 50"], {}, "under another name"),
        (["/"], ["ss > 50"], {}, "no model"),
        (["a"], ["ss > 200"], {}, "no value fits; ss is between 0 and 100"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_tested_is_refused(
    data: Path, tmp_path: Path, models: list[str], stated: list[str], margins: dict[str, float], why: str
) -> None:
    """A mistake is reported before the runs; no file is written."""
    with pytest.raises(ValueError, match=why):
        catsofa.plan(models, data, stated, margins=margins, out=tmp_path / "plan.toml")
    assert not (tmp_path / "plan.toml").exists()


@pytest.mark.parametrize(
    ("text", "margin", "fits"),
    [
        ("ss > 0", 0, "every"), ("ss > -3", 0, "every"), ("ss < 100", 0, "every"), ("ss != 101", 0, "every"),
        ("s_amb != 50", 0, "every"), ("sofa > 0", 0, "every"), ("lms(a) = lms(b)", 101, "every"),
        ("ss > 200", 0, "no"), ("ss > 98", 2, "no"), ("ss < 0", 0, "no"), ("acc_amb > 30", 0, "no"),
        ("ss(a) > ss(b)", 100, "no"), ("sofa < 0", 0, "no"), ("lms = 120", 5, "no"),
        ("ss > 0", 5, ""), ("lms = 100", 5, ""), ("ss > 50", 0, ""), ("ss != 50", 2, ""), ("sofa > 0", 0.1, ""),
        ("sofa(a) < sofa(b)", 0, ""), ("seat/x > 2.5", 0, ""), ("lms(a) = lms(b)", 2, ""), ("s_dis < 0", 0.2, ""),
    ],
)  # fmt: skip
def test_a_hypothesis_that_needs_no_run_is_refused(text: str, margin: float, fits: str) -> None:
    """Hypotheses that every value or no value fits are refused, such as 30 for a share of 0.3."""
    with pytest.raises(ValueError, match=f"{fits} value fits") if fits else nullcontext():
        refuse_certain(parse(text), margin)


def test_one_data_set_or_protocol_under_two_names_is_refused(data: Path, tmp_path: Path) -> None:
    """The run would pass for either name, and each of its tests would count twice."""
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(data.read_bytes())
    with pytest.raises(ValueError, match=r"data set.*another name"):
        catsofa.plan(["a"], [data, copy], ["ss > 50"])
    with pytest.raises(ValueError, match=r"protocol.*another name"):
        catsofa.plan(["a"], data, ["ss > 50"], protocols=["catsofa", "catsofa,ties=excluded"])


def test_the_plan_that_is_printed_keeps_names_and_hashes_whole(data: Path, tmp_path: Path) -> None:
    """In 80 columns, with two protocols, each label of the plan is printed in full."""
    words = ["plan", "a", "--on", str(data), "--hypothesis", "ss/trade > 50", "--protocol", "catsofa"]
    words += ["--protocol", "stereoset-code", "--out", str(tmp_path / "plan.toml")]
    printed = CliRunner().invoke(app, words, env={"COLUMNS": "80"}).stdout
    plan = read(tmp_path / "plan.toml")
    assert all(label in printed for label in (*plan.models, *plan.data, *plan.protocols))
