"""Measures the time and the memory of a pull of 10,000 items with five judgements each from Label Studio.

The benchmark starts its own Label Studio (`make labelstudio`, or LABEL_STUDIO_EXE). Each pull runs in its own process.
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
    """Returns a harmless item."""
    context = f"Our neighbour, the baker, is BLANK on day {number}."
    one, two, three = (
        Candidate(text=context.replace("BLANK", word), fill=word, label=label)
        for word, label in (("early", "stereotype"), ("late", "anti-stereotype"), ("cubic", "unrelated"))
    )
    return Cat(
        kind="intrasentence", bias_type="profession", target="baker", context=context, candidates=(one, two, three)
    )


def judge(study: Study, server: Server, people: list[int], some: slice) -> None:
    """Imports answered tasks, a thousand at a time, as if people had answered them."""
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
    """Spreads the answers over the last week, one minute per task, as if people had answered them."""
    expression = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || (60 * ((SELECT max(id) FROM task) - {})) || ' seconds')"
    with closing(sqlite3.connect(data / ls.DATABASE, timeout=60)) as database, database:
        database.execute(f"UPDATE task SET updated_at = {expression.format('id')}")
        times = expression.format("task_id")
        database.execute(f"UPDATE task_completion SET updated_at = {times}, created_at = {times}")


def measured(name: str, folder: Path, running: ls.Running) -> dict[str, Any]:
    """Measures a pull in its own process, so that the peak memory is that of the pull."""
    before = _cpu(running.process.pid)
    with get_context("spawn").Pool(1) as pool:
        figures = pool.apply(_pull, (folder, running.url))
    figures["server_cpu_seconds"] = _cpu(running.process.pid) - before
    print(
        f"{name:24} {figures['answers']:6,} answers {figures['tasks_read']:6,} tasks read {figures['seconds']:6.1f} s "
        f"({figures['cpu_seconds']:.1f} CPU-s, the server {figures['server_cpu_seconds']:.1f}) "
        f"{figures['peak_mib']:5.0f} MiB ({figures['idle_mib']:.0f} idle)",
        flush=True,
    )
    return {"pull": name, **figures}


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
    """A server client that counts the tasks read with their answers."""

    read = 0

    def answered_since(self, project: int, since: str, page: int) -> Any:
        """Yields the answered tasks and counts them."""
        for task in super().answered_since(project, since, page):
            self.read += 1
            yield task


def _peak(process: int | str = "self") -> float:
    """Returns the peak memory of a process in MiB."""
    lines: Mapping[str, str] = dict(
        line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines() if ":" in line
    )
    return int(lines["VmHWM"].split()[0]) / 1024


def _cpu(process: int) -> float:
    """Returns the CPU time of a process in seconds."""
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
    figures = {"items": count, "people": PEOPLE, "push_seconds": push_seconds, "server_peak_mib": server_peak}
    FILE.write_text(json.dumps({**figures, "pulls": rows}, indent=1) + "\n")


def timed(action: Callable[[], object]) -> float:
    """Returns the wall-clock seconds of an action."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
