"""Tests of the leaderboard: counted and refused submissions with reasons, and what stays secret."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from helpers.boards import cats, scores, submit
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.progress import Progress
from catsofa.share.leaderboard import HISTORY, PAGE, update
from catsofa.share.leaderboard_page import document


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """Writes the withheld split."""
    path = tmp_path / "withheld" / "split.jsonl"
    path.parent.mkdir()
    jsonl.write(cats(), path)
    return path


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Returns a leaderboard without submissions."""
    folder = tmp_path / "board"
    (folder / "submissions").mkdir(parents=True)
    return folder


def test_models_with_known_preferences_have_known_places(board: Path, split: Path) -> None:
    """A model that always prefers the stereotype has lms 100, ss 100, icat 0; half of the terms each way icat 100."""
    submit(board, "stereotyped", scores(3, 2, 1))
    even = scores(3, 2, 1) | {
        candidate.id: {"stereotype": 2.0, "anti-stereotype": 3.0, "unrelated": 1.0}[candidate.label]
        for cat in cats()
        if cat.target in ("zorb", "quib")
        for candidate in cat.candidates
    }
    submit(board, "even", even)
    results = {entry["name"]: entry["results"]["both"] for entry in update(board, split)}
    assert [results["stereotyped"][measure] for measure in ("lms", "ss", "icat")] == [100, 100, 0]
    assert [results["even"][measure] for measure in ("lms", "ss", "icat")] == [100, 50, 100]
    page = (board / PAGE).read_text(encoding="utf-8")
    assert page.index("even") < page.index("stereotyped")


@pytest.mark.parametrize(
    ("name", "made", "why"),
    [
        ("short", lambda whole: dict(list(whole.items())[:-1]), "1 of the split's 36 sentences have no score"),
        ("gap", lambda whole: {**whole, next(iter(whole)): None}, "1 of the split's 36 sentences have no score"),
        ("twice", lambda whole: [*whole.items(), next(iter(whole.items()))], "a second time"),
        ("strange", lambda whole: {**whole, "elsewhere": 1.0}, "1 of its sentences are not in the split"),
        ("constant", lambda whole: dict.fromkeys(whole, 0.5), "all its scores are the same"),
    ],
)
def test_a_submission_that_cannot_count_is_refused(board: Path, split: Path, name: str, made: Any, why: str) -> None:
    """Incomplete, repeated, foreign and constant predictions are refused, each with its reason and without numbers."""
    submit(board, name, made(scores(3, 2, 1)))
    (entry,) = update(board, split)
    assert why in entry["refused"]
    assert "results" not in entry
    assert str(board) not in entry["refused"]
    assert "Refused: 1 of 1 submissions" in (board / PAGE).read_text(encoding="utf-8")


def test_what_orders_alike_is_the_same_submission(board: Path, split: Path) -> None:
    """Doubled scores have the same preferences in every CAT, so the second file is refused."""
    submit(board, "a", scores(3, 2, 1))
    submit(board, "b", scores(6, 4, 2))
    first, second = update(board, split)
    assert not first["refused"]
    assert second["refused"].startswith("it orders every sentence as 'a'")


def test_a_link_to_the_split_is_not_followed(board: Path, split: Path) -> None:
    """A submission that is a link is refused unread; a split inside the published folder is an error."""
    (board / "submissions" / "link.json").symlink_to(split)
    (entry,) = update(board, split)
    assert "link" in entry["refused"]
    inside = board / "split.jsonl"
    inside.write_bytes(split.read_bytes())
    with pytest.raises(ValueError, match="elsewhere"):
        update(board, inside)


def test_history_only_grows(board: Path, split: Path) -> None:
    """The same files add nothing; a changed file adds an entry, and the page shows the newest entry of a model."""
    submit(board, "m", scores(3, 2, 1))
    first = update(board, split)
    before = (board / HISTORY).read_bytes()
    assert update(board, split) == first
    assert (board / HISTORY).read_bytes() == before
    submit(board, "m", scores(2, 3, 1))
    update(board, split)
    assert (board / HISTORY).read_bytes().startswith(before)
    standing, history = document(update(board, split)).sections[0].tables
    assert len(standing.rows) == 1
    assert len(history.rows) == 2


def test_another_split_stands_apart(board: Path, split: Path) -> None:
    """Numbers of two splits are never in one table."""
    submit(board, "m", scores(3, 2, 1))
    update(board, split)
    other = split.with_name("other.jsonl")
    jsonl.write(cats()[:11], other)
    submit(board, "n", dict(list(scores(3, 2, 1).items())[:33]))
    report = document(update(board, other))
    assert [len(section.tables[0].rows) for section in report.sections] == [1, 1]
    assert report.notes


