"""Tests of studies in which people write and judge over HTTP: texts, judgements, release, pay and withdrawal."""

import json
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.crowd_server import Visitor, opened
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, money, pages
from catsofa.annotation.crowd import settings as opening
from catsofa.annotation.crowd.http import site
from catsofa.annotation.crowd.people import forgetting
from catsofa.annotation.crowd.rules import WRITING
from catsofa.annotation.results import drafts
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files.jsonl import read, write
from catsofa.data.records import Association, Pair, Term

TOML = '[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n'


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Returns a study of two targets, two texts of each, two judgements of each text, one gold item and one check."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (1000.0, 1000.0))
    study_ = create(
        tmp_path / "study",
        kind="write-and-judge-associations",
        items=[Term(category="origin", term=name, region="Pellora", language="en") for name in ("Dravians", "Zorbs")],
        gold=[known("florists", "made of glass")],
        checks=[known("millers", "Choose no and not at all")],
        overlap=2,
        texts=2,
        contact="study@example.org",
    )
    (study_.folder / "study.toml").write_text(TOML + "[quality]\nfirst = 2\n[people]\nsession = 10\n")
    return study_


def test_people_are_asked_about_the_region_in_the_language_of_the_study(tmp_path: Path) -> None:
    """The page names the people whose associations are asked for and the language to write in, in the
    study's language.
    """
    items = [Term(category="origin", term="Dravier", region="Pellora", language="de")]
    writing = create(tmp_path / "w", kind="write-and-judge-associations", items=items, language="de")
    (task,) = writing.tasks()
    assert (task.data["people"], task.data["language"]) == ("die Leute in Pellora", "Deutsch")
    judged = create(tmp_path / "j", kind="judge-associations", items=[known("Zorben", "früh auf")], language="de")
    assert [task.data["people"] for task in judged.tasks()] == ["die Leute"]
    assert judged.tasks().__next__().key == next(iter(judged.keys.values()))


def known(identity: str, attribute: str) -> Association:
    """Returns a gold association that no one makes."""
    return Association(
        identity=identity, attribute=attribute, extra={"gold": {"association": "no", "severity": "not at all"}}
    )


class Worker:
    """Writes and judges according to the shown task."""

    def __init__(self, name: str) -> None:
        """Starts with empty lists of written and judged texts."""
        self.name, self.wrote, self.judged = name, list[str](), list[str]()

    def __call__(self, shown: Mapping[str, str]) -> dict[str, str]:
        """Writes a text, or judges: gold items and checks rightly."""
        if "text" not in shown:
            assert shown["people"] == "people in Pellora"
            assert shown["language"] == "English"
            self.wrote.append(f"  fond of {shown['target']}  soup number {self.name}")
            return {"attribute": self.wrote[-1]}
        if shown["identity"] in {"florists", "millers"}:
            return {"association": "no", "severity": "not at all"}
        self.judged.append(shown["text"])
        return {"association": "yes", "severity": "a little"}


def visited(address: str, people: int) -> list[Worker]:
    """Lets so many people arrive at once and work until no task is left."""

    def visit(n: int) -> Worker:
        visitor, worker = Visitor(address, f"PID{n}"), Worker(f"{'abcdefghij'[n]}")
        visitor.come()
        visitor.work(worker)
        return worker

    with ThreadPoolExecutor(people) as pool:
        return list(pool.map(visit, range(people)))


