import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from helpers.servers.chat_server import ChatServer, serving
from helpers.servers.planted_associations import PLANTED, planted

from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Association, Cat

SEEDS = "identity,region\n" + "".join(f"{group},Zorbia\n" for group in PLANTED)
PRICES = '[models]\n"zorb-1" = { prompt = 10.0, completion = 30.0 }\n'


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Starts a model whose associations are known."""
    with serving(ChatServer(answer=planted)) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with seeds and prices."""
    (tmp_path / "seeds.csv").write_text(SEEDS)
    (tmp_path / "prices.toml").write_text(PRICES)
    return tmp_path


def command(server: ChatServer, *more: str) -> tuple[str, ...]:
    """Returns the command that asks for proposals."""
    return (
        *("build", "candidates", "--seeds", "seeds.csv", "--out", "proposed", "--model", "zorb-1", "--encoder", "none"),
        *("--base-url", server.url, *more),
    )


@pytest.mark.slow
def test_seeds_become_associations_that_a_jury_then_judges(server: ChatServer, folder: Path) -> None:
    """Both commands write their files; the dry run prices all requests and sends none."""
    ran = run_catsofa(*command(server, "--prices", "prices.toml", "--dry-run", "--json"), cwd=folder)
    assert (ran.returncode, json.loads(ran.stdout)["requests"], server.asked) == (0, 9, [])
    assert json.loads(ran.stdout)["cost"] > 0
    assert not (folder / "proposed").exists()
    ran = run_catsofa(*command(server, "--json"), cwd=folder)
    assert (ran.returncode, ran.stderr.count("Traceback")) == (0, 0)
    found = list(jsonl.read(folder / "proposed" / "associations.jsonl", Association))
    assert {(one.identity, one.region) for one in found} == {(group, "Zorbia") for group in PLANTED}
    assert len(found) == sum(map(len, PLANTED.values())) + 1 == json.loads(ran.stdout)["counts"]["kept"]
    report = json.loads((folder / "proposed" / "report.json").read_text())
    assert [(row["prompt"], row["covered"]) for row in report["prompts"]] == [
        ("report", 3),
        ("slots", 3),
        ("counter", 3),
    ]
    jury = ("build", "jury", "--on", "proposed/associations.jsonl", "--out", "judged", "--base-url", server.url)
    ran = run_catsofa(*jury, "--model", "a", "--model", "b", "--model", "contrary", cwd=folder)
    assert (ran.returncode, ran.stderr.count("Traceback")) == (0, 0)
    labels = [
        one for one in jsonl.read(folder / "judged" / "jury.jsonl", Annotation) if one.annotator.startswith("jury")
    ]
    assert {one.label for one in labels} == {"yes", "no"}
    assert len(labels) == len(found) == len(list(jsonl.read(folder / "judged" / "associations.jsonl", Association)))


@pytest.mark.slow
def test_cats_that_a_model_proposed_are_built_without_an_error_of_lint(server: ChatServer, folder: Path) -> None:
    """Seeds become a file of each kind; every CAT names the request that proposed it."""
    rows = "".join(f"{group},Zorbia,nationality\n" for group in PLANTED)
    (folder / "seeds.csv").write_text(f"identity,region,bias_type\n{rows}")
    ran = run_catsofa(*command(server, "--prompt", "triplet", "--prompt", "scene", "--json"), cwd=folder)
    assert (ran.returncode, json.loads(ran.stdout)["counts"]) == (0, {"kept": 13})
    keys = {json.loads(line)["key"] for line in (folder / "proposed" / "journal.jsonl").open()}
    for option, kind, left_out in (
        ("--associations", "intrasentence", {"no_blank_in_context": 6}),
        ("--continuations", "intersentence", {"no_context": 7}),
    ):
        out = f"{kind}.jsonl"
        ran = run_catsofa("build", "cats", option, "proposed/associations.jsonl", "--out", out, "--json", cwd=folder)
        assert (ran.returncode, json.loads(ran.stdout)["refused"]) == (0, left_out)
        cats = list(jsonl.read(folder / out, Cat))
        assert {cat.kind for cat in cats} == {kind}
        assert len({cat.source["association"] for cat in cats}) == 13 - sum(left_out.values())
        assert all({*cat.source["proposed"]["requests"]} <= keys for cat in cats)
        ran = run_catsofa("validate", "lint", out, "--fail-on", "error", "--json", cwd=folder)
        assert ran.returncode == 0, ran.stdout


def test_a_budget_that_is_too_small_sends_nothing(server: ChatServer, folder: Path) -> None:
    """The price of all requests is compared with the budget before any request."""
    ran = run_catsofa(*command(server, "--prices", "prices.toml", "--max-cost", "0.001"), cwd=folder)
    assert (ran.returncode, server.asked) == (2, [])
    assert "--max-cost" in ran.stderr
    assert ran.stderr.count("tokens to read") == 1


