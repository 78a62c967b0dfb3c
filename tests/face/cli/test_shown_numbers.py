"""Tests of denominators, coverage and adjusted p beside numbers in the terminal and in reports."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.records import cat, scores
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.cli.numbers import adjusted, percent
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.records import AssociationTest, Cat, Pair, Score, WordSet
from catsofa.report.cells import between, limited, share, valued
from catsofa.scoring.compare import baselines
from catsofa.scoring.statistics.intervals import Interval

WHOLE = 2090


def printed(*words: str | Path, code: int = 0) -> str:
    """Returns the output of a command."""
    done = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "80"})
    assert done.exit_code == code, done.output
    return done.output


def written(folder: Path, name: str, cats: list[Cat], seed: int, left_out: int = 0) -> Path:
    """Writes a prediction file of a guessing model, without its first CATs."""
    guesses = list(baselines.random(cats[left_out:], seed=seed))
    formats.named("predictions").write(guesses, folder / name)
    return folder / name


def zorbs(count: int, folder: Path, name: str = "cats.jsonl") -> list[Cat]:
    """Writes so many CATs about 19 invented groups to a file."""
    cats = [cat(f"c{number}", target=f"zorb{number % 19}") for number in range(count)]
    jsonl.write(cats, folder / name)
    return cats


def test_an_item_without_a_score_is_never_rounded_away(tmp_path: Path) -> None:
    """With 2,089 of 2,090 CATs scored, the denominator shows it, and no coverage reads 100 %, in
    terminal and reports.
    """
    path = written(tmp_path, "short.json", zorbs(WHOLE, tmp_path), 1, left_out=1)
    shown = printed("score", "--predictions", path, "--on", tmp_path / "cats.jsonl")
    assert "2,089 of 2,090" in shown
    assert "99.95 %" in shown
    assert "100 %" not in shown
    assert "100.0" not in shown
    result = tmp_path / "result.json"
    result.write_text(printed("score", "--predictions", path, "--on", tmp_path / "cats.jsonl", "--json"))
    for name in ("report.html", "report.md", "report.tex"):
        printed("report", result, "--out", tmp_path / name)
        text = (tmp_path / name).read_text()
        assert "2,089 of 2,090" in text


def test_a_report_writes_a_share_as_the_terminal_does() -> None:
    """2,089 / 2,090 is shown as 99.95, a measure of 99.97 as such; only a full share as 100.0."""
    assert [str(share(part)) for part in (2089 / 2090, 1.0, 1 / 4229, 0.0)] == ["99.95", "100.0", "0.02", "0.0"]
    lms = {"lms": 99.97, "intervals": {"lms": {"low": 99.8, "high": 100.0}}}
    assert str(limited(lms, "lms")) == "99.97 [99.80, 100.00]"


def test_the_heading_of_the_second_table_names_what_is_in_it(tmp_path: Path) -> None:
    """Without ties and counts of unknown tokens, the table shows only coverage."""
    path = written(tmp_path, "short.json", zorbs(60, tmp_path), 1, left_out=6)
    lines = printed("score", "--predictions", path, "--on", tmp_path / "cats.jsonl").splitlines()
    heading = lines.index("coverage")
    assert lines[heading + 1].split() == ["domain", "coverage", "lms_coverage", "ss_coverage"]


def test_robustness_shows_coverage_and_adjusts_every_p_of_the_call(tmp_path: Path) -> None:
    """Two models by two rephrasings are 12 tests: the terminal shows Holm's p, equal to that of the JSON."""
    cats = zorbs(60, tmp_path)
    first, second = (written(tmp_path, f"{name}.json", cats, seed) for name, seed in (("a", 1), ("b", 2)))
    sides = [written(tmp_path, f"p{seed}.json", cats[:48], seed) for seed in (3, 4, 5, 6)]
    given = ["--original", first, "--original", second, *(word for side in sides for word in ("--paraphrase", side))]
    shown = printed("robustness", *given, "--on", tmp_path / "cats.jsonl")
    assert shown.count("48 items compared, 80.0 % of the originals") == 4
    assert "adjusted over 12 tests" in shown
    report = json.loads(printed("robustness", *given, "--on", tmp_path / "cats.jsonl", "--json"))
    assert report["tests"] == 12
    for one in report["comparisons"]:
        for change in one["change"].values():
            assert f"{change['p']:.4f}  {change['holm']:.4f}" in shown


