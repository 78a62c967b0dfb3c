"""How long 10,000 items judged by five people each take to come home, and in how much memory.

It starts a Label Studio of its own (`make labelstudio`, or LABEL_STUDIO_EXE). Each pull runs in a process of its own.
"""

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.machine import RESULTS
from catsofa.annotation.label_studio import KEY, Server
from catsofa.annotation.label_studio import server as ls
from catsofa.annotation.label_studio.pull import pull
from catsofa.annotation.label_studio.push import push, with_project
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.interface import interface, result_of
from catsofa.data.records import Candidate, Cat

FILE = RESULTS / "annotation.json"
MADE = Path(__file__).parents[1] / ".venv-labelstudio" / "bin" / "label-studio"
PEOPLE, LATER, PORT = 5, 100, 28_471
LABELS = ("stereotype", "anti-stereotype", "unrelated")
ANSWER = result_of(interface("validate-cats"), {f"label_{k}": label for k, label in enumerate(LABELS, start=1)})


def cat(number: int) -> Cat:
    """A mild item."""
    context = f"Our neighbour, the baker, is BLANK on day {number}."
    one, two, three = (
        Candidate(text=context.replace("BLANK", word), fill=word, label=label)
        for word, label in (("early", "stereotype"), ("late", "anti-stereotype"), ("cubic", "unrelated"))
    )
    return Cat(
        kind="intrasentence", bias_type="profession", target="baker", context=context, candidates=(one, two, three)
    )


def judge(study: Study, server: Server, people: list[int], some: slice) -> None:
    """Import a thousand answered tasks at a time, as people would have answered them."""
    tasks = [task.data for task in study.tasks()][some]
    for begin in range(0, len(tasks), 1000):
        server._sdk.projects.import_tasks(
            study.settings.project,
            request=[
                {
                    "data": data,
                    "annotations": [
                        {"result": ANSWER, "completed_by": person, "ground_truth": False, "lead_time": 6.0}
                        for person in people
                    ],
                }
                for data in tasks[begin : begin + 1000]
            ],
            request_options={"max_retries": 0, "timeout_in_seconds": 600},
        )


def a_week_ago(data: Path) -> None:
    """Spread what was answered over the last week, a minute a task, as people would have answered it."""
    at = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || (60 * ((SELECT max(id) FROM task) - {})) || ' seconds')"
    with closing(sqlite3.connect(data / ls.DATABASE, timeout=60)) as database, database:
        database.execute(f"UPDATE task SET updated_at = {at.format('id')}")
        times = at.format("task_id")
        database.execute(f"UPDATE task_completion SET updated_at = {times}, created_at = {times}")


def measured(name: str, folder: Path, running: ls.Running) -> dict[str, Any]:
    """A pull in a process of its own, so that the peak memory is its own."""
    before = _cpu(running.process.pid)
    with get_context("spawn").Pool(1) as pool:
        found = pool.apply(_pull, (folder, running.url))
    found["server_cpu_seconds"] = _cpu(running.process.pid) - before
    print(
        f"{name:24} {found['answers']:6,} answers {found['tasks_read']:6,} tasks read {found['seconds']:6.1f} s "
        f"({found['cpu_seconds']:.1f} CPU-s, the server {found['server_cpu_seconds']:.1f}) "
        f"{found['peak_mib']:5.0f} MiB ({found['idle_mib']:.0f} idle)",
        flush=True,
    )
    return {"pull": name, **found}


def _pull(folder: Path, url: str) -> dict[str, Any]:
    study, server = open_study(folder), Counting(url, os.environ[KEY], timeout=600)
    server.version()
    idle, begun, cpu = _peak(), time.perf_counter(), time.process_time()
    pulled = pull(study, server)
    return {
        "answers": pulled.new,
        "annotations": pulled.records,
        "tasks_read": server.read,
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - cpu,
        "idle_mib": idle,
        "peak_mib": _peak(),
    }


class Counting(Server):
    """The server, and how many tasks it was asked for with their answers."""

    read = 0

    def answered_since(self, project: int, since: str, page: int) -> Any:
        """Count what is read."""
        for task in super().answered_since(project, since, page):
            self.read += 1
            yield task


def _peak(process: int | str = "self") -> float:
    """The most memory a process ever had, in MiB."""
    lines: Mapping[str, str] = dict(
        line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines() if ":" in line
    )
    return int(lines["VmHWM"].split()[0]) / 1024


def _cpu(process: int) -> float:
    """The processor time a process has had, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    count = parser.parse_args().items
    program = ls.executable() or MADE
    if not program.exists() or sys.platform != "linux":
        sys.exit("no Label Studio server (make labelstudio), or no Linux to ask for the memory: nothing was measured")
    with tempfile.TemporaryDirectory() as name:
        data, folder = Path(name) / "server", Path(name) / "study"
        first = ls.prepare(program, data)
        assert first is not None
        os.environ[KEY] = first.token
        with ls.Running(program, data, port=PORT) as running:
            server = Server(running.url, first.token, timeout=600)
            pushed = create(Path(name) / "pushed", kind="validate-cats", items=map(cat, range(count)))
            push_seconds = timed(lambda: push(pushed, server))
            study = with_project(create(folder, kind="validate-cats", items=map(cat, range(count + LATER))), server)
            people = [server.sign_up(f"person{n}@example.org", f"password-of-{n}") for n in range(PEOPLE)]
            judge(study, server, people, slice(count))
            a_week_ago(data)
            rows = [measured("everything", folder, running), measured("at once again", folder, running)]
            judge(study, server, people, slice(count, None))
            rows.append(measured(f"{LATER} items later", folder, running))
            server_peak = _peak(running.process.pid)
    print(f"push {push_seconds:.1f} s; the server's peak {server_peak:.0f} MiB")
    found = {"items": count, "people": PEOPLE, "push_seconds": push_seconds, "server_peak_mib": server_peak}
    FILE.write_text(json.dumps({**found, "pulls": rows}, indent=1) + "\n")


def timed(action: Callable[[], object]) -> float:
    """How long an action took."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
