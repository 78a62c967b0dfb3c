"""A load test of an open study over HTTP from another process; the server may be killed meanwhile.

`PYTHONPATH=tests python -m helpers.servers.crowd_load --people 200 --seconds 600` prints the figures.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
from helpers.records import bakers
from helpers.servers.label_studio_server import free_port

from catsofa.annotation.crowd import home, seats
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.study import Study, create, open_study

NAME = "study.example.org"
PATIENCE = 300.0
"""Seconds that the server may take to start or to end on a busy machine."""
PAUSE = 20.0
"""Seconds for which a server is paused, like a virtual machine during a move."""
THINK = 3.0
"""Mean seconds between two answers of a person: ten times as fast as real people."""


@dataclass
class Load:
    """The figures of a load test."""

    people: int
    seconds: float
    acknowledged: int = 0
    stored: int = 0
    lost: int = 0
    """Acknowledged answers that are not in the store."""
    over: int = 0
    """Items with more counted judgements than requested."""
    faults: list[str] = field(default_factory=list)
    milliseconds: dict[str, dict[str, float]] = field(default_factory=dict)
    """The median, the 95th and the 99th percentile of each route, from the first attempt to the answer."""
    kills: int = 0
    slowest_restart: float = 0.0
    """Seconds until a killed server answers again."""
    megabytes: float = 0.0
    """The peak memory of a server."""
    cpu: float = 0.0
    """CPU milliseconds of the server per request, which other work on the machine hardly changes."""


class Running:
    """The server in its own process, started as a user starts it."""

    def __init__(self, study: Study, store: str = "") -> None:
        """Starts the server."""
        self.study, self.port, self._more = study, free_port(), ["--address", f"https://{NAME}"]
        self._more += ["--store", store] * bool(store)
        self.url, self.start_seconds = f"http://127.0.0.1:{self.port}", 0.0
        self.start()

    def start(self) -> None:
        """Starts the command, and waits until it answers."""
        program = str(Path(sys.executable).with_name("catsofa"))
        command = [program, "annotate", "open", str(self.study.folder), "--port", str(self.port)]
        log = (self.study.folder.parent / "server.log").open("ab")
        self.process = subprocess.Popen([*command, *self._more], stdout=log, stderr=log)
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/health", headers={"Host": NAME}, trust_env=False).status_code == 200:
                    self.start_seconds = time.monotonic() - began
                    return
            assert self.process.poll() is None, (self.study.folder.parent / "server.log").read_text()[-2000:]
            time.sleep(0.05)
        raise AssertionError(f"the server did not start within {PATIENCE:.0f} s")

    def memory(self) -> float:
        """Returns the server's memory in megabytes."""
        with suppress(OSError, StopIteration):
            status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
        return 0.0

    def cpu(self) -> float:
        """Returns the server's CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, how: int) -> None:
        """Ends the server."""
        self.process.send_signal(how)
        self.process.wait(PATIENCE)


class Person:
    """One person's browser."""

    def __init__(self, number: int, url: str, times: dict[str, list[float]], draw: random.Random, think: float) -> None:
        """Sets up a browser with its own address, behind a proxy."""
        self._names = {"PROLIFIC_PID": f"PID{number}", "SESSION_ID": f"S{number}"}
        self._headers = {
            "Host": NAME,
            "Origin": f"https://{NAME}",
            "X-Forwarded-For": f"10.{number // 250}.{number % 250}.9",
            "X-Forwarded-Proto": "https",
        }
        self._client = httpx.AsyncClient(base_url=url, timeout=30, trust_env=False)
        self._times, self._draw, self._think, self.acknowledged = times, draw, think, list[str]()

    async def _post(self, path: str, **sent: Any) -> httpx.Response:
        """Sends until an answer comes, like the page."""
        began = time.monotonic()
        while True:
            with suppress(httpx.HTTPError):
                answer = await self._client.post(path, headers=self._headers, **sent)
                if answer.status_code not in (429, 503):
                    self._times.setdefault(path, []).append(time.monotonic() - began)
                    return answer
            await asyncio.sleep(0.3)

    async def work(self, until: float) -> None:
        """Consents, and answers until the time is up; three of a hundred tasks are skipped, five answers
        are sent twice.
        """
        await asyncio.sleep(self._draw.uniform(0, self._think))
        answer = await self._post("/consent", data={**self._names, "agree": "yes", "age": "yes"})
        self._headers["Cookie"] = answer.headers["set-cookie"].partition(";")[0]
        while time.monotonic() < until:
            task = (await self._post("/next", json={})).json()
            if "nonce" not in task:
                break
            await asyncio.sleep(self._draw.expovariate(1 / self._think))
            if (chance := self._draw.random()) < 0.03:
                await self._post("/skip", json={"nonce": task["nonce"]})
                continue
            reply = {"nonce": task["nonce"], "answers": {f"label_{n}": "unrelated" for n in (1, 2, 3)}}
            for _ in range(2 if chance < 0.08 else 1):
                answer = await self._post("/answer", json=reply)
                if answer.status_code == 200:
                    self.acknowledged.append(task["nonce"])
        await self._client.aclose()