def pairs(folder: Path) -> None:
    """Writes 40 pairs; the first model wins the first 25, the second the last 25, so that they disagree on 30."""
    records = [
        Pair(id=f"q{n}", more="Zorbs lie.", less="Blickets lie.", bias_type="x", direction="stereo") for n in range(40)
    ]
    jsonl.write(records, folder / "pairs.jsonl")
    for name, wins in (("one", range(25)), ("other", range(15, 40))):
        jsonl.write(
            [
                Score(item=pair.id, score=float((index in wins) == (side == "more")), task=side)
                for index, pair in enumerate(records)
                for side in ("more", "less")
            ],
            folder / f"{name}.jsonl",
        )


def test_models_are_compared_on_pairs(tmp_path: Path) -> None:
    """Both models prefer 25 of 40 pairs and disagree on 30: a change of 0, and 75 % of the preferences differ."""
    pairs(tmp_path)
    arguments = ["compare", tmp_path / "one.jsonl", tmp_path / "other.jsonl", "--on", tmp_path / "pairs.jsonl"]
    report = json.loads(printed(*arguments, "--json"))
    (row,) = report["differences"]
    assert (row["measure"], row["first"], row["other"], row["change"]) == ("score", 62.5, 62.5, 0)
    assert (report["kind"], report["items"], report["tests"], row["p"]) == ("pairs", 40, 1, 1)
    assert next(iter(report["disagreement"].values()))["value"] == 75
    assert "40 of 40 pairs (100 %) scored by every model" in printed(*arguments)


def test_a_score_of_one_pair_has_no_interval_and_a_reason(tmp_path: Path) -> None:
    """A type with one pair has no limits, and a line below the table says so; without such a type there is none."""
    pairs(tmp_path)
    arguments = ["score", "--predictions", tmp_path / "one.jsonl", "--on", tmp_path / "pairs.jsonl"]
    reasons = [printed(*arguments).count("one pair")]
    records = list(jsonl.read(tmp_path / "pairs.jsonl", Pair))
    jsonl.write([*records[:-1], replace(records[-1], bias_type="y")], tmp_path / "pairs.jsonl")
    assert [*reasons, printed(*arguments).count("one pair")] == [0, 1]


@pytest.mark.parametrize(("reasons", "lines"), [(6, 6), (9, 6)])
def test_many_reasons_without_a_score_are_summed(tmp_path: Path, reasons: int, lines: int) -> None:
    """Of more than six reasons, five are shown and the last line counts the others with their texts."""
    pairs(tmp_path)
    store = list(jsonl.read(tmp_path / "one.jsonl", Score))
    cut = [replace(one, score=None, reason=f"{place} tokens") for place, one in enumerate(store[:reasons])]
    jsonl.write([*cut, *store[reasons:]], tmp_path / "one.jsonl")
    shown = printed("score", "--predictions", tmp_path / "one.jsonl", "--on", tmp_path / "pairs.jsonl")
    told = [line for line in shown.splitlines() if line.startswith("unscored: ")]
    assert len(told) == lines
    assert sum(int(re.findall(r"\d+", line)[0]) for line in told) == reasons


def test_robustness_on_pairs_names_what_it_takes(tmp_path: Path) -> None:
    """The exit code is 2 with one sentence, because the command joins CATs with their paraphrases."""
    pairs(tmp_path)
    arguments = ["--original", tmp_path / "one.jsonl", "--paraphrase", tmp_path / "other.jsonl"]
    done = CliRunner().invoke(app, ["robustness", *map(str, arguments), "--on", str(tmp_path / "pairs.jsonl")])
    assert "found pairs; expected CATs" in str(done.exception)


def orders(folder: Path, name: str, given: dict[str, tuple[float, float, float]]) -> Path:
    """Writes a file of scores: each CAT by its stereotype, anti-stereotype and unrelated candidate."""
    entries = [{"id": item, "score": score} for item, score in scores(given).items()]
    (folder / name).write_text(json.dumps({"intrasentence": entries, "intersentence": []}))
    return folder / name


def test_a_term_says_how_many_of_its_items_are_scored(tmp_path: Path) -> None:
    """With one of two CATs of a term scored, the output has `1 of 2`, and JSON 2 items, 1 scored; full terms a plain
    count.
    """
    jsonl.write([cat("a", target="zorb"), cat("b", target="zorb"), cat("c", target="quib")], tmp_path / "cats.jsonl")
    whole = orders(tmp_path, "whole.json", dict.fromkeys("abc", (3, 2, 1)))
    partly = orders(tmp_path, "partly.json", dict.fromkeys("ac", (3, 2, 1)))
    options = ["--on", tmp_path / "cats.jsonl", "--terms"]
    lines = [line.split() for line in printed("score", "--predictions", whole, *options).splitlines()]
    assert ["zorb", "pastime", "2"] in [line[:3] for line in lines]
    assert "0 of" not in printed("score", "--predictions", whole, *options)
    assert "1 of 2" in printed("score", "--predictions", partly, *options)
    rows = json.loads(printed("score", "--predictions", partly, *options, "--json"))["terms"]
    assert {row["term"]: (row["items"], row["scored"]) for row in rows} == {"zorb": (2, 1), "quib": (1, 1)}