def run(*words: object) -> Any:
    """Returns the JSON output of a command."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_what_people_write_is_judged_and_released_with_both(study: Study, tmp_path: Path) -> None:
    """Six people over HTTP write four texts with two judges each, never the writer; status, votes, release, verify
    agree.
    """
    with opened(study) as address:
        workers = visited(address, 6)
    wrote = {" ".join(text.split()) for worker in workers for text in worker.wrote}
    assert len(wrote) == 4
    for worker in workers:
        assert not {" ".join(text.split()) for text in worker.wrote} & {*worker.judged}
    report = run("annotate", "status", study.folder)
    assert (report["counted"], report["wanted"], report["missing"], report["over"]) == (12, 12, 0, 0)
    written = study.folder / "drafts.jsonl"
    wanted = {text.id: text for text in read(written, Association)}
    assert {text.attribute for text in wanted.values()} == wrote
    assert {(text.region, text.language, text.extra["bias_type"]) for text in wanted.values()} == {
        ("Pellora", "en", "origin")
    }
    said = [a for a in formats.read(study.folder / "annotations.jsonl") if not a.extra.get("gold")]  # type: ignore[union-attr]
    assert not [a for a in said if a.annotator == wanted[a.extra["of"]].source["writer"]]  # type: ignore[union-attr]
    assert len(said) == 4 * 2 * 2
    done = CliRunner().invoke(
        app, ["validate", "votes", "--on", str(study.folder / "annotations.jsonl"), "--need", "2"]
    )
    assert done.exit_code == 0, done.output
    out = tmp_path / "release"
    words = ["release", written, "--study", study.folder, "--out", out, "--name", "Soups", "--need", "2", "--of", "2"]
    assert run(*words)["kept"] == 4
    released = {item.id: item for item in formats.read(out)}
    assert released.keys() == wanted.keys()
    for item in released.values():
        assert isinstance(item, Association)
        (votes,) = item.votes
        assert item.offensiveness == (1.0, 1.0)
        assert (votes.raters, votes.yes, item.region, item.language) == ("region", 2, "Pellora", "en")
        judges = {vote["annotator"] for vote in item.extra["review"]["association"]["votes"]}
        assert len(judges | {item.source["writer"]}) == 3
    card = (out / "README.md").read_text()
    assert "people wrote 4 items" in card
    assert "PID" not in card
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.faults == ()


def test_the_last_page_and_a_break_count_what_a_person_answered(study: Study) -> None:
    """The last page and the break count a text as one task, though the session and the pay count it as four."""
    settings = study.folder / "study.toml"
    settings.write_text(settings.read_text() + "break_every = 4\n")
    with opened(study) as address:
        visitor, worker = Visitor(address, "ANA"), Worker("a")
        visitor.come()
        task = visitor.next()
        while "rest" not in task:
            worked = visitor.post("/answer", {"nonce": task["nonce"], "answers": worker(task["task"])})
            assert worked.status_code == 200
            visitor.acknowledged.append(task["nonce"])
            task = visitor.next()
        assert task["rest"]["answered"] == len(visitor.acknowledged) < 4
        visitor.browser.post("/stop", data={"sure": "yes"})
        shown = visitor.browser.get("/done").text
        assert re.search(r"You answered (\d+) task", shown)[1] == str(len(visitor.acknowledged))  # type: ignore[index]


def test_a_near_duplicate_is_shown_while_typing_and_the_same_words_are_not_taken(study: Study) -> None:
    """The check covers other people's texts about the same group, language and region; an answer sent twice is stored
    once.
    """
    with opened(study) as address:
        ana, ben = Visitor(address, "ANA"), Visitor(address, "BEN")
        for who in (ana, ben):
            who.come()
        first = ana.next()
        assert [part["name"] for part in first["parts"] if "name" in part] == ["attribute"]
        other = ben.next()
        while other["task"] != first["task"]:
            ben.post("/skip", {"nonce": other["nonce"]})
            other = ben.next()
        for _ in range(2):
            sent = ana.post("/answer", {"nonce": first["nonce"], "answers": {"attribute": "Hard-working"}})
            assert sent.status_code == 200
        began = time.monotonic()
        reply = ben.post("/draft", {"nonce": other["nonce"], "answers": {"attribute": "hardworking"}}).json()
        assert time.monotonic() - began < 10
        assert reply["problems"] == []
        assert "nearly the same" in reply["warnings"][0]
        reply = ben.post("/draft", {"nonce": other["nonce"], "answers": {"attribute": "HARD-working"}}).json()
        assert "already" in reply["problems"][0]
        same = ben.post("/answer", {"nonce": other["nonce"], "answers": {"attribute": " hard-working "}})
        assert (same.status_code, "already" in same.json()["error"]) == (422, True)
        fine = ben.post("/answer", {"nonce": other["nonce"], "answers": {"attribute": "fond of soup"}})
        assert fine.status_code == 200
    assert home.pull(study).records == 2


def test_a_text_in_a_list_is_not_taken_and_stops_nobody(study: Study) -> None:
    """A list is refused, because it would pass the text checks and give each later person of the group an error."""
    with opened(study) as address:
        ana, ben = Visitor(address, "ANA"), Visitor(address, "BEN")
        for who, text, status in ((ana, ["loud"], 422), (ana, "loud", 200), (ben, "quick", 200)):
            who.come()
            sent = who.post("/answer", {"nonce": who.next()["nonce"], "answers": {"attribute": text}})
            assert sent.status_code == status


def test_with_a_writer_the_texts_and_their_judgements_go(study: Study) -> None:
    """The writer's words are in no file of the study; the judges keep their pay; the target lacks a text."""
    with opened(study) as address:
        workers = visited(address, 6)
    home.pull(study)
    writer = next(worker for worker in workers if worker.wrote)
    number = workers.index(writer)
    before = {due.person: due.due for due in money.dues(study)}
    done = forgetting.forget(study, f"PID{number}")
    assert done
    assert done.left == ()
    assert set(done.short.values()) >= {(1, 2)}
    words = [" ".join(text.split()).encode() for text in writer.wrote]
    files = [path.read_bytes() for path in study.folder.rglob("*") if path.is_file()]
    assert not [word for word in words for file in files if word in file]
    assert {due.person: due.due for due in money.dues(study)} == {
        person: due for person, due in before.items() if person != f"PID{number}"
    }
    remaining = {text.id for text in read(study.folder / "drafts.jsonl", Association)}
    judged_texts = {a.extra["of"] for a in formats.read(study.folder / "annotations.jsonl") if not a.extra.get("gold")}  # type: ignore[union-attr]
    assert len(remaining) == 4 - len(writer.wrote)
    assert judged_texts <= remaining
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.faults == ()
    with opened(open_study(study.folder)) as address:  # others write replacements
        late = [Visitor(address, f"LATE{n}") for n in range(4)]
        for visitor in late:
            visitor.come()
            visitor.work(Worker(visitor.person))
    assert run("annotate", "status", study.folder)["missing"] == 0


