"""Tests of the item browser: its numbers are those of the runs, and no text is executed."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.choice_runs import ASKED, questions, run_of
from helpers.gate_runs import cats, even, planted, runs_of_two
from helpers.item_pages import PREFERS, runs
from helpers.records import PAIRS, a_cat
from helpers.report_runs import association
from helpers.report_runs import run as finished
from helpers.tiny_models import BUILDERS
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import LABELS
from catsofa.report import document
from catsofa.report.items import write
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run.score_files import read_scores


def sets_in(page: Path) -> list[dict[str, Any]]:
    """Returns the data of a page, as its script reads them."""
    match = re.search(r'id="data">([^<]*)<', page.read_text())
    assert match
    return list(json.loads(gzip.decompress(base64.b64decode(match[1]))))


def test_every_score_on_the_page_is_one_of_the_run_and_every_outcome_one_that_it_makes(tmp_path: Path) -> None:
    """For 24 CATs and three models, each score is the one in the run's store; S, A and = are as planted."""
    run_folders = runs(tmp_path)
    assert write(run_folders, tmp_path / "items.html") == (24, ())
    (set_,) = sets_in(tmp_path / "items.html")
    by_id = {cat.id: cat for cat in cats(terms=6, items=4)}
    letters = {"+": "S", "-": "A", "u": "S", "=": "="}
    for index, (run, prefers) in enumerate(zip(run_folders, PREFERS, strict=True)):
        stored = {score.item: score.score for score in read_scores(run)}
        for place, item in enumerate(set_["items"]):
            cat = by_id[item["id"]]
            assert item["texts"] == [[label, cat[label].text] for label in LABELS]
            *shown, won = [column[place] for column in set_["scores"][index]]
            assert shown == [stored[cat[label].id] for label in LABELS]
            assert won == {"+": 2, "-": 2, "u": 0, "=": 2}[prefers(cat)]
            assert set_["outcomes"][set_["outcome"][index][place]]["letter"] == letters[prefers(cat)]
            assert set_["score"][index][place] == shown[0] - shown[1]


def test_the_preferences_of_a_page_make_the_ss_of_its_run(tmp_path: Path) -> None:
    """Every term has equally many items, so ss is the mean of its values: 50 for the even model, 0 for the last."""
    run_folders = runs(tmp_path)
    write(run_folders, tmp_path / "items.html")
    (set_,) = sets_in(tmp_path / "items.html")
    for values, run in zip(set_["values"], run_folders, strict=True):
        decided = [value for value in values if value is not None]
        ss = json.loads((run / "report.json").read_text())["results"]["overall"]["ss"]
        assert 100 * sum(decided) / len(decided) == pytest.approx(ss)


@pytest.mark.slow
def test_pairs_and_probes_are_items_too(tmp_path: Path) -> None:
    """With two tiny models, a pair has two scores, and a stereotype its variance, whose mean is the SoFa score."""
    root = runs_of_two(tmp_path)
    count, left_out = write([root / "runs"], tmp_path / "items.html")
    pairs, probes = sets_in(tmp_path / "items.html")
    assert count == len(pairs["items"]) + len(probes["items"])
    assert all("SEAT" in why or "tests" in why for why in left_out)
    for index, model in enumerate(("gpt2", "llama")):
        stored = {(s.item, s.task): s.score for s in read_scores(root / "runs" / model / "pairs")}
        assert {item["term"] for item in probes["items"]} == {
            f"stereotype about {item['domain']}" for item in probes["items"]
        }
        for place, item in enumerate(pairs["items"]):
            shown = [column[place] for column in pairs["scores"][index]]
            assert shown == [pytest.approx(stored[item["id"], side], abs=5e-5) for side in ("more", "less")]
        score = json.loads((root / "runs" / model / "probes/report.json").read_text())["results"]["score"]
        by_domain: dict[str, list[float]] = {}
        for item, value in zip(probes["items"], probes["values"][index], strict=True):
            by_domain.setdefault(item["domain"], []).append(value)
        means = [sum(values) / len(values) for values in by_domain.values()]
        assert sum(means) / len(means) == pytest.approx(score, abs=1e-4)


