"""The killed targets: scoring, building, paraphrasing, choosing, pushing and pulling, as users call them."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from chaos.killing import Made, Target
from helpers.records import bakers, probes

from catsofa.data import formats
from catsofa.data.files.json_files import FIELD
from catsofa.data.records import Pair
from catsofa.data.servers.ledger import DOUBTFUL, SENT, UNPAID
from catsofa.scoring.choosing.session import choices
from catsofa.scoring.choosing.templates import load
from catsofa.scoring.run.reports import read_report
from catsofa.scoring.run.rows import COLUMNS
from catsofa.scoring.run.store import MADE_FROM, REPORT

TESTS = Path(__file__).parent.parent
STORY = {"journal.jsonl", "manifest.json", "recipe.toml"}
"""Files that record the history, with times; all others are output."""
IN_FLIGHT = 2
"""Simultaneous choices: a received reply is never requested again, so that a kill loses no more."""
GROUPS, TRAITS = ("zorbs", "quells", "mimps", "tarvins"), ("kind", "early", "late", "tidy", "quiet", "loud")
PLACES = ("market", "library", "station", "garden", "bakery", "harbour")

RECIPE = """
[[step]]
run = "build stereotypes"
on = "statements.tsv"
text = "statement"
target = "target"
parser = "none"
out = "stereotypes.jsonl"
refused = "refused.jsonl"

[[step]]
run = "filter near-duplicates"
args = ["stereotypes.jsonl"]
model = "none"
out = "kept.jsonl"
refused = "twice.jsonl"

[[step]]
run = "build identities"
on = "lexicon"
out = "identities.jsonl"