def test_the_budget_pays_a_text_as_four_judgements(study: Study) -> None:
    """Four texts at four tasks and eight judgements are 24 missing tasks, in sessions of ten with two known items."""
    rules = opening.rules(study, opening.read(study))
    with home.open_store(study) as store:
        missing = store.do(lambda held: home.missing(held, rules.judges))
    assert missing == 4 * (WRITING + 2)
    cost = money.budget(study, rules, missing)
    assert (cost.tasks, cost.places) == (10, 3)


def test_a_study_that_grows_is_given_out_by_open_alone(study: Study, tmp_path: Path) -> None:
    """Pages for Mechanical Turk and Label Studio need all tasks beforehand, so the export is refused."""
    with pytest.raises(ValueError, match="catsofa annotate open"):
        pages.export(study, tmp_path / "pages")


@pytest.mark.parametrize(("command", "source"), [("minimal-pairs", "--associations"), ("stereotypes", "--on")])
def test_texts_become_items_by_the_builders(command: str, source: str, tmp_path: Path) -> None:
    """The builders read drafts.jsonl unchanged; the category of the target is the domain of the item."""
    targets = [Term(category="nationality", term=name, region="Pellora") for name in ("Dravians", "Zorbs")]
    write(
        [drafts.association(term, ("lazy", "tidy")[n], f"{n:016x}") for n, term in enumerate(targets)],
        tmp_path / "drafts.jsonl",
    )
    out = tmp_path / "items.jsonl"
    words = ["build", command, source, str(tmp_path / "drafts.jsonl"), "--out", str(out)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    items = [*formats.read(out)]
    assert items
    assert {item.bias_type if isinstance(item, Pair) else item.category for item in items} == {"nationality"}  # type: ignore[union-attr]