def test_the_terms_are_those_that_the_numbers_rest_on(tmp_path: Path) -> None:
    """2 of 3 terms are scored, ss has 1 term and 1 CAT: the terminal, LaTeX, CSV, Markdown and HTML show this."""
    jsonl.write([cat(name, target=f"zorb{name}") for name in "abc"], tmp_path / "cats.jsonl")
    partly = orders(tmp_path, "partly.json", {"a": (3, 2, 1), "b": (2, 2, 1)})
    shown = printed("score", "--predictions", partly, "--on", tmp_path / "cats.jsonl")
    assert re.search(r"2 of 3 +2 of 3 +1 CAT, 1 term", shown)
    (tmp_path / "result.json").write_text(
        printed("score", "--predictions", partly, "--on", tmp_path / "cats.jsonl", "--json")
    )
    overall = json.loads((tmp_path / "result.json").read_text())["results"]["overall"]
    assert [overall[name] for name in ("terms", "lms_terms", "ss_terms", "ss_items")] == [3, 2, 1, 1]
    for ending in ("html", "md", "tex", "csv"):
        printed("report", tmp_path / "result.json", "--out", tmp_path / f"report.{ending}")
        text = (tmp_path / f"report.{ending}").read_text()
        assert text.count("2 of 3") >= 2
        assert "1 CAT, 1 term" in text


@pytest.mark.parametrize("score", ["Infinity", "-Infinity", "1e999"])
def test_an_infinite_score_is_unscored_with_a_reason(tmp_path: Path, score: str) -> None:
    """The text is counted as unscored, and the reason names the value."""
    jsonl.write([cat("a"), cat("b")], tmp_path / "cats.jsonl")
    path = orders(tmp_path, "odd.json", dict.fromkeys("ab", (3, 2, 99)))
    path.write_text(path.read_text().replace("99", score, 1))
    report = json.loads(printed("score", "--predictions", path, "--on", tmp_path / "cats.jsonl", "--json"))
    assert sum(report["unscored"].values()) == 1
    assert "inf" in next(iter(report["unscored"]))


@pytest.mark.parametrize(
    "idle",
    [
        ("--limit", "5"),
        ("--out", "x"),
        ("--dtype", "float32"),
        ("--batch-tokens", "9"),
        ("--nsp", "head"),
        ("--device", "cpu"),
        ("--engine", "local"),
        ("--workers", "1"),
        ("--bits", "8"),
        ("--trust-remote-code",),
    ],
)
def test_an_option_without_effect_on_predictions_is_refused(tmp_path: Path, idle: tuple[str, ...]) -> None:
    """Each option of `score` that only a model needs is refused by name with --predictions."""
    path = written(tmp_path, "scores.json", zorbs(20, tmp_path), 1)
    arguments = ["score", "--predictions", path, "--on", tmp_path / "cats.jsonl", *idle]
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert isinstance(done.exception, ValueError)
    assert idle[0] in str(done.exception)


def test_a_number_has_its_noun_in_the_right_number() -> None:
    """The output says 1 test and 2 tests, and no adjusted p for no test."""
    assert adjusted([0.1]).endswith("1 test")
    assert adjusted([0.1, 0.2, None]).endswith("2 tests")
    assert "0" not in adjusted([None])


def test_a_seat_test_shows_its_texts_and_an_unscored_one_covers_none(tmp_path: Path) -> None:
    """All 16 texts are shown; with X cut to 3 targets, 0 of 15 texts count, 1 test is unscored, and no coverage is 100
    %.
    """
    sets = {part: [f"{part.lower()}{n}" for n in range(4)] for part in "XYAB"}
    rows = np.random.default_rng(0).normal(size=(16, 5))
    words = [word for words_ in sets.values() for word in words_]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, rows, strict=True)))
    for name, targets in (("whole", 4), ("cut", 3)):
        x, y, a, b = (WordSet(name=key, items=tuple(sets[key][: targets if key == "X" else 4])) for key in sets)
        test = AssociationTest(id=name, x=x, y=y, a=a, b=b)
        jsonl.write([test], tmp_path / f"{name}.jsonl")
    whole = printed("score", vectors, "--on", tmp_path / "whole.jsonl")
    assert [line.split()[-1] for line in whole.splitlines() if line.startswith("whole")] == ["16"]
    shown = printed("score", vectors, "--on", tmp_path / "cut.jsonl", code=1)
    assert "coverage 100 %" not in shown
    assert re.search(r"\b0 of 15\b", shown)
    of_cut = json.loads(printed("score", vectors, "--on", tmp_path / "cut.jsonl", "--json", code=1))
    assert of_cut["results"][0]["coverage"] == 0


