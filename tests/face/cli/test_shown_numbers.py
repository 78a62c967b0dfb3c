"""Denominators, coverage and adjusted p: what the terminal and a report show beside a number."""

import io
import json
import re
from pathlib import Path

import pytest
from helpers.records import cat
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.cli.score.comparisons import CHANGE
from catsofa.cli.terminal import table
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.records import Cat, Pair, Score
from catsofa.report.cells import limited, share
from catsofa.scoring.compare import baselines

WHOLE = 2090


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        """Somebody is watching."""
        return True


def printed(*words: str | Path) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return done.output


def written(folder: Path, name: str, cats: list[Cat], seed: int, left_out: int = 0) -> Path:
    """A prediction file of a model that guesses, without its first CATs."""
    scores = list(baselines.random(cats[left_out:], seed=seed))
    formats.named("predictions").write(scores, folder / name)
    return folder / name


def zorbs(count: int, folder: Path, name: str = "cats.jsonl") -> list[Cat]:
    """So many CATs about 19 invented groups, in a file."""
    cats = [cat(f"c{number}", target=f"zorb{number % 19}") for number in range(count)]
    jsonl.write(cats, folder / name)
    return cats


def test_an_item_without_a_score_is_never_rounded_away(tmp_path: Path) -> None:
    """2,089 of 2,090 scored CATs: the denominator says so, and no coverage reads 100 %, in terminal and reports."""
    scores = written(tmp_path, "short.json", zorbs(WHOLE, tmp_path), 1, left_out=1)
    shown = printed("score", "--predictions", scores, "--on", tmp_path / "cats.jsonl")
    assert "2,089 of 2,090" in shown
    assert "99.95 %" in shown
    assert "100 %" not in shown
    assert "100.0" not in shown
    result = tmp_path / "result.json"
    result.write_text(printed("score", "--predictions", scores, "--on", tmp_path / "cats.jsonl", "--json"))
    for name in ("report.html", "report.md", "report.tex"):
        printed("report", result, "--out", tmp_path / name)
        text = (tmp_path / name).read_text()
        assert "2,089 of 2,090" in text


def test_a_report_writes_a_share_as_the_terminal_does() -> None:
    """99.95 of 2,089 / 2,090, a measure of 99.97 as such; 100.0 of all."""
    assert [str(share(part)) for part in (2089 / 2090, 1.0, 1 / 4229, 0.0)] == ["99.95", "100.0", "0.02", "0.0"]
    lms = {"lms": 99.97, "intervals": {"lms": {"low": 99.8, "high": 100.0}}}
    assert str(limited(lms, "lms")) == "99.97 [99.80, 100.00]"


def test_the_heading_of_the_second_table_names_what_is_in_it(tmp_path: Path) -> None:
    """Without ties and counts of unknown tokens, it is a table of coverage alone."""
    scores = written(tmp_path, "short.json", zorbs(60, tmp_path), 1, left_out=6)
    lines = printed("score", "--predictions", scores, "--on", tmp_path / "cats.jsonl").splitlines()
    heading = lines.index("coverage")
    assert lines[heading + 1].split() == ["domain", "coverage", "lms_coverage", "ss_coverage"]