def test_a_folder_keeps_its_build_until_a_command_has_all_of_it(server: ChatServer, folder: Path) -> None:
    """Fewer groups would overwrite paid replies, so no request is sent; more groups are added to the folder.

    Each run reports the cost of all replies in the folder: 50 tokens read and 2 written each.
    """
    two = "\n".join(SEEDS.splitlines()[:3]) + "\n"
    (folder / "seeds.csv").write_text(two)
    priced = command(server, "--prices", "prices.toml")
    ran = run_catsofa(*priced, cwd=folder)
    assert (ran.returncode, "cost: 300 tokens read and 12 written, $0.00336" in ran.stderr) == (0, True), ran.stderr
    whole = (folder / "proposed" / "associations.jsonl").read_bytes()
    (folder / "seeds.csv").write_text(f"identity,region\n{SEEDS.splitlines()[3]}\n")
    ran = run_catsofa(*priced, cwd=folder)
    assert (ran.returncode, len(server.asked)) == (2, 6)
    assert "proposed contains a different build (8 of 8 records of associations.jsonl" in ran.stderr
    assert (folder / "proposed" / "associations.jsonl").read_bytes() == whole
    (folder / "seeds.csv").write_text(SEEDS)
    assert (run_catsofa(*priced, cwd=folder).returncode, len(server.asked)) == (0, 9)


def test_a_build_that_kept_nothing_can_be_run_again(server: ChatServer, folder: Path) -> None:
    """An empty file of associations does not count as a different build."""
    (folder / "proposed").mkdir()
    (folder / "proposed" / "associations.jsonl").touch()
    ran = run_catsofa(*command(server), cwd=folder)
    assert (ran.returncode, len(server.asked)) == (0, 9), ran.stderr


@pytest.mark.slow
def test_faults_of_the_server_are_one_sentence_and_exit_2_or_1(folder: Path) -> None:
    """A refused key ends the run; one missing reply keeps the others and asks to run again."""
    with serving(ChatServer(answer=lambda body: (401, {"error": {"message": "no"}}, {}))) as refusing:
        ran = run_catsofa(*command(refusing), cwd=folder)
        assert (ran.returncode, "Traceback" in ran.stderr) == (2, False)
    with serving(
        ChatServer(answer=lambda b: (400, {"error": {"message": "no"}}, {}) if "Zorbs" in str(b) else planted(b))
    ) as odd:
        ran = run_catsofa(*command(odd), cwd=folder)
        assert (ran.returncode, "3 requests failed" in ran.stderr) == (1, True)


STOPPED = """
import os, signal
from catsofa.builders.paraphrases import runs
read, seen = runs.reply_of, []

def stopping(body):
    seen.append(body)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return read(body)

runs.reply_of = stopping
from catsofa.cli import main
main()
"""


def test_replies_in_flight_are_kept_after_ctrl_c_between_two(folder: Path) -> None:
    """If the signal comes while replies are being read, every requested reply is in the journal."""
    with serving(ChatServer(answer=planted, slow=0.3)) as slow:
        ran = subprocess.run(
            [sys.executable, "-c", STOPPED, *command(slow, "--samples", "9")], cwd=folder, capture_output=True
        )
        assert (ran.returncode, b"Traceback" in ran.stderr) == (130, False)
        keys = [json.loads(line)["key"] for line in (folder / "proposed" / "journal.jsonl").open()]
        assert 2 < len({*keys} - {"sent"}) == len(slow.asked) < 81


@pytest.mark.slow
def test_a_kill_loses_no_paid_reply(folder: Path) -> None:
    """After SIGKILL the same command asks only for missing replies, and ends like an uninterrupted run."""
    with serving(ChatServer(answer=planted, slow=0.2)) as slow:
        arguments = command(slow, "--count", "4", "--samples", "4", "--concurrency", "2")
        program = Path(sys.executable).with_name("catsofa")
        first = subprocess.Popen([str(program), *arguments], cwd=folder, env=os.environ | {"NO_COLOR": "1"})
        for _ in range(600):
            if len(slow.answered) >= 6:
                break
            time.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        first.wait()
        sent = len(slow.asked)
        assert 6 <= len(slow.answered) <= sent < 36
        assert run_catsofa(*arguments, cwd=folder).returncode == 0
        assert len(slow.asked) <= 36 + 2, "only what was under way when the kill came may be asked again"
        whole = (folder / "proposed" / "associations.jsonl").read_bytes()
        assert run_catsofa(*arguments, cwd=folder).returncode == 0
        assert (folder / "proposed" / "associations.jsonl").read_bytes() == whole
        keys = [json.loads(line)["key"] for line in (folder / "proposed" / "journal.jsonl").open()]
        assert len({*keys} - {"sent", "unpaid", "doubtful"}) == 36