class Lengths:
    """A model that prefers short texts."""

    name, digest = "lengths", "lengths:1"

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns one token for each text."""
        return [[-float(len(text))] for _, text in queries]


def test_the_browser_opens_with_the_first_measure_of_the_summary(tmp_path: Path) -> None:
    """A run on pairs in an earlier folder comes after the CATs, as in the report."""
    jsonl.write(PAIRS, tmp_path / "pairs.jsonl")
    jsonl.write(cats(terms=2, items=2), tmp_path / "cats.jsonl")
    evaluate(Lengths(), tmp_path / "pairs.jsonl", out=tmp_path / "runs/a", resamples=20)
    planted(tmp_path / "runs/b", tmp_path / "cats.jsonl", even)
    write([tmp_path / "runs"], tmp_path / "items.html")
    titles = [one["title"] for one in sets_in(tmp_path / "items.html")]
    assert [section.title.partition(":")[0] for section in document([tmp_path / "runs"]).sections] == [
        title.partition(":")[0] for title in titles
    ]
    assert titles[0].startswith("StereoSet")


def test_every_run_without_items_is_named(tmp_path: Path) -> None:
    """Both runs on association tests are left out, and the sentence names both folders."""
    jsonl.write(cats(terms=2, items=2), tmp_path / "cats.jsonl")
    planted(tmp_path / "runs/cats", tmp_path / "cats.jsonl", even)
    for name in ("one", "two"):
        finished(tmp_path / "runs" / name, association("zorbs", 0.1), name)
    _, (why,) = write([tmp_path / "runs"], tmp_path / "items.html")
    assert all(f"runs/{name}" in why for name in ("one", "two"))


@pytest.mark.parametrize("template", ASKED)
def test_choices_are_items_with_the_share_of_their_report(tmp_path: Path, template: str) -> None:
    """A model that names the stereotype in both orders has the outcome S and the share 1 for each item."""
    run = run_of(template, tmp_path / "run", lambda item, order: item.sides[0])
    count, _ = write([run], tmp_path / "items.html")
    (set_,) = sets_in(tmp_path / "items.html")
    assert count == len(set_["items"]) > 0
    assert {set_["outcomes"][index]["name"] for index in set_["outcome"][0]} == {"stereotype"}
    assert set(set_["values"][0]) == {1.0}
    assert all(len(item["texts"]) > 1 for item in set_["items"])


def test_questions_are_items_with_three_answers_each(tmp_path: Path) -> None:
    """The share of right answers of a tiny model on the page equals that of ambiguous and clear questions together."""
    jsonl.write(questions(6), tmp_path / "questions.jsonl")
    (tmp_path / "gpt2").mkdir()
    BUILDERS["gpt2"](tmp_path / "gpt2")
    report = evaluate(str(tmp_path / "gpt2"), tmp_path / "questions.jsonl", out=tmp_path / "run", resamples=20)
    write([tmp_path / "run"], tmp_path / "items.html")
    (set_,) = sets_in(tmp_path / "items.html")
    assert [name for name, _ in set_["items"][0]["texts"]] == ["question", "ans0", "ans1", "ans2"]
    assert set_["score"][0] == report.items()["correct"].tolist()


def test_the_policy_of_the_page_names_its_script_by_its_hash(tmp_path: Path) -> None:
    """No other script runs, and no data are loaded or sent."""
    write(runs(tmp_path, PREFERS[:1]), tmp_path / "items.html")
    text = (tmp_path / "items.html").read_text()
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert "connect-src" not in policy[1]


def test_ten_models_on_four_thousand_items_take_less_than_two_megabytes(tmp_path: Path) -> None:
    """Each candidate has one sentence of StereoSet's length and a score of six digits."""
    import random

    from catsofa.report.items import page

    draw, words = random.Random(0), [f"{a}{b}" for a in "bcdfgl" for b in ("alo", "erin", "ithe", "ondar", "urm")]
    texts = [[" ".join(draw.choices(words, k=12)) for _ in range(3)] for _ in range(4_229)]
    scores = [[[round(draw.gauss(-40, 15), 4) for _ in texts] for _ in range(3)] for _ in range(10)]
    items = [
        {"id": f"{draw.getrandbits(128):032x}", "texts": [["t", text] for text in row], "domain": "d", "term": "t"}
        for row in texts
    ]
    outcome = [[draw.randrange(4) for _ in texts] for _ in range(10)]
    values = [[float(one == 0) for one in row] for row in outcome]
    about = {"title": "t", "models": [f"m{number_}" for number_ in range(10)]}
    row = {**about, "items": items, "scores": scores, "score": [one[0] for one in scores], "outcome": outcome}
    assert len(page([{**row, "values": values}]).encode()) < 2_000_000