[[step]]
run = "build probes"
identities = "identities.jsonl"
stereotypes = "kept.jsonl"
out = "probes.jsonl"
"""


@contextmanager
def scoring(folder: Path, model: Path) -> Iterator[Target]:
    """Scores CATs and probes by a tiny model, in one call."""
    formats.named("jsonl").write(bakers(200), folder / "cats.jsonl")
    formats.named("jsonl").write(probes(20_000), folder / "probes.jsonl")
    options = [word for name in ("cats", "probes") for word in ("--on", f"{name}.jsonl")]
    yield Target(
        "scoring",
        ("score", str(model), *options, "--out", "runs"),
        partial(_copy, folder),
        made,
    )


@contextmanager
def multiverse(folder: Path, model: Path) -> Iterator[Target]:
    """Scores CATs by a tiny model with all protocols, whose runs are filled by one pass."""
    formats.named("jsonl").write(bakers(200), folder / "cats.jsonl")
    command = ("multiverse", str(model), "--on", "cats.jsonl", "--out", "runs")
    yield Target("multiverse", command, partial(_copy, folder), made)


@contextmanager
def building(folder: Path) -> Iterator[Target]:
    """Runs a recipe: statements to predicates, near-duplicates dropped, a lexicon to subjects, both to probes."""
    rng = random.Random(1)
    buses = [f"are {rng.choice(TRAITS)} for the {n} bus to {rng.choice(PLACES)}" for n in range(800)]
    lines = [f"{group} {bus}\t{group}" for bus in buses for group in (rng.choice(GROUPS),)]
    (folder / "statements.tsv").write_text("statement\ttarget\n" + "\n".join(lines) + "\n")
    (folder / "lexicon").mkdir()
    (folder / "lexicon" / "planet.csv").write_text("TERM,POS\n" + "".join(f"{group[:-1]},n\n" for group in GROUPS))
    (folder / "recipe.toml").write_text(RECIPE)
    yield Target("building", ("run", "recipe.toml"), partial(_copy, folder), made)


@contextmanager
def paid_server(log: Path, share: float) -> Iterator[str]:
    """Starts a chat server with a passing fault for this share of the requests, and returns its address."""
    faults = [sys.executable, str(TESTS / "helpers" / "servers" / "fault_server.py"), str(log), str(share), "0", "0"]
    server = subprocess.Popen(faults, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    finally:
        server.kill()
        server.wait()


@contextmanager
def paraphrasing(folder: Path, log: Path) -> Iterator[Target]:
    """Paraphrases CATs by a server that sometimes fails."""
    formats.named("jsonl").write(bakers(250), folder / "cats.jsonl")
    with paid_server(log, 0.1) as address:
        options = ("--base-url", address, "--model", "m", "--timeout", "5", "--out", "out")
        yield Target(
            "paraphrasing",
            ("build", "paraphrases", "--on", "cats.jsonl", *options),
            partial(_copy, folder),
            made,
            {"OPENAI_API_KEY": "sk-chaos"},
        )


@contextmanager
def choosing(folder: Path, log: Path) -> Iterator[Target]:
    """Chooses with a paid model; each round has its own people, visible in the log of the server."""

    def prepare(work: Path) -> None:
        pairs = [
            Pair(id=f"p{n}", more=f"Zorb {n} of {work.name} is tidy.", less=f"Zorb {n} of {work.name} is messy.",
                 direction="stereo", bias_type="x")
            for n in range(200)
        ]  # fmt: skip
        formats.named("jsonl").write(pairs, work / "pairs.jsonl")

    def chosen(work: Path) -> Made:
        lines = [json.loads(line) for line in (work / "out" / "replies.jsonl").read_text().splitlines()]
        keys = [json.loads(line)["key"] for line in (work / "out" / "received.jsonl").read_text().splitlines()]
        received = [key for key in keys if key not in (SENT, UNPAID, DOUBTFUL)]
        return {
            "replies": sorted([line["item"], line["order"], line["outcome"]] for line in lines),
            "received once": len(received) == len({*received}) == len(lines),
        }

    def paid_twice(work: Path) -> int:
        prompts = [request.prompt for request in choices(work / "pairs.jsonl", [load("likelihood")]).requests]
        command = {sha256(prompt.encode()).hexdigest() for prompt in prompts}
        logged = map(json.loads, log.read_text().splitlines())
        return sum(line["became"] == "answered" and line["item"] in command for line in logged) - len(command)

    with paid_server(log, 0) as address:
        how = ("--base-url", address, "--timeout", "60", "--concurrency", str(IN_FLIGHT), "--quiet", "--out", "out")
        command = ("choose", "m", "--on", "pairs.jsonl", *how)
        key = {"OPENAI_API_KEY": "sk-chaos"}
        yield Target("choosing", command, prepare, chosen, key, in_flight=IN_FLIGHT, paid_twice=paid_twice)


@contextmanager
def pushing(folder: Path, url: str, token: str, items: int = 600) -> Iterator[Target]:
    """Pushes a study whose every task must be on the server once; each round has its own project."""
    from catsofa.annotation.label_studio import Server
    from catsofa.annotation.study import create, open_study

    create(folder / "study", kind="validate-cats", items=bakers(items), secret="chaos", url=url)

    def prepare(work: Path) -> None:
        _copy(folder, work)
        open_study(work / "study").saved(secret=f"chaos {work.name}")
        fresh = open_study(work / "study")
        shutil.rmtree(work / "study")
        create(work / "study", kind="validate-cats", items=bakers(items), secret=fresh.settings.secret, url=url)

    def pushed(work: Path) -> Made:
        study = open_study(work / "study")
        tasks = Server(url, token).find(study.settings.project, list(study.keys))
        items = sorted(study.keys[task.token].item for task in tasks)
        return {"tasks": "\n".join(items).encode(), **_files(work, skip={"study.json", "key.jsonl"})}

    push = ("annotate", "push", "study", "--chunk", "100")
    yield Target("pushing", push, prepare, pushed, {"LABEL_STUDIO_API_KEY": token})


@contextmanager
def pulling(folder: Path, url: str, token: str, items: int = 500) -> Iterator[Target]:
    """Pulls a study that five people have answered, which must be complete."""
    from helpers.servers.label_studio_server import Person, truth

    from catsofa.annotation.label_studio import Server
    from catsofa.annotation.label_studio.push import with_project
    from catsofa.annotation.study import create

    server = Server(url, token)
    people = [Person.invited(server, f"chaos{n}@example.org").user for n in range(5)]
    study = with_project(create(folder / "study", kind="validate-cats", items=bakers(items), url=url), server)
    judge: Callable[[Any], Any] = truth(study)
    tasks = list(study.tasks())
    for begin in range(0, items, 500):
        server._sdk.projects.import_tasks(
            study.settings.project,
            request=[
                {
                    "data": task.data,
                    "annotations": [{"result": judge(task.data), "completed_by": who} for who in people],
                }
                for task in tasks[begin : begin + 500]
            ],
            request_options={"timeout_in_seconds": 600},
        )
    pull = ("annotate", "pull", "study")
    yield Target("pulling", pull, partial(_copy, folder), made, {"LABEL_STUDIO_API_KEY": token})


def made(work: Path) -> Made:
    """Returns every output file with sorted lines, and a run's scores; the history must be whole lines of JSON."""
    files = _files(work)
    for path in work.rglob("scores.sqlite"):
        with sqlite3.connect(path) as connection:
            rows = connection.execute(f"SELECT {COLUMNS} FROM scores ORDER BY item, task").fetchall()
            blocks = connection.execute("SELECT task, items, numbers FROM blocks ORDER BY number").fetchall()
        files[str(path.relative_to(work))] = [(*row, json.loads(extra)) for *row, extra in rows] + blocks
    for path in work.rglob("manifest.json"):
        # a manifest of shards has a line for each shard below its identity
        identity, _ = json.JSONDecoder().raw_decode(path.read_text("utf-8"))
        files[str(path.relative_to(work))] = json.dumps(identity["identity"]).encode()
    for path in work.rglob("journal.jsonl"):
        for line in path.read_text().splitlines():
            json.loads(line)
    return files


def _files(work: Path, skip: Collection[str] = ()) -> dict[str, Any]:
    """Returns the files of a folder by name with sorted lines, and a run's report numbers; checksums must fit."""
    files: dict[str, Any] = {}
    for path in sorted(work.rglob("*")):
        if _is_void_journal(path):
            continue
        if path.is_file() and path.name not in {*STORY, *skip} and path.suffix != ".json":
            files[str(path.relative_to(work))] = b"\n".join(sorted(path.read_bytes().split(b"\n")))
        elif path.is_file():
            report = read_report(path.parent) if path.name == REPORT else {}
            files[str(path.relative_to(work))] = {k: v for k, v in report.items() if k not in (FIELD, MADE_FROM)}
    return files


def _is_void_journal(path: Path) -> bool:
    """Returns True for an empty rollback journal of a database: SQLite leaves one whose header is zero."""
    return path.name.endswith(".sqlite-journal") and not path.read_bytes()[:8].strip(b"\0")


def _copy(folder: Path, work: Path) -> None:
    """Copies the target's inputs into its folder."""
    shutil.copytree(folder, work, dirs_exist_ok=True)
