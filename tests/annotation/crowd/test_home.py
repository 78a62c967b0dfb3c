"""Tests of the answers in a study's store, as `pull`, `status`, `validate votes` and `verify` read them."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from helpers.records import bakers, terms
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, quality, seats
from catsofa.annotation.crowd.pages import import_results
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Rows
from catsofa.annotation.results import answers as judged
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.results.status import status
from catsofa.annotation.study import Study, create, open_study, rows
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data.files import BadInput
from catsofa.data.files.jsonl import write
from catsofa.data.records import LABELS, Annotation, Cat
from catsofa.validation.judgements import Rule, count

RULES = Rules(session=12, first=3, check_every=5, gold_every=5)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of six CATs for three people, with three gold CATs and three checks."""
    gold, checks = bakers(3, "florist"), bakers(3, "miller")
    return create(tmp_path / "s", kind="validate-cats", items=bakers(6), gold=gold, checks=checks, overlap=3)


def right_of(study: Study, token: str) -> dict[str, str]:
    """Returns the right answer to a task."""
    key = study.keys[token]
    assert study.kind.asks is not None
    return {name: question.right for name, question in study.kind.asks(study.items[key.item], key.order).items()}


def work(study: Study, name: str, fails: str = "", at_most: int = 99, now: float = 1_700_000_000.0) -> None:
    """A person arrives and answers; tasks of the kind `fails` are answered wrongly."""

    def job(held: Rows) -> None:
        seats.arrive(held, RULES, name, f"s-{name}", "c", now)
        for n in range(at_most):
            task = seats.next_task(held, RULES, name, now + n)
            if not isinstance(task, Given):
                return
            key, said = study.keys[task.token], right_of(study, task.token)
            kind = "check" if key.check else "gold" if key.gold else "item"
            if kind == fails:
                said = {question: LABELS[LABELS.index(label) - 1] for question, label in said.items()}  # type: ignore[call-overload]
            right = (0 if kind == fails else 3, 3) if key.gold else (0, 0)
            seats.answer(held, RULES, name, task.nonce, said, right, now + n)

    with home.open_store(study) as store:
        store.do(job)


def counted(study: Study) -> dict[str, int]:
    """Returns the number of counted judgements of each task in the store."""
    with home.open_store(study) as store:
        return store.do(seats.counted)


def by_votes(study: Study) -> dict[str, int]:
    """Returns the same numbers by the rule of `validate votes`, from annotations.jsonl."""
    counts = count(judged.annotations(study), Rule(need=1, of=3), lambda a: str(a.extra["task"]))
    return {token: seat.taken for token, seat in counts.seats.items()}


def test_the_share_of_gold_is_that_of_the_vote_rule() -> None:
    """The vote rule and the store exclude the same people."""
    assert Rule().gold_pass == quality.GOLD_PASS


def test_store_votes_and_status_count_the_same(study: Study) -> None:
    """Of five people one fails the checks and one gold: the other three give every counted judgement."""
    for name, fails in (("p1", "check"), ("p2", "gold"), ("p3", ""), ("p4", ""), ("p5", "")):
        work(study, name, fails)
        home.pull(study)
        assert by_votes(study) == {token: n for token, n in counted(study).items() if token in by_votes(study)}
    assert set(by_votes(study).values()) == {3}

    def seated(annotations: list[Annotation], people: int) -> dict[str, int]:
        report = count(annotations, Rule(need=1, of=people), lambda a: str(a.extra["task"]))
        return {token: seat.taken for token, seat in report.seats.items()}

    report = status(study, None, seated)  # type: ignore[arg-type]
    assert (report.done, report.counted, report.missing) == (6, 18, 0)
    reasons = Counter(a.extra.get("invalid", "") for a in judged.annotations(study) if a.annotator == "p1")
    assert set(reasons) == {home.VOID["failed_checks"]}


def test_a_pull_brings_only_what_is_new(study: Study) -> None:
    """A second pull in a row brings nothing; the lines of a person who fails later are pulled again as void."""
    work(study, "p1", "check", at_most=3)
    first = home.pull(study).new
    assert first == 3
    assert home.pull(study).new == 0
    work(study, "p1", "check")
    later = home.pull(study)
    assert (later.changed, later.new > later.changed) == (first, True)


