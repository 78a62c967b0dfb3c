"""Stores that `catsofa verify` checks."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from catsofa.builders.probes import shards as probe_shards
from catsofa.cli import app
from catsofa.data.records import Identity, Score, Stereotype
from catsofa.data.release import write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request
from catsofa.scoring.run.store import Run
from helpers.records import probes

SERVER = "http://zorbs.invalid/v1"


MANIFEST = {"model": {"served": "m", "at": SERVER}, "data": "records:11", "protocol": {}}


def release(folder: Path) -> Path:
    """Writes a release, and returns its Parquet file."""
    write_release({"test": probes(20)}, folder / "set", CardFacts(pretty_name="Zorbs"))
    return folder / "set" / "data" / "test.parquet"


def shards(folder: Path) -> Path:
    """Writes a folder of shards, and returns one of them."""
    identities = [Identity(category="job", identity=f"Zorbs {n}", form="noun") for n in range(4)]
    probe_shards.write(identities, [Stereotype(text="polish blickets")], folder / "shards", rows=2)
    return folder / "shards" / "data" / "test-00000-of-00002.parquet"


def replies(folder: Path) -> Path:
    """Writes the replies of a server in the folder of their run."""
    with Run.begin(folder / "run", MANIFEST, {"model": "m"}) as run:
        run.add([Score(item="a", task="intrasentence", score=-1.0)])
    with ReplyStore(folder / "run" / "replies.jsonl", server=SERVER) as store:
        store.answered(Request("completions", {"prompt": "Zorbs"}).key, {"choices": [{"text": "Zorbs"}]})
        store.answered(Request("completions", {"prompt": "Quibs"}).key, {"choices": [{"text": "Quibs"}]})
    return folder / "run" / "replies.jsonl"


def verify(*paths: Path) -> tuple[int, list[dict[str, Any]]]:
    """Returns the exit code and the verdicts."""
    done = CliRunner().invoke(app, ["verify", *map(str, paths), "--json"])
    assert done.stdout, done.exception
    return done.exit_code, json.loads(done.stdout)
