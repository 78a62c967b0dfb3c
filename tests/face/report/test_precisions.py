"""Tests of reports on runs in several precisions, and on static vectors beside transformers."""

from pathlib import Path

import pytest
from helpers.records import a_cat
from helpers.report_runs import association, cats, pairs, run, scored

from catsofa.comparison import compare
from catsofa.data.files import jsonl
from catsofa.report import document
from catsofa.report.elements import Document
from catsofa.report.formats import WRITE
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.signature import Signature, differences, distinctions


def signed(folder: Path, results: object, model: str, dtype: str) -> Path:
    """Writes a run of a model in this precision; an empty one is that of an earlier version."""
    label = f"{model}@{folder.name}" if dtype else f"{model}@{folder.name} kind=words"
    signature = Signature(data="d@0123456789ab", model=label, protocol="catsofa", dtype=dtype)
    return run(folder, results, model, signature=signature.to_dict())


@pytest.fixture
def two(tmp_path: Path) -> Document:
    """Returns the report of one model in two precisions, on CATs and association tests."""
    for dtype in ("bfloat16", "float32"):
        signed(tmp_path / f"c{dtype}", cats("d"), "m", dtype)
        signed(tmp_path / f"s{dtype}", association("t", 0.01), "m", dtype)
    return document([tmp_path])


def test_precisions_have_titles_columns_and_findings_of_their_own(two: Document) -> None:
    """Sections, columns and findings of one measure name the precision, float32 first, in each format."""
    assert two.summary
    assert [one.about for one in two.findings] == [
        f"{name} ({dtype})" for name in ("StereoSet", "SEAT") for dtype in ("float32", "bfloat16")
    ]
    assert [section.title.rpartition(", ")[2] for section in two.sections] == ["float32", "bfloat16"] * 2
    assert len(set(two.summary.columns)) == len(two.summary.columns) == 9
    assert all("lms, bfloat16" in WRITE[form](two) for form in ("csv", "latex"))  # type: ignore[index]


def test_looked_up_vectors_stand_beside_float32(tmp_path: Path) -> None:
    """A static encoder of an earlier version, which names no precision, shares the section of float32."""
    signed(tmp_path / "a", association("t", 0.01), "bert", "float32")
    signed(tmp_path / "b", association("t", 0.01), "glove", "")
    report = document([tmp_path])
    assert len(report.sections) == len(report.findings) == 1
    assert "bert" in report.findings[0].sentences[0]
    assert "glove" in report.findings[0].sentences[0]
    words = Signature(data="d", model="m@1 kind=words", protocol="catsofa")
    assert differences(words, Signature(data="d", model="n@1", protocol="catsofa", dtype="float32")) == []


def test_a_refused_comparison_names_the_precision_that_differs(tmp_path: Path) -> None:
    """Two runs in float32 and two in bfloat16 on one data set are named by their precision."""
    for dtype in ("float32", "bfloat16"):
        for model in ("m", "n"):
            signed(tmp_path / f"{model}{dtype}", association("t", 0.01), model, dtype)
    with pytest.raises(ValueError, match=r"bfloat16\); .*float32\); expected"):
        compare([tmp_path])


def test_a_precision_is_never_none() -> None:
    """A difference names the precision of looked-up vectors, and of old runs that it is not recorded."""
    words, half, old = (
        Signature(data="d", model=model, protocol="catsofa", dtype=dtype)
        for model, dtype in (("m@1 kind=words", ""), ("n@1", "float16"), ("n@1", ""))
    )
    assert differences(words, half) == ["dtype: float32 and float16"]
    assert differences(half, old) == ["dtype: float16 and not recorded"]
    assert distinctions(["", ""], [half, old]) == ["float16", "dtype not recorded"]


def test_rank_agreement_names_the_precision_of_equal_benchmarks(tmp_path: Path) -> None:
    """The CATs of three models in two precisions are two benchmarks with two names; the pairs need no precision."""
    for model in "mno":
        for dtype in ("float32", "bfloat16"):
            signed(tmp_path / f"c{model}{dtype}", cats("d"), model, dtype)
        signed(tmp_path / f"p{model}", pairs("d"), model, "float32")
    (part,) = (one for one in document([tmp_path]).sections if one.name == "agreement")
    names = {str(name) for row in part.tables[0].rows for name in row[:2]}
    assert sorted(name.rpartition("catsofa")[2] for name in names) == [")", ", bfloat16)", ", float32)"]


def test_two_protocols_in_two_precisions_have_two_titles(tmp_path: Path) -> None:
    """One model by two protocols in float32 and bfloat16 gives two sections, and each title names its precision."""
    data, items = tmp_path / "cats.jsonl", [a_cat("The zorb was BLANK.", id="zorb", target="zorb")]
    jsonl.write(items, data)
    for dtype in ("float32", "bfloat16"):
        for protocol in (DEFAULT, DEFAULT.changed(name="pll", masked="pseudo")):
            scored(tmp_path / f"{protocol.name}{dtype}", data, items, [], protocol, dtype=dtype)
    titles = [one.title for one in document([tmp_path]).sections if one.name.startswith("protocols")]
    assert sorted(title.rpartition(", ")[2] for title in titles) == ["bfloat16", "float32"]


def test_paraphrases_are_joined_with_originals_in_their_own_precision(tmp_path: Path) -> None:
    """In float32 nothing flips, in bfloat16 both preferences do; each precision has its own section, and is in it."""
    for name, verb in (("cats", "was"), ("rephrased", "seemed")):
        items = [a_cat(f"The {term} {verb} BLANK.", id=term, target=term) for term in ("zorb", "quib")]
        jsonl.write(items, tmp_path / f"{name}.jsonl")
        for dtype in ("float32", "bfloat16"):
            turned = ["zorb", "quib"] if (name, dtype) == ("cats", "bfloat16") else []
            scored(tmp_path / name / dtype, tmp_path / f"{name}.jsonl", items, turned, dtype=dtype)
    report = document([tmp_path / "cats"], paraphrases=[tmp_path / "rephrased"])
    parts = [one for one in report.sections if one.name.startswith("robustness")]
    flips = {one.title.rpartition(", ")[2]: [row[2] for row in one.tables[1].rows] for one in parts}
    assert {dtype: [cell.value for cell in cells] for dtype, cells in flips.items()} == {  # type: ignore[union-attr]
        "float32": [0],
        "bfloat16": [100],
    }


def test_checkpoints_in_two_precisions_have_two_titles(tmp_path: Path) -> None:
    """The lines of checkpoints in float32 and in bfloat16 are two sections, and each title names its precision."""
    for dtype in ("float32", "bfloat16"):
        for step in (1, 2):
            signed(tmp_path / f"{dtype}{step}", cats("d"), f"m-step{step}", dtype)
    titles = [one.title for one in document([tmp_path], x="step").sections if one.name.startswith("series")]
    assert sorted(title.rpartition(", ")[2] for title in titles) == ["bfloat16", "float32"]
