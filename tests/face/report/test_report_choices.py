"""Tests of reports of choices: a separate section, in which effects of position never look like a preference."""

import json
import shutil
from itertools import permutations
from pathlib import Path

import pytest
from helpers.choice_runs import run_of
from helpers.records import a_cat
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data import formats
from catsofa.data.files import BadInput, json_files, jsonl
from catsofa.data.questions import PLACES, Answer, Question
from catsofa.data.records import LABELS, Pair, Probe
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.verify.verdicts import Verdict
from catsofa.report import document
from catsofa.report.dataset import report_on as document_of
from catsofa.report.formats import write
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.choosing.replies import ASKED, RECEIVED
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load
from catsofa.verify import verify

ANSWERS = (("The zorb", "target"), ("Unknown", "unknown"), ("The blicket", "other"))
ORDERS = (["stereotype", "anti-stereotype"], ["anti-stereotype", "stereotype"])


def run(folder: Path, name: str, letters: str, *templates: str) -> Path:
    """Writes a run in which a model answers both orders of each pair with these letters."""
    folder.mkdir(exist_ok=True)
    pairs = [Pair(id=f"p{n}", more=f"Zorbs lose {n} keys.", less=f"Zorbs find {n} keys.", direction="stereo",
                  bias_type=("species", "size")[n % 2]) for n in range(20)]  # fmt: skip
    jsonl.write(pairs, folder / "pairs.jsonl")
    lines = [
        {"item": pair.id, "order": order, "reply": letter, "template": template}
        for template in templates
        for pair in pairs
        for order, letter in zip(ORDERS, letters, strict=True)
    ]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report_on(folder / f"{name}.jsonl", folder / "pairs.jsonl", out=folder / name, resamples=200)
    return folder / name


def test_a_run_of_choices_has_a_section_with_its_outcomes(tmp_path: Path) -> None:
    """Two models are shown side by side: 1.000 for the stereotype, and undefined for the one that always says A."""
    runs = [run(tmp_path, "likes", "AB", "likelihood"), run(tmp_path, "first", "AA", "likelihood")]
    (section,) = document(runs).sections
    preference, outcomes, refusals = section.tables
    cells = {(row[0], row[1]): str(row[2]) for row in preference.rows}
    assert cells["predictions:likes.jsonl", "overall"].startswith("1.000")
    assert cells["predictions:first.jsonl", "species"] == "undefined"
    assert {str(row[2]) for row in outcomes.rows if row[0] == "predictions:first.jsonl"} == {"decided by position"}
    assert len(refusals.rows) == 2
    assert "50.0" not in section.figures[0].alt
    assert section.figures[0].draw() is not None


def test_templates_stand_side_by_side_with_their_variance(tmp_path: Path) -> None:
    """Several templates have a table, with the variance between them."""
    (section,) = document([run(tmp_path, "both", "AB", "likelihood", "plain")]).sections
    table = section.tables[-1]
    assert [row[1] for row in table.rows] == ["likelihood", "plain"]
    assert "variance between templates 0.0000" in table.notes[0]


