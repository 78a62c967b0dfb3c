"""Choice runs that are killed at random: they resume to the same numbers, and no reply is paid for twice."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from helpers.choice_runs import ASKED, pairs
from helpers.servers.chat_server import ChatServer, serving
from helpers.servers.transformers_server import learnt

from catsofa.data.digests import FIELD
from catsofa.data.files import jsonl
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load

AT_ONCE = 4
"""Concurrent requests, and so the most replies that a kill can lose."""


def planted(body: dict[str, Any]) -> str:
    """Returns a reply that depends on the prompt: a label, yes or no, or a refusal."""
    prompt = str(body["messages"][0]["content"])
    labels = [line[0] for line in prompt.splitlines() if line[1:2] == ":"] or ["Yes", "No"]
    number = crc32(prompt.encode())
    return "I can't help with that." if number % 10 == 0 else labels[number % len(labels)]


def killed_and_resumed(template: str, kills: int, folder: Path) -> None:
    """Kills a run several times; its replies, report and paid requests then equal those of an uninterrupted run."""
    jsonl.write(ASKED[template], folder / "data.jsonl")
    task, dice = choices(folder / "data.jsonl", [load(template)]), random.Random(template)
    with serving(ChatServer(planted, slow=0.03)) as server:
        how = ["--base-url", server.url, "--on", str(folder / "data.jsonl"), "--templates", template]
        how += ["--concurrency", str(AT_ONCE), "--timeout", "30", "--quiet", "--out", str(folder / "run")]
        for _ in range(kills):
            before = len(server.answered)
            process = subprocess.Popen(
                [Path(sys.executable).with_name("catsofa"), "choose", "zorb-1", *how], stderr=subprocess.PIPE, text=True
            )
            while len(server.answered) <= before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(dice.random() * 0.3)
            process.kill()
            assert "Traceback" not in process.communicate()[1]
        cut = len(received(folder / "run"))
        server.slow = 0
        model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=30, concurrency=AT_ONCE), Asking())
        resumed = ask(model, task, out=folder / "run", resamples=100)
        paid = Counter(json.dumps(body["messages"]) for body in server.answered)
        whole = ask(model, task, out=folder / "whole", resamples=100)
    assert cut < len(task.requests)
    assert sum(paid.values()) - len(paid) <= AT_ONCE * kills
    keys = received(folder / "run")
    assert len(keys) == len({*keys}) == len(paid)
    assert json.dumps(resumed.results.to_dict()) == json.dumps(whole.results.to_dict())
    assert str(resumed.signature) == str(whole.signature)
    assert replies(folder / "run") == replies(folder / "whole")


def received(run: Path) -> list[str]:
    """Returns the keys of the replies that a run received; other lines record attempts."""
    lines = map(json.loads, (run / "received.jsonl").read_text().splitlines())
    return [line["key"] for line in lines if "choices" in line["reply"]]


def replies(run: Path) -> list[dict[str, Any]]:
    """Returns the replies of a run without their checksums."""
    lines = map(json.loads, (run / "replies.jsonl").read_text().splitlines())
    return [{name: value for name, value in line.items() if name != FIELD} for line in lines]


def test_a_killed_run_of_questions_goes_on_where_it_was(tmp_path: Path) -> None:
    """A run of 144 requests resumes after one SIGKILL."""
    killed_and_resumed("question", 1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("template", ASKED)
def test_each_kind_of_choices_survives_kills_at_random(template: str, tmp_path: Path) -> None:
    """Runs of pairs, questions, both probe tasks and both association tasks resume after five SIGKILLs."""
    killed_and_resumed(template, 5, tmp_path)


@pytest.mark.slow
def test_sampled_replies_of_a_killed_local_model_are_those_of_an_unkilled_one(tmp_path: Path) -> None:
    """After three SIGKILLs of a model in the process, at temperature 3, every sampled reply is the same."""
    jsonl.write(pairs(20), tmp_path / "pairs.jsonl")
    prompts = [request.prompt for request in choices(tmp_path / "pairs.jsonl", [load("likelihood")]).requests]
    model = learnt([{"prompt": prompt, "reply": "Sentence A is likelier."} for prompt in prompts[:4]], tmp_path)
    how = ["--on", str(tmp_path / "pairs.jsonl"), "--samples", "6", "--temperature", "3", "--answer-tokens", "8"]
    command = [str(Path(sys.executable).with_name("catsofa")), "choose", str(model), *how, "--quiet", "--out"]
    dice, received, killed = random.Random(0), tmp_path / "run" / "received.jsonl", 0
    while killed < 3:
        before = received.stat().st_size if received.exists() else 0
        process = subprocess.Popen([*command, str(tmp_path / "run")], stderr=subprocess.DEVNULL)
        while process.poll() is None and not (received.exists() and received.stat().st_size > before):
            time.sleep(0.005)
        time.sleep(dice.random() * 0.1)
        process.kill()
        killed += 1
        process.wait()
    assert len(received.read_text().splitlines()) < 240
    for folder in ("run", "whole"):
        subprocess.run([*command, str(tmp_path / folder)], check=True)
    resumed = replies(tmp_path / "run")
    assert resumed == replies(tmp_path / "whole")
    assert len({reply["reply"] for reply in resumed}) > 100
