"""Tests of places on a leaderboard, shared where intervals overlap, and of a board of finished runs of
every measure.
"""

import json
from pathlib import Path

import pytest
from helpers.report_runs import association, measures, pairs, probes, run
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.share.leaderboard_runs import boards, document
from catsofa.share.places import distance, places, written


def test_the_distance_of_an_interval_from_the_ideal_value_has_two_ends() -> None:
    """[40, 55] contains 50 and reaches 10 away; [55, 60] is 5 to 10 away; a missing end gives no distance."""
    assert distance((40, 55), 50) == (0, 10)
    assert distance((55, 60), 50) == (5, 10)
    assert distance((40, 45), 50) == (5, 10)
    assert distance((None, 60), 50) is None
    assert distance((float("nan"), 60), 50) is None


def test_a_place_is_shared_where_intervals_overlap() -> None:
    """a and b overlap, c is behind both, d overlaps only c on the other side of 50; e has no interval."""
    ranks = places({"a": (48, 53), "b": (51, 56), "c": (58, 62), "d": (39, 41), "e": (None, None)}, 50)
    # distances: a [0, 3], b [1, 6], c [8, 12], d [9, 11]
    assert ranks == {"a": (1, 2), "b": (1, 2), "c": (3, 4), "d": (3, 4)}
    assert [written(ranks.get(name)) for name in "ace"] == ["1–2", "3–4", "—"]
    assert written((2, 2)) == "2"


def test_equal_ends_overlap() -> None:
    """A model is not ahead of another one whose nearest end equals its own farthest end."""
    assert places({"a": (50, 55), "b": (55, 60)}, 50) == {"a": (1, 2), "b": (1, 2)}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Writes runs of four measures: CATs of three models, the third far off; pairs, probes and
    association tests of one.
    """
    for name, lms, ss in (("a", 90, 52), ("b", 90, 53), ("c", 60, 70)):
        values = measures(lms, ss)
        run(tmp_path / "runs" / name, {"intrasentence": {"overall": values}, "overall": values}, model=name)
    run(tmp_path / "runs" / "p", pairs("x"), model="a", data="p@1")
    run(tmp_path / "runs" / "s", probes("x"), model="a", data="s@1")
    run(tmp_path / "runs" / "w", association("weat6", 0.01), model="a", data="w@1")
    return tmp_path


def test_runs_of_every_measure_have_boards(kept: Path) -> None:
    """CATs are ranked by icat: 86.4 ± 2 and 84.6 ± 2 share the first place, 36 is third; lms and ss are
    shown beside it.
    """
    by_measure = {(board.kind, board.number): board for board in boards([kept / "runs"])}
    assert set(by_measure) == {
        ("stereoset", "icat"), ("crows_pairs", "score"), ("sofa", "score"), ("seat", "effect_size")
    }  # fmt: skip
    cats = by_measure["stereoset", "icat"]
    assert [(row.model, row.place) for row in cats.rows] == [("a", (1, 2)), ("b", (1, 2)), ("c", (3, 3))]
    assert [one.name for one in cats.rows[0].beside] == ["lms", "ss"]
    assert cats.rows[0].coverage == 0.8
    assert (by_measure["seat", "effect_size"].set, by_measure["seat", "effect_size"].rows[0].coverage) == ("weat6", 1.0)
    shown = document(list(by_measure.values()))
    assert [row[1] for row in shown.sections[0].tables[0].rows] == ["1–2", "1–2", "3"]


def test_the_command_writes_a_page_of_runs(kept: Path) -> None:
    """`--runs` needs no split; `--json` has the places; both together, or neither, are refused."""
    done = CliRunner().invoke(app, ["leaderboard", str(kept / "board"), "--runs", str(kept / "runs")])
    assert done.exit_code == 0, done.output
    assert "1–2" in done.output
    assert "1–2" in (kept / "board/index.html").read_text("utf-8")
    result = CliRunner().invoke(app, ["leaderboard", str(kept / "board"), "--runs", str(kept / "runs"), "--json"])
    assert [row["place"] for row in json.loads(result.output)[0]["rows"]] == [[1, 2], [1, 2], [3, 3]]
    for more in ([], ["--runs", str(kept / "runs"), "--on", "x"], ["--runs", str(kept / "runs"), "--seed", "1"]):
        assert isinstance(CliRunner().invoke(app, ["leaderboard", str(kept), *more]).exception, ValueError)


def test_two_precisions_have_two_boards_with_two_titles(tmp_path: Path) -> None:
    """Models in float32 and in bfloat16 share no table, and each section names its precision."""
    values = measures(90, 52)
    for dtype in ("float32", "bfloat16"):
        signature = {"data": "d@1", "model": f"m@{dtype}", "protocol": "catsofa", "dtype": dtype}
        run(tmp_path / dtype, {"intrasentence": {"overall": values}, "overall": values}, signature=signature)
    titles = [section.title for section in document(boards([tmp_path])).sections]
    assert sorted(title.rpartition(", ")[2] for title in titles) == ["bfloat16)", "float32)"]
