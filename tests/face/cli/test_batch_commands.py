"""Tests of `--batch` for the commands that ask models: the same results at half the price, and no double payment."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.batch_server import BatchServer, serving
from helpers.servers.chat_server import gpt_5
from helpers.servers.planted_associations import planted

from catsofa import cli
from catsofa.data.files import jsonl
from catsofa.data.records import LABELS, Candidate, Cat, Pair
from catsofa.data.servers import batches

PRICES = '[models]\n"zorb*" = { prompt = 10, completion = 100, batch = 0.25 }\n'


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """Starts a server of chats and batches, and prepares a folder with twelve pairs and prices."""
    monkeypatch.setattr(batches, "POLL", 0.01)
    monkeypatch.chdir(tmp_path)
    pairs = [
        Pair(id=f"p{n}", more=f"Zorb {n} is tidy.", less=f"Zorb {n} is messy.", direction="stereo", bias_type="x")
        for n in range(12)
    ]
    jsonl.write(pairs, "pairs.jsonl")
    Path("my.toml").write_text(PRICES)
    with serving(BatchServer(tidy)) as running:
        yield running


def tidy(body: dict[str, Any]) -> Any:
    """Returns the letter of the sentence about a tidy zorb; refuses one item, and filters another."""
    prompt = str(body["messages"][0]["content"])
    if "Zorb 3 " in prompt:
        return "I'm sorry, but I can't compare groups of people."
    if "Zorb 4 " in prompt:
        return 400, {"error": {"message": "blocked", "code": "content_filter"}}, {}
    return "A" if prompt.index("tidy") < prompt.index("messy") else "B"


def run(*words: object) -> int:
    """Runs a command in this process and returns its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["catsofa", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return int(ended.value.code or 0)


def choose(server: BatchServer, out: str, *more: object) -> int:
    """Runs `choose` against the server and returns the exit code."""
    where = ("--base-url", server.url, "--on", "pairs.jsonl", "--out", out, "--prices", "my.toml")
    return run("choose", "zorb-1", *where, *more)


@pytest.mark.parametrize("dialect", ["anything", "gpt_5"])
def test_choices_in_a_batch_are_those_of_requests_by_themselves(
    server: BatchServer, capsys: pytest.CaptureFixture[str], dialect: str
) -> None:
    """Results, signature and warnings are equal, even if the server renames a parameter; 23 batched
    replies are cheaper.
    """
    if dialect == "gpt_5":
        server.refuse = gpt_5
    reports = []
    for out, more in (("alone", []), ("batch", ["--batch"])):
        assert choose(server, out, "--json", *more) == 0
        reports.append(json.loads(capsys.readouterr().out))
    alone, batch = reports
    assert (batch["results"], batch["signature"]) == (alone["results"], alone["signature"])
    assert batch["warnings"] == alone["warnings"]
    assert server.sizes == [23]
    reply = (50 * 10 + 2 * 100) / 1e6
    assert alone["cost"]["dollars"] >= 22 * reply
    # two requests met the filter: they cost nothing or at most the full price
    assert batch["cost"]["dollars"] < alone["cost"]["dollars"] / 3
    assert choose(server, "batch", "--quiet") == 0
    assert server.sizes == [23]


def test_a_dry_run_prices_a_batch_and_sends_nothing(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The batch costs a quarter of the plain price, and the output says that the price is that of a batch."""
    costs = []
    for more in ([], ["--batch"]):
        assert choose(server, "out", "--dry-run", "--json", *more) == 0
        costs.append(json.loads(capsys.readouterr().out)["most_cost"])
    assert costs[1] == pytest.approx(costs[0] / 4)
    assert choose(server, "out", "--dry-run", "--batch") == 0
    assert "at the price of a batch" in capsys.readouterr().out
    assert (server.asked, Path("out").exists()) == ([], False)


def test_a_batch_over_the_limit_is_refused_before_it_is_sent(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2, and the limit named in the error is enough."""
    assert choose(server, "out", "--batch", "--max-cost", "0.5") == 2
    error = capsys.readouterr().err
    assert server.asked == []
    assert "24 requests that can bring the cost to" in error
    enough = error.split("give --max-cost ")[1].split()[0]
    assert choose(server, "out", "--batch", "--max-cost", enough, "--quiet") == 0


def test_a_batch_needs_a_folder_and_a_server(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A batch needs a folder because a stopped run could not find its batch again."""
    assert run("choose", "zorb-1", "--base-url", server.url, "--on", "pairs.jsonl", "--batch") == 2
    assert "--batch needs --out" in capsys.readouterr().err
    assert run("choose", "models/zorb", "--on", "pairs.jsonl", "--out", "out", "--batch") == 2
    assert "these options have no effect: --batch" in capsys.readouterr().err


def test_candidates_and_paraphrases_in_a_batch_are_those_of_requests_by_themselves(server: BatchServer) -> None:
    """Two models give the same associations, with a batch for each, and the same paraphrases."""
    Path("seeds.csv").write_text("identity,region\nZorbs,Zorbia\nDravians,Zorbia\nPellorans,Zorbia\n")
    server.answer = planted
    build = ("build", "candidates", "--seeds", "seeds.csv", "--model", "zorb-1", "--model", "quell-1")
    for out, more in (("alone", []), ("batch", ["--batch"])):
        assert run(*build, "--encoder", "none", "--base-url", server.url, "--out", out, "--quiet", *more) == 0
    for name in ("associations.jsonl", "refused.jsonl"):
        assert (Path("alone") / name).read_bytes() == (Path("batch") / name).read_bytes()
    assert server.sizes == [8, 9]
    server.answer = lambda body: "A Zorb is mostly BLANK.\nSome Zorb is surely BLANK."
    words = dict(zip(LABELS, ("patient", "hasty", "gravel"), strict=True))
    cats = [
        Cat(
            id=f"c{n}",
            kind="intrasentence",
            bias_type="x",
            target="Zorb",
            context=f"A Zorb of {n} is BLANK.",
            candidates=tuple(  # type: ignore[arg-type]  # three labels make three candidates
                Candidate(id=f"{n}-{label}", text=f"A Zorb of {n} is {word}.", label=label, fill=word)
                for label, word in words.items()
            ),
        )
        for n in range(3)
    ]
    jsonl.write(cats, "cats.jsonl")
    build = ("build", "paraphrases", "--on", "cats.jsonl", "--model", "zorb-1", "--base-url", server.url, "--quiet")
    for out, more in (("p-alone", []), ("p-batch", ["--batch"])):
        assert run(*build, "--out", out, *more) in (0, 1)
    for name in ("partition_1.jsonl", "review_1.jsonl", "refused.jsonl"):
        assert (Path("p-alone") / name).read_bytes() == (Path("p-batch") / name).read_bytes()
    assert server.sizes[2:] == [2]


PROGRAM = "from catsofa.data.servers import batches; batches.POLL = 0.01; from catsofa.cli import main; main()"


@pytest.mark.slow
@pytest.mark.parametrize(("step", "sent"), [("created", signal.SIGKILL), ("look", signal.SIGINT), ("output", 15)])
def test_choices_go_on_with_the_batch_of_a_command_that_was_stopped(
    server: BatchServer, capsys: pytest.CaptureFixture[str], step: str, sent: int
) -> None:
    """After SIGKILL, Ctrl-C or SIGTERM the next command pays nothing twice."""
    words = ("choose", "zorb-1", "--base-url", server.url, "--on", "pairs.jsonl", "--out", "out", "--batch")
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *words], env=os.environ, stderr=subprocess.PIPE)

    def stop(name: str) -> None:
        if name == step:
            server.step = lambda name: None
            process.send_signal(sent)
            process.wait(30)

    server.step = stop
    output = process.communicate(timeout=120)[1].decode()
    assert process.returncode != 0
    assert "Traceback" not in output
    assert choose(server, "out", "--batch", "--json") == 0
    assert json.loads(capsys.readouterr().out)["results"]["overall"]["requests"] == 24
    assert server.sizes == [23]
    assert max(server.paid.values()) == 1
