"""Runs of choices that are stopped, by a signal or by the server: replies that were paid for are kept."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.chat_choices import asked, tidy
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data.servers.endpoints import ServerRefuses
from catsofa.data.servers.ledger import DOUBTFUL, SENT, UNPAID


def test_a_server_that_dies_in_the_middle_loses_no_reply(data: Path, tmp_path: Path) -> None:
    """A run stops if the server fails for good after twelve replies; the next run requests only the rest."""
    with serving(ChatServer()) as server:

        def dying(body: dict[str, Any]) -> Any:
            return (500, {"error": {"message": "out of memory"}}, {}) if len(server.answered) >= 12 else tidy(body)

        server.answer = dying
        with pytest.raises(ServerRefuses, match="out of memory"):
            asked(server, data, tmp_path / "run")
        count = len(server.answered)
        assert count >= 12
        server.answer = tidy
        assert asked(server, data, tmp_path / "run").results.overall.outcomes["error"].value == 0
    assert len(server.answered) == 40


STOPPED = """
import os
from catsofa.scoring.choosing import served
read, seen = served.read, []

def stopping(request, body):
    seen.append(request)
    if len(seen) == 3:
        os.kill(os.getpid(), NUMBER)
    return read(request, body)

served.read = stopping
from catsofa.cli import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_replies_in_flight_are_kept_where_a_run_is_stopped_between_two(
    data: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """If a signal comes while requests are under way, every reply that was paid for is stored."""
    with serving(ChatServer(tidy, slow=0.3)) as server:
        words = ["choose", "zorb-1", "--base-url", server.url, "--on", str(data), "--out", str(tmp_path / "run")]
        ran = subprocess.run(
            [sys.executable, "-c", STOPPED.replace("NUMBER", str(int(number))), *words], capture_output=True, text=True
        )
        paid = len(server.asked)
    assert ran.returncode == 128 + number
    assert 3 < paid == len(stored(tmp_path / "run")) < 40
    assert f"{paid} replies are kept" in ran.stderr


def test_replies_in_flight_are_kept_where_the_server_ends_a_run(data: Path, tmp_path: Path) -> None:
    """If one request is refused for good while others are under way, their replies are stored."""

    def refusing(body: dict[str, Any]) -> Any:
        if "Zorb 3 " in str(body):
            return 401, {"error": {"message": "no more money"}}, {}
        time.sleep(0.3)
        return tidy(body)

    with serving(ChatServer(refusing)) as server, pytest.raises(ServerRefuses, match="no more money"):
        asked(server, data, tmp_path / "run")
    refused = sum("Zorb 3 " in str(body) for body in server.asked)
    assert 0 < len(server.asked) - refused == len(stored(tmp_path / "run")) < 38


def stored(run: Path) -> list[str]:
    """Returns the keys of the replies in the folder of a run."""
    keys = [json.loads(line)["key"] for line in (run / "received.jsonl").read_text().splitlines()]
    return [key for key in keys if key not in (SENT, UNPAID, DOUBTFUL)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_at_any_instant_pays_for_no_reply_twice(
    data: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A run stopped eight times at random requests no received reply again, and ends like an uninterrupted run."""
    dice = random.Random(int(number))
    out = tmp_path / "run"
    with serving(ChatServer(tidy, slow=0.05)) as server:
        program = str(Path(sys.executable).with_name("catsofa"))
        how = ["--base-url", server.url, "--on", str(data), "--templates", "likelihood,plain", "--quiet", "--out"]
        command = [program, "choose", "zorb-1", *how, str(out)]
        for _ in range(8):
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            before = len(server.answered)
            while len(server.answered) <= before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(dice.random() * 0.2)
            process.send_signal(number)
            assert "Traceback" not in process.communicate()[1]
        subprocess.run(command, check=True)
        stopped = json.loads((out / "report.json").read_text())
        command[-1] = str(tmp_path / "whole")
        paid = Counter(json.dumps(body["messages"]) for body in server.answered)
        server.slow = 0
        subprocess.run(command, check=True)
    # A stopped run waits for requests under way; a kill loses at most eight.
    assert sum(paid.values()) <= (80 + 8 * 8 if number == signal.SIGKILL else 80)
    received = stored(out)
    assert len(received) == len(set(received)) == 80
    assert stopped["results"] == json.loads((tmp_path / "whole" / "report.json").read_text())["results"]