def test_a_share_of_nothing_is_undefined_without_a_percent_sign(tmp_path: Path) -> None:
    """With two models, one all ties, no preference is decided by both, and the line says undefined."""
    jsonl.write([cat(name, target=f"zorb{name}") for name in "abc"], tmp_path / "cats.jsonl")
    one = orders(tmp_path, "one.json", dict.fromkeys("abc", (3, 2, 1)))
    other = orders(tmp_path, "other.json", dict.fromkeys("abc", (2, 2, 1)))
    shown = printed("compare", one, other, "--on", tmp_path / "cats.jsonl")
    (line,) = [line for line in shown.splitlines() if line.startswith("preferences that differ")]
    assert "undefined" in line
    assert "%" not in line
    shown = printed("robustness", "--original", one, "--paraphrase", other, "--on", tmp_path / "cats.jsonl")
    (line,) = [line for line in shown.splitlines() if line.startswith("preferences that flip")]
    assert "undefined" in line
    assert "%" not in line


def test_a_value_and_its_limits_share_the_decimals_that_each_of_them_needs() -> None:
    """1 of 4,000 is not shown as 0, 99.97 not as 100, and zero has no sign: in the terminal and in every report."""
    assert percent(0.025) == "0.03"
    assert percent(Interval(0.025, 0.001, 0.14)) == "0.025 [0.001, 0.140]"
    assert percent(Interval(98.2, 95.1, 99.97)) == "98.20 [95.10, 99.97]"
    assert percent(Interval(-1e-12, -3.25, 3.14)) == "0.0 [-3.2, 3.1]"
    assert percent(float("nan")) == "undefined"
    for number in (Interval(98.2, 95.1, 99.97), Interval(-1e-12, -3.25, 3.14), Interval(0.025, 0.001, 0.14)):
        assert str(valued(number.to_dict())) == percent(number)
        assert str(between(number, 1)) == percent(number)
    measure = {"lms": 98.2, "intervals": {"lms": {"low": 95.1, "high": 99.97}}}
    assert str(limited(measure, "lms")) == "98.20 [95.10, 99.97]"


def test_one_task_has_no_row_of_both_and_a_table_of_one_part_leaves_the_others_said(tmp_path: Path) -> None:
    """For SoFa or SEAT with only unknown words, coverage 100 % is shown beside the table."""
    cats = zorbs(20, tmp_path)
    shown = printed("score", "--predictions", written(tmp_path, "s.json", cats, 1), "--on", tmp_path / "cats.jsonl")
    assert "both" not in shown
    words = {part: [f"{part.lower()}{n}" for n in range(4)] for part in "XYAB"}
    rows = [[*map(float, row)] for row in np.random.default_rng(0).normal(size=(16, 5))]
    vectors = tmp_path / "vectors.txt"
    vocabulary = [word for some in words.values() for word in some]
    vectors.write_text("".join(f"{w} {' '.join(map(str, row))}\n" for w, row in zip(vocabulary, rows, strict=True)))
    sets = {part.lower(): WordSet(name=part, items=tuple(some)) for part, some in words.items()}
    sets["x"] = WordSet(name="X", items=("x0 glimmer", "x1", "x2", "x3"))
    jsonl.write([AssociationTest(id="t", **sets)], tmp_path / "seat.jsonl")
    shown = printed("score", vectors, "--on", tmp_path / "seat.jsonl")
    assert "coverage 100 %" in shown
    assert re.search(r"^unknown tokens$", shown, re.M)


def test_unknown_tokens_that_nobody_counted_are_not_called_none(tmp_path: Path) -> None:
    """A file of scores has no tokens, and the heading says so."""
    cats = zorbs(4, tmp_path)
    written(tmp_path, "scores.json", cats, seed=0)
    shown = " ".join(
        printed("score", "--predictions", tmp_path / "scores.json", "--on", tmp_path / "cats.jsonl").split()
    )
    assert "no ties, unknown tokens not counted" in shown
    assert "no unknown tokens" not in shown