def test_a_run_whose_data_have_moved_is_left_out_with_its_reason(tmp_path: Path) -> None:
    """With another run the page is written; alone the run is refused in one sentence."""
    moved, present = (runs(tmp_path / name, PREFERS[:1], items) for name, items in (("moved", 2), ("kept", 3)))
    (tmp_path / "moved/cats.jsonl").unlink()
    count, (why,) = write([*moved, *present], tmp_path / "items.html")
    assert count == 18
    assert "cats.jsonl" in why
    with pytest.raises(BadInput, match="no items"):
        write(moved, tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_the_command_writes_the_browser_beside_the_report(tmp_path: Path) -> None:
    """`report RUNS --out --items` writes both files and counts the items."""
    run_folders = runs(tmp_path, PREFERS[:2])
    out = ["--out", str(tmp_path / "report.html"), "--items", str(tmp_path / "items.html")]
    done = CliRunner().invoke(app, ["report", *map(str, run_folders), *out])
    assert done.exit_code == 0, done.output
    assert "24 items" in done.output.replace("\n", " ")
    assert len(sets_in(tmp_path / "items.html")[0]["models"]) == 2


def test_characters_that_steer_a_reader_are_written_out(tmp_path: Path) -> None:
    """A direction override in a term, a sentence or the name of a model is shown as its code."""
    of = [a_cat("The zorb \u202eis BLANK.", target="zo\u2066rb", id=f"{at}", ids=f"{at}/") for at in range(3)]
    jsonl.write(of, tmp_path / "cats.jsonl")
    write([planted(tmp_path / "run", tmp_path / "cats.jsonl", lambda cat: "+", model="m\u202ex")], tmp_path / "i.html")
    (set_,) = sets_in(tmp_path / "i.html")
    assert set_["models"] == ["m\\u202ex"]
    assert set_["items"][0]["term"] == "zo\\u2066rb"
    assert "\\u202e" in set_["items"][0]["texts"][0][1]


def test_a_report_leads_to_the_items_that_were_written_with_it_and_to_no_others(tmp_path: Path) -> None:
    """The link is relative to the report, from any working folder; failed items leave no link and no page."""
    runs(tmp_path / "runs")
    out, items = tmp_path / "a" / "report.html", tmp_path / "an item" / "items.html"
    for folder in (out.parent, items.parent):
        folder.mkdir()
    command = ["report", str(tmp_path / "runs"), "--out", str(out), "--quiet"]
    assert CliRunner().invoke(app, [*command, "--items", str(items)]).exit_code == 0
    assert 'href="../an%20item/items.html"' in out.read_text()
    assert CliRunner().invoke(app, command).exit_code == 0
    assert "items.html" not in out.read_text()
    for gone in (tmp_path / "runs" / "cats.jsonl", items, out):
        gone.unlink()
    assert CliRunner().invoke(app, [*command, "--items", str(items)]).exit_code != 0
    assert not items.exists()
    assert "items.html" not in out.read_text()