def test_who_withdraws_is_in_no_file_of_the_study(study: Study) -> None:
    """The person's name is nowhere in raw.jsonl or annotations.jsonl, and the log is valid."""
    for name in ("ann-a", "ann-b"):
        work(study, name)
    home.pull(study)
    with home.open_store(study) as store:
        store.do(lambda held: seats.withdraw(held, "ann-a"))
    home.pull(study)
    assert {row.annotator for row in rows.read(study.folder / "raw.jsonl", Raw)} == {"ann-b"}
    assert "ann-a" not in (study.folder / "annotations.jsonl").read_text()
    assert check_study(study.folder).right  # type: ignore[union-attr]


def test_verify_checks_the_store(study: Study) -> None:
    """A store as written passes; one changed answer is a fault of study.db."""
    import sqlite3

    work(study, "p1")
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right
    assert any("answers of study.db" in part for part in verdict.checked)
    connection = sqlite3.connect(study.folder / "study.db")
    connection.execute("UPDATE answer SET seconds = 99")
    connection.commit()
    connection.close()
    wrong = check_study(study.folder)
    assert wrong
    assert {fault.path.name for fault in wrong.faults} == {"study.db"}


def test_reopened_items_are_asked_about_again(study: Study) -> None:
    """After three people, an item waits for two more; a second request adds no one."""
    for n in range(3):
        work(study, f"p{n}")
    item = next(key.item for key in study.keys.values() if not key.gold)
    assert home.reopen(study, [item]) == 1
    assert home.reopen(study, [item]) == 0
    for n in range(3, 6):
        work(study, f"p{n}")
    home.pull(study)
    token = next(key.token for key in study.keys.values() if key.item == item)
    assert counted(study)[token] == by_votes(study)[token] == 5


def test_reopen_counts_tasks_and_names_those_it_leaves(study: Study) -> None:
    """The three sentences of a CAT are one task; a task that still waits for people is not reopened."""
    for n in range(3):
        work(study, f"p{n}")
    cat = next(study.items[key.item] for key in study.keys.values() if not key.gold)
    assert isinstance(cat, Cat)
    command = ["annotate", "reopen", str(study.folder), *(f"--item={each.id}" for each in cat.candidates)]
    assert "1 task reopened, each for 2 more people" in CliRunner().invoke(app, command).output
    again = CliRunner().invoke(app, command).output
    assert "0 tasks reopened" in again
    assert "1 task left as before" in again


def test_a_closed_study_gives_out_nothing_and_the_commands_need_no_server(study: Study) -> None:
    """`status`, `pull`, `reopen` and `close` read the study's own store."""
    work(study, "p1")
    runner, folder = CliRunner(), str(study.folder)
    assert "new answers" in runner.invoke(app, ["annotate", "pull", folder]).output
    assert "closed at" in runner.invoke(app, ["annotate", "close", folder]).output
    with home.open_store(study) as store:
        assert store.do(lambda held: seats.arrive(held, RULES, "p2", "s", "c", 0)) == "full"
    assert open_study(study.folder).settings.closed
    shown = runner.invoke(app, ["annotate", "status", folder, "--json"])
    assert json.loads(shown.output)["counted"] == 6


def test_a_study_on_label_studio_is_not_opened_here(study: Study) -> None:
    """A study on Label Studio is refused, because people would judge its tasks twice."""
    with pytest.raises(ValueError, match="another study"):
        home.open_store(study.saved(project=3))


def test_drafts_of_who_failed_are_refused(tmp_path: Path) -> None:
    """A text by somebody who failed the checks becomes no CAT."""
    made = create(tmp_path / "w", kind="write-intrasentence", items=terms(1), overlap=1)
    reply = {
        "context": "The baker is very BLANK.",
        "stereotype": "early",
        "anti_stereotype": "late",
        "unrelated": "cubic",
    }
    with home.open_store(made) as store:
        store.do(lambda held: seats.arrive(held, RULES, "p", "s", "c", 0))
        task = store.do(lambda held: seats.next_task(held, RULES, "p", 0))
        assert isinstance(task, Given)
        store.do(lambda held: seats.answer(held, RULES, "p", task.nonce, reply, (0, 0), 1))
        assert home.pull(made).records == 1
        store.do(
            lambda held: held.put(
                "person", {**(held.get("person", "p") or {}), "state": "failed", "outcome": "failed_checks"}
            )
        )
    assert (home.pull(made).records, home.pull(made).refused) == (0, 1)