def test_answers_to_questions_have_bbqs_table(tmp_path: Path) -> None:
    """Right answers have accuracy 1; a model that always says A has an undefined bias score, not 0.000."""
    records = [
        Question(
            id=str(n), context="Hall.", question="Who?", correct=1, polarity="neg", condition="ambig", category="Tea",
            answers=tuple(Answer(text=text, role=role) for text, role in ANSWERS), template=str(n),
        )
        for n in range(12)
    ]  # fmt: skip
    formats.named("jsonl").write(records, tmp_path / "q.jsonl")
    runs = []
    for name, reply in (("right", lambda order: "ABC"[order.index("ans1")]), ("first", lambda order: "A")):
        lines = [
            {"item": one.id, "order": order, "reply": reply(order)} for one in records for order in permutations(PLACES)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        report_on(tmp_path / f"{name}.jsonl", tmp_path / "q.jsonl", out=tmp_path / name, resamples=200)
        runs.append(tmp_path / name)
    (section,) = document(runs).sections
    assert section.title.startswith("Answers of a chat model to questions")
    cells = {str(row[0]): [str(cell) for cell in row[2:6]] for row in section.tables[0].rows if row[1] == "all"}
    right, first = cells["predictions:right.jsonl"], cells["predictions:first.jsonl"]
    assert right[0].startswith("1.00")
    assert first[2] == "undefined"
    assert "unknown tokens" not in section.tables[0].columns


def test_agreement_with_probes_names_identities_folded_away(tmp_path: Path) -> None:
    """One of two identities is believed and one not; the table that names them is folded."""
    probes = [
        Probe(category="people", identity=who, stereotype=f"lose {n} keys")
        for who in ("zorbs", "quells")
        for n in range(9)
    ]
    jsonl.write(probes, tmp_path / "probes.jsonl")
    lines = [
        {
            "item": one.id,
            "order": [option],
            "reply": "Yes" if (one.identity == "zorbs") == (option == "stereotype") else "No",
        }
        for one in probes
        for option in ("stereotype", "anti-stereotype")
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report_on(tmp_path / "r.jsonl", tmp_path / "probes.jsonl", out=tmp_path / "run", resamples=200)
    (section,) = document([tmp_path / "run"]).sections
    table = section.tables[-1]
    assert table.offensive
    assert [(row[1], str(row[2])[:5]) for row in table.rows] == [("zorbs", "1.000"), ("quells", "0.000")]
    assert table.notes[0].startswith("predictions:r.jsonl, people: variance between 2 identities 0.5000")


def test_a_changed_report_of_choices_is_refused(tmp_path: Path) -> None:
    """A report that was changed after it was written is refused."""
    folder = run(tmp_path, "likes", "AB", "likelihood")
    changed = (folder / "report.json").read_text().replace('"requests": 40', '"requests": 41', 1)
    (folder / "report.json").write_text(changed)
    with pytest.raises(ValueError, match="checksum"):
        document([folder])


@pytest.mark.parametrize("name", ["replies.jsonl", "received.jsonl", "asked.json", "choices.json", "report.json"])
def test_a_lost_or_doubled_line_of_a_run_of_choices_is_found(asked: Path, tmp_path: Path, name: str) -> None:
    """`verify`, the report and a new measurement of the replies find each line of each file."""
    path = shutil.copytree(asked / "run", tmp_path / "run") / name
    lines = path.read_text().splitlines(keepends=True)
    for place in range(len(lines)):
        for times in (0, 2):
            path.write_text("".join(lines[:place] + times * [lines[place]] + lines[place + 1 :]))
            verdict = next(verify([tmp_path / "run"]))
            assert isinstance(verdict, Verdict)
            assert path in [fault.path for fault in verdict.faults], (place, times)
            with pytest.raises(ValueError, match=name):
                document([tmp_path / "run"])
            with pytest.raises(ValueError, match=name):
                report_on(tmp_path / "run" / "replies.jsonl", asked / "pairs.jsonl", resamples=10)


def test_a_run_of_choices_whose_log_has_grown_is_right(asked: Path, tmp_path: Path) -> None:
    """A larger, interrupted sample is valid; a run of an earlier version is read, and named as unchecked."""
    folder = shutil.copytree(asked / "run", tmp_path / "run")
    server = json.loads((folder / "asked.json").read_text())["at"]
    with ReplyStore(folder / "received.jsonl", server=server) as store:
        store.answered("a new request", {})
    assert next(verify([folder])).faults == ()  # type: ignore[union-attr]
    document([folder])
    report = json.loads((folder / "report.json").read_text())
    json_files.write(
        json_files.sealed({k: v for k, v in report.items() if k not in ("made_from", "checksum")}),
        folder / "report.json",
    )
    old = next(verify([folder]))
    assert isinstance(old, Verdict)
    assert (old.right, len(old.unchecked)) == (True, 1)
    document([folder])


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the run of a served model on three pairs."""
    folder = tmp_path_factory.mktemp("asked")
    pairs = [Pair(id=f"p{n}", more=f"Zorbs lose {n} keys.", less=f"Zorbs find {n} keys.", direction="stereo",
                  bias_type="size") for n in range(3)]  # fmt: skip
    jsonl.write(pairs, folder / "pairs.jsonl")
    with serving(ChatServer(lambda body: "A")) as server:
        endpoint = Endpoint(base_url=server.url, key_name="OPENAI_API_KEY", concurrency=2, timeout=10)
        model = ServedChat("zorb-1", endpoint, Asking())
        ask(model, choices(folder / "pairs.jsonl", [load("likelihood")]), out=folder / "run", resamples=10)
    return folder


def test_refusals_are_folded_with_their_number_and_cannot_steer_the_page(tmp_path: Path) -> None:
    """Each domain has a folded table after the content warning; equal wordings appear once, markup and
    controls as text.
    """
    run(tmp_path, "refuses", "AB", "likelihood")
    lines = [json.loads(line) for line in (tmp_path / "refuses.jsonl").read_text().splitlines()]
    sly = "<think>Zorbs?</think>I'm sorry, I can't help with that.<script>alert(1)</script>\u202e | \x1b[2J"
    for number, line in enumerate(lines):
        line["reply"] = sly if number == 2 else "I'm sorry, I can't help." if number % 4 < 2 else line["reply"]
    (tmp_path / "refuses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    folder = tmp_path / "again"
    report_on(tmp_path / "refuses.jsonl", tmp_path / "pairs.jsonl", out=folder, resamples=50)
    report = document([folder])
    size, species = [table for table in report.sections[0].tables if table.offensive]
    assert size.caption == "Refusals about size, predictions:refuses.jsonl: 1 of 20 replies"
    assert species.rows == (("I'm sorry, I can't help.", 20),)
    assert "Zorbs?" not in str(size.rows)
    write(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.index("Content warning.") < page.index("Refusals about size")
    assert page.count("<script>") == 1
    assert not {"\u202e", "\x1b"} & {*page}
    assert page.count('<details class="fold"><summary>Refusals about') == 2


def test_refusals_about_target_groups_are_counted_by_group(tmp_path: Path) -> None:
    """CATs name a group: its refusals are separate from those about another group of the same domain."""
    cats = [a_cat(id=f"c{n}", target=("zorb", "florin")[n % 2], ids=f"c{n}-") for n in range(8)]
    jsonl.write(cats, tmp_path / "cats.jsonl")
    lines = [
        {"item": cat.id, "order": order, "reply": "I can't help with that." if cat.target == "zorb" else "A"}
        for cat in cats
        for order in (list(LABELS), list(reversed(LABELS)))
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report_on(tmp_path / "r.jsonl", tmp_path / "cats.jsonl", out=tmp_path / "run", resamples=50)
    (table,) = [table for table in document([tmp_path / "run"]).sections[0].tables if table.offensive]
    assert table.caption == "Refusals about zorb, predictions:r.jsonl: 8 of 8 replies"


def test_bars_are_named_by_their_set_below_the_name_of_their_model(tmp_path: Path) -> None:
    """Sets are never cut, however long the model names are; association tests have a bar for each test."""
    runs = [run_of("decision", tmp_path / str(place), lambda item, order, at=place: order[at]) for place in (0, 1)]
    (section,) = document(runs).sections
    (axes,) = section.figures[0].draw().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["overall", "tidy"] * 2
    models = [row[0] for row in section.tables[0].rows]
    assert [text.get_text() for text in axes.texts] == models
    assert list(axes.get_yticks()) == [1, 2, 4, 5]


def test_refusals_to_say_which_of_two_identities_are_counted_by_category(tmp_path: Path) -> None:
    """The drawing decides which identity is a reply's group, so refusals belong to no identity."""
    run_folder = run_of("which", tmp_path / "one", lambda item, order: "" if item.group == "zorbs" else order[0])
    (section,) = document([run_folder]).sections
    (refused,) = [table for table in section.tables if "Refusals" in table.caption]
    assert refused.caption.startswith("Refusals about c, ")
    assert refused.caption.endswith(": 32 of 96 replies")


def test_a_run_of_choices_that_is_not_finished_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    """Alone the unfinished run is refused with the next step; beside others it is a note."""
    run(tmp_path / "runs", "likes", "AB", "likelihood")
    (tmp_path / "runs" / "stopped").mkdir()
    (tmp_path / "runs" / "stopped" / ASKED).write_text("{}")
    (tmp_path / "runs" / "stopped" / RECEIVED).write_text('{"key": "k", "reply": {}}\n')
    report = document_of([tmp_path / "runs"])
    assert len(report.sections) == 1
    assert any("stopped, a run that is not finished" in note for note in report.notes)
    with pytest.raises(BadInput, match=r"not finished.*choose"):
        document_of([tmp_path / "runs" / "stopped"])