def load(
    folder: Path,
    people: int,
    seconds: float,
    kills: int = 0,
    seed: int = 0,
    think: float = THINK,
    store: str = "",
    pauses: int = 0,
) -> Load:
    """Lets so many people work for so long, with so many kills and pauses of the server."""
    draw, items = random.Random(seed), int(people * seconds / think / 5 * 1.3) + 50
    study = create(folder / "study", kind="validate-cats", items=bakers(items), contact="a@example.org")
    toml = '[people]\nsession = 100000\n[platform]\nname = "prolific"\ncodes = { completed = "C" }\n'
    (study.folder / "study.toml").write_text(toml)
    server, times, figures = Running(study, store), dict[str, list[float]](), Load(people=people, seconds=seconds)
    everybody = [Person(n, server.url, times, random.Random(seed + n), think) for n in range(people)]

    async def day() -> None:
        """Lets everybody work while the server is killed and paused."""
        until = time.monotonic() + seconds
        working = [asyncio.create_task(person.work(until)) for person in everybody]
        signals = [signal.SIGKILL] * kills + [signal.SIGSTOP] * pauses
        for instant, how in sorted((draw.uniform(0.1, 0.9) * seconds, how) for how in signals):
            await asyncio.sleep(max(0.0, instant - (seconds - (until - time.monotonic()))))
            if how == signal.SIGSTOP:
                server.process.send_signal(how)
                await asyncio.sleep(PAUSE)
                server.process.send_signal(signal.SIGCONT)
                continue
            figures.megabytes = max(figures.megabytes, server.memory())
            server.end(signal.SIGKILL)
            await asyncio.to_thread(server.start)
            figures.kills += 1
            figures.slowest_restart = max(figures.slowest_restart, server.start_seconds)
        await asyncio.gather(*working)

    try:
        before = server.cpu()
        asyncio.run(day())
        figures.cpu = 0.0 if kills else round(1000 * (server.cpu() - before) / sum(map(len, times.values())), 2)
        figures.megabytes = round(max(figures.megabytes, server.memory()), 1)
    finally:
        server.end(signal.SIGINT)
    acked = {nonce for person in everybody for nonce in person.acknowledged}
    with home.reading(study.folder, home.identity(study.settings.secret)) as held:
        in_store = {row["nonce"] for row in held.all("SELECT nonce FROM answer")}
        figures.faults = list(faults(held, open_study(study.folder).keys))
        figures.over = sum(count > study.settings.overlap for count in seats.counted(held).values())
    figures.acknowledged, figures.stored, figures.lost = len(acked), len(in_store), len(acked - in_store)
    for path, each in times.items():
        ordered = sorted(each)
        at = {f"p{p}": round(1000 * ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 1) for p in (50, 95, 99)}
        figures.milliseconds[path] = at
    figures.slowest_restart = round(figures.slowest_restart, 2)
    return figures


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--think", type=float, default=THINK)
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = load(Path(folder), options.people, options.seconds, options.kills, think=options.think)
    sys.stdout.write(json.dumps(asdict(figures), indent=1) + "\n")


if __name__ == "__main__":
    main()
