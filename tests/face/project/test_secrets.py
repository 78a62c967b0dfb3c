import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.commands import run_catsofa
from helpers.records import bakers, probes

from catsofa.cli.terminal import without_secrets
from catsofa.data import formats

SECRETS = {
    "OPENAI_API_KEY": "sk-tarvin-0123456789abcdef",
    "LABEL_STUDIO_API_KEY": "fedcba9876543210fedcba9876543210folkin00",
    "HF_TOKEN": "hf_zorbZORBzorbZORBzorbZORB",
    "HUGGING_FACE_HUB_TOKEN": "hf_quellQUELLquellQUELL",
    "PGPASSWORD": "a password of mimps",
}
RECIPE = """
[[step]]
run = "build paraphrases"
on = "cats.jsonl"
base_url = "{url}"
model = "m"
out = "paraphrases"
timeout = 3

[[step]]
run = "convert"
args = ["cats.jsonl", "cats.json"]
"""


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[str]:
    """Starts a chat server that repeats the caller's key in errors, refusals and replies."""
    program = [sys.executable, str(ROOT / "tests" / "helpers" / "servers" / "fault_server.py")]
    server = subprocess.Popen([*program, str(tmp_path / "log"), "0.2", "0.4", "1"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    server.kill()
    server.wait()


def test_an_error_names_no_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a variable that is a key, a token or a password becomes ***, whichever library put it there."""
    monkeypatch.setenv("PGPASSWORD", "a password of mimps")
    monkeypatch.setenv("SHORT_KEY", "kind")
    assert without_secrets("no user with 'a password of mimps' is kind") == "no user with '***' is kind"


@pytest.mark.slow
def test_no_file_and_no_line_of_a_whole_run_holds_a_secret(faulty: str, tmp_path: Path) -> None:
    """Paraphrasing and scoring by a server that repeats keys, a recipe, a study and a report leak no key."""
    work = tmp_path / "work"
    work.mkdir()
    formats.named("jsonl").write(bakers(60), work / "cats.jsonl")
    formats.named("jsonl").write(probes(10), work / "probes.jsonl")
    (work / "recipe.toml").write_text(RECIPE.replace("{url}", faulty))
    commands = [
        ["run", "recipe.toml"],
        ["served", "score", "m", "--base-url", faulty, "--on", "probes.jsonl", "--out", "served", "--timeout", "3"],
        ["served", "choose", "m", "--base-url", faulty, "--on", "cats.jsonl", "--out", "chosen", "--timeout", "3"],
        ["annotate", "create", "study", "--kind", "validate-cats", "--items", "cats.jsonl", "--pay", "15"],
        ["annotate", "push", "study"],
        ["baseline", "ideal", "--on", "cats.jsonl", "--out", "ideal"],
        ["report", "chosen", "--out", "report.html"],
    ]
    results = [run_catsofa(*command, cwd=work, LABEL_STUDIO_URL=faulty, **SECRETS) for command in commands]
    assert (work / "paraphrases" / "journal.jsonl").stat().st_size > 1000
    everything = {str(path): path.read_bytes() for path in work.rglob("*") if path.is_file()}
    everything |= {" ".join(c): (d.stdout + d.stderr).encode() for c, d in zip(commands, results, strict=True)}
    for name, content in everything.items():
        for variable, secret in SECRETS.items():
            assert secret.encode() not in content, f"{variable} stands in {name}"
            assert json.dumps(secret)[1:-1].encode() not in content, f"{variable} stands in {name}"
        assert b"Traceback" not in content, name
