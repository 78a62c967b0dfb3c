"""Tests of chat models and encoders in the opening of a report: claims, pairs and matrix equal those of `compare`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.choice_runs import pairs
from helpers.gate_runs import runs_of_two
from statsmodels.stats.multitest import multipletests

from catsofa.comparison import compare
from catsofa.data.files import jsonl
from catsofa.report import document
from catsofa.report.elements import Number
from catsofa.report.summary.standings import counted
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.compare.choosing import side_of
from catsofa.scoring.dataset import open_data

ORDERS = (["stereotype", "anti-stereotype"], ["anti-stereotype", "stereotype"])


def chat(folder: Path, name: str, letters: Callable[[int], str]) -> Path:
    """Writes the run of a model that answers both orders of each of 60 pairs with these letters."""
    records = pairs(60)
    jsonl.write(records, folder / "pairs.jsonl")
    lines = [
        {"item": pair.id, "order": order, "reply": letter, "template": "likelihood"}
        for number, pair in enumerate(records)
        for order, letter in zip(ORDERS, letters(number), strict=True)
    ]
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    report_on(folder / name, folder / "pairs.jsonl", out=folder / f"run-{name}")
    return folder / f"run-{name}"


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Writes runs of three chat models that choose the stereotype of 30, 32 and 59 of 60 pairs in both orders."""
    folder = tmp_path_factory.mktemp("chats")
    shares = {"even": 30, "near": 32, "biased": 59}
    return [
        chat(folder, name, lambda number, share=share: "AB" if number * 7 % 60 < share else "BA")  # type: ignore[misc]
        for name, share in shares.items()
    ]


def test_preferences_of_chat_models_are_told_apart_by_the_p_of_compare(chats: list[Path]) -> None:
    """In a matrix of three pairs, the stars show p of `compare` after Holm's correction over the three."""
    report = document(chats)
    table = next(table for table in report.sections[0].tables if "pairs-preference" in table.name)
    assert table.columns == ("model", "predictions:even", "predictions:near")  # models in the order of their names
    even, near, biased = chats
    couples = [(biased, even), (biased, near), (even, near)]
    rows = [
        next(row for row in compare([other, one]).differences if row.measure == "preference") for one, other in couples
    ]
    adjusted = multipletests([row.change.p for row in rows], method="holm")[1]
    cells = [table.rows[0][1], table.rows[0][2], table.rows[1][2]]
    assert all(isinstance(cell, Number) for cell in cells)
    assert [cell.value for cell in cells] == pytest.approx([row.change.by.value for row in rows])  # type: ignore[union-attr]
    stars = ["***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "" for p in adjusted]
    assert [cell.mark.strip() for cell in cells] == stars  # type: ignore[union-attr]
    assert stars == ["***", "***", ""]


def test_one_domain_alone_makes_no_second_row(chats: list[Path]) -> None:
    """Each of three models has one row."""
    preference = document(chats).sections[0].tables[0]
    assert [row[:2] for row in preference.rows] == [
        (f"predictions:{name}", "overall") for name in ("biased", "even", "near")
    ]


def test_what_is_said_of_chat_models_is_true_of_their_shares(chats: list[Path]) -> None:
    """One of 3 models prefers the stereotype beyond chance; the other two, at 0.50 and 0.53, are not distinguished."""
    (finding,) = document(chats).findings
    assert finding.sentences == (
        "Of 3 models, 1 prefers the stereotype (predictions:biased) beyond chance on preference; for 2 neither is "
        "shown (predictions:even and predictions:near).",
        "On preference, predictions:even and predictions:near cannot be told apart; every other two can.",
    )


def test_outcomes_that_a_run_has_kept_are_those_of_its_replies_read_again(chats: list[Path]) -> None:
    """The report reads no reply text twice, and counts the same."""
    data = open_data(chats[0].parent / "pairs.jsonl")
    for run in chats:
        again, held = (side_of(run, data, again=way) for way in (True, False))
        assert again == held


def test_encoders_differ_in_the_tests_that_compare_finds(tmp_path: Path) -> None:
    """One test of two encoders, whose d differ by 2.0 on few targets, shows no difference."""
    root = runs_of_two(tmp_path)
    runs = [root / "runs" / name / "tests" for name in ("gpt2", "llama")]
    table = next(table for table in document(runs).sections[0].tables if "pairs-seat" in table.name)
    (row,) = compare(runs).differences
    assert table.rows == (("gpt2", f"{int(row.holm <= 0.05)} of 1"),)


def test_tests_of_all_pairs_share_one_correction() -> None:
    """Among 0.01, 0.02 and 0.04 in one pair and 0.012 in another, Holm keeps 0.01 and 0.012."""
    p = {("a", "b"): [0.01, 0.02, 0.04], ("a", "c"): [0.012]}
    significant = multipletests([0.01, 0.02, 0.04, 0.012], method="holm")[1] <= 0.05
    assert counted(p) == {("a", "b"): (int(significant[:3].sum()), 3), ("a", "c"): (int(significant[3]), 1)}


def test_a_difference_that_position_may_make_is_not_in_the_matrix(chats: list[Path]) -> None:
    """A model that always takes the first option has no preference, and is in no pair."""
    report = document([*chats, chat(chats[0].parent, "first", lambda number: "AA")])
    table = next(table for table in report.sections[0].tables if "pairs-preference" in table.name)
    assert table.columns == ("model", "predictions:even", "predictions:near")
    assert [row[0] for row in table.rows] == ["predictions:biased", "predictions:even"]
    assert "predictions:first has no preference." in report.findings[0].sentences