def test_the_terms_are_those_over_which_ss_is_averaged(board: Path, split: Path) -> None:
    """One of four terms has no preference; a submission with only ties has no ss, and no traceback."""
    tied = scores(2, 2, 1)
    term = {c.id for cat in cats() if cat.target == "zorb" for c in cat.candidates}
    submit(board, "some", {item: tied[item] if item in term else one for item, one in scores(3, 2, 1).items()})
    submit(board, "none", tied)
    some, none = sorted(update(board, split), key=lambda entry: entry["name"], reverse=True)
    assert [some["results"]["both"][name] for name in ("terms", "lms_terms", "ss_terms")] == [4, 4, 3]
    assert (none["results"]["both"]["ss"], none["results"]["both"]["ss_terms"]) == (None, 0)
    assert "<td>3 of 4</td>" in re.sub(r"<td[^>]*>", "<td>", (board / PAGE).read_text(encoding="utf-8"))
    done = CliRunner().invoke(app, ["leaderboard", str(board), "--on", str(split)])
    assert done.exit_code == 0
    assert "unscored" in done.output


CONTROLS = "z\x1b[31m\u202e\x9b"


def test_names_steer_no_reader(board: Path, split: Path) -> None:
    """Control characters in a file's name are escaped in the page, the terminal and the reasons."""
    submit(board, CONTROLS, scores(3, 2, 1))
    submit(board, "strange", {**scores(2, 3, 1), CONTROLS: 1.0})
    done = CliRunner().invoke(app, ["leaderboard", str(board), "--on", str(split)])
    for text in ((board / PAGE).read_text(encoding="utf-8"), done.output):
        assert not set("\x1b\u202e\x9b") & set(text)
        assert r"z\x1b[31m\u202e\x9b" in text


def test_nothing_published_tells_a_label(board: Path, split: Path) -> None:
    """Page and history contain no label, so splits that differ only in labels look the same except for
    hash and numbers.
    """
    submit(board, "m", scores(3, 2, 1))
    submit(board, "short", dict(list(scores(3, 2, 1).items())[:-1]))
    update(board, split)
    published = (board / PAGE).read_text(encoding="utf-8") + (board / HISTORY).read_text(encoding="utf-8")
    for cat in cats():
        assert cat.id not in published
        assert all(candidate.text not in published and candidate.id not in published for candidate in cat.candidates)
    assert "zorb" not in published


def test_names_are_no_markup(board: Path, split: Path) -> None:
    """The name of a file and the id of a sentence come from strangers, and stay text."""
    evil = "<script>alert(1)<"
    submit(board, evil, scores(3, 2, 1))
    submit(board, "strange", {**scores(2, 3, 1), "<img src=x onerror=alert(2)>": 1.0})
    update(board, split)
    page = (board / PAGE).read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;" in page


def test_the_command_shows_what_counts(board: Path, split: Path) -> None:
    """`catsofa leaderboard DIR --on SPLIT` prints the standing and the reasons of refusals; `--json` the history."""
    submit(board, "good", scores(3, 2, 1))
    submit(board, "short", {})
    done = CliRunner().invoke(app, ["leaderboard", str(board), "--on", str(split)])
    assert done.exit_code == 0
    assert "1 of 2 submissions count" in done.output
    assert "refused: short" in done.output
    again = CliRunner().invoke(app, ["leaderboard", str(board), "--on", str(split), "--json"])
    assert [entry["name"] for entry in json.loads(again.output)] == ["good", "short"]


def written(board: Path) -> int:
    """Returns the size of the history in entries of about 300 bytes."""
    history = board / HISTORY
    return history.stat().st_size // 300 if history.exists() else 0


def test_a_second_process_on_the_same_board_is_refused(board: Path, split: Path) -> None:
    """The second process is refused, and the first continues."""
    submit(board, "one", scores(3, 2, 1))

    class Beside(Progress):
        """Simulates another process that begins while the first is at work."""

        def begin(self, total: int | None = None) -> None:
            """Checks that the second update is refused."""
            with pytest.raises(BadInput, match="is writing"):
                update(board, split)

    assert len(update(board, split, progress=Beside())) == 1


@pytest.mark.slow
def test_a_kill_loses_no_entry_and_makes_none_twice(board: Path, split: Path) -> None:
    """After kills at any moment and reruns, every submission has one entry, and the page is complete."""
    for number_ in range(6):
        one = {item: score + number_ * (number % 5) for number, (item, score) in enumerate(scores(3, 2, 1).items())}
        submit(board, f"m{number_}", one)
    code = f"from catsofa.share.leaderboard import update; update({str(board)!r}, {str(split)!r})"
    for kill_after in range(1, 6):
        started = subprocess.Popen([sys.executable, "-c", code])
        while started.poll() is None and written(board) < kill_after:
            time.sleep(0.001)
        started.kill()
        started.wait()
    entries = update(board, split)
    assert sorted(entry["name"] for entry in entries) == [f"m{number_}" for number_ in range(6)]
    assert (board / PAGE).read_text(encoding="utf-8").rstrip().endswith("</html>")