def test_order_of_waves_is_drawn_from_the_study(study: Study) -> None:
    """Opening the study again adds no task and moves none."""
    places = []
    for _ in range(2):
        with home.open_store(study) as store:
            places.append(store.do(lambda held: held.all("SELECT token, rnd FROM task ORDER BY token")))
    assert places[0] == places[1]
    assert len(places[0]) == 12


def test_a_study_with_answers_of_a_batch_is_not_opened_and_not_closed(tmp_path: Path) -> None:
    """The study is refused because its items would be judged and paid twice, and no server gives out its tasks."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(1), contact="a@example.org")
    token = next(iter(study.keys))
    time = "2027-01-02T03:04:05Z"
    rows.append(
        [Raw(annotation=f"A1/{token}", updated=time, token=token, annotator="W1", at=time)], study.folder / "raw.jsonl"
    )
    with pytest.raises(ValueError, match=r"import-results.*another study"):
        home.open_store(study)
    assert not (study.folder / "study.db").exists()
    done = CliRunner().invoke(app, ["annotate", "close", str(study.folder)])
    assert "nothing to close" in str(done.exception)


@pytest.mark.parametrize("kind", ["write-and-judge-associations", "judge-associations"])
def test_create_names_only_what_the_study_can_do_next(kind: str, tmp_path: Path) -> None:
    """Where people judge what others write, no Label Studio is named; a missing contact is reported at once."""
    names = tmp_path / "targets.jsonl"
    item = (
        '"category": "nationality", "term": "Zorbs"' if "write" in kind else '"identity": "Zorbs", "attribute": "late"'
    )
    names.write_text(f'{{{item}, "region": "Pellora", "language": "en"}}\n')
    command = ["annotate", "create", str(tmp_path / "s"), "--kind", kind, "--items", str(names)]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert ("Label Studio" in shown.output) == (kind == "judge-associations")
    assert "--contact" in shown.output


def test_a_batch_without_any_answer_is_a_no(tmp_path: Path) -> None:
    """An empty form contains no judgement: exit code 1."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(1))
    batch = tmp_path / "batch.csv"
    batch.write_text("WorkerId,AssignmentId,Answer.catsofa\nW1,A1,{}\n")
    assert CliRunner().invoke(app, ["annotate", "import-results", str(study.folder), str(batch)]).exit_code == 1


def test_a_batch_is_not_imported_into_an_open_study(study: Study, tmp_path: Path) -> None:
    """The import is refused because the items would be judged and paid twice; no row is appended."""
    work(study, "p1")
    home.pull(study)
    before = (study.folder / "raw.jsonl").read_bytes()
    token = next(iter(study.keys))
    batch = tmp_path / "batch.csv"
    batch.write_text(f'WorkerId,AssignmentId,Answer.catsofa\nW1,A1,"{{""{token}"": {{""skipped"": true}}}}"\n')
    with pytest.raises(ValueError, match=r"annotate open.*another study"):
        import_results(study, batch)
    assert (study.folder / "raw.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        "answer SET said = replace(said, 'unrelated', 'stereotype')",
        "seat SET state = 'void' WHERE state = 'valid'",
        "person SET gold_right = 0",
    ],
)
def test_no_number_comes_from_a_row_that_somebody_changed(study: Study, tmp_path: Path, change: str) -> None:
    """pull, status, reopen and release end with an error that names the remedy, and pulled files do not change."""
    for name in ("ana", "ben", "cho"):
        work(study, name)
    home.pull(study)
    write(study.items.values(), tmp_path / "items.jsonl")
    before = {file.name: file.read_bytes() for file in study.folder.glob("*.jsonl")}
    with closing(sqlite3.connect(study.folder / "study.db", isolation_level=None)) as database:
        database.execute(f"UPDATE {change}")
    release = ["release", str(tmp_path / "items.jsonl"), "--study", str(study.folder), "--need", "2", "--of", "3"]
    for words in (
        ["annotate", "pull", str(study.folder)],
        ["annotate", "status", str(study.folder)],
        ["annotate", "status", str(study.folder), "--no-pull"],
        ["annotate", "reopen", str(study.folder), "--undecided"],
        [*release, "--out", str(tmp_path / "out"), "--name", "Bakers"],
    ):
        done = CliRunner().invoke(app, words)
        assert isinstance(done.exception, BadInput), (words, done.output)
        assert change.split()[0] in str(done.exception)
    assert not (tmp_path / "out").exists()
    assert {file.name: file.read_bytes() for file in study.folder.glob("*.jsonl")} == before