@pytest.mark.parametrize(("given", "width"), [("60", 60), ("", 80), ("0", 80), ("wide", 80)])
def test_a_pipe_is_as_wide_as_columns_says(given: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS is the width where there is no terminal; 80 where it is no number of columns."""
    monkeypatch.setattr("sys.stdout", pipe := io.StringIO())
    monkeypatch.setenv("COLUMNS", given)
    table("title", ["name", "text"], [["zorbs", "of the lake " * 20]])
    assert max(map(len, pipe.getvalue().splitlines())) in (width - 1, width)


def test_robustness_shows_coverage_and_adjusts_every_p_of_the_call(tmp_path: Path) -> None:
    """Two models by two rephrasings are 12 tests: the terminal shows Holm's p, equal to that of the JSON."""
    cats = zorbs(60, tmp_path)
    first, second = (written(tmp_path, f"{name}.json", cats, seed) for name, seed in (("a", 1), ("b", 2)))
    sides = [written(tmp_path, f"p{seed}.json", cats[:48], seed) for seed in (3, 4, 5, 6)]
    given = ["--original", first, "--original", second, *(word for side in sides for word in ("--paraphrase", side))]
    shown = printed("robustness", *given, "--on", tmp_path / "cats.jsonl")
    assert shown.count("48 items compared, 80.0 % of the originals") == 4
    assert "adjusted over 12 tests" in shown
    found = json.loads(printed("robustness", *given, "--on", tmp_path / "cats.jsonl", "--json"))
    assert found["tests"] == 12
    for one in found["comparisons"]:
        for change in one["change"].values():
            assert f"{change['p']:.4f}  {change['holm']:.4f}" in shown


def pairs(folder: Path) -> None:
    """40 pairs; the first model wins the first 25, the second the last 25, so that they disagree on 30."""
    given = [
        Pair(id=f"q{n}", more="Zorbs lie.", less="Blickets lie.", bias_type="x", direction="stereo") for n in range(40)
    ]
    jsonl.write(given, folder / "pairs.jsonl")
    for name, wins in (("one", range(25)), ("other", range(15, 40))):
        jsonl.write(
            [
                Score(item=pair.id, score=float((at in wins) == (side == "more")), task=side)
                for at, pair in enumerate(given)
                for side in ("more", "less")
            ],
            folder / f"{name}.jsonl",
        )


def test_models_are_compared_on_pairs(tmp_path: Path) -> None:
    """Both prefer 25 of 40 pairs and disagree on 30: a change of 0, and 75 % of the preferences differ."""
    pairs(tmp_path)
    given = ["compare", tmp_path / "one.jsonl", tmp_path / "other.jsonl", "--on", tmp_path / "pairs.jsonl"]
    found = json.loads(printed(*given, "--json"))
    (row,) = found["differences"]
    assert (row["measure"], row["first"], row["other"], row["change"]) == ("score", 62.5, 62.5, 0)
    assert (found["kind"], found["items"], found["tests"], row["p"]) == ("pairs", 40, 1, 1)
    assert next(iter(found["disagreement"].values()))["value"] == 75
    assert "40 of 40 pairs (100 %) scored by every model" in printed(*given)


def test_robustness_on_pairs_names_what_it_takes(tmp_path: Path) -> None:
    """Exit 2 and one sentence: it joins CATs with their paraphrases."""
    pairs(tmp_path)
    given = ["--original", tmp_path / "one.jsonl", "--paraphrase", tmp_path / "other.jsonl"]
    done = CliRunner().invoke(app, ["robustness", *map(str, given), "--on", str(tmp_path / "pairs.jsonl")])
    assert "found pairs; expected CATs" in str(done.exception)


@pytest.mark.parametrize("columns", [20, 60, 80])
def test_a_comparison_fits_a_narrow_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line of a comparison is wider than 60 columns; where nothing fits, lines are too long and no number is cut."""
    monkeypatch.setattr("sys.stdout", screen := Screen())
    monkeypatch.setenv("COLUMNS", str(columns))
    cells = ["icat", "100.00", "100.00", "-14.7 [-16.6, -12.8]", "0.0002", "0.0012"]
    table("title", ["measure", "original", "paraphrase", CHANGE, "p", "Holm's p"], [cells])
    table("title", ["domain", "scored"], [["profession", "2,089 of 2,090"]])
    seen = re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())
    assert columns < 60 or max(len(line.rstrip()) for line in seen.splitlines()) <= columns
    assert set(re.findall(r"[^\s\[\],]+", " ".join(cells))) <= set(re.findall(r"[^\s\[\],]+", seen))
    assert all(part in seen for part in ("measure", "paraphrase", "2,089 of 2,090"))
